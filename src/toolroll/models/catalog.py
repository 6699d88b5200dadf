"""The models we know by name: aliases, windows and limits, in one table that settings can extend."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeVar, get_args
from urllib.parse import parse_qsl, urlsplit

from toolroll.errors import UsageError
from toolroll.messages import MODEL_NEEDS_ADDRESS, MODEL_OPTION_REFUSED, MODEL_UNKNOWN
from toolroll.models.model import DEFAULT_MAX_OUTPUT_TOKENS
from toolroll.models.settings import Thinking


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatProvider:
    """A provider that speaks Chat Completions: where it is, and which variables name its key and another address."""

    title: str
    """What people call it, for messages."""
    url: str
    key_variable: str | None = None
    """None for one that needs no key."""
    needs_key: bool = True
    url_variable: str | None = None
    stream_usage: bool = True
    """Whether it takes the question for token counts at the end of a stream."""
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    seed_field: Literal["seed", "random_seed"] = "seed"
    thinking_field: Literal["reasoning_effort", "reasoning", "thinking", "chat_template"] = "reasoning_effort"
    thinking: Collection[Thinking] = get_args(Thinking)
    """How much its models can be told to think."""
    takes_not: Collection[str] = ()
    """The settings that it refuses or ignores."""


_EFFORTS: Final[tuple[Thinking, ...]] = ("low", "medium", "high")
_ON_OR_OFF: Final[tuple[Thinking, ...]] = ("off", "high")

CHAT_PROVIDERS: Final[Mapping[str, ChatProvider]] = {
    "ollama": ChatProvider(
        title="Ollama",
        url="http://localhost:11434/v1",
        url_variable="OLLAMA_BASE_URL",
        thinking=("off", *_EFFORTS),
        takes_not=("parallel_tool_calls", "service_tier", "tool_choice"),
    ),
    "gemini": ChatProvider(
        title="Google Gemini",
        url="https://generativelanguage.googleapis.com/v1beta/openai",
        key_variable="GEMINI_API_KEY",
        url_variable="GEMINI_BASE_URL",
        thinking=("off", "minimal", *_EFFORTS),
        takes_not=("seed", "parallel_tool_calls", "service_tier"),
    ),
    "mistral": ChatProvider(
        title="Mistral",
        url="https://api.mistral.ai/v1",
        key_variable="MISTRAL_API_KEY",
        url_variable="MISTRAL_BASE_URL",
        stream_usage=False,
        seed_field="random_seed",
        thinking=_ON_OR_OFF,
        takes_not=("service_tier",),
    ),
    "groq": ChatProvider(
        title="Groq",
        url="https://api.groq.com/openai/v1",
        key_variable="GROQ_API_KEY",
        url_variable="GROQ_BASE_URL",
        max_tokens_field="max_completion_tokens",
        thinking=("off", *_EFFORTS),
    ),
    "openrouter": ChatProvider(
        title="OpenRouter",
        url="https://openrouter.ai/api/v1",
        key_variable="OPENROUTER_API_KEY",
        url_variable="OPENROUTER_BASE_URL",
        thinking_field="reasoning",
        takes_not=("service_tier",),
    ),
    "deepseek": ChatProvider(
        title="DeepSeek",
        url="https://api.deepseek.com/v1",
        key_variable="DEEPSEEK_API_KEY",
        url_variable="DEEPSEEK_BASE_URL",
        thinking_field="thinking",
        thinking=_ON_OR_OFF,
        takes_not=("seed", "parallel_tool_calls", "service_tier"),
    ),
    "xai": ChatProvider(
        title="xAI",
        url="https://api.x.ai/v1",
        key_variable="XAI_API_KEY",
        url_variable="XAI_BASE_URL",
        max_tokens_field="max_completion_tokens",
        thinking=("off", *_EFFORTS),
        takes_not=("service_tier",),
    ),
    "together": ChatProvider(
        title="Together AI",
        url="https://api.together.ai/v1",
        key_variable="TOGETHER_API_KEY",
        url_variable="TOGETHER_BASE_URL",
        thinking=_EFFORTS,
        takes_not=("parallel_tool_calls", "service_tier"),
    ),
    "fireworks": ChatProvider(
        title="Fireworks AI",
        url="https://api.fireworks.ai/inference/v1",
        key_variable="FIREWORKS_API_KEY",
        url_variable="FIREWORKS_BASE_URL",
        thinking=("off", *_EFFORTS),
        takes_not=("service_tier",),
    ),
    "lmstudio": ChatProvider(
        title="LM Studio",
        url="http://localhost:1234/v1",
        url_variable="LMSTUDIO_BASE_URL",
        takes_not=("thinking", "parallel_tool_calls", "service_tier"),
    ),
    "vllm": ChatProvider(
        title="vLLM",
        url="http://localhost:8000/v1",
        key_variable="VLLM_API_KEY",
        needs_key=False,
        url_variable="VLLM_BASE_URL",
        thinking_field="chat_template",
        thinking=_ON_OR_OFF,
        takes_not=("service_tier",),
    ),
}
"""The providers that need no code of their own, by the word before the colon. A new one is a new entry."""

_OWN_WIRES: Final = ("anthropic", "openai", "openai-compatible", "azure", "bedrock", "vertex")
PROVIDERS: Final[tuple[str, ...]] = (*_OWN_WIRES, *CHAT_PROVIDERS, "local")
"""Every word that can stand before the colon of a model's name."""

