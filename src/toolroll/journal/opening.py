"""The SQLite file of the run log: made private from its first byte, with its tables, or refused if it is newer."""

import sqlite3
from pathlib import Path
from types import TracebackType
from typing import Final

from toolroll.errors import JournalRefused
from toolroll.safe.sqlite import can_write, open_private_database, open_to_read, use_wal

TABLES_VERSION: Final = 1
"""Raised when the tables change so that an older program could not use them."""
_DAMAGED: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_MOVE_AWAY: Final = (
    " Move that file away, with those beside it whose names go on with -wal and -shm, to begin a new one. The runs in "
    "it can then no longer be shown or resumed."
)

_TABLES: Final = """
create table if not exists runs (
    run_id text not null unique,
    format integer not null,
    began real not null,
    parent text,
    holder text
) strict;
create table if not exists records (
    run_id text not null,
    number integer not null,
    kind text not null,
    at real not null,
    body blob not null,
    chain text not null,
    primary key (run_id, number)
) strict, without rowid;
create table if not exists contents (
    hash text primary key,
    body blob not null
) strict, without rowid;
"""


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
            f"The run log '{path}' belongs to a newer version of toolroll (tables {version}, this one knows up to "
            f"{TABLES_VERSION}). Update toolroll to use it."
        )
    return int(version)


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    version = _check(db, path)
    use_wal(db, "normal")
    if version < TABLES_VERSION:
        db.executescript(f"begin immediate; {_TABLES} pragma user_version = {TABLES_VERSION}; commit;")


class told:  # noqa: N801 - used like a function
    """What SQLite says of a file that it cannot use, in words of ours."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, sqlite3.Error):
            # The lower byte is the kind of error. One that Python raises by itself has no code.
            advice = _MOVE_AWAY if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED else ""
            raise JournalRefused(f"The run log '{self._path}' cannot be used: {error}.{advice}") from error
