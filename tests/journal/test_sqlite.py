"""The run log on disk: private, checked record by record, shared between processes, safe against kill -9."""

import asyncio
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.journal.samples import EVERY_KIND

from toolroll.errors import FileProblem, JournalRefused
from toolroll.journal.codec import LONG_CHARACTERS
from toolroll.journal.holder import Holder
from toolroll.journal.records import RunBegan, StateSet
from toolroll.journal.sqlite import SqliteJournal
from toolroll.journal.tables import FORMAT_VERSION, RUN_LOG

LONG = "a long line\n" * LONG_CHARACTERS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "runs.db"


@pytest.fixture
def journal(path: Path) -> Iterator[SqliteJournal]:
    found = SqliteJournal(path)
    yield found
    found.close()


def kept(value: object) -> StateSet:
    return StateSet(name="n", value=value)


async def write(journal: SqliteJournal, count: int, run_id: str = "run") -> None:
    for value in range(1, count + 1):
        await journal.append(run_id, kept(value))
    await journal.release(run_id)


def change(path: Path, *statements: str) -> None:
    with sqlite3.connect(path) as db:
        for statement in statements:
            db.execute(statement)
    db.close()


async def test_D1_files_and_folders_are_for_their_owner_alone(path: Path) -> None:
    before = os.umask(0)
    try:
        journal = SqliteJournal(path)
        await journal.append("run", kept(LONG))
    finally:
        os.umask(before)
    found = {one.relative_to(path.parent): stat.S_IMODE(one.stat().st_mode) for one in path.parent.rglob("*")}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert {"runs.db", "runs.db-wal", "runs.db-shm", "runs.db.holders"} <= {str(name) for name in found}
    assert {0o600, 0o700} == set(found.values())
    journal.close()


async def test_D1_a_file_that_others_could_read_is_made_private(path: Path, journal: SqliteJournal) -> None:
    await write(journal, 1)
    journal.close()
    path.chmod(0o644)
    await journal.append("run", kept(1))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_D1_a_link_in_its_place_is_refused(path: Path, tmp_path: Path, journal: SqliteJournal) -> None:
    path.parent.mkdir()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileProblem):
        await journal.append("run", kept(1))
    assert not (tmp_path / "elsewhere").exists()


async def test_D1_what_is_written_is_there_after_closing(path: Path, journal: SqliteJournal) -> None:
    for record in EVERY_KIND:
        await journal.append("run", record)
    journal.close()
    journal.close()
    other = SqliteJournal(path)
    assert tuple(enumerate(EVERY_KIND, 1)) == (await other.read("run")).records
    assert len(EVERY_KIND) + 1 == await other.append("run", kept(1))
    other.close()


async def test_D1_equal_long_texts_are_stored_once(path: Path, journal: SqliteJournal) -> None:
    for number in range(20):
        await journal.append(f"run_{number}", kept([LONG, number]))
    with sqlite3.connect(path) as db:
        assert list(db.execute("select count(*) from contents").fetchone()) == [1]
    db.close()
    assert [(1, kept([LONG, 7]))] == list(await journal.read("run_7"))


async def test_D1_looking_at_runs_makes_no_file(path: Path, journal: SqliteJournal) -> None:
    assert list(await journal.runs()) == []
    assert not path.parent.exists()


async def test_D1_a_newer_format_is_refused_by_number(path: Path, journal: SqliteJournal) -> None:
    await write(journal, 2)
    change(path, f"update runs set format = {FORMAT_VERSION + 1}")
    for attempt in (journal.read("run"), journal.append("run", kept(1))):
        with pytest.raises(JournalRefused, match=f"newer version.*format {FORMAT_VERSION + 1}.*Update toolroll"):
            await attempt


