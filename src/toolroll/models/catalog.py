"""The models we know by name: aliases, windows and limits, in one table that settings can extend."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from toolroll.errors import UsageError

Provider: TypeAlias = Literal["anthropic", "openai", "openai-compatible", "ollama", "local"]

PROVIDERS: Final[tuple[Provider, ...]] = ("anthropic", "openai", "openai-compatible", "ollama", "local")

ALIASES: Final[Mapping[str, str]] = {
    "sonnet": "anthropic:claude-sonnet-5-5",
    "opus": "anthropic:claude-opus-5-5",
    "haiku": "anthropic:claude-haiku-5-5",
}

DEFAULT_WINDOW_TOKENS: Final = 128_000
"""For models we know nothing about: what most current ones have at least."""

DEFAULT_MAX_OUTPUT_TOKENS: Final = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLimits:
    """How much a model reads and writes in one call."""

    window_tokens: int = DEFAULT_WINDOW_TOKENS
    max_output_tokens: int = DEFAULT_MAX_OUTPUT_TOKENS


_LIMITS: Final[Mapping[str, ModelLimits]] = {
    "claude-": ModelLimits(window_tokens=200_000, max_output_tokens=64_000),
    "gpt-5": ModelLimits(window_tokens=400_000, max_output_tokens=128_000),
    "gpt-4o": ModelLimits(window_tokens=128_000, max_output_tokens=16_384),
    "o": ModelLimits(window_tokens=200_000, max_output_tokens=100_000),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelName:
    """A model's name taken apart: whose it is, what it is called there, and where that is."""

    provider: Provider
    model: str
    base_url: str | None = None


def parse_model(name: str, aliases: Mapping[str, str] = ALIASES) -> ModelName:
    """The model behind `sonnet`, `anthropic:claude-...`, `openai:...`, `openai-compatible:NAME@URL`, `ollama:...`."""
    full = aliases.get(name, name)
    provider, colon, rest = full.partition(":")
    found = next((known for known in PROVIDERS if known == provider), None)
    if found is None or not colon or not rest:
        known = ", ".join([*aliases, *(f"{word}:NAME" for word in PROVIDERS)])
        raise UsageError(f"Unknown model {name!r}. Use one of: {known}.")
    if found != "openai-compatible":
        return ModelName(provider=found, model=rest)
    model, at, url = rest.partition("@")
    if not model or not at or not url.startswith(("http://", "https://")):
        raise UsageError(f"{name!r} needs an address: openai-compatible:NAME@https://host/v1.")
    return ModelName(provider=found, model=model, base_url=url)


def limits_of(model: str, known: Mapping[str, ModelLimits] = _LIMITS) -> ModelLimits:
    """What a model reads and writes, by the longest known beginning of its name."""
    fitting = [prefix for prefix in known if model.startswith(prefix)]
    return known[max(fitting, key=len)] if fitting else ModelLimits()
