"""A run that is going: its events as they happen, its conversation at any moment, and a way to stop it."""

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Generic, Self, cast

from toolroll.agent.events import Event
from toolroll.agent.result import Out, RunResult
from toolroll.agent.run import new_run, play
from toolroll.agent.setup import Setup
from toolroll.errors import UsageError
from toolroll.kernel.conversation import Message

if TYPE_CHECKING:
    import asyncio


class LiveRun(Generic[Out]):
    """The events of one run: `async for event in run`. The last one is `RunFinished`.

    Leaving the loop cancels the run; `async with` waits until it has ended. What there is of the conversation stays in
    `messages`, legal at any moment, for another run to go on from.
    """

    def __init__(self, setup: Setup, said: Sequence[Message]) -> None:
        self._mailbox = _Mailbox()
        self._state = new_run(setup, said, self._mailbox.put, stream=True)
        self._task: asyncio.Task[RunResult[object]] | None = None

    @property
    def run_id(self) -> str:
        """The run's id, as in the journal."""
        return self._state.run.run_id

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation as it stands; what is unfinished is in it, and marked."""
        return self._state.messages()

    @property
    def result(self) -> RunResult[Out] | None:
        """How the run ended, also where it failed or was cancelled; None before that."""
        return cast("RunResult[Out] | None", self._state.result)

    def stop(self) -> None:
        """End the run at the next safe point: what the model is writing is broken off, calls that run may finish."""
        self._state.stop_requested = True

    async def wait(self) -> RunResult[Out]:
        """Let the run go to its end, whatever it tells, and return what it comes to."""
        async for _ in self:
            continue
        assert self.result is not None
        return self.result

    async def aclose(self) -> None:
        """Cancel the run if it has not ended, and wait until it has."""
        import asyncio  # noqa: PLC0415 - five interpreter starts; only who runs an agent pays them

        task = self._task
        if task is None:
            return
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
        if not task.cancelled():
            task.exception()  # seen: it was raised where the events are read, or nobody reads them any more

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._events()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _events(self) -> AsyncGenerator[Event, None]:
        import asyncio  # noqa: PLC0415 - as above

        if self._task is not None:
            raise UsageError("A run can be listened to once. Start another with `agent.stream(...)`.")
        mailbox = self._mailbox
        task = self._task = asyncio.ensure_future(play(self._state))
        task.add_done_callback(mailbox.close)
        try:
            while await mailbox.filled():
                while mailbox.events:
                    yield mailbox.events.popleft()
            await task
        finally:
            await self.aclose()


class _Mailbox:
    """Events on their way from the run to whoever reads them; a queue of asyncio's costs four times as much a piece."""

    def __init__(self) -> None:
        self.events: deque[Event] = deque()
        self._is_closed = False
        self._waiting: asyncio.Future[None] | None = None

    def put(self, event: Event) -> None:
        self.events.append(event)
        self._wake()

    def close(self, _task: object) -> None:
        self._is_closed = True
        self._wake()

    async def filled(self) -> bool:
        """Wait until there is something to read; False when there never will be."""
        import asyncio  # noqa: PLC0415 - as above

        while not self.events and not self._is_closed:
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
        return bool(self.events)

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(None)
