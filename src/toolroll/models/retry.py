"""Asking again: three times, with growing and jittered pauses, as long as nothing was shown yet."""

import random
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Final

from toolroll.errors import ModelError
from toolroll.models.model import Delta, Model, ModelRequest, ModelResponse

MAX_WAIT_S: Final = 60.0
"""The longest a provider may make us wait for one retry; one that asks for an hour is told to a person instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """The model is asked again, after a failure and a pause."""

    attempt: int
    wait_s: float
    error: ModelError


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRule:
    """How often, and how long to wait: `first_wait_s`, doubled each time, or what the provider asks for."""

    retries: int = 3
    first_wait_s: float = 0.5
    max_wait_s: float = MAX_WAIT_S
    jitter: Callable[[], float] = random.random

    def wait_s(self, attempt: int, error: ModelError) -> float | None:
        """The pause before the next attempt; None when there is to be none."""
        if attempt > self.retries or not error.is_retriable:
            return None
        if error.retry_after_s is not None:
            return error.retry_after_s if error.retry_after_s <= self.max_wait_s else None
        wait: float = self.first_wait_s * 2 ** (attempt - 1) * (0.5 + self.jitter())
        return min(self.max_wait_s, wait)


async def respond_with_retries(
    model: Model, request: ModelRequest, *, stream: bool, rule: RetryRule
) -> AsyncGenerator[Delta | ModelResponse | Retry, None]:
    """The model's turn; failures before the first delta are tried again, each announced as a `Retry`."""
    import asyncio  # noqa: PLC0415 - five interpreter starts; whoever gets here runs a loop already

    attempt = 1
    while True:
        shown = False
        try:
            async for piece in model.respond(request, stream=stream):
                shown = True
                yield piece
        except ModelError as error:
            wait = None if shown else rule.wait_s(attempt, error)
            if wait is None:
                raise
            yield Retry(attempt=attempt, wait_s=wait, error=error)
        else:
            return
        await asyncio.sleep(wait)
        attempt += 1
