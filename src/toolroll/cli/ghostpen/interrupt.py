"""Ctrl-C while a post is written: a running call may finish, be it the model's or the program's own."""

from collections.abc import Callable

from toolroll.agent.events import CallFinished, CallStarted, Event
from toolroll.agent.live import LiveRun
from toolroll.agent.result import RunResult
from toolroll.cli.driver import Interrupts
from toolroll.packs.writing.session.interface import DraftView, Person, Question


class InterruptiblePerson:
    """The same person, who is not asked any more once they have pressed Ctrl-C.

    What was done by then is still shown. KeyboardInterrupt ends the rest: before the model is asked again, and before
    the person is.
    """

    def __init__(self, person: Person, interrupts: Interrupts, listener: Callable[[Event], None]) -> None:
        self._person = person
        self._interrupts = interrupts
        self._listener = listener
        self._work = _Work()

    async def ask(self, question: Question) -> str | None:
        """Ask the person."""
        self._check()
        with self._interrupts.pause():
            return await self._person.ask(question)

    def say(self, text: str) -> None:
        """Show a message."""
        self._person.say(text)

    def show_draft(self, draft: DraftView) -> None:
        """Show a draft."""
        self._check()
        self._person.show_draft(draft)

    def on_start(self, run: LiveRun[None]) -> None:
        """Watch a run that is about to begin."""
        self._check()
        self._work = _Work(run)
        self._interrupts.watch(self._work)

    def on_event(self, event: Event) -> None:
        """Note which calls are running, and pass the event on."""
        if isinstance(event, CallStarted):
            self._work.calls.add(event.call.id)
            self._interrupts.watch(self._work)
        elif isinstance(event, CallFinished):
            self._work.calls.discard(event.call.id)
        self._listener(event)

    def _check(self) -> None:
        if self._interrupts.is_requested:
            raise KeyboardInterrupt


class _Work:
    """What Ctrl-C stops: a run, or calls of the program's own, which no run belongs to."""

    def __init__(self, run: LiveRun[None] | None = None) -> None:
        self._run = run
        self.calls: set[str] = set()

    @property
    def is_calling(self) -> bool:
        return bool(self.calls)

    @property
    def result(self) -> RunResult[object] | None:
        return None if self._run is None else self._run.result

    def stop(self) -> None:
        """Stop the run, if there is one; after a call of the program's own, nothing more is begun."""
        if self._run is not None:
            self._run.stop()
