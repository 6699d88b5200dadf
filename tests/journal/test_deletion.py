"""Runs that are deleted are gone, with all that only they used; every other run is as it was."""

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.journal.samples import EVERY_KIND

from toolroll.errors import JournalRefused
from toolroll.journal.codec import LONG_CHARACTERS
from toolroll.journal.records import RunBegan, StateSet
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.approval.request import content_hash

TEXTS = [f"{number} " * LONG_CHARACTERS for number in range(4)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "runs.db"


@pytest.fixture
def journal(path: Path) -> Iterator[SqliteJournal]:
    found = SqliteJournal(path)
    yield found
    found.close()


async def write(journal: SqliteJournal, run_id: str, *values: object, parent: str | None = None) -> None:
    began = RunBegan(model="m", system="", tools={}, parent=parent)
    await journal.append(run_id, began, *(StateSet(name="n", value=value) for value in values))
    await journal.release(run_id)


def contents(path: Path) -> set[str]:
    with sqlite3.connect(path) as db:
        found = {name for [name] in db.execute("select hash from contents")}
    db.close()
    return found


async def test_D1_a_deleted_run_is_gone_with_its_parts_and_texts(journal: SqliteJournal, path: Path) -> None:
    await write(journal, "one", TEXTS[0], TEXTS[1], "short")
    await write(journal, "one.c1", TEXTS[2], parent="one")
    await write(journal, "one.c1.c2", TEXTS[0], parent="one.c1")
    await write(journal, "other", TEXTS[1])
    weighed = await journal.measure_deletion(["one", "nobody"])
    assert weighed.runs == ("one", "one.c1", "one.c1.c2")
    assert (weighed.records, weighed.texts) == (8, 2)
    assert weighed.byte_size > len(TEXTS[0]) + len(TEXTS[2])
    assert weighed == await journal.delete(["one", "nobody"])
    assert {content_hash(TEXTS[1])} == contents(path)
    assert [row.run_id for row in await journal.runs()] == ["other"]
    with pytest.raises(JournalRefused, match="There is no run 'one'"):
        await journal.read("one")
    assert (await journal.delete(["one"])).runs == ()
    await write(journal, "one", TEXTS[0])
    assert len(await journal.read("one")) == 2


async def test_D6_nothing_of_it_is_left_in_the_files(journal: SqliteJournal, path: Path) -> None:
    await write(journal, "one", "canary-in-a-record", f"canary-in-a-text{TEXTS[0]}")
    await write(journal, "other", "here")
    await journal.delete(["one"])
    left = b"".join(one.read_bytes() for one in path.parent.iterdir() if one.is_file())
    assert (b"canary" in left, b"here" in left) == (False, True)


async def test_XD3_a_run_that_goes_on_is_not_deleted_and_nothing_else_either(path: Path) -> None:
    """Also where a part of it is held, by another process."""
    journal, other = SqliteJournal(path), SqliteJournal(path)
    await write(journal, "one", TEXTS[0])
    await write(journal, "one.c1", "x", parent="one")
    await write(journal, "two", TEXTS[1])
    await other.acquire("one.c1")
    with pytest.raises(JournalRefused, match=r"Run one\.c1 is going on"):
        await journal.delete(["two", "one"])
    assert len(await journal.runs()) == 3
    assert len(contents(path)) == 2
    other.close()
    assert len((await journal.delete(["two", "one"])).runs) == 3
    journal.close()


async def test_XD4_a_damaged_run_and_parts_in_a_circle_can_be_deleted(journal: SqliteJournal, path: Path) -> None:
    await write(journal, "one", TEXTS[0], parent="two")
    await write(journal, "two", "x", parent="one")
    with sqlite3.connect(path) as db:
        db.execute("update records set body = x'7b' where number = 1")
    db.close()
    assert (await journal.delete(["one"])).runs == ("one", "two")
    assert contents(path) == set()


async def test_D1_a_text_that_looks_like_a_hash_keeps_too_much_rather_than_too_little(
    journal: SqliteJournal, path: Path
) -> None:
    name = content_hash(TEXTS[0])
    await write(journal, "one", TEXTS[0])
    await write(journal, "two", f"\0{name}")
    await journal.delete(["one"])
    assert contents(path) == {name}
    recording = await journal.read("two")
    assert (recording.is_damaged, recording.records[1][1]) == (False, StateSet(name="n", value=f"\0{name}"))


async def test_D1_many_texts_are_weighed(journal: SqliteJournal) -> None:
    texts = [f"{number:04}{TEXTS[0]}" for number in range(501)]
    await write(journal, "one", *texts)
    weighed = await journal.measure_deletion(["one"])
    assert weighed.texts == 501
    assert weighed.byte_size > sum(map(len, texts))


async def test_D1_records_of_every_kind_are_deleted(journal: SqliteJournal) -> None:
    await journal.append("one", *EVERY_KIND)
    await journal.release("one")
    assert (await journal.delete(["one"])).records == len(EVERY_KIND)
    assert await journal.times("one") == {}


values = st.lists(st.sampled_from([*TEXTS, "short", "\0", f"\0{'a' * 64}"]), max_size=4)
logs = st.dictionaries(st.sampled_from("abcdefgh"), values, min_size=1)


@settings(max_examples=30, deadline=None)
@given(logs, st.sets(st.sampled_from("abcdefgh")), st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from("ab")))
def test_D1_whatever_is_deleted_all_others_are_as_they_were(
    log: dict[str, list[str]], chosen: set[str], parents: dict[str, str]
) -> None:
    async def work(path: Path) -> None:
        journal = SqliteJournal(path)
        for run_id, said in log.items():
            await write(journal, run_id, *said, parent=parents.get(run_id))
        before = {run_id: await journal.read(run_id) for run_id in log}
        gone = await journal.delete(sorted(chosen))
        assert set(gone.runs) >= chosen & set(log)
        assert all(run_id in chosen or parents.get(run_id) in gone.runs for run_id in gone.runs)
        left = [run_id for run_id in log if run_id not in gone.runs]
        for run_id in left:
            assert before[run_id] == await journal.read(run_id)
            assert await journal.acquire(run_id)
            await journal.append(run_id, StateSet(name="n", value="more"))
        used = {content_hash(text) for run_id in left for text in log[run_id] if len(text) >= LONG_CHARACTERS}
        assert contents(path) == used
        journal.close()

    with TemporaryDirectory() as folder:
        asyncio.run(work(Path(folder) / "runs.db"))


DELETER = """
import asyncio, sys
from toolroll.journal.sqlite import SqliteJournal
journal = SqliteJournal(sys.argv[1])
sys.stdin.readline()
print(*asyncio.run(journal.delete(["one", "two"])).runs)
"""


async def test_XD3_two_processes_that_delete_the_same_do_it_once(journal: SqliteJournal, path: Path) -> None:
    for run_id in ("one", "two", "three"):
        await write(journal, run_id, TEXTS[0])
    command = [sys.executable, "-c", DELETER, str(path)]
    both = [subprocess.Popen(command, stdin=-1, stdout=-1, text=True) for _ in range(2)]
    for one in both:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    told = sorted(one.communicate(timeout=200)[0] for one in both)
    assert told == ["\n", "one two\n"]
    assert contents(path) == {content_hash(TEXTS[0])}
    assert (await journal.read("three")).is_damaged is False
