"""A private SQLite file: no link is followed, nobody else can read it, and what fails leaves nothing open."""

import os
import sqlite3
import stat
from pathlib import Path

import pytest

from toolroll.errors import ToolrollError
from toolroll.safe.sqlite import BUSY_S, can_write, open_private_database, open_to_read, use_wal


def prepare(db: sqlite3.Connection) -> None:
    use_wal(db, "normal")
    db.execute("create table if not exists words (word text)")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_XF9_the_file_and_those_beside_it_are_private_under_any_umask(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "new" / "words.db"
    before = os.umask(umask)
    try:
        db = open_private_database(path, prepare)
        db.execute("insert into words values ('a')")
    finally:
        os.umask(before)
    assert mode(path.parent) == 0o700
    assert {one.name: mode(one) for one in path.parent.iterdir()} == dict.fromkeys(
        ("words.db", "words.db-wal", "words.db-shm"), 0o600
    )
    db.close()


def test_XF9_a_file_that_was_there_becomes_private(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    path = folder / "words.db"
    with sqlite3.connect(path) as made:
        made.execute("create table words (word text)")
    path.chmod(0o666)
    db = open_private_database(path, prepare)
    assert mode(path) == 0o600
    assert db.execute("select count(*) from words").fetchone() == (0,)
    db.close()


def test_a_link_in_its_place_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    theirs = tmp_path / "theirs.db"
    for target in (theirs, Path("nowhere")):
        (folder / "words.db").symlink_to(target)
        with pytest.raises(ToolrollError):
            open_private_database(folder / "words.db", prepare)
        (folder / "words.db").unlink()
    assert not theirs.exists()


def test_a_folder_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data" / "words.db").mkdir(parents=True, mode=0o700)
    with pytest.raises(ToolrollError):
        open_private_database(tmp_path / "data" / "words.db", prepare)


def test_what_the_caller_refuses_is_closed(tmp_path: Path) -> None:
    seen: list[sqlite3.Connection] = []

    def refuse(db: sqlite3.Connection) -> None:
        seen.append(db)
        raise ValueError("newer")

    with pytest.raises(ValueError, match="newer"):
        open_private_database(tmp_path / "data" / "words.db", refuse)
    with pytest.raises(sqlite3.ProgrammingError):
        seen[0].execute("select 1")


@pytest.mark.parametrize(("synchronous", "number"), [("off", 0), ("normal", 1), ("full", 2)])
def test_readers_and_a_writer_do_not_wait_for_each_other(tmp_path: Path, synchronous: str, number: int) -> None:
    db = open_private_database(tmp_path / "data" / "words.db", lambda db: use_wal(db, synchronous))  # type: ignore[arg-type]
    assert db.execute("pragma journal_mode").fetchone() == ("wal",)
    assert db.execute("pragma synchronous").fetchone() == (number,)
    assert db.execute("pragma busy_timeout").fetchone() == (int(BUSY_S * 1_000),)
    db.close()


def test_XF9_where_nothing_can_be_written_a_file_is_read_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "new" / "words.db"
    made = open_private_database(path, prepare)
    made.execute("insert into words values ('a')")
    waiting = open_to_read(path)
    assert waiting.execute("select word from words").fetchall() == [("a",)]
    waiting.close()
    made.close()
    monkeypatch.setattr(os, "access", lambda *_given, **_named: False)
    assert not can_write(path.parent)
    db = open_to_read(path, lambda db: db.execute("select 1"))
    assert db.execute("select word from words").fetchall() == [("a",)]
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        db.execute("insert into words values ('b')")
    db.close()
    assert [one.name for one in path.parent.iterdir()] == ["words.db"]


def test_XF9_what_is_read_is_checked_and_no_link(tmp_path: Path) -> None:
    path = tmp_path / "words.db"
    sqlite3.connect(path).close()
    path.write_bytes(b"")

    def refuse(_db: sqlite3.Connection) -> None:
        raise KeyError("version")

    with pytest.raises(KeyError):
        open_to_read(path, refuse)
    (tmp_path / "link.db").symlink_to(path)
    with pytest.raises(ToolrollError):
        open_to_read(tmp_path / "link.db")


def test_a_folder_that_is_not_there_is_written_where_it_can_be_made(tmp_path: Path) -> None:
    assert can_write(tmp_path / "a" / "b")
    assert not can_write(tmp_path / ("n" * 300) / "b")  # the system refuses even to look
