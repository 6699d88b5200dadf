"""An exploration while it goes: steps, searches and the sources they found; and the document at its end."""

import os
from collections.abc import Mapping
from typing import Final, Protocol

from pydantic_core import from_json
from rich.text import Text

from toolroll.agent.event_json import event_fields, result_fields
from toolroll.agent.events import (
    CallFinished,
    CallStarted,
    Event,
    Retrying,
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
    TextArrived,
    WaitingForModel,
    Warned,
)
from toolroll.agent.loop.call_log import format_log
from toolroll.agent.result import RunResult
from toolroll.cli.render.document import show_markdown
from toolroll.cli.render.live.renderer import LiveRenderer
from toolroll.cli.render.plain import describe_failure, describe_wait, format_call, shows_wait
from toolroll.cli.render.prose import notify
from toolroll.cli.render.renderer import is_live
from toolroll.cli.session import DONE, STOPPED_BY_LIMIT, Session
from toolroll.errors import ToolrollError
from toolroll.kernel.call.events import StateChanged
from toolroll.packs.research.exploration import ExplorationResult
from toolroll.packs.search.sources import QUERIES_STATE, SOURCES_STATE
from toolroll.packs.search.tool import NAME as WEB_SEARCH
from toolroll.safe.secrets.redact import redact_line
from toolroll.safe.text import one_line, terminal_safe

MAX_LINE_CHARACTERS: Final = 160


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
            is_shown = self._session.out.isatty()
            if is_shown:
                show_markdown(self._session, done.content)
                self._session.write("")
            for line in summarize_exploration(done, with_sources=not is_shown):
                notify(line)
            self._session.write(done.where)
        return DONE if done.is_whole else STOPPED_BY_LIMIT

    def close(self) -> None:
        """Leave the terminal as it was."""
        self._view.close()

    @property
    def was_stopped(self) -> bool:
        """Return whether somebody has stopped the last run."""
        return bool(self.results) and self.results[-1].stop_reason == "interrupted"

    def suggest_resume(self) -> None:
        """Show how to continue: nothing that was paid for is lost."""
        if self.run_id is not None and not self._session.json:
            notify(f"Go on with: toolroll runs resume {self.run_id}")


def _make_view(session: Session, *, model: str) -> _View:
    if session.json:
        return JsonView(session)
    if not is_live(session):
        return PlainView(verbose=session.verbose)
    return LiveExplorationView(session, model=model, environment=os.environ)


class PlainView:
    """Writes a line to stderr for each thing that happens."""

    def __init__(self, *, verbose: bool = False) -> None:
        self._is_writing = False
        self._verbose = verbose

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
                _say(format_research_call(event), is_error=event.result.is_error)
            case StateChanged(name=name, value=value) if found := format_source(name, value):
                _say(found)
            case StepFinished(step=step) if self._verbose:
                for log in step.calls:
                    _say(format_log(log))
            case WaitingForModel() if shows_wait(event):
                _say(f"· {describe_wait(event)}")
            case Warned(text=text) | Retrying(reason=text):
                _say(f"! {one_line(text, MAX_LINE_CHARACTERS)}", is_error=True)
            case _:
                return

    def close(self) -> None:
        """Do nothing: every line was written at once."""