ALIASES: Final[Mapping[str, str]] = {
    "sonnet": "anthropic:claude-sonnet-5-5",
    "opus": "anthropic:claude-opus-5-5",
    "haiku": "anthropic:claude-haiku-5-5",
}

MAX_NAMED_TOKENS: Final = 1_000_000_000
"""In the name of a model: more was a slip of the finger."""
SMALL_WINDOW_TOKENS: Final = 32_768
"""Models that read no more are mostly small ones; and in such a window, texts for others leave little room."""
DEFAULT_WINDOW_TOKENS: Final = 128_000
"""For models we know nothing about: what most current ones have at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLimits:
    """How much a model reads and writes in one call."""

    window_tokens: int = DEFAULT_WINDOW_TOKENS
    max_output_tokens: int = DEFAULT_MAX_OUTPUT_TOKENS


OUTPUT_SHARE: Final = 4
"""An answer may take a fourth of a window: the rest is for what led to it."""
LEAST_OUTPUT_TOKENS: Final = 256


def limits_from_window(window_tokens: int) -> ModelLimits:
    """Return the limits of a model of which only the window is known."""
    output = min(DEFAULT_MAX_OUTPUT_TOKENS, max(LEAST_OUTPUT_TOKENS, window_tokens // OUTPUT_SHARE))
    return ModelLimits(window_tokens=window_tokens, max_output_tokens=output)


_CLAUDE = ModelLimits(window_tokens=1_000_000, max_output_tokens=64_000)
_GPT = ModelLimits(window_tokens=1_050_000, max_output_tokens=128_000)
_REASONING = ModelLimits(window_tokens=200_000, max_output_tokens=100_000)

LIMITS: Final[Mapping[str, ModelLimits]] = {
    # Windows as `genai-prices` lists them in November 2026; output limits as the vendors documented them, and where a
    # newer model's is not known, that of the model before it.
    "claude-": ModelLimits(window_tokens=200_000, max_output_tokens=64_000),
    "claude-fable-5": _CLAUDE,
    "claude-haiku-5": _CLAUDE,
    "claude-mythos-5": _CLAUDE,
    "claude-opus-4-0": ModelLimits(window_tokens=200_000, max_output_tokens=32_000),
    "claude-opus-4-1": ModelLimits(window_tokens=200_000, max_output_tokens=32_000),
    "claude-opus-4-6": _CLAUDE,
    "claude-opus-5": _CLAUDE,
    "claude-sonnet-4-6": _CLAUDE,
    "claude-sonnet-5": _CLAUDE,
    "gpt-3.5": ModelLimits(window_tokens=16_385, max_output_tokens=4_096),
    "gpt-4": ModelLimits(window_tokens=8_192, max_output_tokens=4_096),
    "gpt-4-turbo": ModelLimits(window_tokens=128_000, max_output_tokens=4_096),
    "gpt-4.1": ModelLimits(window_tokens=1_047_576, max_output_tokens=32_768),
    "gpt-4o": ModelLimits(window_tokens=128_000, max_output_tokens=16_384),
    "gpt-5": ModelLimits(window_tokens=400_000, max_output_tokens=128_000),
    "gpt-5.4": _GPT,
    "gpt-5.4-mini": ModelLimits(window_tokens=400_000, max_output_tokens=128_000),
    "gpt-5.4-nano": ModelLimits(window_tokens=400_000, max_output_tokens=128_000),
    "gpt-5.5": ModelLimits(window_tokens=1_000_000, max_output_tokens=128_000),
    "gpt-5.6": _GPT,
    "o1": _REASONING,
    "o3": _REASONING,
    "o4": _REASONING,
}
"""By the beginning of a model's name; the longest that fits counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelName:
    """A model's name taken apart: whose it is, what it is called there, and where that is."""

    provider: str
    """One of `PROVIDERS`."""
    model: str
    base_url: str | None = None
    calls: str | None = None
    """How tools are called: `auto`, `native` or `json`; None where the name does not say."""
    window_tokens: int | None = None
    output_tokens: int | None = None


