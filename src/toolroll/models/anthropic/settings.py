"""Settings on Anthropic's wire: which of them each model takes, and how they are written."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from toolroll.errors import UsageError
from toolroll.messages import Template
from toolroll.models.catalog import longest_prefix
from toolroll.models.model import ModelRequest
from toolroll.models.settings import CHOICE_WORDS, ModelSettings, SettingRules, Thinking, add_extra_body
from toolroll.models.wire_json import Json, compact

MIN_BUDGET_TOKENS: Final = 1_024
"""The least that a model with a budget may think, by the provider's rule."""

_BUDGET_SHARES: Final[Mapping[Thinking, float]] = {"low": 1 / 8, "medium": 1 / 4, "high": 1 / 2, "max": 3 / 4}
"""How much of the output older models may spend on thinking: they count it, and know no words for it."""
_TOO_SHORT: Final = Template(
    "thinking_needs_room",
    "{model} cannot think in max_output_tokens={tokens}: it needs {least} for that alone.",
    "Raise max_output_tokens, or set thinking='off'.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What sets the generations of Claude apart."""

    rules: SettingRules
    off: Literal["disabled", "between_tools"] | None = "disabled"
    """The word that turns thinking off; None where it cannot be turned off."""
    has_budget: bool = False
    """Whether thinking is limited by tokens and not by effort."""


_RULES: Final = SettingRules(
    takes=frozenset(
        {
            *("temperature", "top_p", "stop_sequences", "max_output_tokens", "thinking", "tool_choice"),
            *("keep_tool_choice", "parallel_tool_calls", "service_tier", "cache", "extra_headers", "extra_body"),
        }
    ),
    max_temperature=1.0,
    samples="never",
    takes_both_samples=False,
    forces_calls="never",
    thinks_by_default=True,
    thinking=("low", "medium", "high", "xhigh", "max"),
    service_tiers=("auto", "standard_only"),
    caches=("off", "5m", "1h"),
)
_WITH_OFF: Final = ("off", "low", "medium", "high", "xhigh", "max")
_OPTIONAL: Final = replace(_RULES, forces_calls="without_thinking", thinking=_WITH_OFF)
_OLD: Final = replace(
    _OPTIONAL, samples="without_thinking", thinks_by_default=False, thinking=("off", "low", "medium", "high", "max")
)

TRAITS: Final[Mapping[str, Traits]] = {
    # As the vendor's migration guides of November 2026 have it. A model that is not listed is taken for the newest.
    "": Traits(rules=_RULES, off=None),
    "claude-haiku-5-5": Traits(rules=replace(_RULES, thinking=_WITH_OFF), off="between_tools"),
    "claude-sonnet-5-5": Traits(rules=replace(_RULES, thinking=_WITH_OFF), off="between_tools"),
    "claude-opus-5": Traits(rules=_OPTIONAL),
    "claude-opus-5-5": Traits(rules=_RULES, off=None),
    "claude-sonnet-5": Traits(rules=_OPTIONAL),
    "claude-opus-4-7": Traits(rules=replace(_OPTIONAL, thinks_by_default=False)),
    "claude-opus-4-8": Traits(rules=replace(_OPTIONAL, thinks_by_default=False)),
    "claude-opus-4-6": Traits(rules=_OLD),
    "claude-sonnet-4-6": Traits(rules=_OLD),
    "claude-3": Traits(rules=_OLD, has_budget=True),
    "claude-haiku-4": Traits(rules=_OLD, has_budget=True),
    "claude-opus-4": Traits(rules=_OLD, has_budget=True),
    "claude-sonnet-4": Traits(rules=_OLD, has_budget=True),
}
"""By the beginning of the name; the longest that fits counts."""


def traits_of(model: str) -> Traits:
    """Return the traits of a model."""
    return longest_prefix(model, TRAITS)


def add_settings(body: Json, settings: ModelSettings, *, model: str, max_tokens: int) -> Json:
    """Return the body with all settings but the choice of tools and the cache."""
    body = dict(body)
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    if settings.top_p is not None:
        body["top_p"] = settings.top_p
    if settings.stop_sequences:
        body["stop_sequences"] = list(settings.stop_sequences)
    if settings.service_tier is not None:
        body["service_tier"] = settings.service_tier
    if settings.thinking is not None:
        body = add_extra_body(body, _thinking(settings.thinking, model, max_tokens))
    return add_extra_body(body, settings.extra_body)


def _thinking(wish: Thinking, model: str, max_tokens: int) -> Json:
    traits = traits_of(model)
    if wish == "off":
        return {"thinking": {"type": traits.off}}
    if not traits.has_budget:
        return {"thinking": {"type": "adaptive"}, "output_config": {"effort": wish}}
    budget = max(MIN_BUDGET_TOKENS, int(max_tokens * _BUDGET_SHARES[wish]))
    if budget >= max_tokens:
        raise UsageError(_TOO_SHORT(model=model, tokens=max_tokens, least=MIN_BUDGET_TOKENS))
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def tool_choice(request: ModelRequest) -> Json | None:
    """Return who chooses the tools; None where nothing has to be said."""
    wish, settings = request.tool_choice, request.settings
    if wish == "none":
        return {"type": "none"}
    choice: Json = {"type": {"auto": "auto", "required": "any"}.get(wish, "tool")}
    if wish not in CHOICE_WORDS:
        choice["name"] = wish
    parallel = None if settings is None else settings.parallel_tool_calls
    if parallel is not None:
        choice["disable_parallel_tool_use"] = not parallel
    return None if choice == {"type": "auto"} else choice


def cache_mark(settings: ModelSettings | None) -> Json | None:
    """Return what marks the end of a cached part; None where nothing is cached."""
    wish = None if settings is None else settings.cache
    if wish == "off":
        return None
    return {"type": "ephemeral"} if wish is None else {"type": "ephemeral", "ttl": wish}


def cache_mark_bytes(settings: ModelSettings | None) -> bytes | None:
    """Return the mark as it is spliced into an encoded block."""
    mark = cache_mark(settings)
    return None if mark is None else b',"cache_control":' + compact(mark)
