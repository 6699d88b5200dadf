"""What a call costs, by the tables of `genai-prices`, which others keep current."""

from typing import Final

from toolroll.kernel.conversation import Origin, Wire
from toolroll.kernel.usage import Usage

_PROVIDERS: Final[dict[Wire, str]] = {"anthropic": "anthropic", "openai": "openai"}


def price_of(origin: Origin, usage: Usage, *, base_url: str | None = None) -> float | None:
    """US dollars for one call, cache tiers and search fees included; None where any of it is not known, never 0.

    `base_url` tells a hosted server from one's own: without it, a call over the chat wire has no price.
    """
    if not usage.measured:
        return None
    provider = _PROVIDERS.get(origin.wire)
    if provider is None and base_url is None:
        return None
    import genai_prices  # noqa: PLC0415 - fourteen interpreter starts; only who asks for a price pays them

    counted = genai_prices.Usage(
        input_tokens=usage.input_total,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        cache_write_1h_tokens=usage.cache_write_1h_tokens,
        web_searches=usage.web_searches,
    )
    try:
        if provider is not None:
            found = genai_prices.calc_price(counted, origin.model, provider_id=provider)
        else:
            found = genai_prices.calc_price(counted, origin.model, provider_api_url=base_url)
    except LookupError:
        return None
    # The library leaves out what it has no price for: searches, mostly.
    parts = (
        (usage.input_total, "input_mtok"),
        (usage.output_tokens, "output_mtok"),
        (usage.web_searches, "web_searches_kcount"),
    )
    if any(count and getattr(found.model_price, price, None) is None for count, price in parts):
        return None
    return float(found.total_price)
