"""Settings on the wire of Chat Completions: what servers take, and how they are written."""

from typing import Final, Literal, TypeAlias

from toolroll.models.model import ModelRequest
from toolroll.models.settings import CHOICE_WORDS, ModelSettings, SettingRules, Thinking, add_extra_body
from toolroll.models.wire_json import Json

ThinkingField: TypeAlias = Literal["reasoning_effort", "reasoning", "thinking", "chat_template"]
"""Where a server reads how much to think: `reasoning_effort` (most), `reasoning.effort` (OpenRouter), `thinking.type`
(DeepSeek), `chat_template_kwargs.enable_thinking` (vLLM, llama.cpp)."""

CHAT_RULES: Final = SettingRules(
    takes=frozenset(
        {
            *("temperature", "top_p", "stop_sequences", "seed", "max_output_tokens", "thinking", "tool_choice"),
            *("keep_tool_choice", "parallel_tool_calls", "service_tier", "extra_headers", "extra_body"),
        }
    ),
    max_stop_sequences=4,
)
"""What OpenAI documented for this wire, which others follow; models behind it are not known, so nothing more is."""

ON_OR_OFF: Final[tuple[Thinking, ...]] = ("off", "high")
"""For servers that can only turn thinking off and on."""


def add_settings(body: Json, settings: ModelSettings, *, thinking_field: ThinkingField, seed_field: str) -> Json:
    """Return the body with all settings but the choice of tools."""
    body = dict(body)
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    if settings.top_p is not None:
        body["top_p"] = settings.top_p
    if settings.stop_sequences:
        body["stop"] = list(settings.stop_sequences)
    if settings.seed is not None:
        body[seed_field] = settings.seed
    if settings.service_tier is not None:
        body["service_tier"] = settings.service_tier
    if settings.thinking is not None:
        body |= _thinking(settings.thinking, thinking_field)
    return add_extra_body(body, settings.extra_body)


def _thinking(wish: Thinking, place: ThinkingField) -> Json:
    effort = "none" if wish == "off" else wish
    match place:
        case "reasoning_effort":
            return {"reasoning_effort": effort}
        case "reasoning":
            return {"reasoning": {"effort": effort}}
        case "thinking":
            return {"thinking": {"type": "disabled" if wish == "off" else "enabled"}}
        case "chat_template":
            return {"chat_template_kwargs": {"enable_thinking": wish != "off"}}


def tool_choice(request: ModelRequest) -> Json:
    """Return who chooses the tools, and whether several at once."""
    said: Json = {}
    wish, settings = request.tool_choice, request.settings
    if wish in CHOICE_WORDS:
        said |= {} if wish == "auto" else {"tool_choice": wish}
    else:
        said["tool_choice"] = {"type": "function", "function": {"name": wish}}
    if settings is not None and settings.parallel_tool_calls is not None:
        said["parallel_tool_calls"] = settings.parallel_tool_calls
    return said
