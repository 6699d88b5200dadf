"""Tokens are added up; what one call does not report leaves the sum unmeasured."""

from toolroll.kernel.data.usage import Usage


def test_totals_hold_fresh_and_cached_tokens() -> None:
    usage = Usage(
        input_tokens=1, output_tokens=2, cache_read_tokens=4, cache_write_5m_tokens=8, cache_write_1h_tokens=16
    )
    assert (usage.cache_write_tokens, usage.input_total, usage.total) == (24, 29, 31)


def test_a_sum_is_measured_where_all_of_it_is() -> None:
    known, unknown = Usage(input_tokens=3, requests=1), Usage(requests=1, measured=False)
    assert known + known == Usage(input_tokens=6, requests=2)
    assert known + unknown == Usage(input_tokens=3, requests=2, measured=False)
