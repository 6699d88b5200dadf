"""The history's SQLite file: private from its first byte, with its tables, and synced at every commit.

A content is stored once, compressed, under its hash. `synchronous=FULL` because an intent must be there when the files
that it speaks of are: also after a power cut.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from toolroll.errors import JournalRefused
from toolroll.safe.sqlite import can_write, open_private_database, open_to_read, use_wal
from toolroll.workspace.changes.records import Entry, Record

TABLES_VERSION: Final = 1
"""Raised when the tables change so that an older program could not use them."""
_DAMAGED: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_MOVE_AWAY: Final = (
    " Move that file away, with those beside it whose names go on with -wal and -shm, to begin a new one. The project "
    "stays as it is, but what was changed until now can no longer be undone."
)

_TABLES: Final = """
create table if not exists changes (
    number integer primary key autoincrement,
    id text not null unique,
    at real not null,
    run_id text not null,
    description text not null,
    kind text not null,
    state text not null
) strict;
create index if not exists changes_of_run on changes (run_id);
create table if not exists entries (
    change text not null,
    position integer not null,
    path text not null,
    before text,
    after text,
    before_mode integer,
    after_mode integer,
    made_folders integer not null,
    hard_linked integer not null,
    undone_by text,
    primary key (change, path)
) strict, without rowid;
create index if not exists entries_of_path on entries (path);
create index if not exists entries_before on entries (before);
create index if not exists entries_after on entries (after);
create table if not exists undoes (
    change text not null,
    path text not null,
    target text not null,
    primary key (change, path, target)
) strict, without rowid;
create table if not exists contents (
    hash text primary key,
    body blob not null
) strict;
"""
_ENTRY_COLUMNS: Final = "path, before, after, before_mode, after_mode, made_folders, hard_linked, undone_by"
_RECORD_COLUMNS: Final = "id, at, run_id, description, kind, state"


def connect(path: Path) -> sqlite3.Connection:
    """The open file, made where there is none. Where it cannot be written it can still be read."""
    if path.exists() and not can_write(path.parent):
        return open_to_read(path, lambda db: _check(db, path))
    return open_private_database(path, lambda db: _prepare(db, path))


def _check(db: sqlite3.Connection, path: Path) -> int:
    """The version of the tables, unless they are too new."""
    [version] = db.execute("pragma user_version").fetchone()
    if version > TABLES_VERSION:
        raise JournalRefused(
            f"The history '{path}' belongs to a newer version of toolroll (tables {version}, this one knows up to "
            f"{TABLES_VERSION}). Update toolroll to use it."
        )
    return int(version)


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    version = _check(db, path)
    if version < TABLES_VERSION:
        db.execute("pragma auto_vacuum = incremental")
    use_wal(db, "full")
    if version < TABLES_VERSION:
        db.executescript(f"begin immediate; {_TABLES} pragma user_version = {TABLES_VERSION}; commit;")


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """What SQLite says of a file that it cannot use, in words of ours."""
    try:
        yield
    except sqlite3.Error as error:
        # The lower byte is the kind of error. One that Python raises by itself has no code.
        advice = _MOVE_AWAY if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED else ""
        raise JournalRefused(f"The history '{path}' cannot be used: {error}.{advice}") from error


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Inside, all is written or nothing."""
    db.execute("begin immediate")
    try:
        yield
    except BaseException:
        if db.in_transaction:  # a full disk has ended it already
            db.execute("rollback")
        raise
    db.execute("commit")


def insert_entries(db: sqlite3.Connection, change: str, entries: Sequence[Entry]) -> None:
    """Add the files of a change."""
    rows = [
        (change, number, one.path, one.before, one.after, one.before_mode, one.after_mode, one.made_folders)
        for number, one in enumerate(entries)
    ]
    db.executemany("insert into entries values (?, ?, ?, ?, ?, ?, ?, ?, 0, null)", rows)


def read_records(db: sqlite3.Connection, where: str, values: Sequence[object], limit: int = -1) -> tuple[Record, ...]:
    """The changes for which a condition holds, the latest first."""
    query = f"select {_RECORD_COLUMNS} from changes where {where} order by number desc limit ?"  # noqa: S608 - ours
    rows = db.execute(query, (*values, limit)).fetchall()
    return tuple(_record(db, row) for row in rows)


def _record(db: sqlite3.Connection, row: Sequence[object]) -> Record:
    query = f"select {_ENTRY_COLUMNS} from entries where change = ? order by position"  # noqa: S608 - ours
    names = _ENTRY_COLUMNS.split(", ")
    found = [dict(zip(names, entry, strict=True)) for entry in db.execute(query, (row[0],))]
    entries = tuple(Entry(**{**entry, "hard_linked": bool(entry["hard_linked"])}) for entry in found)
    return Record(**dict(zip(_RECORD_COLUMNS.split(", "), row, strict=True)), entries=entries)  # type: ignore[arg-type]
