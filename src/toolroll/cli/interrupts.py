"""Ctrl-C while an agent works: the first press lets running calls finish, the second one stops at once."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

from toolroll.cli.render.prose import notify
from toolroll.messages import Template

if TYPE_CHECKING:
    from toolroll.agent.result import RunResult

STOPPING: Final = Template("stopping", "Stopping when the running calls are done. Ctrl-C again stops at once.")()


class Stoppable(Protocol):
    """A run, or anything else that makes calls."""

    @property
    def is_calling(self) -> bool:
        """Whether a call is running at this moment."""
        ...

    @property
    def result(self) -> "RunResult[object] | None":
        """How it ended; None before that."""
        ...

    def stop(self) -> None:
        """End it once the calls that are running have ended."""
        ...


class Interrupts:
    """Handles Ctrl-C. Where no call is running, and at the second press, the work is cancelled."""

    def __init__(self, translate: Callable[[str], str] = str) -> None:
        self._translate = translate
        self._task: asyncio.Task[object] | None = None
        self._run: Stoppable | None = None
        self._presses = 0

    @property
    def result(self) -> "RunResult[object] | None":
        """How the run ended that was watched last."""
        return None if self._run is None else self._run.result

    @property
    def is_requested(self) -> bool:
        """Whether the person has pressed Ctrl-C."""
        return self._presses > 0

    def watch(self, run: Stoppable | None) -> None:
        """Stop this run at the next Ctrl-C; None where it has ended, and its end was shown."""
        self._run = run

    @contextmanager
    def listen(self) -> Iterator[None]:
        """Inside, Ctrl-C does not end the process."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    @contextmanager
    def cancel_here(self) -> Iterator[None]:
        """Inside, Ctrl-C is about this work: CancelledError is raised here."""
        self._task, self._run, self._presses = asyncio.current_task(), None, 0
        try:
            yield
        finally:
            self._task = None

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Inside, Ctrl-C is for whoever reads the keyboard. It is a signal for moments, while a note is shown there."""
        task, presses, self._task = self._task, self._presses, None
        try:
            yield
        finally:
            self._task, self._presses = task, presses

    def settle(self) -> None:
        """Take a cancellation as done: the task that was cancelled goes on, to show how it ended or to chat."""
        task = asyncio.current_task()
        assert task is not None
        while task.cancelling():
            task.uncancel()

    def _interrupt(self) -> None:
        self._presses += 1
        if self._task is None:
            return
        if self._run is not None and self._presses == 1 and self._run.is_calling:
            self._run.stop()
            notify(self._translate(STOPPING))
        else:
            self._task.cancel()
