"""What every journal promises, shown on each of them."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest
from tests.journal.samples import EVERY_KIND

from toolroll.errors import JournalRefused
from toolroll.journal.journal import Journal, MemoryJournal, RunRow, ancestors
from toolroll.journal.postgres import PostgresJournal
from toolroll.journal.records import RunBegan, StateSet
from toolroll.journal.sqlite import SqliteJournal
from toolroll.postgres.address import parse_address
from toolroll.postgres.database import Database


class Clock(Protocol):
    """A clock that goes by seconds."""

    def __call__(self) -> float: ...


def seconds() -> Clock:
    moments = iter(range(1, 10_000))
    return lambda: float(next(moments))


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Journal]:
    if request.param == "memory":
        yield MemoryJournal(clock=seconds())
        return
    found: SqliteJournal | PostgresJournal
    if request.param == "sqlite":
        found = SqliteJournal(tmp_path / "runs.db", clock=seconds())
    else:
        database = Database(parse_address(request.getfixturevalue("database_url")))
        found = PostgresJournal(database, folder=tmp_path, clock=seconds())
    yield found
    found.close()


def kept(value: object) -> StateSet:
    return StateSet(name="n", value=value)


async def test_D1_every_kind_of_record_comes_back_as_it_was(journal: Journal) -> None:
    for number, record in enumerate(EVERY_KIND, 1):
        assert number == await journal.append("run", record)
    assert tuple(enumerate(EVERY_KIND, 1)) == (await journal.read("run")).records


async def test_D1_records_that_belong_together_come_together(journal: Journal) -> None:
    assert await journal.append("run", kept(1), kept(2)) == 2
    assert await journal.append("run", kept(3)) == 3
    assert [record for _, record in await journal.read("run")] == [kept(1), kept(2), kept(3)]


async def test_D1_reading_goes_on_after_an_index(journal: Journal) -> None:
    for value in range(5):
        await journal.append("run", kept(value))
    found = await journal.read("run", after=3)
    assert [(4, kept(3)), (5, kept(4))] == list(found)
    assert len(found) == 2
    assert len(await journal.read("run", after=5)) == 0
    assert (await journal.read("run", after=99)).notes == ()


async def test_D1_runs_do_not_mix(journal: Journal) -> None:
    await asyncio.gather(*(journal.append(f"run_{number % 3}", kept(number)) for number in range(9)))
    assert [(1, kept(1)), (2, kept(4)), (3, kept(7))] == list(await journal.read("run_1"))


async def test_D1_runs_are_listed_the_latest_first(journal: Journal) -> None:
    assert list(await journal.runs()) == []
    await journal.append("one", RunBegan(model="m", system="", tools={}))
    await journal.append("two", RunBegan(model="m", system="", tools={}, parent="one"))
    await journal.append("one", kept(1))
    two, one = await journal.runs()
    assert (two.run_id, two.parent, two.records, two.last_kind) == ("two", "one", 1, "run_began")
    assert (one.run_id, one.parent, one.records, one.last_kind) == ("one", None, 2, "kept")
    assert one.began < two.began < one.updated


async def test_D1_a_run_that_is_not_there_is_refused_by_name(journal: Journal) -> None:
    await journal.append("run", kept(1))
    with pytest.raises(JournalRefused, match=r"no run 'ran'.*runs list"):
        await journal.read("ran")


async def test_XD3_a_run_is_held_once(journal: Journal) -> None:
    assert await journal.acquire("run")
    assert not await journal.acquire("run")
    await journal.append("run", kept(1))
    await journal.release("run")
    assert await journal.acquire("run")


async def test_XD3_what_is_written_is_held_until_it_is_released(journal: Journal) -> None:
    await journal.append("run", kept(1))
    assert not await journal.acquire("run")
    await journal.release("run")
    await journal.release("run")
    assert await journal.acquire("run")
    assert await journal.append("run", kept(2)) == 2


@pytest.mark.parametrize("make", [MemoryJournal, lambda: SqliteJournal("/nowhere/runs.db")])
def test_both_journals_have_the_shape(make: Callable[[], Journal]) -> None:
    journal: Journal = make()
    assert all(callable(getattr(journal, name)) for name in ("append", "read", "runs", "acquire", "release"))


def row(run_id: str, parent: str | None) -> RunRow:
    return RunRow(run_id=run_id, began=0, updated=0, records=1, last_kind="kept", parent=parent)


def test_XD4_ancestors_end_where_links_lead_in_a_circle() -> None:
    rows = [row("a", "b"), row("b", "c"), row("c", "b"), row("d", "d"), row("e", "lost"), row("f", None)]
    assert ancestors(rows, "a") == ("b", "c")
    assert ancestors(rows, "b") == ("c",)
    assert ancestors(rows, "d") == ()
    assert ancestors(rows, "e") == ("lost",)
    assert ancestors(rows, "f") == ()
    assert ancestors(rows, "unknown") == ()
