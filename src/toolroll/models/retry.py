"""Ask a model again after a failure: three times, with growing and jittered pauses, if no text was shown yet."""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from time import monotonic
from typing import Final

from toolroll.errors import ModelError, ModelTimeout
from toolroll.models.model import Delta, Model, ModelRequest, ModelResponse, TextDelta

MAX_WAIT_S: Final = 60.0
"""The longest a provider may make us wait for one retry, as in the vendors' own clients."""
MAX_TOTAL_WAIT_S: Final = 120.0
"""All pauses of one turn together: a person who waits longer wants to be told instead."""
MAX_TIMEOUTS_S: Final = 300.0
"""All attempts of one turn that time out together, with one more that takes as long as the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """The model is asked again, after a failure and a pause."""

    attempt: int
    wait_s: float
    error: ModelError


async def _sleep(seconds: float) -> None:
    await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRule:
    """How often, and how long to wait: what the provider asks for, or `first_wait_s`, doubled each time."""

    retries: int = 3
    first_wait_s: float = 0.5
    max_wait_s: float = MAX_WAIT_S
    max_total_wait_s: float = MAX_TOTAL_WAIT_S
    max_timeouts_s: float = MAX_TIMEOUTS_S
    jitter: Callable[[], float] = random.random
    sleep: Callable[[float], Awaitable[None]] = _sleep

    def wait_s(self, attempt: int, error: ModelError, waited_s: float = 0.0) -> float | None:
        """Return the pause before the next attempt; None when there is to be none."""
        if attempt > self.retries or not error.is_retriable or error.is_starting:  # which was waited for already
            return None
        asked = error.retry_after_s
        # One that asks for an hour is not waited for; it may still be back sooner.
        wait = asked if asked is not None and asked <= self.max_wait_s else self._backoff_s(attempt)
        return wait if waited_s + wait <= self.max_total_wait_s else None

    def _backoff_s(self, attempt: int) -> float:
        wait: float = self.first_wait_s * 2 ** (attempt - 1) * (0.5 + self.jitter())
        return min(self.max_wait_s, wait)


async def respond_with_retries(
    model: Model, request: ModelRequest, *, stream: bool, rule: RetryRule
) -> AsyncGenerator[Delta | ModelResponse | Retry, None]:
    """Yield the model's turn; after a failure before the first text, announce a `Retry` and ask again.

    Thoughts and the arguments of a call may have come by then: nothing of them stays on a screen, and nothing was run.
    """
    attempt, waited_s, lost_s = 1, 0.0, 0.0
    while True:
        shown, began_s = False, monotonic()
        pieces = model.respond(request, stream=stream)
        try:
            async for piece in pieces:
                shown = shown or isinstance(piece, TextDelta | ModelResponse)
                yield piece
        except ModelError as error:
            wait = None if shown else rule.wait_s(attempt, error, waited_s)
            if isinstance(error, ModelTimeout):
                took_s = monotonic() - began_s
                lost_s += took_s
                wait = wait if lost_s + took_s <= rule.max_timeouts_s else None
            if wait is None:
                raise
            yield Retry(attempt=attempt, wait_s=wait, error=error)
        else:
            return
        finally:
            await _close(pieces)
        await rule.sleep(wait)
        attempt, waited_s = attempt + 1, waited_s + wait


async def _close(pieces: AsyncIterator[object]) -> None:
    # A turn that is left before its end: the connection is freed now, not when the collector comes by.
    if isinstance(pieces, AsyncGenerator):
        await pieces.aclose()
