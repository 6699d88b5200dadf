"""An exploration while it goes: steps, searches and the sources they found; and the document at its end."""

import os
from typing import Protocol

from toolroll.agent.events import (
    CallFinished,
    Event,
    Retrying,
    RunFinished,
    RunStarted,
    StepStarted,
    TextArrived,
    Warned,
)
from toolroll.agent.result import RunResult
from toolroll.cli.render.exploration_text import (
    MAX_LINE_CHARACTERS,
    exploration_fields,
    format_source,
    summarize_exploration,
)
from toolroll.cli.render.json import event_fields, result_fields
from toolroll.cli.render.plain import format_call
from toolroll.cli.render.prose import notify
from toolroll.cli.render.renderer import is_live
from toolroll.cli.session import DONE, STOPPED_BY_LIMIT, Session
from toolroll.errors import ToolrollError
from toolroll.kernel.call.events import StateChanged
from toolroll.packs.research.exploration import ExplorationResult
from toolroll.safe.text import one_line, terminal_safe


class _View(Protocol):
    """Shows events; the end of the exploration is shown by the renderer."""

    def on_event(self, event: Event, /) -> None: ...

    def close(self) -> None: ...


class ExplorationRenderer:
    """Shows an exploration as the person asked for, and keeps what is known of its runs."""

    def __init__(self, session: Session, *, model: str) -> None:
        self._session = session
        self._view = _make_view(session, model=model)
        self._count = 0
        self.run_id: str | None = None
        self.results: list[RunResult[object]] = []

    def on_event(self, event: Event, /) -> None:
        """Show one event."""
        self._count += 1
        if isinstance(event, RunStarted):
            self.run_id = event.run_id
        elif isinstance(event, RunFinished):
            self.results.append(event.result)
        self._view.on_event(event)

    def finish(self, done: ExplorationResult, error: ToolrollError | None = None, /) -> int:
        """Show where the document is and what it rests on; return the exit code."""
        del error  # an exploration that fails comes to nothing that could be shown
        self.close()
        if self._session.json:
            self._session.write_json({"index": self._count + 1, **exploration_fields(done)})
        else:
            for line in summarize_exploration(done):
                notify(line)
            self._session.write(done.where)
        return DONE if done.is_whole else STOPPED_BY_LIMIT

    def close(self) -> None:
        """Leave the terminal as it was."""
        self._view.close()

    @property
    def was_stopped(self) -> bool:
        """Whether somebody has stopped the last run."""
        return bool(self.results) and self.results[-1].stop_reason == "interrupted"

    def suggest_resume(self) -> None:
        """Show how to continue: nothing that was paid for is lost."""
        if self.run_id is not None and not self._session.json:
            notify(f"Go on with: toolroll runs resume {self.run_id}")


def _make_view(session: Session, *, model: str) -> _View:
    if session.json:
        return JsonView(session)
    if not is_live(session):
        return PlainView()
    from toolroll.cli.render.live.renderer import LiveExplorationView  # noqa: PLC0415 - rich: only where it is used

    return LiveExplorationView(session, model=model, environment=os.environ)


class PlainView:
    """Writes a line to stderr for each thing that happens."""

    def __init__(self) -> None:
        self._is_writing = False

    def on_event(self, event: Event, /) -> None:
        """Show one event."""
        match event:
            case StepStarted(number=number):
                self._is_writing = False
                _say(f"· step {number}")
            case TextArrived() if not self._is_writing:
                self._is_writing = True
                _say("· writing")
            case CallFinished():
                _say(format_call(event), is_error=event.result.is_error)
            case StateChanged(name=name, value=value) if found := format_source(name, value):
                _say(found)
            case Warned(text=text) | Retrying(reason=text):
                _say(f"! {one_line(text, MAX_LINE_CHARACTERS)}", is_error=True)
            case _:
                return

    def close(self) -> None:
        """Do nothing: every line was written at once."""


class JsonView:
    """Writes every event as a line of JSON, the ends of runs too."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._index = 0

    def on_event(self, event: Event, /) -> None:
        """Write one event."""
        self._index += 1
        fields = result_fields(event.result) if isinstance(event, RunFinished) else event_fields(event)
        self._session.write_json({"index": self._index, "event": event.event, **fields})

    def close(self) -> None:
        """Do nothing: every line was written at once."""


def _say(text: str, *, is_error: bool = False) -> None:
    notify(terminal_safe(text), dim=not is_error, red=is_error)
