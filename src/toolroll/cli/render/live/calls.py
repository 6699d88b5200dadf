"""Tool calls in lines: while the model writes one, while it runs, and what it came to."""

from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from toolroll.agent.events import CallFinished
from toolroll.cli.render.plain import MAX_ARGUMENTS_CHARACTERS, describe_failure
from toolroll.cli.render.result import MAX_LINE_CHARACTERS
from toolroll.kernel.call.events import Progress
from toolroll.kernel.data.messages import ToolCall
from toolroll.safe.text import one_line

MAX_RUNNING_LINES: Final = 6
"""Calls that run at once are counted rather than listed from here on: the answer needs the room."""

_BAR_COLUMNS: Final = 10
_MIN_ARGUMENTS_COLUMNS: Final = 8
_SECOND_MS: Final = 1_000
_MANY_BYTES: Final = 10_000


@dataclass(slots=True, kw_only=True)
class RunningCall:
    """A call that runs; `progress` is what it said last."""

    call: ToolCall
    since_s: float
    progress: Progress | None = None


def format_running(calls: list[RunningCall], now_s: float) -> list[Text]:
    """A line for each call with the time that it has taken so far, and how far it is."""
    lines = [_format_running(one, now_s) for one in calls[:MAX_RUNNING_LINES]]
    more = len(calls) - MAX_RUNNING_LINES
    return [*lines, Text(f"  and {more} more", style="dim")] if more > 0 else lines


def _format_running(one: RunningCall, now_s: float) -> Text:
    name = one_line(one.call.name, MAX_ARGUMENTS_CHARACTERS)
    line = Text.assemble(("▸ ", "cyan"), (name, "bold"), f" {max(int(now_s - one.since_s), 0)} s  ")
    if one.progress is not None:
        return line.append_text(format_progress(one.progress))
    return line.append(one_line(one.call.arguments, MAX_ARGUMENTS_CHARACTERS), "dim")


def format_progress(progress: Progress) -> Text:
    """How far something is: a bar where it is known, and the message."""
    message = one_line(progress.message, MAX_LINE_CHARACTERS)
    if progress.fraction is None:
        return Text(message, style="dim")
    share = min(max(progress.fraction, 0.0), 1.0)
    full = round(share * _BAR_COLUMNS)
    return Text.assemble(("█" * full, "cyan"), ("░" * (_BAR_COLUMNS - full), "dim"), f" {share:.0%} ", (message, "dim"))


def format_written(name: str, characters: int) -> Text:
    """A call that the model is still writing."""
    return Text(f"▸ {one_line(name, MAX_ARGUMENTS_CHARACTERS)}: {characters:,} characters of arguments", style="dim")


def format_finished(event: CallFinished, columns: int) -> Text:
    """A call and what it came to; on one line, but for an error, whose first line is told in full."""
    call, result = event.call, event.result
    name = one_line(call.name, MAX_ARGUMENTS_CHARACTERS)
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
    text = one_line(call.arguments, MAX_ARGUMENTS_CHARACTERS)
    room = max(room, _MIN_ARGUMENTS_COLUMNS)
    if cell_len(text) > room:
        text = set_cell_size(text, room - 1).rstrip() + "…"
    return Text(text, style="dim")


def duration(milliseconds: float) -> str:
    """A time as people read it."""
    return f"{milliseconds:,.0f} ms" if milliseconds < _SECOND_MS else f"{milliseconds / _SECOND_MS:,.1f} s"


def size(count: int) -> str:
    """Bytes as people read them."""
    return f"{count:,} bytes" if count < _MANY_BYTES else f"{count / 1_000:,.0f} KB"
