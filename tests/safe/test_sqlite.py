"""Private SQLite files: no link is followed, nobody else can read them, and their errors are ours."""

import os
import sqlite3
import stat
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from toolroll.errors import JournalRefused, ToolrollError
from toolroll.safe.paths.files import can_write
from toolroll.safe.record_database import RecordDatabase
from toolroll.safe.sqlite import (
    BUSY_S,
    CacheDatabase,
    Database,
    DatabaseDamaged,
    DatabaseRefused,
    error_name,
    open_read_only,
    read_version,
    remove_database,
    transaction,
)

TABLES = "create table if not exists words (word text); create index if not exists by_word on words (word);"
RECORDS = RecordDatabase(name="list", version=2, tables=TABLES, synchronous="normal", loss="The words are gone then.")
CACHE = CacheDatabase(name="index", version=2, tables=TABLES, synchronous="off")
both = pytest.mark.parametrize("kind", [RECORDS, CACHE], ids=["records", "cache"])


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "words.db"


@both
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_XF9_the_file_and_those_beside_it_are_private_under_any_umask(kind: Database, path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        db = kind.open(path)
        db.execute("insert into words values ('a')")
    finally:
        os.umask(before)
    assert mode(path.parent) == 0o700
    assert {one.name: mode(one) for one in path.parent.iterdir()} == dict.fromkeys(
        ("words.db", "words.db-wal", "words.db-shm"), 0o600
    )
    db.close()


@both
def test_XF9_a_file_that_was_there_becomes_private(kind: Database, path: Path) -> None:
    path.parent.mkdir(mode=0o700)
    with closing(sqlite3.connect(path)) as made:
        made.execute("create table words (word text)")
    path.chmod(0o666)
    with closing(kind.open(path)) as db:
        assert mode(path) == 0o600
        assert db.execute("select count(*) from words").fetchone() == (0,)


@both
def test_a_link_in_its_place_is_refused(kind: Database, path: Path, tmp_path: Path) -> None:
    path.parent.mkdir(mode=0o700)
    theirs = tmp_path / "theirs.db"
    for target in (theirs, Path("nowhere")):
        path.symlink_to(target)
        with pytest.raises(ToolrollError):
            kind.open(path)
        path.unlink()
    assert not theirs.exists()


@both
def test_a_folder_in_its_place_is_refused(kind: Database, path: Path) -> None:
    path.mkdir(parents=True, mode=0o700)
    with pytest.raises(ToolrollError):
        kind.open(path)


@both
@pytest.mark.parametrize(("synchronous", "number"), [("off", 0), ("normal", 1), ("full", 2)])
def test_readers_and_a_writer_do_not_wait_for_each_other(
    kind: Database, path: Path, synchronous: str, number: int
) -> None:
    with closing(replace(kind, synchronous=synchronous).open(path)) as db:  # type: ignore[arg-type]
        assert db.execute("pragma journal_mode").fetchone() == ("wal",)
        assert db.execute("pragma synchronous").fetchone() == (number,)
        assert db.execute("pragma busy_timeout").fetchone() == (int(BUSY_S * 1_000),)


@both
def test_a_new_file_has_its_tables_its_version_and_its_pragma(kind: Database, path: Path) -> None:
    for _ in range(2):
        with closing(replace(kind, first_pragma="auto_vacuum = incremental").open(path)) as db:
            assert read_version(db) == 2
            assert db.execute("pragma auto_vacuum").fetchone() == (2,)
            assert db.execute("select name from sqlite_schema order by name").fetchall() == [("by_word",), ("words",)]


@both
def test_tables_that_another_process_has_made_meanwhile_are_left_alone(
    kind: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.parent.mkdir(mode=0o700)
    with closing(sqlite3.connect(path)) as made:
        made.execute("create table other (word text)")
    versions = iter([0, 0, 2])
    monkeypatch.setattr("toolroll.safe.sqlite.read_version", lambda _db: next(versions))
    with closing(kind.open(path)) as db:
        assert db.execute("select name from sqlite_schema").fetchall() == [("other",)]


def test_records_of_an_older_version_get_the_tables_they_lack(path: Path) -> None:
    replace(RECORDS, version=1, tables="create table words (word text);").open(path).close()
    with closing(RECORDS.open(path)) as db:
        assert (read_version(db), db.execute("select count(*) from sqlite_schema").fetchone()) == (2, (2,))


def test_records_of_a_newer_version_are_refused_and_closed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace(RECORDS, version=3).open(path).close()
    seen: list[sqlite3.Connection] = []
    real = sqlite3.connect

    def connect(*given: object, **named: object) -> sqlite3.Connection:
        seen.append(real(*given, **named))  # type: ignore[call-overload]
        return seen[-1]

    monkeypatch.setattr(sqlite3, "connect", connect)
    with pytest.raises(JournalRefused, match=r"The list '.*' belongs to a newer version of toolroll \(tables 3"):
        RECORDS.open(path)
    with pytest.raises(sqlite3.ProgrammingError):
        seen[0].execute("select 1")


@pytest.mark.parametrize("version", [1, 3])
def test_a_cache_of_another_version_counts_as_damaged(path: Path, version: int) -> None:
    replace(CACHE, version=version).open(path).close()
    with pytest.raises(DatabaseDamaged, match=f"version {version}"):
        CACHE.open(path)


def test_records_that_are_damaged_are_refused_with_advice(path: Path) -> None:
    path.parent.mkdir(mode=0o700)
    path.write_bytes(b"no database" * 100)
    with pytest.raises(JournalRefused, match=r"not a database\. Move that file away.*The words are gone then\."):
        RECORDS.open(path)
    assert path.read_bytes() == b"no database" * 100


def test_records_that_are_busy_are_refused_without_advice(path: Path) -> None:
    with pytest.raises(JournalRefused) as busy, RECORDS.errors(path):
        raise sqlite3.OperationalError("database is locked")
    assert busy.value.message == f"The list '{path}' cannot be used: database is locked."


def test_a_cache_that_is_damaged_can_be_removed_and_made_anew(path: Path) -> None:
    path.parent.mkdir(mode=0o700)
    path.write_bytes(b"no database" * 100)
    with pytest.raises(DatabaseDamaged, match="not a database"):
        CACHE.open(path)
    remove_database(path)
    remove_database(path)
    assert list(path.parent.iterdir()) == []
    CACHE.open(path).close()


def test_a_cache_with_other_tables_counts_as_damaged(path: Path) -> None:
    with (
        closing(CACHE.open(path)) as db,
        pytest.raises(DatabaseDamaged, match="no such table"),
        CACHE.errors(path),
    ):
        db.execute("select * from others")


def test_a_cache_that_is_busy_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolroll.safe.sqlite.BUSY_S", 0.0)
    with closing(CACHE.open(path)) as one, closing(sqlite3.connect(path, timeout=0)) as other, transaction(one):
        with pytest.raises(DatabaseRefused) as busy, CACHE.errors(path):
            other.execute("insert into words values ('a')")
        assert (busy.value.errno_name, busy.value.path) == ("SQLITE_BUSY", str(path))


@both
def test_other_errors_pass_as_they_are(kind: Database, path: Path) -> None:
    with pytest.raises(KeyError), kind.errors(path):
        raise KeyError("word")


def test_XF9_where_nothing_can_be_written_a_file_is_read_as_it_is(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = RECORDS.open(path)
    made.execute("insert into words values ('a')")
    waiting = open_read_only(path)
    assert waiting.execute("select word from words").fetchall() == [("a",)]
    waiting.close()
    made.close()
    monkeypatch.setattr(os, "access", lambda *_given, **_named: False)
    assert not can_write(path.parent)
    db = RECORDS.open(path)
    assert db.execute("select word from words").fetchall() == [("a",)]
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        db.execute("insert into words values ('b')")
    db.close()
    assert [one.name for one in path.parent.iterdir()] == ["words.db"]
    with pytest.raises(JournalRefused, match="newer"):
        replace(RECORDS, version=1).open(path)


def test_where_nothing_can_be_written_a_cache_is_in_memory(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_given, **_named: False)
    with closing(CACHE.open(path)) as db:
        db.execute("insert into words values ('a')")
        assert db.execute("select word from words").fetchall() == [("a",)]
    assert not path.parent.exists()


def test_XF9_what_is_read_is_checked_and_no_link(tmp_path: Path) -> None:
    path = tmp_path / "words.db"
    path.write_bytes(b"")

    def refuse(_db: sqlite3.Connection) -> None:
        raise KeyError("version")

    with pytest.raises(KeyError):
        open_read_only(path, refuse)
    (tmp_path / "link.db").symlink_to(path)
    with pytest.raises(ToolrollError):
        open_read_only(tmp_path / "link.db")


def test_a_transaction_is_whole_or_nothing() -> None:
    with closing(CACHE.open_in_memory()) as db:
        with transaction(db):
            db.execute("insert into words values ('a')")
        with pytest.raises(sqlite3.OperationalError), transaction(db):
            db.executemany("insert into words select ?1 where ?1 <> 'c' or json(?1)", [("b",), ("c",)])
        assert db.execute("select word from words").fetchall() == [("a",)]


def test_a_transaction_that_the_system_ended_is_told_by_its_error() -> None:
    with closing(CACHE.open_in_memory()) as db:
        with pytest.raises(sqlite3.OperationalError, match="no such column"), transaction(db):
            db.executescript("select missing")  # which ends the transaction first
        assert not db.in_transaction


def test_the_name_of_an_error_is_its_kind() -> None:
    error = sqlite3.OperationalError("database is locked")
    assert error_name(error) == ""
    error.sqlite_errorname = "SQLITE_BUSY_SNAPSHOT"
    assert error_name(error) == "SQLITE_BUSY"
