"""Run sync functions off the event loop, on threads that never keep the process alive.

`asyncio.to_thread` joins its threads at exit: one tool that hangs would keep the whole program from ending. These are
daemon threads, reused while they are idle. What belongs together (the sync functions of one call) runs on one of them:
a database connection, for one, may only be used where it was made.
"""

import contextvars
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, Literal, TypeVar

T = TypeVar("T")

IDLE_S: Final = 10.0
"""How long a thread waits for its next call before it ends; starting one costs about 50 microseconds."""

_idle: "deque[_Worker]" = deque()  # appended to and popped from without a lock: each is one step of the interpreter


# The lanes whose functions wait for what runs now.
_waiting: "contextvars.ContextVar[frozenset[Lane]]" = contextvars.ContextVar("toolroll_waiting", default=frozenset())


def is_in_event_loop() -> bool:
    """Return whether an event loop runs here. The error that says no ends here: no traceback begins with it."""
    import asyncio  # noqa: PLC0415 - five interpreter starts; whoever asks is about to run a loop

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class Lane:
    """One thread for functions that belong together, one after the other; taken when it is first needed."""

    def __init__(self) -> None:
        self._pool = _idle  # when the interpreter ends, `__del__` finds no globals any more
        self._worker: _Worker | None = None
        self._last: _Job[Any] | None = None

    async def run(self, function: Callable[[], T]) -> T:
        """Run the function and return its result; the event loop goes on meanwhile. Context variables go along.

        When the waiting task is cancelled the thread is left to finish alone, as Python cannot stop one: what comes
        next gets another thread.
        """
        waiting = _waiting.get()
        if self in waiting:  # one of its own functions waits for this one: on the same thread, both would for ever
            return await _run_alone(function)
        context = contextvars.copy_context()
        context.run(_waiting.set, waiting | {self})
        job, worker = _Job(function, context), self._take()
        self._last = job
        worker.jobs.put(job)
        try:
            return await job.future
        finally:
            if job.state == "running":
                self._leave(worker)
            del job  # an error's traceback leads here: it would keep itself and the call's arguments alive

    def close(self) -> None:
        """Give the thread back."""
        worker, last, self._worker, self._last = self._worker, self._last, None, None
        if worker is None or last is None:
            return
        if last.state == "ended":
            self._pool.append(worker)  # at once, so that the next call finds this thread free
        else:
            worker.jobs.put(None)

    def __del__(self) -> None:
        self.close()  # of a run that nobody closed

    def _take(self) -> "_Worker":
        if self._worker is None or not self._worker.is_alive():  # a fork copies the lane, but not the thread
            self._worker = _take_worker()
        return self._worker

    def _leave(self, worker: "_Worker") -> None:
        if self._worker is not worker:  # closed meanwhile
            return
        self._worker = None
        with suppress(Empty):
            while True:
                job = worker.jobs.get_nowait()
                self._take().jobs.put(job)
        worker.jobs.put(None)


async def _run_alone(function: Callable[[], T]) -> T:
    lane = Lane()
    try:
        return await lane.run(function)
    finally:
        lane.close()


class _Job(Generic[T]):
    def __init__(self, function: Callable[[], T], context: contextvars.Context) -> None:
        import asyncio  # noqa: PLC0415 - five interpreter starts; whoever gets here runs a loop already

        self._function = function
        self._context = context
        self._loop = asyncio.get_running_loop()
        self.future: asyncio.Future[T] = self._loop.create_future()
        self.state: Literal["waiting", "running", "ended"] = "waiting"
        self._settle: Callable[[], object]

    def run(self) -> None:
        self.state = "running"  # first: whoever cancels from now on leaves the thread behind
        if self.future.cancelled():
            self._settle = self.future.cancel
        else:
            self._settle = self._outcome()
        del self._function, self._context  # they hold the call's arguments
        self.state = "ended"

    def _outcome(self) -> Callable[[], None]:
        try:
            return partial(self.future.set_result, self._context.run(self._function))
        except StopIteration as stop:  # a future cannot carry it (PEP 479)
            error = RuntimeError("the function raised StopIteration")
            error.__cause__ = stop
            return partial(self.future.set_exception, error)
        except BaseException as error:  # noqa: BLE001 - carried over to the waiting task, whatever it is (SystemExit too)
            return partial(self.future.set_exception, error)

    def report(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._end)
        except RuntimeError:  # the loop has closed: nobody waits for this any more
            return

    def _end(self) -> None:
        if not self.future.done():  # else it was cancelled meanwhile
            self._settle()
        del self._settle, self.future  # as above


class _Worker(threading.Thread):
    def __init__(self) -> None:
        super().__init__(name="toolroll-tool", daemon=True)
        self.jobs: SimpleQueue[_Job[Any] | None] = SimpleQueue()  # None: nobody has it any more

    def run(self) -> None:
        while self._work() or not self._may_end():
            continue

    def _work(self) -> bool:
        try:
            job = self.jobs.get(timeout=IDLE_S)
        except Empty:
            return False
        if job is None:
            _idle.append(self)
        else:
            job.run()
            job.report()
        return True

    def _may_end(self) -> bool:
        try:
            _idle.remove(self)
        except ValueError:  # a lane has it
            return False
        return True


def _take_worker() -> _Worker:
    try:
        while not (worker := _idle.pop()).is_alive():
            continue  # a fork copies the list, but not the threads
    except IndexError:
        worker = _Worker()
        worker.start()
    return worker
