"""The price tables of `genai-prices`. Loading them takes fourteen interpreter starts."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import genai_prices
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ModelPrice, TieredPrices

from toolroll.kernel.data.usage import Usage

_ANY_SIZE: Final = 10**12
"""More tokens than any request has: where long requests have no prices of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rates:
    """US dollars for one token of each kind and one search, in requests of up to so many tokens."""

    price: ModelPrice
    up_to_tokens: int
    fresh: float
    output: float
    cache_read: float
    cache_write_5m: float
    cache_write_1h: float
    search: float

    def cost(self, usage: Usage) -> float:
        """Compute what the library would, without its 160 µs: that is paid for every step of a recorded run."""
        if usage.input_total > self.up_to_tokens:
            return _by_the_library(self.price, usage)
        return (
            usage.input_tokens * self.fresh
            + usage.output_tokens * self.output
            + usage.cache_read_tokens * self.cache_read
            + usage.cache_write_5m_tokens * self.cache_write_5m
            + usage.cache_write_1h_tokens * self.cache_write_1h
            + usage.web_searches * self.search
        )


_known: Final[dict[int, _Rates]] = {}
"""By the identity of a table's entry, which `_Rates.price` keeps alive."""


def compute_price(model: str, usage: Usage, *, provider: str | None, base_url: str | None) -> float | None:
    """Return the US dollars for one call; None if any price is unknown."""
    price = _price(model, provider, base_url)
    if price is None:
        return None
    # The library leaves out what it has no price for: searches, mostly.
    parts = (
        (usage.input_total, "input_mtok"),
        (usage.output_tokens, "output_mtok"),
        (usage.web_searches, "web_searches_kcount"),
    )
    if any(count and getattr(price, name, None) is None for count, name in parts):
        return None
    rates = _known.get(id(price))
    if rates is None:
        rates = _known[id(price)] = _rates(price)
    return rates.cost(usage)


def _price(model: str, provider: str | None, base_url: str | None) -> ModelPrice | None:
    """Return the prices that hold today."""
    address = base_url if provider is None else None
    try:
        _, found = get_snapshot().find_provider_model(model, None, provider, address)
    except LookupError:
        return None
    return found.get_prices(datetime.now(UTC))


def _by_the_library(price: ModelPrice, usage: Usage) -> float:
    counted = genai_prices.Usage(
        input_tokens=usage.input_total,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        cache_write_1h_tokens=usage.cache_write_1h_tokens,
        web_searches=usage.web_searches,
    )
    return float(price.calc_price(counted)["total_price"])


def _rates(price: ModelPrice) -> _Rates:
    tiered = [value for value in vars(price).values() if isinstance(value, TieredPrices)]
    return _Rates(
        price=price,
        up_to_tokens=min((tier.start for one in tiered for tier in one.tiers), default=_ANY_SIZE),
        fresh=_by_the_library(price, Usage(input_tokens=1)),
        output=_by_the_library(price, Usage(output_tokens=1)),
        cache_read=_by_the_library(price, Usage(cache_read_tokens=1)),
        cache_write_5m=_by_the_library(price, Usage(cache_write_5m_tokens=1)),
        cache_write_1h=_by_the_library(price, Usage(cache_write_1h_tokens=1)),
        search=_by_the_library(price, Usage(web_searches=1)),
    )
