"""Times and intervals as people write them, and schedules: each tick once, missed ones once (D12)."""

import asyncio
import contextlib
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.apps.test_jobs import driver, exploration, local_store, status_of, store
from tests.support.clock import Clock

from toolroll.apps.explore import ExploreOptions
from toolroll.apps.job_upkeep import JobUpkeep
from toolroll.apps.jobs import JobRequest, JobStore
from toolroll.apps.schedules import MAX_EVERY_S, Schedule, ScheduleBook, Ticker, parse_interval, parse_time
from toolroll.apps.webhooks import WebhookSender
from toolroll.engine.local import LocalEngine
from toolroll.errors import JournalRefused, UsageError
from toolroll.journal.sqlite import SqliteJournal

__all__ = ["local_store", "store"]

NOW = datetime(2026, 11, 18, 22, 0, tzinfo=UTC).timestamp()
HOUR = 3_600.0


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A clock that is put forward on 2027-03-28 at 2:00, and back on 2027-10-31 at 3:00."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1m", 60), ("30m", 1_800), ("6h", 21_600), ("1d", 86_400), ("2w", 1_209_600), (" 6 H", 21_600)],
)
def test_D12_intervals_are_read_as_they_are_written(text: str, seconds: int) -> None:
    assert parse_interval(text) == seconds


@pytest.mark.parametrize("text", ["", "0m", "10", "1x", "-1h", "1h30m", "54w", "٣m", "1.5h", "999999w"])
def test_D12_what_is_no_interval_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no interval"):
        parse_interval(text)


@given(st.text(max_size=30))
def test_D12_any_text_is_a_time_or_refused(text: str) -> None:
    for parse in (parse_interval, lambda one: parse_time(one, now=NOW)):
        with contextlib.suppress(UsageError):
            assert parse(text) > 0


