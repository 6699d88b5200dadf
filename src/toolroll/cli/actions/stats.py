"""What `toolroll stats` does: it shows what tools and models did over all runs, in figures, bars and lines."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from shutil import get_terminal_size
from typing import Final

from rich.cells import set_cell_size

from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, Session
from toolroll.journal.places import find_run_log
from toolroll.journal.statistics import DayFigures, ModelFigures, Statistics, ToolFigures, favourites, read_statistics
from toolroll.safe.text import one_line

DAY_S: Final = 24 * 3600

MAX_COLUMNS: Final = 100

PERCENTILES: Final = {"p50": 0.5, "p95": 0.95, "p99": 0.99}

WIDE_COLUMNS: Final = 76
"""From here on a tool fits on one line."""

NAME_COLUMNS: Final = 20

MAX_TOOLS: Final = 30
"""Listed; the others are in --json."""

_HEADINGS: Final = ("calls", "failed", "p50", "p95", "p99", "size", "yes/no")

_WIDTHS: Final = (7, 7, 8, 8, 8, 7, 7)

_EIGHTHS: Final = " ▏▎▍▌▋▊▉"

_STEPS: Final = "·▁▂▃▄▅▆▇█"

_PLAIN_STEPS: Final = ".:-=+*#%@"

_SIZES: Final = ("B", "kB", "MB", "GB", "TB")

_THOUSAND: Final = 1_000

_MINUTE_MS: Final = 60_000


def show_statistics(session: Session, *, since: int | None, tool: str | None, model: str | None) -> int:
    """Show the figures; return the exit code."""
    start = time.time() - since * DAY_S if since else 0.0
    found = read_statistics(find_run_log(os.environ), since=start, model=model)
    if session.json:
        session.write_json(statistics_fields(found, since=since, tool=tool))
    else:
        _show(session, found, tool)
    return DONE


def _show(session: Session, found: Statistics, tool: str | None) -> None:
    if tool not in found.tools if tool else not (found.runs or found.models or found.tools):
        notify("Nothing was recorded that fits. Start a run with 'toolroll run'.")
        return
    figures = _figures(session, found)
    lines = figures.one_tool(tool) if tool else figures.everything()
    session.show("\n".join(line.rstrip() for line in lines))


def _figures(session: Session, found: Statistics) -> "Figures":
    columns = min(get_terminal_size().columns, MAX_COLUMNS)
    blocks = not session.plain and has_blocks(session.out.encoding, os.environ)
    return Figures(found, columns=columns, blocks=blocks)


class Figures:
    """What is written to the terminal."""

    def __init__(self, found: Statistics, *, columns: int, blocks: bool) -> None:
        self._found = found
        self._columns = columns
        self._blocks = blocks
        self._tools = sorted(found.tools.values(), key=lambda tool: (-tool.calls, tool.name))
        self._is_wide = columns >= WIDE_COLUMNS

    def everything(self) -> Iterator[str]:
        """Yield all sections, with an empty line between two."""
        yield from self._folded(_total_words(self._found))
        if self._tools:
            yield from ("", *self._table(self._tools[:MAX_TOOLS]))
            if len(self._tools) > MAX_TOOLS:
                yield f"... and {len(self._tools) - MAX_TOOLS} more tools: see --json"
        if self._found.models:
            yield from ("", *self._models())
        if len(self._found.days) > 1:
            yield from ("", *self._days())
        if self._found.unreadable:
            yield from ("", f"{self._found.unreadable:,} records could not be read.")

    def one_tool(self, name: str) -> Iterator[str]:
        """Return the line of one tool."""
        return self._table([self._found.tools[name]])

    def _table(self, tools: Sequence[ToolFigures]) -> Iterator[str]:
        most = max(tool.calls for tool in tools)
        if self._is_wide:
            cells = "".join(word.rjust(width) for word, width in zip(_HEADINGS, _WIDTHS, strict=True))
            yield _name("Tools") + cells
        else:
            yield "Tools"
        for tool in tools:
            yield from self._wide(tool, most) if self._is_wide else self._narrow(tool, most)

    def _wide(self, tool: ToolFigures, most: int) -> Iterator[str]:
        cells = "".join(word.rjust(width) for word, width in zip(_cells(tool), _WIDTHS, strict=True))
        room = self._columns - NAME_COLUMNS - sum(_WIDTHS) - 2
        yield f"{_name(tool.name)}{cells}  {bar(tool.calls, most, room, blocks=self._blocks)}"

    def _narrow(self, tool: ToolFigures, most: int) -> Iterator[str]:
        room = self._columns - NAME_COLUMNS - 1
        yield f"{_name(tool.name)} {bar(tool.calls, most, room, blocks=self._blocks)}"
        words = [_count(tool.calls, "call"), f"{tool.failures:,} failed"]
        words += [f"{name} {duration(tool.latency.percentile(share))}" for name, share in PERCENTILES.items()]
        words += [size(tool.byte_size)]
        if tool.approvals or tool.rejections:
            words += [f"{tool.approvals:,} yes", f"{tool.rejections:,} no"]
        yield from self._folded(words, indent="  ")

    def _models(self) -> Iterator[str]:
        models = sorted(self._found.models.values(), key=lambda model: (-model.steps, model.name))
        most = max(model.input_tokens + model.output_tokens for model in models)
        room = self._columns - NAME_COLUMNS - 1
        yield "Models"
        for model in models:
            tokens = model.input_tokens + model.output_tokens
            yield f"{_name(model.name)} {bar(tokens, most, room, blocks=self._blocks)}"
            yield from self._folded(_model_words(model), indent="  ")

    def _days(self) -> Iterator[str]:
        """A letter a day, the latest last."""
        days = _every_day(self._found.days, self._columns - len("tokens "))
        yield f"Days from {days[0][0]} to {days[-1][0]}"
        tokens, cost = [float(one.tokens) for _, one in days], [one.cost for _, one in days]
        yield f"tokens {sparkline(tokens, blocks=self._blocks)}"
        if any(cost):
            yield f"cost   {sparkline(cost, blocks=self._blocks)}"
        yield f"At most {max(tokens):,.0f} tokens, ${max(cost):,.2f} a day"

    def _folded(self, words: Sequence[str], *, indent: str = "") -> Iterator[str]:
        """Words with commas, in as many lines as they need."""
        line = ""
        for place, word in enumerate(words):
            piece = word if place == len(words) - 1 else f"{word},"
            if line and len(indent) + len(line) + 1 + len(piece) > self._columns:
                yield indent + line
                line = piece
            else:
                line = f"{line} {piece}".strip()
        yield indent + line


def statistics_fields(found: Statistics, *, since: int | None, tool: str | None) -> dict[str, object]:
    """Return the figures for programs; of the tools only one, if one is named."""
    tools = sorted(found.tools.values(), key=lambda one: (-one.calls, one.name))
    models = sorted(found.models.values(), key=lambda one: (-one.steps, one.name))
    return {
        "since_days": since,
        "totals": _total_fields(found),
        "tools": [_tool_fields(one) for one in tools if tool in (None, one.name)],
        "models": [_model_fields(one) for one in models],
        "days": [
            {"date": day.isoformat(), "steps": one.steps, "tokens": one.tokens, "cost": one.cost}
            for day, one in sorted(found.days.items())
        ],
        "favourites": favourites(found),
        "unreadable": found.unreadable,
    }


def _total_fields(found: Statistics) -> dict[str, object]:
    models, tools = list(found.models.values()), list(found.tools.values())
    return {
        "runs": found.runs,
        "steps": sum(one.steps for one in models),
        "calls": sum(one.calls for one in tools),
        "failures": sum(one.failures for one in tools),
        "approvals": sum(one.approvals for one in tools),
        "rejections": sum(one.rejections for one in tools),
        "input_tokens": sum(one.input_tokens for one in models),
        "output_tokens": sum(one.output_tokens for one in models),
        "cached_tokens": sum(one.cached_tokens for one in models),
        "cost": sum(one.cost for one in models),
        "unpriced": sum(one.unpriced for one in models),
    }


def _tool_fields(tool: ToolFigures) -> dict[str, object]:
    return {
        "name": tool.name,
        "calls": tool.calls,
        "failures": tool.failures,
        "byte_size": tool.byte_size,
        "approvals": tool.approvals,
        "rejections": tool.rejections,
        "latency_ms": {name: tool.latency.percentile(share) for name, share in PERCENTILES.items()},
    }


def _model_fields(model: ModelFigures) -> dict[str, object]:
    return {
        "name": model.name,
        "runs": model.runs,
        "steps": model.steps,
        "input_tokens": model.input_tokens,
        "output_tokens": model.output_tokens,
        "cached_tokens": model.cached_tokens,
        "cost": model.cost,
        "unpriced": model.unpriced,
        "latency_ms": {name: model.latency.percentile(share) for name, share in PERCENTILES.items()},
    }


def _total_words(found: Statistics) -> list[str]:
    models, tools = found.models.values(), found.tools.values()
    tokens = sum(one.input_tokens + one.output_tokens for one in models)
    steps, unpriced = sum(one.steps for one in models), sum(one.unpriced for one in models)
    words = [_count(found.runs, "run"), _count(steps, "step"), _count(sum(one.calls for one in tools), "call")]
    words += [f"{tokens:,} tokens", dollars(sum(one.cost for one in models), unpriced, steps)]
    return words + ([f"{_count(unpriced, 'step')} without a known price"] if 0 < unpriced < steps else [])


def _model_words(model: ModelFigures) -> list[str]:
    words = [_count(model.runs, "run"), _count(model.steps, "step"), f"{model.input_tokens:,} tokens in"]
    words += [f"{model.cached_tokens:,} cached", f"{model.output_tokens:,} out"]
    words += [dollars(model.cost, model.unpriced, model.steps)]
    return words + [f"{name} {duration(model.latency.percentile(share))}" for name, share in PERCENTILES.items()]


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _cells(tool: ToolFigures) -> Sequence[str]:
    times = [duration(tool.latency.percentile(share)) for share in PERCENTILES.values()]
    answers = f"{tool.approvals}/{tool.rejections}" if tool.approvals or tool.rejections else "-"
    return (f"{tool.calls:,}", f"{tool.failures:,}", *times, size(tool.byte_size), answers)


def _name(name: str) -> str:
    """A name of exactly so many columns, wide letters counted as two. Models make names up: they are made safe."""
    shown = one_line(name, 2 * NAME_COLUMNS)
    return set_cell_size(shown, NAME_COLUMNS - 1) + " "


def _every_day(days: dict[date, DayFigures], most: int) -> list[tuple[date, DayFigures]]:
    """The latest days without a gap: one without runs is one, too."""
    last = max(days)
    count = min((last - min(days)).days + 1, most)
    every = (last - timedelta(days=back) for back in range(count - 1, -1, -1))
    return [(day, days.get(day, DayFigures())) for day in every]


def has_blocks(encoding: str | None, environment: Mapping[str, str]) -> bool:
    """Return whether blocks can be shown, by the encoding of the output and by the locale."""
    locale = next((environment[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if environment.get(name)), "")
    charset = locale.partition(".")[2].partition("@")[0]
    is_plain = locale in ("C", "POSIX") or (charset != "" and not _is_utf8(charset))
    return _is_utf8(encoding or "") and not is_plain


def _is_utf8(name: str) -> bool:
    return name.casefold().replace("-", "") == "utf8"


def bar(value: float, most: float, width: int, *, blocks: bool) -> str:
    """Return a bar of at most that width; something is seen of whatever is more than nothing."""
    if most <= 0 or value <= 0:
        return ""
    eighths = max(1, round(width * 8 * min(value / most, 1.0)))
    if not blocks:
        return "#" * max(1, round(eighths / 8))
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def sparkline(values: Sequence[float], *, blocks: bool) -> str:
    """Return one letter for each value, the highest for the largest."""
    steps = _STEPS if blocks else _PLAIN_STEPS
    most = max(values, default=0)
    return "".join(steps[0] if value <= 0 else steps[max(1, round(8 * value / most))] for value in values)


def duration(milliseconds: float | None) -> str:
    """Return a time in at most seven letters."""
    if milliseconds is None:
        return "-"
    if milliseconds >= _MINUTE_MS:
        return f"{milliseconds / _MINUTE_MS:.1f} m"
    if milliseconds >= _THOUSAND:
        return f"{milliseconds / 1000:.1f} s"
    return f"{milliseconds:.0f} ms" if milliseconds >= 1 else "<1 ms"


def size(count: float) -> str:
    """Return a number of bytes in at most six letters."""
    for unit in _SIZES[:-1]:
        if round(count) < _THOUSAND:
            return f"{count:.0f} {unit}"
        count /= _THOUSAND
    return f"{count:.0f} {_SIZES[-1]}"


def dollars(cost: float, unpriced: int, steps: int) -> str:
    """Return what it cost, as far as that is known."""
    if unpriced and unpriced == steps:
        return "cost unknown"
    return f"${cost:,.2f}" if cost >= 0.01 or cost == 0 else f"${cost:.4f}"  # noqa: PLR2004 - a cent
