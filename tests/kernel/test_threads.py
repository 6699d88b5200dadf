"""Sync functions on threads: off the event loop, reused, never in the way of the program's end."""

import asyncio
import contextlib
import contextvars
import gc
import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest

from toolroll.kernel import threads
from toolroll.kernel.threads import Lane, is_in_event_loop

WAIT_S = 60.0
T = TypeVar("T")


async def run_in_thread(function: Callable[[], T]) -> T:
    """As one call does that has nothing else to run."""
    lane = Lane()
    try:
        return await lane.run(function)
    finally:
        lane.close()


@pytest.fixture(autouse=True)
def no_idle_threads() -> Iterator[None]:
    """Each test starts with threads of its own."""
    threads._idle.clear()
    yield
    threads._idle.clear()


def until(condition: Callable[[], bool]) -> bool:
    """Whether the condition comes true in time; for what another thread does last, after all signals."""
    end = time.monotonic() + WAIT_S
    while not condition() and time.monotonic() < end:
        time.sleep(0.001)
    return condition()


async def test_K5_the_event_loop_goes_on_while_a_function_blocks() -> None:
    loop_went_on = threading.Event()
    asyncio.get_running_loop().call_soon(loop_went_on.set)
    assert await run_in_thread(lambda: loop_went_on.wait(WAIT_S)) is True


async def test_K5_the_function_runs_on_another_thread_and_its_value_comes_back() -> None:
    assert await run_in_thread(threading.get_ident) != threading.get_ident()


async def test_K5_functions_run_side_by_side() -> None:
    barrier = threading.Barrier(8, timeout=WAIT_S)
    places = await asyncio.gather(*(run_in_thread(barrier.wait) for _ in range(8)))
    assert sorted(places) == list(range(8))


async def test_K5_one_thread_serves_calls_that_follow_each_other() -> None:
    assert len({await run_in_thread(threading.get_ident) for _ in range(50)}) == 1


async def test_K5_idle_threads_are_taken_again_instead_of_new_ones() -> None:
    barrier = threading.Barrier(4, timeout=WAIT_S)

    def meet() -> int:
        barrier.wait()
        return threading.get_ident()

    first = await asyncio.gather(*(run_in_thread(meet) for _ in range(4)))
    second = await asyncio.gather(*(run_in_thread(meet) for _ in range(4)))
    assert set(first) == set(second)
    assert len(set(first)) == 4


async def test_K5_idle_threads_end_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "IDLE_S", 0.01)
    worker = await run_in_thread(threading.current_thread)
    await asyncio.to_thread(worker.join, WAIT_S)
    assert not worker.is_alive()
    assert worker not in threads._idle
    assert await run_in_thread(lambda: 1) == 1


def test_K5_a_thread_that_somebody_has_taken_does_not_end() -> None:
    worker = threads._Worker()
    assert not worker._may_end()
    threads._idle.append(worker)
    assert worker._may_end()
    assert worker not in threads._idle


async def test_K5_context_variables_go_along_and_do_not_come_back() -> None:
    variable = contextvars.ContextVar("variable", default="outside")
    variable.set("given")

    def change() -> str:
        seen = variable.get()
        variable.set("changed")
        return seen

    assert await run_in_thread(change) == "given"
    assert variable.get() == "given"


class Oops(Exception):
    """An error of a function."""


@pytest.mark.parametrize("error", [Oops("x"), SystemExit(3), asyncio.CancelledError("mine"), GeneratorExit()])
async def test_K5_XL12_whatever_a_function_raises_reaches_the_one_who_waits(error: BaseException) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        await run_in_thread(fail)
    assert caught.value is error
    assert await run_in_thread(lambda: "the thread lives on") == "the thread lives on"


async def test_K5_stop_iteration_does_not_hang_the_call() -> None:
    def fail() -> None:
        raise StopIteration("end")

    with pytest.raises(RuntimeError, match="raised StopIteration") as caught:
        await run_in_thread(fail)
    assert isinstance(caught.value.__cause__, StopIteration)