async def test_D1_a_log_that_cannot_be_written_is_read(
    path: Path, journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write(journal, 2)
    journal.close()
    monkeypatch.setattr(os, "access", lambda *_given, **_named: False)
    assert [row.run_id for row in await journal.runs()] == ["run"]
    with pytest.raises(JournalRefused, match="readonly"):
        await journal.append("run", kept(3))


async def test_D1_newer_tables_are_refused(path: Path, journal: SqliteJournal) -> None:
    await write(journal, 1)
    journal.close()
    change(path, f"pragma user_version = {RUN_LOG.version + 1}")
    with pytest.raises(JournalRefused, match=f"tables {RUN_LOG.version + 1}.*Update toolroll"):
        await journal.read("run")


async def test_XD4_a_file_that_is_no_database_is_refused_in_words(path: Path, journal: SqliteJournal) -> None:
    path.parent.mkdir()
    path.write_bytes(b"not a database, but long enough to be looked at" * 100)
    with pytest.raises(JournalRefused, match=r"cannot be used: file is not a database\. Move that file away") as told:
        await journal.append("run", kept(1))
    assert told.value.message.endswith("The runs in it can then no longer be shown or resumed.")
    path.rename(path.with_name("away"))
    assert await journal.append("run", kept(1)) == 1


async def test_XD4_a_torn_last_record_is_dropped_with_a_note(path: Path, journal: SqliteJournal) -> None:
    await write(journal, 5)
    change(path, "update records set body = substr(body, 1, 10) where number = 5")
    found = await journal.read("run")
    assert [kept(value) for value in (1, 2, 3, 4)] == [record for _, record in found]
    assert found.notes == ("The last record (5) was torn and is left out: it does not fit its checksum.",)
    assert not found.is_damaged
    assert await journal.append("run", kept("again")) == 5
    assert [(5, kept("again"))] == list(await journal.read("run", after=4))
    assert (await journal.read("run")).notes == ()


@pytest.mark.parametrize(
    ("damage", "lost", "told"),
    [
        ("update records set body = cast('{}' as blob) where number = 3", [3], "does not fit its checksum"),
        ("update records set body = x'00', chain = 'x' where number = 3", [3, 4], "does not fit its checksum"),
        ("update records set body = x'00' where number in (2, 3, 5)", [2, 3, 5], "does not fit its checksum"),
        ("delete from records where number = 3", [3], "it is missing"),
        ("delete from records where number < 3", [1, 2], "it is missing"),
        ("update contents set body = cast('other' as blob)", [4], "a text of it is missing or changed"),
        ("delete from contents", [4], "a text of it is missing or changed"),
    ],
)
async def test_XD4_XL16_a_damaged_record_hides_only_itself(
    path: Path, journal: SqliteJournal, damage: str, lost: list[int], told: str
) -> None:
    values = {1: 1, 2: 2, 3: 3, 4: LONG, 5: 5, 6: 6}
    for value in values.values():
        await journal.append("run", kept(value))
    await journal.release("run")
    change(path, damage)
    found = await journal.read("run")
    assert [(number, kept(value)) for number, value in values.items() if number not in lost] == list(found)
    assert ([number for number, _ in found.damaged], found.is_damaged) == (lost, True)
    assert [record for record in found.records if record[0] < lost[0]] == list(found.before_damage())
    assert told in found.notes[0]
    for attempt in (journal.acquire("run"), journal.append("run", kept(7))):
        with pytest.raises(JournalRefused, match="can be looked at, but not continued"):
            await attempt
    assert await journal.acquire("another")


async def test_XL16_a_record_whose_checksum_alone_is_damaged_is_proven_by_the_next(
    path: Path, journal: SqliteJournal
) -> None:
    await write(journal, 5)
    change(path, "update records set chain = 'x' where number = 3")
    found = await journal.read("run")
    assert [kept(value) for value in range(1, 6)] == [record for _, record in found]
    assert (found.is_damaged, found.damaged) == (False, ())
    assert found.notes == ("Record 3 has a wrong checksum (the record after it proves that it is whole).",)
    assert await journal.append("run", kept(6)) == 6
    assert len(await journal.read("run")) == 6


async def test_XL16_much_damage_is_told_in_few_words(path: Path, journal: SqliteJournal) -> None:
    await write(journal, 100)
    change(path, "update records set body = x'00' where number % 2 = 0 or number between 1 and 5")
    found = await journal.read("run")
    assert (len(found), len(found.damaged), len(found.notes)) == (47, 53, 21)
    assert found.notes[0] == "Records 1 to 6 are damaged (it does not fit its checksum)."
    assert found.notes[-1] == "28 more are damaged."


async def test_XL16_records_after_one_that_is_missing_are_read(path: Path, journal: SqliteJournal) -> None:
    await write(journal, 5)
    change(path, "delete from records where number = 3")
    found = await journal.read("run", after=3)
    assert [(4, kept(4)), (5, kept(5))] == list(found)


async def test_XD4_swapped_records_are_found(path: Path, journal: SqliteJournal) -> None:
    await write(journal, 4)
    change(
        path,
        "update records set number = 9 where number = 2",
        "update records set number = 2 where number = 3",
        "update records set number = 3 where number = 9",
    )
    found = await journal.read("run")
    assert (len(found), found.is_damaged) == (1, True)


async def test_XD4_a_broken_page_is_damage_and_no_crash(path: Path, journal: SqliteJournal) -> None:
    for value in range(400):
        await journal.append("run", kept(f"{value} {'x' * 200}"))
    await journal.release("run")
    journal.close()
    data = bytearray(path.read_bytes())
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 4096] = bytes(4096)
    path.write_bytes(data)
    found = await journal.read("run")
    assert found.is_damaged
    assert 0 < len(found) < 400
    assert kept(f"0 {'x' * 200}") == next(iter(found))[1]
    assert kept(f"399 {'x' * 200}") == found.records[-1][1]
    assert {number for number, _ in found} == (await journal.times("run")).keys()
    assert set(range(1, 401)) == {number for number, _ in (*found.records, *found.damaged)}


