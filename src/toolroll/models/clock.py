"""The clock over an answer: how long a provider may take for each part of it, and what is told while it is waited for.

Only content counts as progress. A server that sends pings, comments or half an event a second has `content_s`, and one
that writes a word a minute has `turn_s`.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

from toolroll.errors import ModelError, ModelTimeout
from toolroll.messages import (
    MODEL_NOT_READY,
    MODEL_TIMEOUT_CONTENT,
    MODEL_TIMEOUT_FIRST_BYTE,
    MODEL_TIMEOUT_GAP,
    MODEL_TIMEOUT_TURN,
    Template,
)
from toolroll.models.model import ModelWait, OnWait, Timeouts

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, TimerHandle

T = TypeVar("T")

TELL_AFTER_S: Final = 5.0
"""When a wait is first told of; then each time that it has become twice as long."""

FIRST_PAUSE_S: Final = 0.25
MAX_PAUSE_S: Final = 2.0
"""Between two tries of a server that is not ready: doubled each time."""

_Limit: TypeAlias = Literal["first_byte", "gap", "content", "turn"]
_MESSAGES: Final[dict[_Limit, Template]] = {
    "first_byte": MODEL_TIMEOUT_FIRST_BYTE,
    "gap": MODEL_TIMEOUT_GAP,
    "content": MODEL_TIMEOUT_CONTENT,
    "turn": MODEL_TIMEOUT_TURN,
}


async def _sleep(seconds: float) -> None:
    loop = running_loop()
    over = loop.create_future()
    timer = loop.call_later(seconds, over.set_result, None)
    try:
        await over
    finally:
        timer.cancel()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pauses:
    """The time that passes while a server is not ready; a test has one of its own."""

    now: Callable[[], float] = monotonic
    sleep: Callable[[float], Awaitable[None]] = _sleep


class StartWait:
    """Waits for a server on this machine that is not ready yet; tells of it at once, and when the wait has doubled."""

    def __init__(self, limit_s: float, *, pauses: Pauses, on_wait: OnWait | None) -> None:
        self._limit_s = limit_s
        self._pauses = pauses
        self._on_wait = on_wait
        self._started_s = pauses.now()
        self._pause_s = FIRST_PAUSE_S
        self._tell_after_s = 0.0

    async def wait(self, error: ModelError) -> None:
        """Wait a moment before the next try; raise an error like `error` when the limit is reached."""
        waited_s = self._pauses.now() - self._started_s
        if waited_s >= self._limit_s:
            failed = type(error)(MODEL_NOT_READY(seconds=f"{self._limit_s:g}"), status=error.status)
            failed.is_starting = True
            raise failed from error
        if waited_s >= self._tell_after_s and self._on_wait is not None:
            self._tell_after_s = max(2 * self._tell_after_s, TELL_AFTER_S)
            self._on_wait(ModelWait(waited_s=waited_s, limit_s=self._limit_s, is_starting=True))
        await self._pauses.sleep(min(self._pause_s, self._limit_s - waited_s))
        self._pause_s = min(2 * self._pause_s, MAX_PAUSE_S)


class AnswerClock:
    """Holds one answer to its limits. It starts when it is made; close it when the answer is complete or given up."""

    def __init__(self, limits: Timeouts, *, streamed: bool, on_wait: OnWait | None = None) -> None:
        self._limits = limits
        self._streamed = streamed
        self._on_wait = on_wait
        self._started_s = self._byte_s = self._content_s = monotonic()
        self._has_bytes = False
        self._is_waiting = False
        self._tell_after_s = TELL_AFTER_S
        self._timer: TimerHandle | None = None
        if on_wait is not None:
            self._set_timer()

    async def wait(self, step: Awaitable[T]) -> T:
        """Await one step of the exchange; raise `ModelTimeout` when the next limit is reached before it is done."""
        from asyncio import timeout  # noqa: PLC0415 - five interpreter starts, and connecting does without

        limit, ends_s = self._next_limit()
        bound = timeout(ends_s - monotonic())
        self._is_waiting = True
        try:
            async with bound:
                return await step
        except TimeoutError:
            if not bound.expired():
                raise
            raise ModelTimeout(_MESSAGES[limit](seconds=f"{self._seconds(limit):g}")) from None
        finally:
            self._is_waiting = False

    async def next(self, chunks: AsyncIterator[bytes]) -> bytes | None:
        """Return the next bytes of the body; None at its end."""
        chunk = await self.wait(anext(chunks, None))
        self._has_bytes = True
        self._byte_s = monotonic()
        return chunk

    def note_content(self) -> None:
        """Note that something of the answer itself has come."""
        self._content_s = monotonic()
        self._tell_after_s = TELL_AFTER_S

    def close(self) -> None:
        """Tell of nothing any more."""
        if self._timer is not None:
            self._timer.cancel()

    def _next_limit(self) -> tuple[_Limit, float]:
        """Return the limit that is reached first if nothing comes, and when."""
        ends: list[tuple[_Limit, float]] = [
            ("content", self._content_s + self._seconds("content")),
            ("turn", self._started_s + self._seconds("turn")),
        ]
        if self._has_bytes:
            ends.append(("gap", self._byte_s + self._seconds("gap")))
        elif self._streamed:  # an answer in one piece begins when all of it is written
            ends.append(("first_byte", self._started_s + self._seconds("first_byte")))
        return min(ends, key=lambda one: one[1])

    def _seconds(self, limit: _Limit) -> float:
        match limit:
            case "first_byte":
                return self._limits.first_byte
            case "gap":
                return self._limits.gap_s
            case "content":
                return self._limits.content_s
            case "turn":
                return self._limits.turn_s

    def _set_timer(self) -> None:
        waits_s = max(self._content_s + self._tell_after_s - monotonic(), 0.0)
        self._timer = running_loop().call_later(waits_s, self._tell)

    def _tell(self) -> None:
        waited_s = monotonic() - self._content_s
        if self._is_waiting and waited_s >= self._tell_after_s and self._on_wait is not None:
            self._tell_after_s *= 2
            self._on_wait(ModelWait(waited_s=waited_s, limit_s=self._next_limit()[1] - self._content_s))
        self._set_timer()


def running_loop() -> "AbstractEventLoop":
    """Return the event loop that this code runs in."""
    from asyncio import get_running_loop  # noqa: PLC0415 - five interpreter starts; whoever gets here has paid them

    return get_running_loop()