CALL_FORMS: Final = ("auto", "native", "json")
_NAME_OPTIONS: Final[Mapping[str, str]] = {"calls": "calls", "window": "window_tokens", "output": "output_tokens"}


def parse_model(name: str, aliases: Mapping[str, str] = ALIASES) -> ModelName:
    """Parse `sonnet`, `anthropic:claude-...`, `openai:...`, `openai-compatible:NAME@URL`, `ollama:...`.

    At the end may stand how the model is asked: `ollama:qwen3?calls=json&window=8192&output=1024`.
    """
    bare, options = _split_options(name)
    found = _parse_name(name, aliases.get(bare, bare), aliases)
    if "calls" in options and found.provider not in ("openai-compatible", *CHAT_PROVIDERS):
        known = "openai-compatible:NAME@URL, " + ", ".join(f"{word}:NAME" for word in CHAT_PROVIDERS)
        raise UsageError(MODEL_OPTION_REFUSED(name=repr(name), option="calls", known=f"It is for {known}"))
    return replace(found, **options)  # type: ignore[arg-type]  # as `_split_options` has checked


def _split_options(name: str) -> tuple[str, dict[str, object]]:
    """Return the name without its options, and the options; a `?` that begins none of ours is part of the name."""
    bare, mark, query = name.rpartition("?")
    given = dict(parse_qsl(query, keep_blank_values=True)) if mark else {}
    if not given or not given.keys() <= _NAME_OPTIONS.keys():
        return name, {}
    return bare, {_NAME_OPTIONS[key]: _option_value(name, key, value) for key, value in given.items()}


def _option_value(name: str, key: str, value: str) -> object:
    if key == "calls":
        if value not in CALL_FORMS:
            raise UsageError(MODEL_OPTION_REFUSED(name=repr(name), option=key, known=f"Write {', '.join(CALL_FORMS)}"))
        return value
    if not (value.isascii() and value.isdigit() and 0 < int(value) <= MAX_NAMED_TOKENS):
        raise UsageError(MODEL_OPTION_REFUSED(name=repr(name), option=key, known="Write a number of tokens"))
    return int(value)


def _parse_name(name: str, full: str, aliases: Mapping[str, str]) -> ModelName:
    provider, _, rest = full.partition(":")
    if provider not in PROVIDERS or not rest:
        known = ", ".join([*aliases, *(f"{word}:NAME" for word in PROVIDERS)])
        raise UsageError(MODEL_UNKNOWN(name=repr(name), known=known))
    if provider != "openai-compatible":
        return ModelName(provider=provider, model=rest)
    model, at, url = rest.partition("@")
    if not model or not at or not urlsplit(url).hostname or not url.startswith(("http://", "https://")):
        raise UsageError(MODEL_NEEDS_ADDRESS(name=repr(name)))
    return ModelName(provider=provider, model=model, base_url=url)


T = TypeVar("T")


def longest_prefix(model: str, known: Mapping[str, T]) -> T:
    """Return the entry of the longest beginning that fits; the table has one for the empty beginning."""
    return known[max((beginning for beginning in known if model.startswith(beginning)), key=len)]


def known_limits(model: str, known: Mapping[str, ModelLimits] = LIMITS) -> ModelLimits | None:
    """Return how much a model reads and writes; None for an unknown model."""
    fitting = [beginning for beginning in known if model.startswith(beginning)]
    return known[max(fitting, key=len)] if fitting else None


def limits_of(model: str, known: Mapping[str, ModelLimits] = LIMITS) -> ModelLimits:
    """Return how much a model reads and writes; for an unknown one, what most models do."""
    return known_limits(model, known) or ModelLimits()