async def test_K5_cancelling_leaves_the_thread_to_finish_alone() -> None:
    started, go_on, finished = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        go_on.wait(WAIT_S)
        finished.set()

    task = asyncio.create_task(run_in_thread(work))
    await asyncio.to_thread(started.wait, WAIT_S)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not finished.is_set()
    go_on.set()
    assert await asyncio.to_thread(finished.wait, WAIT_S)
    # its late report must not disturb the loop, and the thread is free again
    assert await asyncio.to_thread(until, lambda: len(threads._idle) == 1)
    assert await run_in_thread(lambda: 1) == 1


def test_K5_a_report_to_a_loop_that_has_closed_is_dropped() -> None:
    started, go_on = threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        go_on.wait(WAIT_S)

    async def leave() -> None:
        task = asyncio.create_task(run_in_thread(work))
        await asyncio.to_thread(started.wait, WAIT_S)
        task.cancel()

    asyncio.run(leave())
    go_on.set()
    assert until(lambda: len(threads._idle) == 1)
    assert asyncio.run(run_in_thread(lambda: "next loop")) == "next loop"
    assert threads._idle[0].is_alive()


@pytest.mark.parametrize("fails", [False, True])
async def test_K5_nothing_of_a_call_is_held_after_it(fails: bool) -> None:
    class Argument:
        """Something large."""

    argument = Argument()
    gone = weakref.ref(argument)

    def work(_: Argument = argument) -> None:
        if fails:
            raise Oops

    del argument
    gc.collect()
    gc.disable()  # a cycle would wait for the collector, with everything that the call was given
    try:
        with contextlib.suppress(Oops):
            await run_in_thread(work)
        del work
        assert await asyncio.to_thread(until, lambda: gone() is None)
    finally:
        gc.enable()


def in_child(queue: "multiprocessing.Queue[int]") -> None:
    queue.put(asyncio.run(run_in_thread(lambda: 7)))
    queue.close()
    queue.join_thread()
    os._exit(0)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_K5_a_forked_process_does_not_wait_for_threads_it_does_not_have() -> None:
    asyncio.run(run_in_thread(lambda: 1))
    assert len(threads._idle) == 1
    context = multiprocessing.get_context("fork")
    queue: multiprocessing.Queue[int] = context.Queue()
    child = context.Process(target=in_child, args=(queue,))
    child.start()
    try:
        assert queue.get(timeout=WAIT_S) == 7
    finally:
        child.kill()
        child.join()


async def test_K5_threads_that_are_no_more_are_not_waited_for() -> None:
    threads._idle.extend([threads._Worker(), threads._Worker()])  # as a forked process finds them
    assert await run_in_thread(lambda: 7) == 7
    assert all(worker.is_alive() for worker in threads._idle)


# --- Lanes --------------------------------------------------------------------------------------------------


async def test_K5_a_lane_keeps_its_thread_and_gives_it_back() -> None:
    lane = Lane()
    lane.close()  # nothing was needed
    first = await lane.run(threading.get_ident)
    assert not threads._idle
    assert await run_in_thread(threading.get_ident) != first
    assert await asyncio.gather(*(lane.run(threading.get_ident) for _ in range(9))) == [first] * 9
    lane.close()
    lane.close()
    assert len(threads._idle) == 2
    assert await run_in_thread(threading.get_ident) == first


async def test_K5_a_kept_thread_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "IDLE_S", 0.001)
    looked = threading.Semaphore(0)
    may_end = threads._Worker._may_end

    def look(worker: threads._Worker) -> bool:
        looked.release()
        return may_end(worker)

    monkeypatch.setattr(threads._Worker, "_may_end", look)
    lane = Lane()
    worker = await lane.run(threading.current_thread)
    assert all([await asyncio.to_thread(looked.acquire, timeout=WAIT_S) for _ in range(3)])
    assert await lane.run(threading.current_thread) is worker
    lane.close()
    await asyncio.to_thread(worker.join, WAIT_S)
    assert not worker.is_alive()


async def test_K5_a_lane_that_nobody_closed_gives_its_thread_back_too() -> None:
    lane = Lane()
    await lane.run(lambda: 1)
    assert not threads._idle
    del lane
    gc.collect()
    assert len(threads._idle) == 1


