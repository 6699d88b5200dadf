"""What a call costs, or that nobody knows."""

import subprocess
import sys

import genai_prices
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.kernel.data.messages import Origin
from toolroll.kernel.data.usage import Usage
from toolroll.models.prices import price_of

SONNET = Origin(wire="anthropic", model="claude-sonnet-5-5")


def test_A30_prices_come_from_the_library_by_tier() -> None:
    """A30: 2 dollars a million in, 10 out, 0.10 read from the cache, 2.50 written for 5 minutes and 4 for an hour."""
    million = 1_000_000
    tiers = [
        (Usage(input_tokens=million), 2.0),
        (Usage(output_tokens=million), 10.0),
        (Usage(cache_read_tokens=million), 0.1),
        (Usage(cache_write_5m_tokens=million), 2.5),
        (Usage(cache_write_1h_tokens=million), 4.0),
    ]
    together = Usage()
    for usage, dollars in tiers:
        assert price_of(SONNET, usage) == pytest.approx(dollars)
        together += usage
    assert price_of(SONNET, together) == pytest.approx(sum(dollars for _, dollars in tiers))


def test_A30_searches_have_a_fee() -> None:
    plain = price_of(SONNET, Usage(input_tokens=1_000))
    searched = price_of(SONNET, Usage(input_tokens=1_000, web_searches=3))
    assert plain is not None
    assert searched == pytest.approx(plain + 0.03)


def test_A30_openai_and_hosted_servers_have_prices() -> None:
    usage = Usage(input_tokens=1_000_000)
    assert price_of(Origin(wire="openai", model="gpt-5"), usage) == pytest.approx(1.25)
    chat = Origin(wire="chat", model="deepseek-chat")
    assert (price_of(chat, usage, base_url="https://api.deepseek.com/v1") or 0) > 0


@pytest.mark.parametrize(
    ("origin", "usage", "base_url"),
    [
        (Origin(wire="anthropic", model="claude-nobody-9"), Usage(input_tokens=1), None),
        (Origin(wire="chat", model="llama3"), Usage(input_tokens=1), None),
        (Origin(wire="chat", model="gpt-5"), Usage(input_tokens=1), "http://localhost:11434/v1"),
        (SONNET, Usage(input_tokens=1, measured=False), None),
        # A model whose searches have no price in the table: half a price is none.
        (Origin(wire="openai", model="o3-pro"), Usage(input_tokens=1, web_searches=1), None),
    ],
)
def test_A30_what_is_not_known_is_unknown_and_not_free(origin: Origin, usage: Usage, base_url: str | None) -> None:
    assert price_of(origin, usage, base_url=base_url) is None


COUNTS = st.integers(0, 400_000)


@given(
    st.sampled_from(
        [SONNET, Origin(wire="anthropic", model="claude-sonnet-4-5"), Origin(wire="openai", model="gpt-5.4")]
    ),
    st.builds(
        Usage,
        input_tokens=COUNTS,
        output_tokens=COUNTS,
        cache_read_tokens=COUNTS,
        cache_write_5m_tokens=COUNTS,
        cache_write_1h_tokens=COUNTS,
        web_searches=st.integers(0, 20),
    ),
)
def test_A30_a_price_is_what_the_library_says(origin: Origin, usage: Usage) -> None:
    """Also of requests so long that they have prices of their own."""
    counted = genai_prices.Usage(
        input_tokens=usage.input_total,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        cache_write_1h_tokens=usage.cache_write_1h_tokens,
        web_searches=usage.web_searches,
    )
    said = genai_prices.calc_price(counted, origin.model, provider_id=origin.wire).total_price
    assert price_of(origin, usage) == pytest.approx(float(said))


def test_the_tables_are_loaded_when_a_price_is_asked_for() -> None:
    code = "import sys, toolroll.models.prices; assert 'genai_prices' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_usage_adds_up() -> None:
    one = Usage(input_tokens=1, output_tokens=2, cache_read_tokens=3, cache_write_5m_tokens=4, requests=1)
    two = Usage(cache_write_1h_tokens=5, web_searches=6, requests=1, measured=False)
    both = one + two
    assert (both.input_total, both.cache_write_tokens, both.total) == (13, 9, 15)
    assert (both.requests, both.web_searches, both.measured) == (2, 6, False)
