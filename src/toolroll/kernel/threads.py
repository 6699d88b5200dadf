"""Sync functions off the event loop, on threads that never keep the process alive.

`asyncio.to_thread` joins its threads at exit: one tool that hangs would keep the whole program from ending. These are
daemon threads, reused while they are idle.
"""

import contextvars
import threading
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")

IDLE_S: Final = 10.0
"""How long a thread waits for its next call before it ends; starting one costs about 50 microseconds."""

_idle: "deque[_Worker]" = deque()
_lock = threading.Lock()


async def run_in_thread(function: Callable[[], T]) -> T:
    """The function's result; the event loop goes on meanwhile. Context variables go along.

    When the waiting task is cancelled the thread is left to finish alone: Python cannot stop one.
    """
    import asyncio  # noqa: PLC0415 - five interpreter starts; whoever gets here runs a loop already

    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def work() -> None:
        outcome = _outcome(context, function)
        try:
            loop.call_soon_threadsafe(_settle, future, outcome)
        except RuntimeError:  # the loop has closed: nobody waits for this any more
            return

    _take_worker().jobs.put(work)
    return await future


def _outcome(context: contextvars.Context, function: Callable[[], T]) -> tuple[T | None, BaseException | None]:
    try:
        return context.run(function), None
    except StopIteration as stop:  # a future cannot carry it (PEP 479)
        error = RuntimeError("the function raised StopIteration")
        error.__cause__ = stop
        return None, error
    except BaseException as error:  # noqa: BLE001 - carried over to the waiting task, whatever it is (SystemExit too)
        return None, error


def _settle(future: "asyncio.Future[T]", outcome: tuple[T | None, BaseException | None]) -> None:
    value, error = outcome
    if future.done():  # cancelled meanwhile
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(value)  # type: ignore[arg-type]  # None only where T allows it


class _Worker(threading.Thread):
    def __init__(self) -> None:
        super().__init__(name="toolroll-tool", daemon=True)
        self.jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()

    def run(self) -> None:
        while (job := self._next_job()) is not None:
            job()
            del job  # holds the call's arguments otherwise, until the next one comes
            with _lock:
                _idle.append(self)

    def _next_job(self) -> Callable[[], None] | None:
        try:
            return self.jobs.get(timeout=IDLE_S)
        except Empty:
            with _lock:
                if self in _idle:
                    _idle.remove(self)
                    return None
            return self.jobs.get()  # taken from the idle ones in this very moment: the job is on its way


def _take_worker() -> _Worker:
    with _lock:
        if _idle:
            return _idle.pop()
    worker = _Worker()
    worker.start()
    return worker
