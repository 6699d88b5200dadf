"""Running an agent for a person: its events are shown as they come, Ctrl-C stops it, its end becomes an exit code."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import closing
from typing import Any, Generic, TypeVar

from toolroll.agent.live import Listener, LiveRun
from toolroll.agent.result import RunResult
from toolroll.apps.run_log import open_journal
from toolroll.cli.interrupts import Interrupts
from toolroll.cli.render.renderer import Renderer, TolerantRenderer, make_renderer
from toolroll.cli.session import DONE, INTERRUPTED, Session
from toolroll.errors import ModelError
from toolroll.journal.sqlite import SqliteJournal

T = TypeVar("T")
Out = TypeVar("Out")


class Driver(Generic[T]):
    """Drives work that comes to a `T`: the result of a run, or of an exploration of several runs."""

    def __init__(self, session: Session, renderer: Renderer[T], interrupts: Interrupts | None = None) -> None:
        self.session = session
        self.renderer = renderer
        self.interrupts = interrupts or Interrupts()
        self.outcome: T | None = None
        """What the work came to; None where it was cut short."""
        self._is_over = False

    @property
    def listener(self) -> Listener:
        """Shows every event of a run."""
        return self.renderer.on_event

    def run(self, work: Callable[[SqliteJournal], Awaitable[T]]) -> int:
        """Do the work in an event loop, with the user's run log open; return the exit code."""
        try:
            return asyncio.run(self._run(work))
        except KeyboardInterrupt:  # the event loop was interrupted itself, outside of the work
            return INTERRUPTED if self._is_over else self.end_early(None)

    async def follow(self, run: LiveRun[Out]) -> RunResult[Out]:
        """Wait for the end of a run, which Ctrl-C stops from now on."""
        self.interrupts.watch(run)
        return await run.wait()

    async def finish(self, work: Awaitable[T | None]) -> int:
        """Wait for the work and show how it ended, also where it failed or was stopped; return the exit code.

        Work that comes to None has shown its end itself.
        """
        try:
            with self.interrupts.cancel_here():
                self.outcome = await work
            return DONE if self.outcome is None else self.renderer.finish(self.outcome)
        except ModelError as error:
            return self.end_early(error)
        except (asyncio.CancelledError, KeyboardInterrupt):
            self.interrupts.settle()
            return self.end_early(None)
        finally:
            self._is_over = True
            self.renderer.close()  # whatever ended the work: the terminal is left as it was

    def end_early(self, error: ModelError | None) -> int:
        """Show that the work failed with `error`, or was interrupted; return the exit code."""
        if error is not None:
            raise error
        self.session.fail("interrupted", self.session.interrupted_message)
        return INTERRUPTED

    async def _run(self, work: Callable[[SqliteJournal], Awaitable[T]]) -> int:
        with self.interrupts.listen():
            return await self.finish(self._with_journal(work))

    async def _with_journal(self, work: Callable[[SqliteJournal], Awaitable[T]]) -> T:
        with closing(open_journal(os.environ)) as journal:
            return await work(journal)


class RunDriver(Driver[RunResult[Any]]):
    """Drives one run, or the same run several times; whatever ends it, its record can be resumed."""

    def __init__(self, session: Session, *, model: str = "", interrupts: Interrupts | None = None) -> None:
        renderer = TolerantRenderer(session, make_renderer(session, model=model))
        super().__init__(session, renderer, interrupts)

    def end_early(self, error: ModelError | None) -> int:
        """Show what there is of the run, and why there is no more."""
        result = self.interrupts.result
        if result is None:
            return super().end_early(error)
        code = self.renderer.finish(result, error)
        return INTERRUPTED if error is None else code

    def wants_more(self, result: RunResult[Any], *, stdin_is_taken: bool = False) -> bool:
        """Ask the person, if there is one, whether to continue a run that a limit has stopped."""
        if self.session.json or result.stop_reason != "condition":
            return False
        from toolroll.cli.terminal.approve import confirm  # noqa: PLC0415 - rich: only where somebody is asked
        from toolroll.cli.terminal.terminal import interruptible, open_terminal  # noqa: PLC0415 - as above

        terminal = open_terminal(os.environ, stdin_is_taken=stdin_is_taken)
        if terminal is None:
            return False
        count = len(result.steps)
        steps = "1 step" if count == 1 else f"{count} steps"
        with interruptible():
            return confirm(terminal, f"\nStopped after {steps} ({result.stop_detail}). Continue?")
