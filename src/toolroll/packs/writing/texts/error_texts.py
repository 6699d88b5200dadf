"""What a person reads about an error, in English or Ukrainian (W34).

Errors about profiles have words of their own in both languages. Of all others the English text is in the error itself;
the Ukrainian one is a phrase that is known, or, for a model that could not be asked, what became of it and the
provider's own words.
"""

from collections.abc import Mapping
from typing import Final, cast

from toolroll.agent.result import StopReason
from toolroll.errors import (
    ChangeRefused,
    ModelError,
    PathRefused,
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
from toolroll.packs.writing.profiles.names import MAX_NAME_CHARACTERS
from toolroll.packs.writing.profiles.store import MAX_NAMES_SHOWN
from toolroll.packs.writing.texts.messages import DEFAULT, Key, Lang, say, translate
from toolroll.packs.writing.texts.phrases import in_ukrainian

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
}
"""What is said of a model that could not be asked, by the code of the error."""

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
}
"""What is said of a run that ended without what it was for."""

_ITEM: Final = "- "


def describe_error(error: ToolrollError, lang: Lang) -> str:
    """What a person reads about an error."""
    told = _of_profile(error, lang)
    if told is not None:
        return told
    cause = error.__cause__
    if isinstance(error, RequestRefused) and isinstance(cause, ToolrollError):  # by the rule that a profile is read
        return say("nothing_drafted", lang, why=describe_error(cause, lang))
    words = translate_message(error.message, lang)
    if lang != DEFAULT and isinstance(error, ModelError) and not isinstance(error.message, Text):
        return say(MODEL_KEYS[error.code], lang, detail=error.message)
    return words


def translate_message(message: str, lang: Lang) -> str:
    """A message of a tool or a store in that language, line by line; what is no known phrase is said as it is."""
    if isinstance(message, Text) or lang == DEFAULT:
        return translate(message, lang)
    if lang != "uk":
        return message
    return in_ukrainian(message) or "\n".join(in_ukrainian(line) or line for line in message.split("\n"))


def describe_stop(error: ToolFailure, lang: Lang) -> str:
    """Why a run gave nothing that could be used; in English with all that is known of it."""
    key = STOP_KEYS.get(cast("StopReason", error.failure_code))
    return error.message if lang == DEFAULT or key is None else say(key, lang)


def list_faults(faults: tuple[str, ...], lang: Lang) -> str:
    """Every broken rule on a line of its own."""
    return "\n".join(f"{_ITEM}{translate_message(one, lang)}" for one in faults)


def _of_profile(error: ToolrollError, lang: Lang) -> str | None:
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
        case PathRefused(rule="profile_name", path=name):
            return say("bad_profile_name", lang, name=name, most=MAX_NAME_CHARACTERS)
        case _:
            return None
