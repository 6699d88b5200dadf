"""Tokens that calls of models used. What a provider does not report is unknown, which is not the same as zero."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one or more calls. `input_tokens` is what was not cached; the whole input is `input_total`.

    `measured` is false where a provider did not report; `requests` counts calls of the provider, so that turns that
    were paused and continued show.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_5m_tokens: int = 0
    cache_write_1h_tokens: int = 0
    web_searches: int = 0
    requests: int = 0
    measured: bool = True

    @property
    def input_total(self) -> int:
        """Return all input tokens: fresh, from the cache, and into it."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def cache_write_tokens(self) -> int:
        """Return all tokens written into the cache, of both tiers."""
        return self.cache_write_5m_tokens + self.cache_write_1h_tokens

    @property
    def total(self) -> int:
        """Return input and output together."""
        return self.input_total + self.output_tokens

    def __add__(self, other: "Usage") -> "Usage":
        sums = {name: getattr(self, name) + getattr(other, name) for name in _COUNTED}
        return Usage(**sums, measured=self.measured and other.measured)


_COUNTED = tuple(field.name for field in fields(Usage) if field.name != "measured")