class LiveExplorationView(LiveRenderer):
    """Queries and reads as they happen, pages as they are found, how much is written, and the phase with figures."""

    def _note(self, event: Event) -> None:
        super()._note(event)
        if isinstance(event, CallStarted | StepFinished):
            self._written.clear()
        if isinstance(event, StepFinished) and self._session.verbose:
            for log in event.step.calls:
                self._say(format_log(log))

    def _note_doing(self, event: Event) -> None:
        if isinstance(event, CallFinished):
            self._running.pop(event.call.id, None)
            self._say(format_research_call(event), is_error=event.result.is_error)
        else:
            super()._note_doing(event)

    def _lines(self, now_s: float) -> list[Text]:
        lines = super()._lines(now_s)
        lines[-1] = Text(f"{self._phase} · ", style="dim").append_text(lines[-1])
        return lines

    @property
    def _phase(self) -> str:
        """What the exploration does now, in a word."""
        names = {one.call.name for one in self._running.values()} | {name for name, _ in self._writing.values()}
        if names:
            return "searching" if WEB_SEARCH in names else "reading"
        return "writing" if self._written else "thinking"

    def _note_state(self, name: str, value: object) -> None:
        found = format_source(name, value)
        if found:
            self._say(found)

    def _write(self, text: str) -> None:
        self._thought = ""
        self._written.append(text)

    def _preview_lines(self, columns: int) -> list[Text]:
        del columns
        count = sum(map(len, self._written))
        return [Text(f"▸ writing: {count:,} characters", style="dim")] if count else []


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


def format_research_call(event: CallFinished) -> str:
    """Return a search or a read with what came of it; any other call as everywhere."""
    call, result = event.call, event.result
    match call.name, _read_object(call.arguments), _read_object(result.text):
        case "web_search", {"query": str(query)}, answer:
            said, found = f'searched "{query}"', answer.get("results")
            outcome = _count_pages(len(found)) if isinstance(found, list) else ""
        case "read_research", {"path": str(path)}, answer:
            said, size = f"read {path}", answer.get("bytes")
            outcome = f"{size:,} bytes" if isinstance(size, int) else ""
        case _:
            return format_call(event)
    if result.is_error:
        outcome = describe_failure(result)
    mark = "✗" if result.is_error else "·"
    return f"{mark} {redact_line(said, MAX_LINE_CHARACTERS)}: {outcome or 'done'}"


def _count_pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count} pages"


def _read_object(text: str) -> Mapping[str, object]:
    try:
        found = from_json(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def format_source(name: str, value: object) -> str:
    """Return a query or a source that was found as a line; nothing for any other state, or a source that is known."""
    match value:
        case str(query) if name.startswith(QUERIES_STATE):
            return f'· searched "{one_line(query, MAX_LINE_CHARACTERS)}"'
        case {"title": title, "url": url, "cited": False} if name.startswith(SOURCES_STATE):
            return f"· found {one_line(f'{title} <{url}>', MAX_LINE_CHARACTERS)}"
        case _:
            return ""


def exploration_fields(done: ExplorationResult) -> dict[str, object]:
    """Return the end of an exploration as JSON."""
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


def summarize_exploration(done: ExplorationResult, *, with_sources: bool = True) -> list[str]:
    """Return the end of an exploration as lines: its outcome, what it took, and the sources it rests on.

    Without `with_sources` they are only counted: the document above lists them.
    """
    entry = done.entry
    if entry is None:
        known = "· This idea was explored before; nothing was done."
        return [f"{known} Show it: toolroll explore show {done.path}. Add --update to bring it up to date."]
    cost = "cost unknown" if entry.cost_usd is None else f"${entry.cost_usd:.4f}"
    tokens = f"{entry.input_tokens:,} tokens in, {entry.output_tokens:,} out"
    steps = "1 step" if entry.steps == 1 else f"{entry.steps} steps"
    requests = "" if entry.requests == entry.steps else f" ({entry.requests} requests)"
    lines = [f"· {done.outcome}: {steps}{requests}, {entry.duration_ms / 1_000:.1f} s, {tokens}, {cost}"]
    if not done.is_whole:
        lines.append(f"! The document is incomplete ({entry.stop_reason}). Add --update to continue it.")
    lines += [f"! {one['reason']}" for one in entry.failed_searches]
    lines.append("· 1 source" if len(entry.sources) == 1 else f"· {len(entry.sources)} sources")
    if with_sources:
        lines += [f"  {one['number']}. {one['title']} <{one['url']}>" for one in entry.sources]
    return [terminal_safe(line) for line in lines]