async def test_XD4_a_circle_of_parents_is_no_reason_to_hang(path: Path, journal: SqliteJournal) -> None:
    await journal.append("a", RunBegan(model="m", system="", tools={}, parent="b"))
    await journal.append("b", RunBegan(model="m", system="", tools={}, parent="a"))
    assert [row.parent for row in await journal.runs()] == ["a", "b"]


async def test_D1_a_full_disk_is_told_and_leaves_the_run_as_it_was(path: Path, journal: SqliteJournal) -> None:
    await journal.append("run", kept(1))
    db = journal._connection
    assert db is not None
    [pages] = db.execute("pragma page_count").fetchone()
    db.execute(f"pragma max_page_count = {pages}")
    with pytest.raises(JournalRefused, match=r"cannot be used: database or disk is full\.$"):
        await journal.append("run", kept([f"{LONG}{number}" for number in range(9)]))
    db.execute("pragma max_page_count = 1000000")
    assert await journal.append("run", kept(2)) == 2
    assert [kept(1), kept(2)] == [record for _, record in await journal.read("run")]


async def test_XD3_two_journals_on_one_file_do_not_share_a_run(path: Path, journal: SqliteJournal) -> None:
    await journal.append("run", kept(1))
    other = SqliteJournal(path)
    assert not await other.acquire("run")
    with pytest.raises(JournalRefused, match="driven by another process"):
        await other.append("run", kept(2))
    await other.append("another", kept(1))
    await journal.release("run")
    assert await other.acquire("run")
    assert await other.append("run", kept(2)) == 2
    with pytest.raises(JournalRefused, match="driven by another process"):
        await journal.append("run", kept(3))
    other.close()
    assert await journal.append("run", kept(3)) == 3


async def test_XD3_a_holder_whose_name_makes_no_sense_holds_nothing(path: Path, journal: SqliteJournal) -> None:
    await write(journal, 1)
    change(path, "update runs set holder = '../../somewhere'")
    assert await journal.acquire("run")


async def test_XD3_signs_of_life_are_cleared_away(path: Path, journal: SqliteJournal) -> None:
    await journal.append("run", kept(1))
    folder = path.with_name("runs.db.holders")
    assert len(list(folder.iterdir())) == 1
    holder = Holder(folder)
    assert holder.is_alive(holder.name)
    holder.close()
    journal.close()
    assert list(folder.iterdir()) == []


def test_D1_threads_may_share_a_journal(path: Path, journal: SqliteJournal) -> None:
    def work(name: str) -> None:
        asyncio.run(write(journal, 20, name))

    threads = [threading.Thread(target=work, args=(f"run_{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(4):
        found = asyncio.run(journal.read(f"run_{number}"))
        assert [kept(value) for value in range(1, 21)] == [record for _, record in found]


WRITER = """
import asyncio, sys
from pathlib import Path
from toolroll.journal.records import StateSet
from toolroll.journal.sqlite import SqliteJournal
from toolroll.journal.tables import FORMAT_VERSION

async def main():
    journal = SqliteJournal(Path(sys.argv[1]))
    while True:
        number = await journal.append("run", StateSet(name="n", value="x" * 3000))
        print(number, flush=True)

asyncio.run(main())
"""


async def test_D1_XD3_kill_loses_nothing_that_was_written_and_frees_the_run_at_once(path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        while int(child.stdout.readline()) < 50:
            pass
        waiting = SqliteJournal(path)
        assert not await waiting.acquire("run")
        child.send_signal(signal.SIGKILL)
        told = [50, *map(int, child.stdout.read().split())][-1]
    found = await waiting.read("run")
    assert told <= len(found) <= told + 1
    assert found.notes == ()
    assert await waiting.acquire("run")
    assert len(found) + 1 == await waiting.append("run", kept(1))
    waiting.close()


async def test_D6_known_secrets_are_in_no_file(path: Path) -> None:
    canary = "canary-7f3a-value"
    journal = SqliteJournal(path, secrets=[canary])
    for value in (canary, f"{LONG}{canary}", {"a": [canary]}, f'{{"k": "{canary}"}}'):
        await journal.append("run", kept(value))
    files = [one.read_bytes() for one in path.parent.rglob("*") if one.is_file()]
    assert any(b"[redacted:known]" in data for data in files)
    assert not any(canary.encode() in data for data in files)
    journal.close()


async def test_XD3_who_looks_whether_a_run_is_held_does_not_hold_it(path: Path) -> None:
    one, other = SqliteJournal(path), SqliteJournal(path)
    await one.append("run", kept(1))
    assert (await one.is_held("run"), await other.is_held("run"), await other.is_held("none")) == (True, True, False)
    assert (await other.driver("run"), await other.driver("none")) == (os.getpid(), None)
    one.close()
    assert await other.is_held("run") is False
    assert set(await other.times("run")) == {1}
    other.close()
