"""A run as one HTML page that needs nothing else, loads nothing, and runs nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from toolroll._version import __version__
from toolroll.agent.cost import total_cost
from toolroll.apps.export.entries import EntryWriter
from toolroll.apps.export.html import PAGE_CHARACTERS, STYLE, PageBudget, content_policy, escape_text
from toolroll.apps.export.run_tree import RunTree
from toolroll.apps.export.timeline import Entry, TurnView, build_timeline, find_end, iterate_turns
from toolroll.journal.records import RunBegan
from toolroll.kernel.data.usage import Usage

MAX_LINKS: Final = 200
"""Steps in the list at the top."""


def render_page(run: RunTree, *, characters: int = PAGE_CHARACTERS) -> Iterator[str]:
    """Yield the page in pieces. Texts are cut where it would grow too large, and it says so."""
    room = PageBudget(characters)
    found = build_timeline(run.recording, run.times)
    title = f"Run {escape_text(run.row.run_id)}"
    yield _head(title)
    yield f"<header><h1>{title}</h1>{''.join(_warnings(run))}<dl>{''.join(_facts(run, found))}</dl></header>"
    yield f'<nav aria-label="Steps"><ol>{"".join(_links(found))}</ol></nav>'
    yield f"<main><section>{render_chart(found)}{''.join(_system(run, room))}</section>"
    yield from EntryWriter(run, room).html()
    yield f"</main><footer class=dim>Made by toolroll {__version__}.</footer></body></html>\n"


def _head(title: str) -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{content_policy()}">'
        '<meta name="referrer" content="no-referrer">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{STYLE}</style></head><body>\n"
    )


def _warnings(run: RunTree) -> Iterator[str]:
    if run.is_damaged:
        yield '<p class="bad" role="alert">The record of this run is damaged. All that can be read of it is here.</p>'
    yield from (f'<p class="ask">{escape_text(note)}</p>' for note in run.notes)


def _facts(run: RunTree, found: list[Entry]) -> Iterator[str]:
    steps = [turn for turn in iterate_turns(found) if not turn.is_inherited]
    began = next((record for _, record in run.recording if isinstance(record, RunBegan)), None)
    yield _fact("State", _state(run))
    if began is not None:
        yield _fact("Model", began.model)
        yield _fact("Tools", ", ".join(began.tools) or "none")
        if began.forked_from is not None:
            yield _fact("Forked from", f"{began.forked_from}, after step {began.at}")
    yield _fact("Began", f"{datetime.fromtimestamp(run.row.began, UTC):%Y-%m-%d %H:%M:%S} UTC")
    yield _fact("Took", f"{run.row.updated - run.row.began:,.1f} s, waiting included")
    yield _fact("Steps", f"{len(steps):,}")
    yield _fact("Tokens", _tokens(steps))
    yield _fact("Cost", _cost(steps))
    ended = [call.ended for turn in steps for call in turn.calls.values()]
    failed = sum(one is not None and one.result.is_error for one in ended)
    yield _fact("Calls", f"{len(ended):,}, {failed:,} of them failed or refused")


def _fact(name: str, value: str) -> str:
    return f"<dt>{name}</dt><dd>{escape_text(value)}</dd>"


def _state(run: RunTree) -> str:
    ended = find_end(run.recording)
    return "unfinished" if ended is None else f"{ended.stop_reason} {ended.stop_detail}".strip()


def _tokens(steps: list[TurnView]) -> str:
    used = sum((turn.answered.usage for turn in steps), Usage())
    return f"{used.input_total:,} in ({used.cache_read_tokens:,} cached), {used.output_tokens:,} out"


def _cost(steps: list[TurnView]) -> str:
    cost = total_cost([turn.answered.cost for turn in steps])
    return "unknown" if cost is None else f"${cost:.4f}"


def _links(found: list[Entry]) -> Iterator[str]:
    for turn in list(iterate_turns(found))[:MAX_LINKS]:
        yield f'<li><a href="#step-{turn.number}">Step {turn.number}</a></li>'


def _system(run: RunTree, room: PageBudget) -> Iterator[str]:
    for number, record in run.recording:
        if isinstance(record, RunBegan) and record.system:
            where = f"Whole: record {number} of toolroll runs export {run.row.run_id} --format jsonl"
            text = room.text(record.system, where=where)
            yield f'<details><summary>System prompt</summary><pre tabindex="0">{text}</pre></details>'


MAX_BARS: Final = 300
"""More are thinner than a hair, and nobody tells them apart."""
WIDTH: Final = 1_000
ROW: Final = 12
_THINNEST: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One thing that took time."""

    kind: Literal["m", "c", "e"]
    start: float
    end: float
    told: str


def render_chart(found: Sequence[Entry]) -> str:
    """Return the drawing; nothing where nothing took time."""
    bars = list(_bars(found))[:MAX_BARS]
    if not bars:
        return ""
    first = min(bar.start for bar in bars)
    scale = WIDTH / max(max(bar.end for bar in bars) - first, 0.001)
    drawn = "".join(_rect(bar, number, first, scale) for number, bar in enumerate(bars))
    size = f"0 0 {WIDTH} {ROW * len(bars)}"
    told = "When the model (blue) and the tools (violet; red where they failed) were at work"
    return f'<svg viewBox="{size}" role="img" aria-label="{told}">{drawn}</svg>'


def _bars(found: Sequence[Entry]) -> Iterator[Bar]:
    for turn in iterate_turns(found):
        if turn.at is not None and not turn.is_inherited:
            took = turn.answered.duration_s
            yield Bar(kind="m", start=turn.at - took, end=turn.at, told=f"Step {turn.number}: {took:.1f} s")
        for call in turn.calls.values():
            if call.ended is not None and call.at is not None and not turn.is_inherited:
                took = call.ended.duration_ms / 1000
                kind: Literal["c", "e"] = "e" if call.ended.result.is_error else "c"
                yield Bar(kind=kind, start=call.at - took, end=call.at, told=f"{call.name}: {took:.3f} s")


def _rect(bar: Bar, row: int, first: float, scale: float) -> str:
    x, width = (bar.start - first) * scale, max((bar.end - bar.start) * scale, _THINNEST)
    place = f'x="{min(x, WIDTH - _THINNEST):.1f}" y="{row * ROW + 1}" width="{width:.1f}" height="{ROW - 2}"'
    return f'<rect class="{bar.kind}" {place}><title>{escape_text(bar.told)}</title></rect>'
