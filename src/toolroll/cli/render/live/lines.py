"""The lines of a live run: its tool calls while they are written, run and end; its figures; its todos."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from toolroll.agent.cost import total_cost
from toolroll.agent.events import CallFinished
from toolroll.agent.result import Step
from toolroll.cli.render.calls import describe_call, format_duration
from toolroll.cli.render.plain import MAX_ARGUMENTS_CHARACTERS, describe_failure, describe_outcome
from toolroll.cli.render.result import MAX_LINE_CHARACTERS
from toolroll.cli.terminal.message_queue import MessageQueue
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

_MANY_BYTES: Final = 10_000

_MAX_MODEL_CHARACTERS: Final = 40

MAX_SHOWN: Final = 12
"""Half of a small screen: of a longer list what is done is counted, and what is far away."""

_MAX_CHARACTERS: Final = 200

MAX_QUEUED_LINES: Final = 3

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
    words = describe_call(one.call)
    line = Text.assemble(("▸ ", "cyan"), (words.verb, "bold"), " ")
    seconds = f"{max(int(now_s - one.since_s), 0)} s  "
    if words.is_known:
        line.append(f"{words.about}  " if words.about else " ")
    line.append(seconds)
    if one.progress is not None:
        return line.append_text(format_progress(one.progress))
    return line if words.is_known else line.append(words.about, "dim")


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


def format_finished(event: CallFinished, columns: int, *, is_verbose: bool = False) -> Text:
    """Return a call and what it came to; on one line, but for an error, which is told in full where it is short.

    With `is_verbose`, the arguments as they are, the time and the size are there for every call.
    """
    words = describe_call(event.call, event.result)
    if not words.is_known or is_verbose:
        return _format_raw(event, columns)
    sign, style = ("✗ ", "red") if event.result.is_error or words.is_bad else ("· ", "green")
    line = Text.assemble((sign, style), (words.verb, "bold red" if event.result.is_error else "bold"), " ")
    outcome = describe_outcome(event, words)
    if event.result.is_error:
        return line.append_text(_shorten(words.about, MAX_ARGUMENTS_CHARACTERS, "")).append(outcome, "red")
    room = columns - line.cell_len - cell_len(outcome)
    return line.append_text(_shorten(words.about, room, "red" if words.is_bad else "")).append(outcome, "dim")


def _format_raw(event: CallFinished, columns: int) -> Text:
    call, result = event.call, event.result
    name = redact_line(call.name, MAX_ARGUMENTS_CHARACTERS)
    took = format_duration(event.duration_ms)
    arguments = redact_line(call.arguments, MAX_ARGUMENTS_CHARACTERS)
    if result.is_error:
        head = Text.assemble(("✗ ", "red"), (name, "bold red"), " ")
        return head.append_text(_shorten(arguments, MAX_ARGUMENTS_CHARACTERS)).append(
            f"  {took}, {describe_failure(result)}", "red"
        )
    tail = f"  {took}, {size(len(result.text.encode('utf-8', 'surrogatepass')))}"
    line = Text.assemble(("· ", "green"), (name, "bold"), " ")
    room = columns - line.cell_len - cell_len(tail)
    return line.append_text(_shorten(arguments, min(room, MAX_ARGUMENTS_CHARACTERS))).append(tail, "dim")


def _shorten(text: str, room: int, style: str = "dim") -> Text:
    room = max(room, _MIN_ARGUMENTS_COLUMNS)
    if cell_len(text) > room:
        text = set_cell_size(text, room - 1).rstrip() + "…"
    return Text(text, style=style)


def size(count: int) -> str:
    """Return bytes as people read them."""
    return f"{count:,} bytes" if count < _MANY_BYTES else f"{count / 1_000:,.0f} KB"


def format_queued(queue: MessageQueue) -> list[Text]:
    """Return what was typed meanwhile: messages that wait, and the beginning of one."""
    lines = [Text(f"queued: {one_line(line, _MAX_CHARACTERS)}", style="dim") for line in queue.lines]
    more = len(lines) - MAX_QUEUED_LINES
    shown = [*lines[:MAX_QUEUED_LINES], *([Text(f"  and {more} more", style="dim")] if more > 0 else [])]
    return [*shown, Text(f"> {one_line(queue.typed, _MAX_CHARACTERS)}")] if queue.typed else shown


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
        return None if self._context_tokens is None else window_share(self.model, self._context_tokens)


def window_share(model: str, tokens: int) -> float | None:
    """Return how full the window of a model is; None where its size is not known."""
    try:
        limits = known_limits(parse_model(model).model)
    except UsageError:
        limits = known_limits(model)
    return None if limits is None else tokens / limits.window_tokens


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
