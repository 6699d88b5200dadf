"""A run as one HTML page that needs nothing else, loads nothing, and runs nothing."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from toolroll._version import __version__
from toolroll.agent.cost import total_cost
from toolroll.cli.export.chart import chart
from toolroll.cli.export.entries import Entries
from toolroll.cli.export.gather import Gathered
from toolroll.cli.export.room import PAGE_CHARACTERS, Room, inert
from toolroll.cli.export.style import STYLE, content_policy
from toolroll.cli.export.timeline import Entry, TurnView, entries, turns
from toolroll.cli.records import end_of
from toolroll.journal.records import RunBegan
from toolroll.kernel.usage import Usage

MAX_LINKS: Final = 200
"""Steps in the list at the top."""


def page(run: Gathered, *, characters: int = PAGE_CHARACTERS) -> Iterator[str]:
    """The page in pieces. Texts are cut where it would grow too large, and it says so."""
    room = Room(characters)
    found = entries(run.recording.records, run.times)
    title = f"Run {inert(run.row.run_id)}"
    yield _head(title)
    yield f"<header><h1>{title}</h1>{''.join(_warnings(run))}<dl>{''.join(_facts(run, found))}</dl></header>"
    yield f'<nav aria-label="Steps"><ol>{"".join(_links(found))}</ol></nav>'
    yield f"<main><section>{chart(found)}{''.join(_system(run, room))}</section>"
    yield from Entries(run, room).html()
    yield f"</main><footer class=dim>Made by toolroll {__version__}.</footer></body></html>\n"


def _head(title: str) -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{content_policy()}">'
        '<meta name="referrer" content="no-referrer">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{STYLE}</style></head><body>\n"
    )


def _warnings(run: Gathered) -> Iterator[str]:
    if run.is_damaged:
        yield '<p class="bad" role="alert">The record of this run is damaged. This is as much of it as is whole.</p>'
    yield from (f'<p class="ask">{inert(note)}</p>' for note in run.notes)


def _facts(run: Gathered, found: list[Entry]) -> Iterator[str]:
    steps = [turn for turn in turns(found) if not turn.is_inherited]
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
    return f"<dt>{name}</dt><dd>{inert(value)}</dd>"


def _state(run: Gathered) -> str:
    ended = end_of(run.recording)
    return "unfinished" if ended is None else f"{ended.stop_reason} {ended.stop_detail}".strip()


def _tokens(steps: list[TurnView]) -> str:
    used = sum((turn.answered.usage for turn in steps), Usage())
    return f"{used.input_total:,} in ({used.cache_read_tokens:,} cached), {used.output_tokens:,} out"


def _cost(steps: list[TurnView]) -> str:
    cost = total_cost([turn.answered.cost for turn in steps])
    return "unknown" if cost is None else f"${cost:.4f}"


def _links(found: list[Entry]) -> Iterator[str]:
    for turn in list(turns(found))[:MAX_LINKS]:
        yield f'<li><a href="#step-{turn.number}">Step {turn.number}</a></li>'


def _system(run: Gathered, room: Room) -> Iterator[str]:
    for number, record in run.recording:
        if isinstance(record, RunBegan) and record.system:
            where = f"Whole: record {number} of toolroll runs export {run.row.run_id} --format jsonl"
            text = room.text(record.system, where=where)
            yield f'<details><summary>System prompt</summary><pre tabindex="0">{text}</pre></details>'
