"""A clock and ids that are the same in every run of a test."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Final

from toolroll.errors import UsageError

START: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""What a fixed clock shows unless it is told otherwise."""

_STANDS_STILL: Final = timedelta(0)


def fixed_clock(start: datetime = START, *, step: timedelta = _STANDS_STILL) -> Callable[[], datetime]:
    """A clock for `Run(clock=...)` that shows `start` and goes on by `step` each time it is read."""
    if start.tzinfo is None:
        raise UsageError(f"A clock needs a time with its zone, not {start!r}. Write datetime(..., tzinfo=UTC).")
    reads = count()
    return lambda: start + next(reads) * step


def counting_ids(prefix: str = "id") -> Callable[[], str]:
    """Ids for `Run(make_id=...)` that count: `id_1`, `id_2`, and so on."""
    numbers = count(1)
    return lambda: f"{prefix}_{next(numbers)}"
