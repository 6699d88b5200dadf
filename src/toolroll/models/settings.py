"""Model settings: what can be asked of a model beyond the conversation, and which of it one model takes.

A setting that a model does not take, or that contradicts another one, raises `UsageError` before anything is sent.
"""

import difflib
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Literal, Protocol, TypeAlias, cast, get_args, runtime_checkable

from pydantic_core import PydanticSerializationError, to_json
from typing_extensions import TypedDict

from toolroll.errors import UsageError
from toolroll.messages import Template
from toolroll.safe.secrets.named_secrets import variable_names_a_secret

Thinking: TypeAlias = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]
"""How much a model thinks before it answers."""
CacheWish: TypeAlias = Literal["off", "5m", "30m", "1h", "24h"]
"""How long a provider keeps the beginning of a request for the next one; `off` for not at all."""

CHOICE_WORDS: Final = frozenset({"auto", "none", "required"})
"""What `tool_choice` can be beside the name of a tool."""

_TAKES_NOT: Final = Template("setting_not_taken", "{model} does not take {name}={value}: {reason}.")
_UNKNOWN: Final = Template("setting_unknown", "There is no model setting {name}.{hint} There are: {known}.")
_WRONG: Final = Template("setting_invalid", "{name} is {wanted}, not {value}.")

_OWN_HEADERS: Final = frozenset({"content-type", "content-length", "host", "transfer-encoding", "connection"})
_MAX_TEMPERATURE: Final = 2.0
"""The highest that any provider takes; some take less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """What is asked of a model beyond the conversation. What is None is left to the model."""

    temperature: float | None = None
    """How much chance there is in the answer, from 0 (little) to 2."""
    top_p: float | None = None
    """Only the likeliest words that together have this probability, above 0 and up to 1."""
    stop_sequences: tuple[str, ...] = ()
    """Texts that end the answer where the model writes one of them."""
    seed: int | None = None
    """Makes answers repeatable, as far as the provider can."""
    max_output_tokens: int | None = None
    """The most tokens of one answer, thinking included."""
    thinking: Thinking | None = None
    """How much the model thinks before it answers, from `off` to `max`."""
    tool_choice: str | None = None
    """`auto`, `none`, `required`, or the name of a tool that must be called."""
    keep_tool_choice: bool = False
    """Whether a forced call is forced in every request, not only until it was made once."""
    parallel_tool_calls: bool | None = None
    """Whether the model may make several calls in one turn."""
    service_tier: str | None = None
    """Which of the provider's classes of service is used, in the provider's own word."""
    cache: CacheWish | None = None
    """How long the provider keeps the beginning of the conversation cached; `off` for not at all."""
    extra_headers: Mapping[str, str] = field(default_factory=dict)
    """Headers to send with each request. They are recorded with the run, so they must hold no key."""
    extra_body: Mapping[str, object] = field(default_factory=dict)
    """Fields to add to the body of each request, as the provider documents them."""

    def __post_init__(self) -> None:
        listed: object = self.stop_sequences
        if isinstance(listed, list):
            object.__setattr__(self, "stop_sequences", tuple(listed))
        for name, (is_right, wanted) in _CHECKS.items():
            value = getattr(self, name)
            if value is not None and not is_right(value):
                raise UsageError(_WRONG(name=name, wanted=wanted, value=repr(value)))

    @property
    def forces_call(self) -> bool:
        """Return whether the model must call a tool."""
        return self.tool_choice is not None and self.tool_choice not in ("auto", "none")

    def to_record(self) -> dict[str, object]:
        """Return what is set, as JSON data."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in given_in(self).items()}


class ModelSettingsDict(TypedDict, total=False):
    """The settings as a plain dictionary; None takes a setting of the agent back."""

    temperature: float | None
    top_p: float | None
    stop_sequences: list[str] | tuple[str, ...]
    seed: int | None
    max_output_tokens: int | None
    thinking: Thinking | None
    tool_choice: str | None
    keep_tool_choice: bool
    parallel_tool_calls: bool | None
    service_tier: str | None
    cache: CacheWish | None
    extra_headers: Mapping[str, str]
    extra_body: Mapping[str, object]


