"""Ctrl-C while a post is written: a call that runs is let finish, be it the model's or the program's own."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

from toolroll.agent.events import CallFinished, CallStarted, Event
from toolroll.agent.state import RunState
from toolroll.cli.interrupts import Interrupts
from toolroll.packs.writing.session.interface import DraftView, Person
from toolroll.packs.writing.session.save import OWN_CALL_PREFIX

if TYPE_CHECKING:
    from toolroll.agent.result import RunResult


@dataclass(slots=True, kw_only=True)
class _OwnCalls:
    """What the program calls by itself, to keep a post or to read a page. No run is stopped with it."""

    started: dict[str, float] = field(default_factory=dict)
    result: "RunResult[object] | None" = None

    @property
    def is_calling(self) -> bool:
        return bool(self.started)

    def stop(self) -> None:
        """Do nothing: what comes after the call asks whether to go on."""


class InterruptiblePerson:
    """The same person, of whom nothing more is wanted once they have pressed Ctrl-C.

    What was done by then is still told. KeyboardInterrupt ends the rest: before the model is asked again, and before
    anybody is.
    """

    def __init__(self, person: Person, stopping: Interrupts, hear: Callable[[Event], None]) -> None:
        self._person = person
        self._stopping = stopping
        self._hear = hear
        self._calls = _OwnCalls()

    async def ask(self, prompt: str) -> str | None:
        """What they say."""
        self._go_on()
        with self._stopping.pause():
            return await self._person.ask(prompt)

    def say(self, text: str) -> None:
        """Tell them something."""
        self._person.say(text)

    def show_draft(self, draft: DraftView) -> None:
        """Show them a draft."""
        self._go_on()
        self._person.show_draft(draft)

    def note(self, state: RunState) -> None:
        """A run begins."""
        self._go_on()
        self._stopping.watch(state)

    def on_event(self, event: Event) -> None:
        """Note calls of the program's own, and pass the event on."""
        if isinstance(event, CallStarted) and event.call.id.startswith(OWN_CALL_PREFIX):
            self._calls.started[event.call.id] = perf_counter()
            self._stopping.watch(self._calls)
        elif isinstance(event, CallFinished):
            self._calls.started.pop(event.call.id, None)
        self._hear(event)

    def _go_on(self) -> None:
        if self._stopping.is_requested:
            raise KeyboardInterrupt
