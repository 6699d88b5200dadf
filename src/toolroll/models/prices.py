"""Compute what a call costs, by the tables of `genai-prices`, which others keep current."""

from typing import Final

from toolroll.kernel.data.messages import Origin
from toolroll.kernel.data.usage import Usage

_PROVIDERS: Final[dict[str, str]] = {"anthropic": "anthropic", "openai": "openai"}


def price_of(origin: Origin, usage: Usage, *, base_url: str | None = None) -> float | None:
    """Return the US dollars for one call, with cache tiers and search fees; None, never 0, if any price is unknown.

    `base_url` tells a hosted server from one's own: without it, a call over the chat wire has no price.
    """
    if not usage.measured:
        return None
    provider = _PROVIDERS.get(origin.wire)
    if provider is None and base_url is None:
        return None
    from toolroll.models.price_tables import compute_price  # noqa: PLC0415 - fourteen interpreter starts

    return compute_price(origin.model, usage, provider=provider, base_url=base_url)
