"""Sync functions off the event loop, on threads that never keep the process alive.

`asyncio.to_thread` joins its threads at exit: one tool that hangs would keep the whole program from ending. These are
daemon threads, reused while they are idle.
"""

import contextvars
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")

IDLE_S: Final = 10.0
"""How long a thread waits for its next call before it ends; starting one costs about 50 microseconds."""

_idle: "deque[_Worker]" = deque()  # appended to and popped from without a lock: each is one step of the interpreter


async def run_in_thread(function: Callable[[], T]) -> T:
    """The function's result; the event loop goes on meanwhile. Context variables go along.

    When the waiting task is cancelled the thread is left to finish alone: Python cannot stop one.
    """
    import asyncio  # noqa: PLC0415 - five interpreter starts; whoever gets here runs a loop already

    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    _take_worker().jobs.put(_Job(function, contextvars.copy_context(), loop, future))
    try:
        return await future
    finally:
        del future  # an error's traceback leads here: it would keep itself and the call's arguments alive


class _Job(Generic[T]):
    def __init__(
        self,
        function: Callable[[], T],
        context: contextvars.Context,
        loop: "asyncio.AbstractEventLoop",
        future: "asyncio.Future[T]",
    ) -> None:
        self._function = function
        self._context = context
        self._loop = loop
        self._future = future
        self._settle: Callable[[], None]

    def run(self) -> None:
        try:
            self._settle = partial(self._future.set_result, self._context.run(self._function))
        except StopIteration as stop:  # a future cannot carry it (PEP 479)
            error = RuntimeError("the function raised StopIteration")
            error.__cause__ = stop
            self._settle = partial(self._future.set_exception, error)
        except BaseException as error:  # noqa: BLE001 - carried over to the waiting task, whatever it is (SystemExit too)
            self._settle = partial(self._future.set_exception, error)

    def report(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._end)
        except RuntimeError:  # the loop has closed: nobody waits for this any more
            return

    def _end(self) -> None:
        if not self._future.done():  # else it was cancelled meanwhile
            self._settle()
        del self._settle, self._future  # as above


class _Worker(threading.Thread):
    def __init__(self) -> None:
        super().__init__(name="toolroll-tool", daemon=True)
        self.jobs: SimpleQueue[_Job[Any]] = SimpleQueue()

    def run(self) -> None:
        while (job := self._next_job()) is not None:
            job.run()
            _idle.append(self)  # before the report, so that whoever waits for it finds this thread free again
            job.report()
            del job  # holds the call's arguments otherwise, until the next one comes

    def _next_job(self) -> "_Job[Any] | None":
        try:
            return self.jobs.get(timeout=IDLE_S)
        except Empty:
            return self._last_job()

    def _last_job(self) -> "_Job[Any] | None":
        try:
            _idle.remove(self)
        except ValueError:  # taken from the idle ones in this very moment: the job is on its way
            return self.jobs.get()
        return None


def _take_worker() -> _Worker:
    try:
        while not (worker := _idle.pop()).is_alive():
            continue  # a fork copies the list, but not the threads
    except IndexError:
        worker = _Worker()
        worker.start()
    return worker
