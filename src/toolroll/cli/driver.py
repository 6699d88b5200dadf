"""How a command runs an agent: read the prompt, show events as they come, stop at Ctrl-C, return an exit code."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any, Final, Generic, Protocol, TypeVar

from toolroll.agent.live import Listener, LiveRun
from toolroll.agent.result import RunResult
from toolroll.apps.run_log import RunLog, open_journal
from toolroll.cli.chat.parse import MAX_MESSAGE_CHARACTERS
from toolroll.cli.render.deeds import DeedsRenderer
from toolroll.cli.render.prose import notify
from toolroll.cli.render.renderer import Renderer, TolerantRenderer, make_renderer
from toolroll.cli.session import DONE, INTERRUPTED, Session
from toolroll.cli.terminal.surface import ask_person, is_person_there
from toolroll.cli.termination import is_ending
from toolroll.errors import ModelError, UsageError
from toolroll.messages import Template

STOPPING: Final = Template("stopping", "Stopping when the running calls are done. Ctrl-C again stops at once.")()

T = TypeVar("T")

Out = TypeVar("Out")


class Driver(Generic[T]):
    """Drives work that comes to a `T`: the result of a run, or of an exploration of several runs."""

    def __init__(self, session: Session, renderer: Renderer[T], interrupts: "Interrupts | None" = None) -> None:
        self.session = session
        self.renderer = renderer
        self.interrupts: Interrupts = interrupts or Interrupts()
        self.outcome: T | None = None
        """What the work came to; None where it was cut short."""
        self._is_over = False

    @property
    def listener(self) -> Listener:
        """Return a listener that shows every event of a run."""
        return self.renderer.on_event

    def run(self, work: Callable[[RunLog], Awaitable[T]]) -> int:
        """Do the work in an event loop, with the user's run log open; return the exit code."""
        try:
            return asyncio.run(self._run(work))
        except KeyboardInterrupt:  # the event loop was interrupted itself, outside of the work
            if is_ending():
                raise
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
            if is_ending():
                raise
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

    async def _run(self, work: Callable[[RunLog], Awaitable[T]]) -> int:
        with self.interrupts.listen():
            return await self.finish(self._with_journal(work))

    async def _with_journal(self, work: Callable[[RunLog], Awaitable[T]]) -> T:
        with closing(open_journal(os.environ)) as journal:
            return await work(journal)


class RunDriver(Driver[RunResult[Any]]):
    """Drives one run, or the same run several times; whatever ends it, its record can be resumed."""

    def __init__(
        self,
        session: Session,
        *,
        model: str = "",
        interrupts: "Interrupts | None" = None,
        shows_deeds: bool = False,
    ) -> None:
        """Drive a run; with `shows_deeds`, its last line says what was done."""
        renderer = make_renderer(session, model=model)
        if shows_deeds and not (session.json or session.prints):
            renderer = DeedsRenderer(renderer)
        super().__init__(session, TolerantRenderer(session, renderer), interrupts)

    def end_early(self, error: ModelError | None) -> int:
        """Show what there is of the run, and why there is no more."""
        result = self.interrupts.result
        if result is None:
            return super().end_early(error)
        code = self.renderer.finish(result, error)
        return INTERRUPTED if error is None else code

    def can_ask(self, *, stdin_is_taken: bool = False) -> bool:
        """Return whether a person is there who can say how to go on at a limit."""
        if self.session.json or self.session.prints:
            return False
        return is_person_there(stdin_is_taken=stdin_is_taken)

    def wants_more(self, result: RunResult[Any], *, stdin_is_taken: bool = False) -> bool | None:
        """Ask the person whether to continue a run that a limit has stopped; None where there is nothing to ask.

        A "no" is for a last answer to what is there (S16).
        """
        if self.session.json or self.session.prints or result.stop_reason != "condition":
            return None
        count = len(result.steps)
        steps = "1 step" if count == 1 else f"{count} steps"
        question = f"\nThe limit is reached after {steps}. Go on?"
        return ask_person(question, stdin_is_taken=stdin_is_taken)


class Stoppable(Protocol):
    """A run, or anything else that makes calls."""

    @property
    def is_calling(self) -> bool:
        """Return whether a call is running at this moment."""
        ...

    @property
    def result(self) -> RunResult[object] | None:
        """Return how it ended; None before that."""
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
    def result(self) -> RunResult[object] | None:
        """Return how the run ended that was watched last."""
        return None if self._run is None else self._run.result

    @property
    def is_requested(self) -> bool:
        """Return whether the person has pressed Ctrl-C."""
        return self._presses > 0

    def watch(self, run: Stoppable | None) -> None:
        """Stop this run at the next Ctrl-C; None where it has ended, and its end was shown."""
        self._run = run

    @contextmanager
    def listen(self) -> Iterator[None]:
        """Keep Ctrl-C from ending the process inside."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    @contextmanager
    def cancel_here(self) -> Iterator[None]:
        """Let Ctrl-C cancel this work: CancelledError is raised here."""
        self._task, self._run, self._presses = asyncio.current_task(), None, 0
        try:
            yield
        finally:
            self._task = None

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Leave Ctrl-C to whoever reads the keyboard; it is a signal only while a note is shown there."""
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


def read_prompt(prompt: str) -> str:
    """Return the prompt: as it was given, or from stdin for '-'; checked."""
    return check_prompt(_read_stdin() if prompt == "-" else prompt)


def check_prompt(text: str) -> str:
    """Return the same text; refuse an empty one, or one longer than a message in a chat, before it costs anything."""
    if not text.strip():
        raise UsageError("The prompt is empty. Say what is to be done.")
    if len(text) > MAX_MESSAGE_CHARACTERS:
        raise UsageError(
            f"The prompt has {len(text):,} characters; at most {MAX_MESSAGE_CHARACTERS:,} are allowed. Put the rest "
            "into a file, and name it in the prompt."
        )
    return text


def split_names(given: str | None) -> tuple[str, ...]:
    """Return the names in a list with commas."""
    return tuple(name.strip() for name in (given or "").split(",") if name.strip())


def _read_stdin() -> str:
    if sys.stdin is None:
        raise UsageError("The prompt was to come from stdin, which is closed. Pipe it in, or write it here.")
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        raise UsageError("The prompt on stdin is not UTF-8. Send text in that encoding.") from None
