"""The lines of a live run: its tool calls while they are written, run and end; its figures; its todos."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from toolroll.agent.cost import total_cost
from toolroll.agent.events import CallFinished
from toolroll.agent.result import Step
from toolroll.cli.render.plain import MAX_ARGUMENTS_CHARACTERS, describe_failure
from toolroll.cli.render.result import MAX_LINE_CHARACTERS
from toolroll.errors import UsageError
from toolroll.kernel.call.events import Progress
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.data.usage import Usage
from toolroll.models.catalog import known_limits, parse_model
from toolroll.safe.secrets.redact import redact_line
from toolroll.safe.text import one_line

MAX_RUNNING_LINES: Final = 6
"""Calls that run at once are counted rather than listed from here on: the answer needs the room."""

_BAR_COLUMNS: Final = 10

_MIN_ARGUMENTS_COLUMNS: Final = 8

_SECOND_MS: Final = 1_000

_MANY_BYTES: Final = 10_000

_MAX_MODEL_CHARACTERS: Final = 40

MAX_SHOWN: Final = 12
"""Half of a small screen: of a longer list what is done is counted, and what is far away."""

_MAX_CHARACTERS: Final = 200

# Letters rather than signs: some terminals draw a ballot box two columns wide, and some fonts have none.
_MARKS: Final[Mapping[object, tuple[str, str]]] = {
    "completed": ("[x] ", "dim"),
    "in_progress": ("[>] ", "bold"),
    "pending": ("[ ] ", ""),
}


@dataclass(slots=True, kw_only=True)
class RunningCall:
    """A call that runs; `progress` is what it said last."""

    call: ToolCall
    since_s: float
    progress: Progress | None = None


def format_running(calls: list[RunningCall], now_s: float) -> list[Text]:
    """Return a line for each call with the time that it has taken so far, and how far it is."""
    lines = [_format_running(one, now_s) for one in calls[:MAX_RUNNING_LINES]]
    more = len(calls) - MAX_RUNNING_LINES
    return [*lines, Text(f"  and {more} more", style="dim")] if more > 0 else lines


def _format_running(one: RunningCall, now_s: float) -> Text:
    name = redact_line(one.call.name, MAX_ARGUMENTS_CHARACTERS)
    line = Text.assemble(("▸ ", "cyan"), (name, "bold"), f" {max(int(now_s - one.since_s), 0)} s  ")
    if one.progress is not None:
        return line.append_text(format_progress(one.progress))
    return line.append(redact_line(one.call.arguments, MAX_ARGUMENTS_CHARACTERS), "dim")


def format_progress(progress: Progress) -> Text:
    """Return how far something is: a bar where it is known, and the message."""
    message = redact_line(progress.message, MAX_LINE_CHARACTERS)
    if progress.fraction is None:
        return Text(message, style="dim")
    share = min(max(progress.fraction, 0.0), 1.0)
    full = round(share * _BAR_COLUMNS)
    return Text.assemble(("█" * full, "cyan"), ("░" * (_BAR_COLUMNS - full), "dim"), f" {share:.0%} ", (message, "dim"))


def format_written(name: str, characters: int) -> Text:
    """Return a call that the model is still writing."""
    return Text(f"▸ {redact_line(name, MAX_ARGUMENTS_CHARACTERS)}: {characters:,} characters of arguments", style="dim")


def format_finished(event: CallFinished, columns: int) -> Text:
    """Return a call and what it came to; on one line, but for an error, whose first line is told in full."""
    call, result = event.call, event.result
    name = redact_line(call.name, MAX_ARGUMENTS_CHARACTERS)
    took = duration(event.duration_ms)
    if result.is_error:
        head = Text.assemble(("✗ ", "red"), (name, "bold red"), " ")
        told = f"  {took}, {describe_failure(result)}"
        return head.append_text(_arguments(call, MAX_ARGUMENTS_CHARACTERS)).append(told, "red")
    tail = f"  {took}, {size(len(result.text.encode('utf-8', 'surrogatepass')))}"
    line = Text.assemble(("· ", "green"), (name, "bold"), " ")
    room = columns - line.cell_len - cell_len(tail)
    return line.append_text(_arguments(call, min(room, MAX_ARGUMENTS_CHARACTERS))).append(tail, "dim")


def _arguments(call: ToolCall, room: int) -> Text:
    text = redact_line(call.arguments, MAX_ARGUMENTS_CHARACTERS)
    room = max(room, _MIN_ARGUMENTS_COLUMNS)
    if cell_len(text) > room:
        text = set_cell_size(text, room - 1).rstrip() + "…"
    return Text(text, style="dim")


def duration(milliseconds: float) -> str:
    """Return a time as people read it."""
    return f"{milliseconds:,.0f} ms" if milliseconds < _SECOND_MS else f"{milliseconds / _SECOND_MS:,.1f} s"


def size(count: int) -> str:
    """Return bytes as people read them."""
    return f"{count:,} bytes" if count < _MANY_BYTES else f"{count / 1_000:,.0f} KB"


class Status:
    """What is known of a run so far."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.number = 0
        self._usage = Usage()
        self._costs: list[float | None] = []
        self._context_tokens: int | None = None

    def count(self, step: Step) -> None:
        """Count a step that is over."""
        self._usage += step.usage
        self._costs.append(step.cost)
        is_one_call = step.usage.requests == 1 and step.usage.measured and not step.sub_runs
        self._context_tokens = step.usage.total if is_one_call else None

    def line(self) -> Text:
        """Return the line with all that is known, the most important first: a narrow screen cuts the end."""
        known = [f"step {max(self.number, 1)}"]
        if self._costs:
            known.append(f"{self._usage.input_total:,} in, {self._usage.output_tokens:,} out")
            cost = total_cost(self._costs)
            known += [] if cost is None else [f"${cost:.4f}"]
            share = self._share()
            known += [] if share is None else [f"context {share:.0%}"]
        known += [one_line(self.model, _MAX_MODEL_CHARACTERS)] if self.model else []
        return Text(" · ".join(known), style="dim")

    def _share(self) -> float | None:
        """How full the window of the model is; None where one of the two is not known."""
        try:
            limits = known_limits(parse_model(self.model).model)
        except UsageError:
            limits = known_limits(self.model)
        if limits is None or self._context_tokens is None:
            return None
        return self._context_tokens / limits.window_tokens


def format_todos(value: object) -> list[Text]:
    """Return the list that a run keeps under `todos`, with marks; nothing for what is no such list."""
    todos = value.get("todos") if isinstance(value, Mapping) else None
    if not isinstance(todos, list):
        return []
    known = [todo for todo in todos if isinstance(todo, Mapping)]
    done = sum(todo.get("status") == "completed" for todo in known)
    hidden = min(max(done - 1, 0), max(len(known) - MAX_SHOWN, 0))
    skipped = [todo for todo in known if todo.get("status") == "completed"][:hidden]
    shown = [todo for todo in known if not any(todo is one for one in skipped)]
    lines = [Text(f"todos {done}/{len(known)}", style="dim"), *map(_format_todo, shown[:MAX_SHOWN])]
    more = len(shown) - MAX_SHOWN
    return [*lines, Text(f"  and {more} more", style="dim")] if more > 0 else lines


def _format_todo(todo: Mapping[str, object]) -> Text:
    mark, style = _MARKS.get(todo.get("status"), _MARKS["pending"])
    return Text(f"  {mark}{one_line(str(todo.get('content', '')), _MAX_CHARACTERS)}", style=style)
