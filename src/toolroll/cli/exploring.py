"""An exploration told while it goes: steps, reads, searches and what they found; and what it came to."""

from toolroll.agent.events import CallFinished, Event, Retrying, RunFinished, StepStarted, TextArrived, Warned
from toolroll.cli.prose import tell
from toolroll.cli.session import Session
from toolroll.cli.telling import call_line, event_fields, result_fields
from toolroll.kernel.events import StateChanged
from toolroll.packs.research.exploration import Explored
from toolroll.packs.search.sources import STATE
from toolroll.safe.text import one_line, terminal_safe

MAX_LINE_CHARACTERS = 160


class PlainListener:
    """A line on stderr for each thing that happens."""

    def __init__(self) -> None:
        self._is_writing = False

    def hear(self, event: Event, /) -> None:
        """Tell of one event."""
        match event:
            case StepStarted(number=number):
                self._is_writing = False
                _say(f"· step {number}")
            case TextArrived() if not self._is_writing:
                self._is_writing = True
                _say("· writing")
            case CallFinished():
                _say(call_line(event), is_error=event.result.is_error)
            case StateChanged(name=name, value=value) if found := found_line(name, value):
                _say(found)
            case Warned(text=text) | Retrying(reason=text):
                _say(f"! {one_line(text, MAX_LINE_CHARACTERS)}", is_error=True)
            case _:
                return

    def close(self) -> None:
        """Every line was written at once."""


class JsonListener:
    """Every event as a line of JSON; the end of the exploration is told by others."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._index = 0

    def hear(self, event: Event, /) -> None:
        """Tell of one event."""
        self._index += 1
        told = result_fields(event.result) if isinstance(event, RunFinished) else event_fields(event)
        self._session.write_json({"index": self._index, "event": event.event, **told})

    def close(self) -> None:
        """Every line was written at once."""


def found_line(name: str, value: object) -> str:
    """A source that was found, on a line; nothing for what is none, or is known."""
    match value:
        case {"title": title, "url": url, "cited": False} if name.startswith(STATE):
            return f"· found {one_line(f'{title} <{url}>', MAX_LINE_CHARACTERS)}"
        case _:
            return ""


def finished(done: Explored) -> dict[str, object]:
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


def summary(done: Explored) -> list[str]:
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
    lines += [f"! {one['backend']} did not search: {one['reason']}" for one in entry.failed_searches]
    lines.append(f"· {len(entry.sources)} sources")
    lines += [f"  {one['number']}. {one['title']} <{one['url']}>" for one in entry.sources]
    return [terminal_safe(line) for line in lines]


def _say(text: str, *, is_error: bool = False) -> None:
    tell(terminal_safe(text), dim=not is_error, red=is_error)
