"""A run that has been started: its events, its conversation at any moment, and ways to wait for it or to stop it."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from types import TracebackType
from typing import Generic, Self, TypeAlias, cast

from toolroll.agent.events import Event
from toolroll.agent.history.fork import fork_run
from toolroll.agent.history.resume import continue_run
from toolroll.agent.loop.state import RunState
from toolroll.agent.result import Out, RunResult
from toolroll.agent.run import RunRequest, close_models, execute_run, initial_messages, new_run
from toolroll.errors import UsageError
from toolroll.kernel.call.context import Run, random_id
from toolroll.kernel.data.messages import Message

Listener: TypeAlias = Callable[[Event], None]
"""Is called with every event of a run, in the moment it happens."""


class LiveRun(Generic[Out]):
    """One run, started by `Agent.start`. It begins when it is first awaited (`wait`) or iterated.

    Without a listener, `async for event in run` gives its events; the last one is `RunFinished`. Leaving that loop
    cancels the run; `async with` waits until it has ended. `messages` is a legal conversation at any moment, so
    another run can continue from it.
    """

    def __init__(self, request: RunRequest, listener: Listener | None = None) -> None:
        self._request = request
        self._mailbox = _Mailbox() if listener is None else None
        self._listener = listener or cast("_Mailbox", self._mailbox).put
        self._state: RunState | None = None
        self._is_stopped = False
        self._result: RunResult[object] | None = None
        self._task: asyncio.Task[RunResult[object]] | None = None
        self._interrupt: KeyboardInterrupt | None = None
        setup = request.setup
        self._run_id = request.resume or request.run_id or (setup.make_id or random_id)()
        if request.is_new:
            said = initial_messages(request.prompt, request.messages)
            self._open(
                new_run(
                    setup,
                    said,
                    self._emit,
                    stream=request.stream,
                    caller=request.caller,
                    run_id=self._run_id,
                    earlier=len(request.messages),
                )
            )

    @property
    def run_id(self) -> str:
        """Return the run's id, as in the journal."""
        return self._run_id

    @property
    def run(self) -> Run | None:
        """Return the run as its tools see it; None until the record of a resumed run is open."""
        return None if self._state is None else self._state.run

    @property
    def messages(self) -> tuple[Message, ...]:
        """Return the conversation as it stands; what is unfinished is in it, and marked."""
        return () if self._state is None else self._state.messages()

    @property
    def result(self) -> RunResult[Out] | None:
        """Return how the run ended, also where it failed or was cancelled; None before that."""
        result = self._result if self._state is None else self._result or self._state.result
        return cast("RunResult[Out] | None", result)

    @property
    def partial(self) -> Out | None:
        """Return the typed answer as far as it is written, in a run that streams; None while there is nothing of it."""
        return None if self._state is None else cast("Out | None", self._state.partial)

    @property
    def is_calling(self) -> bool:
        """Return whether a tool call is running at this moment."""
        return self._state is not None and bool(self._state.started)

    def stop(self) -> None:
        """End the run at the next safe point: the model and checks are interrupted, other calls may finish."""
        self._is_stopped = True
        if self._state is not None:
            self._state.stop()

    async def wait(self) -> RunResult[Out]:
        """Return the result when the run has ended; cancelling this cancels the run.

        Events that nobody has begun to iterate are dropped.
        """
        if self._task is None:
            if self._mailbox is not None:
                self._listener = _ignore
            self._begin()
        assert self._task is not None
        return cast("RunResult[Out]", await self._join(self._task))

    async def aclose(self) -> None:
        """Cancel the run if it has not ended, and wait until it has."""
        task = self._task
        if task is None:
            return
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
        if not task.cancelled():
            task.exception()  # seen: it was raised where the events are read, or nobody reads them any more

    async def close_models(self) -> None:
        """Close the connections of every model the run has asked, those of sub-agents included."""
        if self._state is not None:
            await close_models(self._state.models)

    def __aiter__(self) -> AsyncIterator[Event[Out]]:
        return cast("AsyncIterator[Event[Out]]", self._events())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _events(self) -> AsyncGenerator[Event, None]:
        if self._mailbox is None:
            raise UsageError("The events of this run go to its listener. Wait for the run with `await run.wait()`.")
        if self._task is not None:
            raise UsageError("A run can be listened to once. Start another with `agent.stream(...)`.")
        mailbox, task = self._mailbox, self._begin()
        task.add_done_callback(mailbox.close)
        try:
            while await mailbox.filled():
                while mailbox.events:
                    yield mailbox.events.popleft()
            await self._join(task)
        finally:
            await self.aclose()

    def _begin(self) -> "asyncio.Task[RunResult[object]]":
        self._task = asyncio.ensure_future(self._execute_in_task())
        return self._task

    async def _join(self, task: "asyncio.Task[RunResult[object]]") -> RunResult[object]:
        try:
            return await task
        except asyncio.CancelledError:
            if self._interrupt is not None:
                raise self._interrupt from None
            raise

    async def _execute_in_task(self) -> RunResult[object]:
        """Execute the run; Ctrl-C at a question of it is raised where the run is waited for.

        Raised out of a task it would end the event loop, and everything else in it.
        """
        try:
            return await self._execute()
        except KeyboardInterrupt as error:
            self._interrupt = error
            raise asyncio.CancelledError from None

    async def _execute(self) -> RunResult[object]:
        request = self._request
        if self._state is not None:
            return await execute_run(self._state)
        if request.fork is not None:
            assert request.at_step is not None
            replaces_prompt = request.prompt is not None
            await fork_run(
                request.setup,
                request.fork,
                at=request.at_step,
                replaces_prompt=replaces_prompt,
                run_id=self._run_id,
                settings=request.settings,
            )
        self._result = await continue_run(request, self._run_id, emit=self._emit, on_open=self._open)
        return self._result

    def _open(self, state: RunState) -> None:
        self._state = state
        state.stop_requested = self._is_stopped

    def _emit(self, event: Event) -> None:
        self._listener(event)


def _ignore(_event: Event) -> None:
    return None


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
        while not self.events and not self._is_closed:
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
        return bool(self.events)

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(None)
