"""A clock in the test's hands: limits are reached when the test says so, however slowly the machine gets there."""

import asyncio
from time import monotonic

TURNS = 100


def time_passes(seconds: float) -> None:
    """The clock of the running event loop jumps ahead."""
    loop = asyncio.get_running_loop()
    ahead = loop.time() - monotonic() + seconds
    loop.time = lambda: monotonic() + ahead  # type: ignore[method-assign]  # of this loop only


async def time_passes_for_the_other_side(seconds: float) -> None:
    """The same, once whoever is served in this loop has had turns enough to wait for the answer."""
    for _ in range(TURNS):
        await asyncio.sleep(0)
    time_passes(seconds)


class Clock:
    """Seconds since 1970 that pass only when the test says so."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds
