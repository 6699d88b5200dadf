"""Further attempts at a request that failed: how long to wait, and when to give up."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

from toolroll.errors import ServiceFailed
from toolroll.safe.limits import MAX_RETRY_AFTER_S

T = TypeVar("T")

Sleep: TypeAlias = Callable[[float], Awaitable[None]]

_MAX_WAIT_DIGITS: Final = 12  # the next 30,000 years; a longer number is not a number of seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """When to try again: after each of `pauses_s`, or after the `retry_after_s` of the error, up to `max_wait_s`."""

    pauses_s: tuple[float, ...]
    max_wait_s: float
    sleep: Sleep | None = None

    async def run(self, attempt: Callable[[], Awaitable[T]], *, should_retry: Callable[[ServiceFailed], bool]) -> T:
        """Return what `attempt` returns; raise its last error, or the first that another attempt would not change."""
        for pause_s in self.pauses_s:
            try:
                return await attempt()
            except ServiceFailed as error:
                wait_s = pause_s if error.retry_after_s is None else error.retry_after_s
                if wait_s > self.max_wait_s or not should_retry(error):
                    raise
            await self.pause(wait_s)
        return await attempt()

    async def pause(self, seconds: float) -> None:
        """Wait."""
        await (self.sleep or asyncio.sleep)(seconds)


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of a `Retry-After` header, at most a day; None where it has no number of seconds."""
    text = headers.get("retry-after", "")
    if not (text.isascii() and text.isdigit()):
        return None
    return min(float(text[:_MAX_WAIT_DIGITS]), MAX_RETRY_AFTER_S)
