"""Ctrl-C while an agent works, without an agent."""

import asyncio
import os
import signal

import pytest

from toolroll.cli.driver import Interrupts


class CallingRun:
    """A run in which a call is running."""

    is_calling = True
    result = None
    is_stopped = False

    def stop(self) -> None:
        self.is_stopped = True


async def test_S1_the_first_ctrl_c_lets_running_calls_finish_and_the_second_does_not() -> None:
    stopping, run = Interrupts(), CallingRun()
    loop, later = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, later.set)

    async def answer() -> None:
        with stopping.cancel_here():
            stopping.watch(run)
            os.kill(os.getpid(), signal.SIGINT)
            while not run.is_stopped:
                await asyncio.sleep(0)
            os.kill(os.getpid(), signal.SIGINT)
            await loop.create_future()

    with stopping.listen():
        os.kill(os.getpid(), signal.SIGINT)  # nothing is being answered, so nothing happens
        os.kill(os.getpid(), signal.SIGUSR1)
        await later.wait()
        with pytest.raises(asyncio.CancelledError):
            await answer()
        stopping.settle()
    loop.remove_signal_handler(signal.SIGUSR1)
    task = asyncio.current_task()
    assert task is not None
    assert (task.cancelling(), stopping.result) == (0, None)
