"""An exploration told while it goes: steps, reads, searches and what they found; and what it came to."""

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
from toolroll.cli.render.prose import notify
from toolroll.cli.render.renderer import event_fields, format_call, is_live, result_fields
from toolroll.cli.session import Session
from toolroll.kernel.call.events import StateChanged
from toolroll.packs.research.exploration import ExplorationResult
from toolroll.packs.search.sources import SOURCES_STATE
from toolroll.safe.text import one_line, terminal_safe

MAX_LINE_CHARACTERS = 160


class PlainExplorationRenderer:
    """A line on stderr for each thing that happens."""

    def __init__(self) -> None:
        self._is_writing = False

    def on_event(self, event: Event, /) -> None:
        """Tell of one event."""
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
        """Every line was written at once."""


class JsonExplorationRenderer:
    """Every event as a line of JSON; the end of the exploration is told by others."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._index = 0

    def on_event(self, event: Event, /) -> None:
        """Tell of one event."""
        self._index += 1
        told = result_fields(event.result) if isinstance(event, RunFinished) else event_fields(event)
        self._session.write_json({"index": self._index, "event": event.event, **told})

    def close(self) -> None:
        """Every line was written at once."""


def format_source(name: str, value: object) -> str:
    """A source that was found, on a line; nothing for what is none, or is known."""
    match value:
        case {"title": title, "url": url, "cited": False} if name.startswith(SOURCES_STATE):
            return f"· found {one_line(f'{title} <{url}>', MAX_LINE_CHARACTERS)}"
        case _:
            return ""


def exploration_fields(done: ExplorationResult) -> dict[str, object]:
    """The end of an exploration as JSON."""
    entry = None if done.entry is None else done.entry.fields
    return {
        "event": "exploration_finished",
        "outcome": done.outcome,
        "path": done.path,
        "where": done.where,
        "content": done.content,
        "is_whole": done.is_whole,
        "log": entry,
    }


def summarize_exploration(done: ExplorationResult) -> list[str]:
    """The end of an exploration in words: what became of it, what it took, what it rests on."""
    entry = done.entry
    if entry is None:
        return ["· This idea was explored before; nothing was done. Add --update to bring it up to date."]
    cost = "cost unknown" if entry.cost_usd is None else f"${entry.cost_usd:.4f}"
    tokens = f"{entry.input_tokens:,} tokens in, {entry.output_tokens:,} out"
    steps = "1 step" if entry.steps == 1 else f"{entry.steps} steps"
    lines = [f"· {done.outcome}: {steps}, {entry.duration_ms / 1_000:.1f} s, {tokens}, {cost}"]
    if not done.is_whole:
        lines.append(f"! The document is incomplete ({entry.stop_reason}). Add --update to go on.")
    lines += [f"! {one['reason']}" for one in entry.failed_searches]
    lines.append(f"· {len(entry.sources)} sources")
    lines += [f"  {one['number']}. {one['title']} <{one['url']}>" for one in entry.sources]
    return [terminal_safe(line) for line in lines]


def _say(text: str, *, is_error: bool = False) -> None:
    notify(terminal_safe(text), dim=not is_error, red=is_error)


class ExplorationRenderer(Protocol):
    """Somebody who tells of an exploration while it goes."""

    def on_event(self, event: Event, /) -> None:
        """Tell of one event, at once."""
        ...

    def close(self) -> None:
        """Leave nothing on the screen that is not to stay; also twice."""
        ...


def make_exploration_renderer(session: Session, *, model: str = "") -> ExplorationRenderer:
    """The one that the person asked for; `model` is the name to show until the run says its own."""
    if session.json:
        return JsonExplorationRenderer(session)
    if not is_live(session):
        return PlainExplorationRenderer()
    from toolroll.cli.render.live.renderer import LiveExplorationRenderer  # noqa: PLC0415 - rich: only where it is used

    return LiveExplorationRenderer(session, model=model, environment=os.environ)


class Following:
    """Tells of an exploration, and keeps what is to be known of its runs."""

    def __init__(self, session: Session, *, model: str) -> None:
        self._session = session
        self._listener = make_exploration_renderer(session, model=model)
        self.count = 0
        """How many events were told."""
        self.run_id: str | None = None
        self.results: list[RunResult[object]] = []

    def on_event(self, event: Event, /) -> None:
        """Tell of one event."""
        self.count += 1
        match event:
            case RunStarted(run_id=run_id):
                self.run_id = run_id
            case RunFinished(result=result):
                self.results.append(result)
            case _:
                pass
        self._listener.on_event(event)

    def close(self) -> None:
        """Leave the terminal as it was."""
        self._listener.close()

    @property
    def was_stopped(self) -> bool:
        """Whether somebody has stopped the last run."""
        return bool(self.results) and self.results[-1].stop_reason == "interrupted"

    def tell_how_to_go_on(self) -> None:
        """Nothing that was paid for is lost: say how to get on with it."""
        if self.run_id is not None and not self._session.json:
            notify(f"Go on with: toolroll runs resume {self.run_id}")