def local(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


@pytest.mark.usefixtures("zone")
@pytest.mark.parametrize(
    ("text", "now", "when"),
    [
        ("23:30", "2026-11-18T23:00", "2026-11-18T23:30"),
        ("7:05", "2026-11-18T23:00", "2026-11-19T07:05"),
        ("+2h", "2026-11-18T23:00", "2026-11-19T01:00"),
        ("2026-12-24T18:00", "2026-11-18T23:00", "2026-12-24T18:00"),
        ("2026-12-24 18:00+00:00", "2026-11-18T23:00", "2026-12-24T19:00"),
        ("2:30", "2027-03-27T23:00", "2027-03-28T03:30"),  # 2:30 does not exist on that day
        ("2:30", "2027-10-30T23:00", "2027-10-31T02:30+02:00"),  # it exists twice: the first
    ],
)
def test_D12_times_are_those_of_this_machine(text: str, now: str, when: str) -> None:
    assert parse_time(text, now=local(now)) == local(when)


@pytest.mark.parametrize(
    "text", ["25:00", "12:60", "yesterday", "2020-01-01", "2126-01-01", "+0m", "+", "1-1-1", "0001-01-01"]
)
def test_D12_what_is_no_time_or_past_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_time(text, now=NOW)


@given(st.floats(0, 1e6), st.integers(60, MAX_EVERY_S), st.floats(0, 1e9))
def test_D12_the_latest_tick_is_due_and_the_next_is_not(first: float, every_s: int, now: float) -> None:
    schedule = Schedule(id="x", request=exploration_request(), first=first, every_s=every_s)
    latest = schedule.latest_tick(now)
    assert (latest is None) == (now < first)
    assert latest is None or first <= latest <= now
    assert schedule.next_tick(now) > now - 1e-3
    assert latest is None or schedule.next_tick(now) - latest == pytest.approx(every_s)


def exploration_request() -> JobRequest:
    return JobRequest(explore=ExploreOptions(idea="Tea", mode="exploration", model="m"))


async def finish(store: JobStore, tmp_path: Path) -> list[str]:
    """Drive all queued jobs here and now, and return their outcomes."""
    stop = asyncio.Event()
    working = asyncio.create_task(store.engine.work(driver(store, tmp_path), slots=1, stop=stop))
    async with asyncio.timeout(60):
        while any(row.state in ("queued", "running") for row in await store.list()):
            await asyncio.sleep(0.005)
    stop.set()
    await working
    return [row.state for row in await store.list()]


async def tick(store: JobStore, now: float) -> int:
    """Look as a new worker would."""
    return await Ticker(store).tick(now, await store.journal.runs())


async def test_D12_a_schedule_queues_each_tick_once_and_missed_ones_once(store: JobStore, tmp_path: Path) -> None:
    book = ScheduleBook(store.journal)
    request = exploration(tmp_path, "# Tea\n\nIt is hot.")
    await book.add(request, first=NOW, every_s=3_600, priority=3)
    assert await tick(store, NOW - 1) == 0
    assert [await tick(store, NOW + 5) for _ in range(3)] == [1, 0, 0]
    assert await finish(store, tmp_path) == ["done"]
    assert await tick(store, NOW + 30) == 0
    assert await tick(store, NOW + 5 * HOUR + 10) == 1  # four were missed
    assert await finish(store, tmp_path) == ["done", "done"]
    assert {row.priority for row in await store.list()} == {3}


async def test_D12_the_second_tick_updates_the_document_of_the_first(store: JobStore, tmp_path: Path) -> None:
    await ScheduleBook(store.journal).add(exploration(tmp_path, "# Tea\n\nIt is hot."), first=NOW, every_s=3_600)
    for hours in range(2):
        assert await tick(store, NOW + hours * HOUR) == 1
        await finish(store, tmp_path)
    statuses = [await store.read(row) for row in await store.list()]
    assert len({status.result for status in statuses}) == 1
    assert Path(statuses[0].result).read_text().count("It is hot.") == 2
    assert {status.fields["schedule"] for status in statuses} == {(await ScheduleBook(store.journal).list())[0].id}


async def test_D12_a_tick_is_left_out_while_the_one_before_is_open(store: JobStore, tmp_path: Path) -> None:
    await ScheduleBook(store.journal).add(exploration(tmp_path, "# Tea"), first=NOW, every_s=60)
    assert [await tick(store, NOW + 60 * minute) for minute in range(3)] == [1, 0, 0]
    assert len(await store.list()) == 1
    await finish(store, tmp_path)
    assert await tick(store, NOW + 125) == 0  # it was left out, and is not made up for
    assert await tick(store, NOW + 180) == 1


async def test_D12_a_clock_that_jumps_repeats_no_tick_and_stops_no_schedule(store: JobStore, tmp_path: Path) -> None:
    await ScheduleBook(store.journal).add(exploration(tmp_path, "# Tea"), first=NOW, every_s=3_600)
    for now, queued in ((0.0, 1), (2 * HOUR, 1), (0.0, 0), (2 * HOUR + 60, 0), (9e8, 1), (3 * HOUR, 1), (4 * HOUR, 1)):
        assert (now, await tick(store, NOW + now)) == (now, queued)
        await finish(store, tmp_path)


async def test_D12_several_workers_run_a_tick_once(local_store: JobStore, tmp_path: Path) -> None:
    await ScheduleBook(local_store.journal).add(exploration(tmp_path, "# Tea"), first=NOW, every_s=60)
    stores = [
        JobStore(journal=SqliteJournal(tmp_path / "runs.db"), engine=LocalEngine(tmp_path / "jobs.db"))
        for _ in range(4)
    ]

    def look(other: JobStore) -> int:
        return asyncio.run(tick(other, NOW))

    try:
        queued = await asyncio.gather(*(asyncio.to_thread(look, other) for other in stores))
    finally:
        for other in stores:
            other.journal.close()  # type: ignore[attr-defined]  # it is one of SQLite
            other.engine.close()  # type: ignore[attr-defined]  # as above
    assert len(await local_store.list()) == 1
    assert sum(queued) == 1


async def test_D12_a_schedule_is_found_removed_and_queued_by_the_upkeep(store: JobStore, tmp_path: Path) -> None:
    book = ScheduleBook(store.journal)
    schedule = await book.add(exploration(tmp_path, "# Tea"), first=0.0, every_s=86_400)
    clock = Clock()
    upkeep = JobUpkeep(store, WebhookSender(store.journal, {}), clock=lambda: datetime.fromtimestamp(clock(), UTC))
    assert await upkeep.queue_left() == 1
    [row] = await store.list()
    assert (await status_of(store, row.run_id)).request.schedule == schedule.id
    assert (await book.find(schedule.id[len("job-every-") :][:4])).id == schedule.id
    await book.remove(schedule)
    assert await book.list() == []
    with pytest.raises(JournalRefused):
        await book.find(schedule.id)
    clock.advance(86_400 * 3)
    await store.engine.cancel(row.run_id)
    assert await upkeep.queue_left() == 0
    with pytest.raises(UsageError):
        await book.add(exploration(tmp_path, "# Tea"), first=0.0, every_s=5)
