"""D5: figures over runs, each thing counted once, however much there is."""

import asyncio
import math
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.journal import statistics as module
from toolroll.journal.codec import LONG_CHARACTERS
from toolroll.journal.records import (
    ApprovalAnswer,
    ApprovalQuestion,
    CallEnded,
    ModelTurn,
    Record,
    RunBegan,
    UsageAdded,
)
from toolroll.journal.sqlite import SqliteJournal
from toolroll.journal.statistics import OTHERS, Latency, Statistics, ToolFigures, favourites, gather, read_statistics
from toolroll.kernel.data.messages import AssistantMessage, ImagePart, Origin, OutputRef, TextPart, ToolMessage
from toolroll.kernel.data.usage import Usage

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp()
DAY_S = 24 * 3600
BEGAN = RunBegan(model="small", system="", tools={})


class Log:
    """A journal whose clock is set by hand."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.now = NOON
        self.journal = SqliteJournal(path, clock=lambda: self.now)

    def write(self, run_id: str, *records: Record) -> None:
        async def work() -> None:
            await self.journal.append(run_id, *records)
            await self.journal.release(run_id)

        asyncio.run(work())

    def figures(self, **given: object) -> Statistics:
        with sqlite3.connect(self.path) as db:
            found = gather(db, zone=UTC, **given)  # type: ignore[arg-type]
        db.close()
        return found


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    made = Log(tmp_path / "runs.db")
    yield made
    made.journal.close()


def answered(model: str | None = "small", cost: float | None = 0.5) -> ModelTurn:
    origin = None if model is None else Origin(wire="anthropic", model=model)
    used = Usage(input_tokens=10, output_tokens=5, cache_read_tokens=100, requests=1)
    message = AssistantMessage(blocks=(), origin=origin)
    return ModelTurn(message=message, stop="end", stop_detail="", usage=used, cost=cost, duration_s=2.0)


def ended(name: str = "read", content: object = "four", code: str | None = None, ms: float = 10.0) -> CallEnded:
    made = ToolMessage(call_id="c", name=name, content=content, is_error=code is not None)  # type: ignore[arg-type]
    return CallEnded(result=made, code=code, duration_ms=ms)


def test_D5_tools_models_and_days_are_counted(log: Log) -> None:
    asked = ApprovalQuestion(call_id="c", tool="write", digest="d", preview="")
    yes, no = (ApprovalAnswer(call_id="c", digest="d", decision=word) for word in ("approve", "reject"))
    log.write("a", BEGAN, answered(), ended(), ended(code="tool_failed", ms=30.0), asked, yes, ended("write"))
    log.now += DAY_S
    log.write("a", answered("large", cost=None), asked, no, ended("write", code="rejected", ms=0.0), yes)
    found = log.figures()
    read, write = found.tools["read"], found.tools["write"]
    assert (read.calls, read.failures, read.byte_size, read.approvals) == (2, 1, 8, 0)
    assert (write.calls, write.failures, write.approvals, write.rejections, write.latency.count) == (2, 0, 1, 1, 1)
    small, large = found.models["small"], found.models["large"]
    assert (small.runs, small.steps, small.input_tokens, small.output_tokens) == (1, 1, 110, 5)
    assert (small.cached_tokens, small.cost, small.unpriced) == (100, 0.5, 0)
    assert (large.cost, large.unpriced, found.runs, found.unreadable) == (0.0, 1, 1, 0)
    assert list(found.days) == [date(2026, 3, 1), date(2026, 3, 2)]
    assert (found.days[date(2026, 3, 1)].tokens, found.days[date(2026, 3, 1)].cost) == (115, 0.5)


def test_D5_what_is_taken_over_or_a_part_is_not_counted_twice(log: Log) -> None:
    log.write("a", BEGAN, answered(), ended(), answered())
    inherited = replace(BEGAN, forked_from="a", at=1, inherited=2)
    log.write("b", inherited, answered(), ended(), answered("large"))
    log.write("c", replace(BEGAN, forked_from="a", at=0), answered())
    spent = UsageAdded(name="helper", run_id="a.c", step=1, call_id="c", usage=Usage(input_tokens=7), cost=1.0)
    log.write("a", spent)
    log.write("a.c", replace(BEGAN, parent="a"), answered())
    found = log.figures()
    assert (found.runs, found.models["small"].steps, found.models["large"].steps) == (3, 4, 1)
    assert (found.tools["read"].calls, found.models["small"].cost, found.models["small"].runs) == (1, 2.0, 3)
    log.write("a", replace(spent, call_id="", run_id="a"))
    assert log.figures().models["small"].cost == 3.0
    assert log.figures().models["small"].steps == 4


def test_D5_only_since_then_and_only_one_model(log: Log) -> None:
    asked = ApprovalQuestion(call_id="c", tool="write", digest="d", preview="")
    log.write("a", BEGAN, answered(), ended())
    log.now += 10 * DAY_S
    log.write("a", answered(None), ended("late"))
    log.write("b", replace(BEGAN, model="large"), answered("large"), ended("big"), asked)
    log.write("b", ApprovalAnswer(call_id="c", digest="d", decision="approve"))
    log.write("d", replace(BEGAN, model="silent"))
    found = log.figures(since=NOON + DAY_S)
    assert (found.runs, set(found.tools), found.models["small"].steps) == (3, {"late", "big", "write"}, 1)
    found = log.figures(model="large")
    assert (found.runs, set(found.tools), set(found.models)) == (1, {"big", "write"}, {"large"})
    assert set(log.figures(model="small").tools) == {"read", "late"}


def test_D5_bytes_are_of_the_whole_output(log: Log) -> None:
    long = "ж" * LONG_CHARACTERS
    ref = OutputRef(id="r", byte_size=1_000_000, line_count=1)
    kept = ToolMessage(call_id="c", name="kept", content="cut", output_ref=ref)
    parts = (TextPart(text="ab"), ImagePart(data=b"\x00" * 3, media_type="image/png"))
    log.write("a", BEGAN, ended("long", long), ended("nul", "\0ab"), ended("parts", parts))
    log.write("a", CallEnded(result=kept, code=None, duration_ms=1.0), ended("never", code="not_run"))
    sizes = {name: tool.byte_size for name, tool in log.figures().tools.items()}
    assert sizes == {"long": 2 * LONG_CHARACTERS, "nul": 3, "parts": 6, "kept": 1_000_000}


@pytest.mark.parametrize("body", [b"{", b"[]", b"{}", b'{"message": {"origin": 3}}', b'"text"'])
def test_XD4_what_cannot_be_read_is_counted_as_that(log: Log, body: bytes) -> None:
    log.write("a", BEGAN, answered(), ended())
    with sqlite3.connect(log.path) as db:
        db.execute("update records set body = ? where number = 2", (body,))
    db.close()
    found = log.figures()
    assert (found.unreadable, found.tools["read"].calls, found.models) == (1, 1, {})


def test_D5_names_without_end_are_counted_together(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_NAMES", 2)
    log.write("a", BEGAN, *(answered(f"m{n}") for n in range(4)), *(ended(f"t{n}") for n in (0, 1, 2, 3, 0)))
    found = log.figures()
    assert {name: tool.calls for name, tool in found.tools.items()} == {"t0": 2, "t1": 1, OTHERS: 2}
    assert list(found.models) == ["m0", "m1", OTHERS]


def test_D5_no_run_log_is_no_figures(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "none.db")
    assert asyncio.run(journal.statistics()) == read_statistics(tmp_path / "none.db") == Statistics()
    assert list(tmp_path.iterdir()) == []


def test_D5_the_file_is_read_without_a_journal(log: Log) -> None:
    log.write("a", BEGAN, answered())
    assert [
        (found.runs, sum(model.steps for model in found.models.values()))
        for found in (read_statistics(log.path, model="small"), read_statistics(log.path, model="other"))
    ] == [(1, 1), (0, 0)]


def test_D5_the_journal_gives_them_by_the_days_of_this_machine(log: Log) -> None:
    log.write("a", BEGAN, answered())
    found = asyncio.run(log.journal.statistics(since=NOON - 1, model="small"))
    assert list(found.days) == [datetime.fromtimestamp(NOON).date()]  # noqa: DTZ006 - that is what is promised


def test_D5_favourites_are_what_is_used_and_approved() -> None:
    figures = Statistics()
    for tool in (
        ToolFigures(name="used", calls=5),
        ToolFigures(name="approved", calls=3, approvals=3),
        ToolFigures(name="refused", calls=3, rejections=3),
        ToolFigures(name="broken", calls=3, failures=3),
        ToolFigures(name="also", calls=5),
    ):
        figures.tools[tool.name] = tool
    assert favourites(figures) == ["approved", "also", "used"]


@given(st.lists(st.floats(0.001, 1e9), min_size=1, max_size=50), st.sampled_from([0.5, 0.95, 0.99]))
def test_D5_percentiles_are_within_one_percent(durations: list[float], share: float) -> None:
    latency = Latency()
    for one in durations:
        latency.add(one)
    exact = sorted(durations)[max(1, math.ceil(share * len(durations))) - 1]
    told = latency.percentile(share)
    assert told is not None
    assert told == pytest.approx(exact, rel=0.0101)


def test_D5_no_durations_have_no_percentile() -> None:
    latency = Latency()
    assert latency.percentile(0.5) is None
    latency.add(0.0)
    assert latency.percentile(0.5) == pytest.approx(0.001, rel=0.02)
