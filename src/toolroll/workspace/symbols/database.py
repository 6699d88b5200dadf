"""The SQLite file of an index: private, and made anew where it is damaged or of another version.

Everything in it can be read from the workspace again, so that nothing about it is worth an error.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolroll.errors import FileSystemRefused
from toolroll.safe.paths.os_errors import os_errors
from toolroll.safe.sqlite import can_write, open_private_database, use_wal

if TYPE_CHECKING:
    import sqlite3

VERSION: Final = 6
"""Of tables, queries and what is made of them together: raised with each change, as an index of another is not used."""

_TABLES: Final = """
create table files (
    id integer primary key, path text not null unique, language text, size integer not null,
    mtime_ns integer not null, hash text, state text not null
) strict;
create table symbols (
    file integer not null, name text not null, kind text not null, line integer not null, col integer not null,
    start_line integer not null, end_line integer not null, parent text, signature text not null, doc text,
    exported integer not null
) strict;
create index symbols_name on symbols (name);
create index symbols_file on symbols (file);
create table imports (id integer primary key, file integer not null, body text not null) strict;
create index imports_file on imports (file);
create table names (name text not null, import integer not null, primary key (name, import)) strict, without rowid;
create index names_import on names (import);
create table binds (name text not null, import integer not null, primary key (name, import)) strict, without rowid;
create index binds_import on binds (import);
create table edges (
    import integer not null, file integer not null, path text, module text not null, certainty text not null
) strict;
create index edges_import on edges (import);
create index edges_file on edges (file);
create index edges_path on edges (path) where path is not null;
create index edges_module on edges (module);
create table facts (name text primary key, value integer not null) strict, without rowid;
"""
_DAMAGE: Final = frozenset({"SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_MISMATCH", "SQLITE_FORMAT"})
"""What SQLite says of a file that is no database, is torn, or has other tables than it should."""


class IndexDamaged(Exception):
    """The file cannot be used as it is, and has to be made anew."""


class IndexUnavailable(FileSystemRefused):
    """The system refuses the file of the index: a full disk, a file that somebody locks. The project is not meant."""


def connect(path: Path | None) -> "sqlite3.Connection":
    """The open index, empty where there was none that could be used; without a path for this process alone."""
    if path is None:
        return _in_memory()
    with suppress(IndexDamaged):
        return _connect(path)
    remove(path)
    return _connect(path)


def remove(path: Path) -> None:
    """Remove the index with what SQLite keeps beside it."""
    for ending in ("", "-wal", "-shm"):
        with os_errors(str(path)), suppress(FileNotFoundError):
            os.unlink(f"{path}{ending}")  # noqa: PTH108 - a name with an ending, not a path


def copy(old: "sqlite3.Connection", new: "sqlite3.Connection") -> None:
    """Take over what can still be read of an index that cannot be written any more; nothing, where nothing can."""
    import sqlite3  # noqa: PLC0415 - as below

    with suppress(sqlite3.Error):
        old.backup(new)


@contextmanager
def sqlite_errors(path: Path | None) -> Iterator[None]:
    """What SQLite says becomes Damaged where the file is at fault, and an error of ours where the system is."""
    import sqlite3  # noqa: PLC0415 - four interpreter starts, only where there is an index

    try:
        yield
    except sqlite3.Error as error:
        name = (getattr(error, "sqlite_errorname", None) or "SQLITE_ERROR").split("_", 2)
        code = "_".join(name[:2])
        if code in _DAMAGE:
            raise IndexDamaged(str(error)) from error
        message = f"The index '{path}' cannot be used: {error}. Check the disk and who else uses it."
        raise IndexUnavailable(message, path=str(path), errno_name=code) from error


def _connect(path: Path) -> "sqlite3.Connection":
    with sqlite_errors(path):
        if not can_write(path.parent):
            return _in_memory()
        return open_private_database(path, _prepare)


def _in_memory() -> "sqlite3.Connection":
    """An index for this process alone, where none can be kept."""
    import sqlite3  # noqa: PLC0415 - as above

    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    _prepare(db)
    return db


def _prepare(db: "sqlite3.Connection") -> None:
    use_wal(db, "off")  # a power cut may cost the last batches: the next look at the files finds what is missing
    db.execute("begin immediate")
    [version] = db.execute("pragma user_version").fetchone()
    if version not in {0, VERSION}:
        raise IndexDamaged(f"version {version}")
    if version == 0:
        for statement in filter(str.strip, _TABLES.split(";")):
            db.execute(statement)
        db.execute(f"pragma user_version = {VERSION}")
    db.execute("commit")