SettingsLike: TypeAlias = ModelSettings | ModelSettingsDict
"""Settings, or a dictionary of them."""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_texts(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(one, str) and one for one in value)


def _are_headers(value: object) -> bool:
    return isinstance(value, Mapping) and all(_is_header(name, text) for name, text in value.items())


def _is_header(name: object, text: object) -> bool:
    if not isinstance(name, str) or not isinstance(text, str) or not name or not (name + text).isascii():
        return False
    plain = name.lower()
    is_secret = variable_names_a_secret(plain.replace("-", "_")) or plain in ("authorization", "cookie")
    return (name + text).isprintable() and plain not in _OWN_HEADERS and not is_secret


def _is_json(value: object) -> bool:
    try:
        return isinstance(value, Mapping) and bool(to_json(dict(value), inf_nan_mode="strings"))
    except (PydanticSerializationError, ValueError):
        return False


_CHECKS: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "temperature": (lambda value: _is_number(value) and 0 <= value <= _MAX_TEMPERATURE, "a number from 0 to 2"),
    "top_p": (lambda value: _is_number(value) and 0 < value <= 1, "a number above 0 and up to 1"),
    "stop_sequences": (_are_texts, "a list of texts, none of them empty"),
    "seed": (_is_whole, "a whole number"),
    "max_output_tokens": (lambda value: _is_whole(value) and value > 0, "a whole number above 0"),
    "thinking": (lambda value: value in get_args(Thinking), f"one of {', '.join(get_args(Thinking))}"),
    "tool_choice": (
        lambda value: isinstance(value, str) and bool(value),
        "auto, none, required, or the name of a tool",
    ),
    "keep_tool_choice": (lambda value: isinstance(value, bool), "True or False"),
    "parallel_tool_calls": (lambda value: isinstance(value, bool), "True or False"),
    "service_tier": (lambda value: isinstance(value, str) and bool(value), "the provider's word for it"),
    "cache": (lambda value: value in get_args(CacheWish), f"one of {', '.join(get_args(CacheWish))}"),
    "extra_headers": (
        _are_headers,
        "a mapping of names to texts, without keys (they belong in the environment) and without toolroll's own headers",
    ),
    "extra_body": (_is_json, "a mapping of JSON values"),
}

_NAMES: Final = tuple(one.name for one in fields(ModelSettings))
_EMPTY: Final = ModelSettings()


def given_in(settings: ModelSettings) -> dict[str, object]:
    """Return the settings that are set, by name."""
    values = {name: getattr(settings, name) for name in _NAMES}
    return {name: value for name, value in values.items() if value != getattr(_EMPTY, name)}


def make_settings(given: "SettingsLike | Mapping[str, object] | None") -> ModelSettings | None:
    """Return checked settings; None where nothing is set."""
    return merge_settings(None, given)


def merge_settings(
    first: ModelSettings | None, given: "SettingsLike | Mapping[str, object] | None"
) -> ModelSettings | None:
    """Return settings with others over them; headers and fields of the body come together."""
    if given is None:
        return first
    first = first or _EMPTY
    over = given_in(given) if isinstance(given, ModelSettings) else _named(given)
    for name in ("extra_headers", "extra_body"):
        added = over.get(name)
        if isinstance(added, Mapping):
            over[name] = {**getattr(first, name), **added}
    merged = replace(first, **cast("dict[str, Any]", over))
    return merged if given_in(merged) else None