class Held:
    """A lane whose thread is at work until it is let go."""

    def __init__(self) -> None:
        self.lane = Lane()
        self.started, self.go_on = threading.Event(), threading.Event()

    async def start(self) -> "asyncio.Task[threading.Thread]":
        task = asyncio.create_task(self.lane.run(self.work))
        await asyncio.to_thread(self.started.wait, WAIT_S)
        return task

    def work(self) -> threading.Thread:
        self.started.set()
        self.go_on.wait(WAIT_S)
        return threading.current_thread()


async def test_K5_XL12_what_waits_behind_a_hung_function_moves_on_when_that_is_given_up() -> None:
    held = Held()
    task = await held.start()
    others = [asyncio.create_task(held.lane.run(threading.current_thread)) for _ in range(3)]
    await asyncio.sleep(0)
    task.cancel()
    async with asyncio.timeout(WAIT_S):
        [other] = set(await asyncio.gather(*others))
    held.lane.close()
    assert list(threads._idle) == [other]
    held.go_on.set()
    assert await asyncio.to_thread(until, lambda: len(threads._idle) == 2)


async def test_K5_what_is_cancelled_while_it_waits_for_its_turn_never_runs() -> None:
    held, ran = Held(), list[int]()
    task = await held.start()
    other = asyncio.create_task(held.lane.run(lambda: ran.append(1)))
    await asyncio.sleep(0)
    other.cancel()
    with pytest.raises(asyncio.CancelledError):
        await other
    held.go_on.set()
    worker = await task
    assert await held.lane.run(threading.current_thread) is worker
    assert ran == []
    held.lane.close()


@pytest.mark.parametrize("cancels", [False, True])
async def test_K5_a_lane_that_closes_while_it_works_gives_its_thread_back_once(cancels: bool) -> None:
    held = Held()
    task = await held.start()
    held.lane.close()
    assert not threads._idle
    if cancels:
        task.cancel()
        await asyncio.wait([task])  # while the function still runs: the lane has no thread to leave behind any more
    held.go_on.set()
    await asyncio.wait([task])
    assert await asyncio.to_thread(until, lambda: len(threads._idle) == 1)
    assert await run_in_thread(lambda: 1) == 1
    assert len(threads._idle) == 1


async def test_K5_a_function_that_waits_for_another_of_its_lane_does_not_hang() -> None:
    lane, loop = Lane(), asyncio.get_running_loop()

    def outer() -> int:
        return asyncio.run_coroutine_threadsafe(lane.run(threading.get_ident), loop).result(WAIT_S)

    assert await lane.run(outer) != await lane.run(threading.get_ident)
    lane.close()


async def test_K5_a_lane_does_not_wait_for_a_thread_that_is_no_more() -> None:
    lane = Lane()
    lane._worker = threads._Worker()  # as a forked process finds it
    assert await lane.run(lambda: 7) == 7
    lane.close()


def run_python(code: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=WAIT_S)


def test_K5_XL12_a_hung_tool_ends_as_an_error_and_the_program_ends_too() -> None:
    done = run_python("""
        import asyncio, threading
        from toolroll import tool

        @tool("Hang.", timeout=0.05)
        def hang() -> str:
            threading.Event().wait()
            return "never"

        result = asyncio.run(hang.execute_raw("{}"))
        print(result.is_error, result.code)
    """)
    assert done.stdout == "True timeout\n"
    assert (done.returncode, done.stderr) == (0, "")


def test_K5_XL12_hung_tools_do_not_keep_the_others_from_running() -> None:
    done = run_python("""
        import asyncio, threading
        from toolroll import tool

        @tool("Hang.", timeout=0.01)
        def hang() -> str:
            threading.Event().wait()
            return "never"

        @tool("Answer.")
        def answer() -> str:
            return "here"

        async def main():
            hung = await asyncio.gather(*(hang.execute_raw("{}") for _ in range(40)))
            print(all(result.code == "timeout" for result in hung), (await answer.execute_raw("{}")).text)

        asyncio.run(main())
    """)
    assert done.stdout == "True here\n"
    assert (done.returncode, done.stderr) == (0, "")


def test_no_event_loop_runs_in_plain_code() -> None:
    assert not is_in_event_loop()


async def test_an_event_loop_runs_in_async_code_but_not_on_the_threads_beside_it() -> None:
    assert is_in_event_loop()
    assert not await Lane().run(is_in_event_loop)
