"""The run log in PostgreSQL: held by one process at a time, fenced, and as whole as the one in a file."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg
import pytest
from tests.journal.samples import EVERY_KIND

from toolroll.errors import JournalRefused
from toolroll.journal.postgres import PostgresJournal
from toolroll.journal.records import RunBegan, StateSet
from toolroll.journal.sqlite import SqliteJournal
from toolroll.postgres import presence
from toolroll.postgres.address import parse_address
from toolroll.postgres.database import Database

Make = Callable[..., PostgresJournal]
WAIT_S = 60.0


@pytest.fixture
def make(database_url: str, tmp_path: Path) -> Iterator[Make]:
    """Opens the run log as a process does: each has a name of its own."""
    with ExitStack() as stack:

        def open_journal(**options: object) -> PostgresJournal:
            journal = PostgresJournal(Database(parse_address(database_url)), folder=tmp_path, **options)  # type: ignore[arg-type] # any
            return stack.enter_context(closing(journal))

        yield open_journal


def kept(value: object) -> StateSet:
    return StateSet(name="n", value=value)


def change(url: str, statement: str, *values: object) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True, options="-c search_path=toolroll") as db:
        found = db.execute(statement.encode(), values)
        return found.fetchall() if found.description else []


async def test_XD30_a_run_belongs_to_one_process_until_that_is_gone(make: Make) -> None:
    one, two = make(), make()
    await one.append("run", kept(1))
    assert not await two.acquire("run")
    with pytest.raises(JournalRefused, match="driven by another process"):
        await two.append("run", kept(2))
    assert await two.is_held("run")
    assert await two.driver("run") == one.presence.name

    one.presence.close()  # the server takes its lock back
    assert await two.acquire("run")
    assert await two.append("run", kept(2)) == 2


async def test_XD30_who_was_given_up_for_dead_writes_nothing_more(make: Make) -> None:
    one, two = make(), make()
    await one.append("run", kept(1))
    one.presence.close()
    await two.append("run", kept("of two"))

    with pytest.raises(JournalRefused, match="taken over"):
        await one.append("run", kept("of one"))
    await one.release("run")
    assert [record for _, record in await one.read("run")] == [kept(1), kept("of two")]
    assert not await one.acquire("run")


async def test_XD31_a_process_that_lives_and_hangs_is_taken_over(make: Make, database_url: str) -> None:
    one, two = make(), make()
    await one.append("run", kept(1))
    await one.database.call(one.presence.beat)
    assert not await two.acquire("run")

    change(database_url, "update processes set beat = now() - make_interval(secs => %s)", presence.HANG_S + 1)
    assert await two.acquire("run")


async def test_XD32_cut_connections_lose_no_record_and_double_none(make: Make, database_url: str) -> None:
    journal = make()
    await journal.append("run", kept(0))
    is_done = asyncio.Event()

    async def cut() -> None:
        end = "select pg_terminate_backend(pid) from pg_stat_activity where pid != pg_backend_pid() and datname = %s"
        while not is_done.is_set():
            await asyncio.to_thread(change, database_url, end, database_url.rpartition("/")[2])
            await asyncio.sleep(0.01)

    cutting = asyncio.create_task(cut())
    for value in range(1, 60):
        await journal.append("run", kept(value), kept(value + 0.5))
    is_done.set()
    await cutting
    found = await journal.read("run")
    assert found.notes == ()
    assert [record.value for _, record in found if isinstance(record, StateSet)] == [
        0,
        *(half for value in range(1, 60) for half in (value, value + 0.5)),
    ]


async def test_XD32_a_cancelled_write_is_over_when_its_task_is(make: Make) -> None:
    journal = make()
    await journal.append("run", kept(0))
    for value in range(1, 30):
        task = asyncio.create_task(journal.append("run", kept(value)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        before = len(await journal.read("run"))
        assert before == value + 1
        assert len(await journal.read("run")) == before


async def test_D1_a_newer_format_is_refused_by_number(make: Make, database_url: str) -> None:
    one, two = make(), make()
    await one.append("run", kept(1))
    await one.release("run")
    change(database_url, "update runs set format = 99")
    for refused in (two.read("run"), two.acquire("run"), two.append("run", kept(2))):
        with pytest.raises(JournalRefused, match=r"newer version.*format 99"):
            await refused


async def test_XD4_a_damaged_record_is_named_and_the_run_not_continued(make: Make, database_url: str) -> None:
    journal = make()
    for value in range(4):
        await journal.append("run", kept(value))
    await journal.release("run")
    change(database_url, "update records set body = body || 'x'::bytea where number = 2")
    found = await journal.read("run")
    assert found.is_damaged
    assert [number for number, _ in found.damaged] == [2]
    assert [number for number, _ in found] == [1, 3, 4]
    with pytest.raises(JournalRefused, match="not continued"):
        await journal.acquire("run")


async def test_D6_known_secrets_are_in_no_row(make: Make, database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "canary-of-the-environment")
    journal = make(secrets=["canary-of-the-user"])
    texts = ("canary-of-the-environment", "canary-of-the-user")
    await journal.append("run", RunBegan(model="m", system=" ".join(texts), tools={}), kept(f"{texts} " * 200))
    rows = change(database_url, "select body from records union all select body from contents")
    assert len(rows) > 2
    assert all(text.encode() not in bytes(str(row[0]), "utf-8") for row in rows for text in texts)
    assert not any(b"canary" in row[0] for row in rows if isinstance(row[0], bytes))


async def test_D5_lists_figures_and_deletion_are_those_of_a_file(make: Make, tmp_path: Path) -> None:
    log, file = make(clock=lambda: 1e9), SqliteJournal(tmp_path / "runs.db", clock=lambda: 1e9)
    for journal in (log, file):
        for run_id in ("one", "two"):
            await journal.append(run_id, *EVERY_KIND, kept("long " * 1000))
        await journal.append("part", RunBegan(model="m", system="", tools={}, parent="one"))
        for run_id in ("one", "two", "part"):
            await journal.release(run_id)
    with closing(file):
        assert list(await log.runs()) == list(await file.runs())
        mine, other = await log.statistics(), await file.statistics()
        assert (mine.runs, mine.days, list(mine.tools)) == (other.runs, other.days, list(other.tools))
        assert [one.byte_size for one in mine.tools.values()] == [one.byte_size for one in other.tools.values()]
        assert await log.times("one") == await file.times("one")
        assert await log.measure_deletion(["one"]) == await file.measure_deletion(["one"])
        assert await log.delete(["one"]) == await file.delete(["one"])
        assert [row.run_id for row in await log.runs()] == ["two"]
        found, total = await log.summaries(limit=5)
        assert ([one.run_id for one in found], total) == (["two"], 1)


async def test_XD3_a_run_that_goes_on_is_not_deleted(make: Make) -> None:
    one, two = make(), make()
    await one.append("run", kept(1))
    with pytest.raises(JournalRefused, match="going on"):
        await two.delete(["run"])


def test_D1_event_loops_and_threads_may_share_a_journal(make: Make) -> None:
    journal = make()
    for value in range(3):
        asyncio.run(journal.append("run", kept(value)))
    assert len(asyncio.run(journal.read("run"))) == 3