def _named(given: object) -> dict[str, object]:
    if not isinstance(given, Mapping):
        raise UsageError(_WRONG(name="settings", wanted="ModelSettings or a dictionary", value=repr(given)))
    for name in given:
        if name not in _NAMES:
            near = difflib.get_close_matches(str(name), _NAMES, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise UsageError(_UNKNOWN(name=repr(name), hint=hint, known=", ".join(_NAMES)))
    return {name: getattr(_EMPTY, name) if value is None else value for name, value in given.items()}


@runtime_checkable
class SupportsSettings(Protocol):
    """A model that takes settings."""

    def check_settings(self, settings: ModelSettings, /) -> None:
        """Raise `UsageError` for a setting that the model would not follow."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingRules:
    """Which settings a model takes, and in which combinations."""

    takes: Collection[str] = _NAMES
    """The names of the settings."""
    max_temperature: float = _MAX_TEMPERATURE
    samples: Literal["always", "without_thinking", "never"] = "always"
    """When it takes `temperature` and `top_p`."""
    takes_both_samples: bool = True
    """Whether it takes these two together."""
    forces_calls: Literal["always", "without_thinking", "never"] = "always"
    """When it can be forced to call a tool."""
    thinks_by_default: bool = False
    """Whether it thinks where `thinking` is not set."""
    thinking: Collection[Thinking] = get_args(Thinking)
    service_tiers: Collection[str] | None = None
    """None where anything is passed on."""
    caches: Collection[CacheWish] = ()
    max_stop_sequences: int | None = None


def refuse_setting(model: str, settings: ModelSettings, name: str, reason: str) -> UsageError:
    """Return the error for a setting that a model does not take."""
    return UsageError(_TAKES_NOT(model=model, name=name, value=repr(getattr(settings, name)), reason=reason))


def check_by_rules(settings: ModelSettings, rules: SettingRules, model: str) -> None:
    """Raise `UsageError` for the first setting that breaks a rule."""
    for name, reason in _broken_rules(settings, rules):
        raise refuse_setting(model, settings, name, reason)


def _broken_rules(settings: ModelSettings, rules: SettingRules) -> "list[tuple[str, str]]":
    given = given_in(settings)
    broken = [(name, "its API has no such setting") for name in given if name not in rules.takes]
    words: Mapping[str, Collection[str] | None] = {
        "thinking": rules.thinking,
        "service_tier": rules.service_tiers,
        "cache": rules.caches,
    }
    for name, known in words.items():
        if name in given and known is not None and given[name] not in known:
            broken.append((name, f"it takes {', '.join(known) or 'none'}"))
    return broken + _broken_combinations(settings, rules, given)


def _broken_combinations(
    settings: ModelSettings, rules: SettingRules, given: Mapping[str, object]
) -> "list[tuple[str, str]]":
    broken: list[tuple[str, str]] = []
    thinks = settings.thinking != "off" and (rules.thinks_by_default or settings.thinking is not None)
    why = "not while it thinks; set thinking='off'" if "off" in rules.thinking else "not while it thinks"
    for name in ("temperature", "top_p"):
        if name in given and rules.samples == "never":
            broken.append((name, "this model chooses by itself"))
        elif name in given and rules.samples == "without_thinking" and thinks:
            broken.append((name, why))
    if settings.temperature is not None and settings.temperature > rules.max_temperature:
        broken.append(("temperature", f"it takes up to {rules.max_temperature:g}"))
    if not rules.takes_both_samples and "temperature" in given and "top_p" in given:
        broken.append(("top_p", "not together with temperature"))
    if settings.forces_call and rules.forces_calls == "never":
        broken.append(("tool_choice", "this model cannot be forced to call a tool"))
    elif settings.forces_call and rules.forces_calls == "without_thinking" and thinks:
        broken.append(("tool_choice", why))
    limit = rules.max_stop_sequences
    if limit is not None and len(settings.stop_sequences) > limit:
        broken.append(("stop_sequences", f"it takes up to {limit}"))
    return broken


def check_settings(model: object, settings: ModelSettings | None, name: str) -> None:
    """Raise `UsageError` if the model would not follow one of the settings; one that takes none follows none."""
    if settings is None:
        return
    if isinstance(model, SupportsSettings):
        model.check_settings(settings)
    else:
        check_by_rules(settings, SettingRules(takes=("max_output_tokens",)), name)


def add_extra_body(body: dict[str, object], extra: Mapping[str, object]) -> dict[str, object]:
    """Return the body with more fields; objects come together, and nothing that is set already is replaced."""
    joined = dict(body)
    for name, value in extra.items():
        there = joined.get(name)
        if isinstance(there, dict) and isinstance(value, Mapping):
            joined[name] = add_extra_body(there, value)
        elif name in joined and there != value:
            raise UsageError(_TAKEN(name=name))
        else:
            joined[name] = value
    return joined


_TAKEN: Final = Template(
    "extra_body_taken", "extra_body would replace {name!r}, which toolroll sets.", "Use the option or setting for it."
)
