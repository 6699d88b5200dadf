"""Settings on the wire of OpenAI's Responses: which of them each model takes, and how they are written."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from toolroll.models.catalog import longest_prefix
from toolroll.models.model import ModelRequest
from toolroll.models.settings import CHOICE_WORDS, CacheWish, ModelSettings, SettingRules, Thinking, add_extra_body
from toolroll.models.wire_json import Json

_LONG: Final[tuple[CacheWish, ...]] = ("24h",)
_MOST: Final[tuple[Thinking, ...]] = ("high",)
_RULES: Final = SettingRules(
    takes=frozenset(
        {
            *("temperature", "top_p", "max_output_tokens", "thinking", "tool_choice", "keep_tool_choice"),
            *("parallel_tool_calls", "service_tier", "cache", "extra_headers", "extra_body"),
        }
    ),
    samples="without_thinking",
    thinks_by_default=True,
    thinking=("off", "low", "medium", "high", "xhigh", "max"),
    service_tiers=("auto", "default", "flex", "scale", "priority", "fast", "ultrafast"),
    caches=_LONG,
)
_NONE: Final[tuple[Thinking, ...]] = ("off",)
_THOUGHTLESS: Final = replace(_RULES, samples="always", thinks_by_default=False, thinking=_NONE)
_ALWAYS: Final = replace(_RULES, samples="never", thinking=("low", "medium", "high"))

RULES: Final[Mapping[str, SettingRules]] = {
    # As the vendor documents them in November 2026. A model that is not listed is taken for the newest.
    "": replace(_RULES, caches=("off", "30m", "24h")),
    "gpt-3": _THOUGHTLESS,
    "gpt-4": _THOUGHTLESS,
    "chatgpt-4": _THOUGHTLESS,
    "ft:gpt-3": _THOUGHTLESS,
    "ft:gpt-4": _THOUGHTLESS,
    "gpt-5": replace(_ALWAYS, thinking=("minimal", "low", "medium", "high")),
    "gpt-5-chat": _THOUGHTLESS,
    "gpt-5-pro": replace(_ALWAYS, thinking=_MOST),
    "gpt-5.1": replace(_RULES, thinking=("off", "low", "medium", "high")),
    "gpt-5.2": replace(_RULES, thinking=("off", "low", "medium", "high", "xhigh")),
    "gpt-5.3": replace(_RULES, thinking=("off", "low", "medium", "high", "xhigh")),
    "gpt-5.4": replace(_RULES, thinking=("off", "low", "medium", "high", "xhigh")),
    "gpt-5.5": replace(_RULES, thinking=("off", "low", "medium", "high", "xhigh")),
    "gpt-5.6": replace(_RULES, caches=("off", "30m", "24h")),
    "o1": _ALWAYS,
    "o3": _ALWAYS,
    "o4": _ALWAYS,
}
"""By the beginning of the name; the longest that fits counts."""


def rules_of(model: str) -> SettingRules:
    """Return the rules of a model."""
    return longest_prefix(model, RULES)


def add_settings(body: Json, settings: ModelSettings, *, model: str) -> Json:
    """Return the body with all settings but the choice of tools."""
    body = dict(body)
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    if settings.top_p is not None:
        body["top_p"] = settings.top_p
    if settings.service_tier is not None:
        body["service_tier"] = settings.service_tier
    if settings.thinking == "off":
        body |= {} if rules_of(model).samples == "always" else {"reasoning": {"effort": "none"}}
    elif settings.thinking is not None:
        body["reasoning"] = {"effort": settings.thinking}
    return add_extra_body(body | _cache(settings), settings.extra_body)


def _cache(settings: ModelSettings) -> Json:
    match settings.cache:
        case None:
            return {}
        case "24h":
            return {"prompt_cache_retention": "24h"}
        case "off":  # no breakpoint of the provider's, and none of ours
            return {"prompt_cache_options": {"mode": "explicit"}}
        case ttl:
            return {"prompt_cache_options": {"ttl": ttl}}


def tool_choice(request: ModelRequest) -> Json:
    """Return who chooses the tools, and whether several at once."""
    said: Json = {}
    wish, settings = request.tool_choice, request.settings
    if wish in CHOICE_WORDS:
        said |= {} if wish == "auto" else {"tool_choice": wish}
    else:
        said["tool_choice"] = {"type": "function", "name": wish}
    if settings is not None and settings.parallel_tool_calls is not None:
        said["parallel_tool_calls"] = settings.parallel_tool_calls
    return said
