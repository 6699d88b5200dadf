"""What a person reads about an error, in their language (W34).

Errors about profiles have texts of their own. The message of any other error is a `Text`, which every language file
translates by its key; where a model could not be asked, the provider's own words follow a text for the code.
"""

from collections.abc import Mapping
from typing import Final, cast

from toolroll.agent.result import StopReason
from toolroll.errors import (
    ChangeRefused,
    ModelError,
    ProfileFixed,
    ProfileInvalid,
    ProfileMissing,
    ProfileNewer,
    RequestRefused,
    ToolFailure,
    ToolrollError,
)
from toolroll.messages import Text
from toolroll.packs.writing.profiles.names import DEFAULT as DEFAULT_PROFILE
from toolroll.packs.writing.profiles.store import MAX_NAMES_SHOWN
from toolroll.packs.writing.texts.messages import DEFAULT, Key, Lang, say, translate

MODEL_KEYS: Final[Mapping[str, Key]] = {
    "model": "model_provider",
    "authentication": "model_authentication",
    "permission": "model_permission",
    "quota": "model_quota",
    "rate_limit": "model_rate_limit",
    "overloaded": "model_overloaded",
    "model_timeout": "model_timeout",
    "network": "model_network",
    "invalid_request": "model_request",
    "context_too_long": "model_context",
    "content_policy": "model_content",
    "provider": "model_provider",
    "answer_too_large": "model_provider",
}
"""The text for a model that could not be asked, by the code of the error."""

STOP_KEYS: Final[Mapping[StopReason, Key]] = {
    "answer": "stop_form",
    "done": "stop_form",
    "condition": "stop_limit",
    "repeated_failure": "stop_failed",
    "repeated_calls": "stop_failed",
    "invalid_calls": "stop_failed",
    "invalid_output": "stop_form",
    "refusal": "stop_refusal",
    "cut_off": "stop_cut_off",
    "approval_pending": "stop_failed",
    "interrupted": "stop_interrupted",
    "failed": "stop_failed",
    "gave_up": "stop_failed",
}
"""The text for a run that ended without a result."""

_ITEM: Final = "- "


def describe_error(error: ToolrollError, lang: Lang) -> str:
    """Return what a person reads about an error."""
    text = _describe_profile_error(error, lang)
    if text is not None:
        return text
    cause = error.__cause__
    if isinstance(error, RequestRefused) and isinstance(cause, ToolrollError):  # by the rule that a profile is read
        return say("nothing_drafted", lang, why=describe_error(cause, lang))
    if lang != DEFAULT and isinstance(error, ModelError) and not isinstance(error.message, Text):
        return say(MODEL_KEYS[error.code], lang, detail=error.message)
    return translate(error.message, lang)


def describe_stop(error: ToolFailure, lang: Lang) -> str:
    """Return why a run gave no usable result; in English with all its details."""
    key = STOP_KEYS.get(cast("StopReason", error.failure_code))
    return error.message if lang == DEFAULT or key is None else say(key, lang)


def list_faults(faults: tuple[str, ...], lang: Lang) -> str:
    """Return a line for each broken rule."""
    return "\n".join(f"{_ITEM}{translate(one, lang)}" for one in faults)


def _describe_profile_error(error: ToolrollError, lang: Lang) -> str | None:
    match error:
        case ProfileMissing(profile=name, available=()):
            return say("profile_not_found_init", lang, name=name)
        case ProfileMissing(profile=name, available=available):
            more = " …" if len(available) > MAX_NAMES_SHOWN else ""
            names = ", ".join(available[:MAX_NAMES_SHOWN]) + more
            if name == DEFAULT_PROFILE:
                others = say("profile_available", lang, available=names)
                return f"{say('profile_not_found_init', lang, name=name)} {others}"
            return say("profile_not_found", lang, name=name, available=names)
        case ProfileInvalid(faults=faults, file=file) if file:
            return say("import_refused", lang, file=file, problems=list_faults(faults, lang))
        case ProfileInvalid(profile=name, faults=faults):
            return say("profile_invalid", lang, name=name, problems=list_faults(faults, lang))
        case ProfileFixed(profile=name):
            return say("reference_profile", lang, name=name)
        case ProfileNewer(profile=name):
            return say("profile_newer", lang, name=name)
        case ChangeRefused(fields=fields, faults=faults):
            return say("validation_failed", lang, field=", ".join(fields), problems=list_faults(faults, lang))
        case _:
            return None
