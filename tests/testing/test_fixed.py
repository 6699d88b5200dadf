"""A clock and ids without surprises."""

from datetime import UTC, datetime, timedelta

import pytest

from toolroll.errors import UsageError
from toolroll.testing import counting_ids, fixed_clock

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


def test_K24_a_fixed_clock_stands_still() -> None:
    clock = fixed_clock(NOON)
    assert [clock(), clock(), clock()] == [NOON, NOON, NOON]


def test_K24_a_fixed_clock_goes_on_by_its_step_from_its_start() -> None:
    clock = fixed_clock(NOON, step=timedelta(minutes=5))
    assert [NOON, NOON + timedelta(minutes=5), NOON + timedelta(minutes=10)] == [clock(), clock(), clock()]


def test_K24_two_clocks_do_not_share_their_time() -> None:
    first, second = (fixed_clock(NOON, step=timedelta(days=1)) for _ in range(2))
    first()
    assert first() != second()


def test_K24_a_fixed_clock_has_a_time_of_its_own() -> None:
    assert fixed_clock()() == fixed_clock()()
    assert fixed_clock()().tzinfo is UTC


def test_a_clock_without_a_zone_is_refused_with_what_to_write() -> None:
    with pytest.raises(UsageError, match=r"tzinfo=UTC"):
        fixed_clock(datetime(2026, 11, 15))  # noqa: DTZ001 - the mistake under test


def test_ids_count() -> None:
    make_id = counting_ids("call")
    assert [make_id(), make_id(), make_id()] == ["call_1", "call_2", "call_3"]
    assert counting_ids()() == "id_1"
