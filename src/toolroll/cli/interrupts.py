"""Ctrl-C while an agent works: what the first one means, and what the second, for every command."""

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from toolroll.cli.render.prose import notify

if TYPE_CHECKING:
    import asyncio

    from toolroll.agent.result import RunResult


class Stoppable(Protocol):
    """A run, or whatever else makes calls: which of them run now, and whether it is to end after them."""

    stop_requested: bool

    @property
    def started(self) -> Mapping[str, float]:
        """The calls that run."""
        ...

    @property
    def result(self) -> "RunResult[object] | None":
        """What it has come to."""
        ...


class Interrupts:
    """Watches for Ctrl-C. The first one lets calls that run finish; where none does, and the second, end it at once."""

    def __init__(self, words: Callable[[str], str] = str) -> None:
        self._words = words
        self._task: asyncio.Task[object] | None = None
        self._state: Stoppable | None = None
        self._presses = 0

    @property
    def result(self) -> "RunResult[object] | None":
        """What the run has come to that was noted last."""
        return None if self._state is None else self._state.result

    @property
    def is_asked(self) -> bool:
        """Whether what goes on now is to be stopped."""
        return self._presses > 0

    def note(self, state: Stoppable | None) -> None:
        """This is the run that is stopped next; None where it is over, and all of it was told."""
        self._state = state

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Inside, Ctrl-C ends no process."""
        import asyncio  # noqa: PLC0415 - five interpreter starts: who gets here runs a loop

        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Inside, Ctrl-C is about this answer: CancelledError is raised here."""
        import asyncio  # noqa: PLC0415 - as above

        self._task, self._state, self._presses = asyncio.current_task(), None, 0
        try:
            yield
        finally:
            self._task = None

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Inside, Ctrl-C is for whoever reads the keyboard. It is a signal for moments, while a note is shown there."""
        task, presses, self._task = self._task, self._presses, None
        try:
            yield
        finally:
            self._task, self._presses = task, presses

    def settle(self) -> None:
        """Take a cancellation as done: the task that was cancelled goes on, to tell of it or to chat."""
        import asyncio  # noqa: PLC0415 - as above

        task = asyncio.current_task()
        assert task is not None
        while task.cancelling():
            task.uncancel()

    def _interrupt(self) -> None:
        self._presses += 1
        state = self._state
        if self._task is None:
            return
        if state is not None and self._presses == 1 and state.started:
            state.stop_requested = True
            notify(self._words("Stopping when the running calls are done. Ctrl-C again stops at once."))
        else:
            self._task.cancel()
