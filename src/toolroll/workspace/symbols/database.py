"""The SQLite file of an index, made anew where it is damaged or of another version.

Everything in it can be read from the workspace again, so that nothing about it is worth an error.
"""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolroll.safe.sqlite import CacheDatabase, DatabaseDamaged, remove_database

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
INDEX: Final = CacheDatabase(
    name="index",
    version=VERSION,
    tables=_TABLES,
    synchronous="off",  # a power cut may cost the last batches: the next look at the files finds what is missing
)


def connect(path: Path | None) -> "sqlite3.Connection":
    """Open the index, empty where there was none that could be used; without a path, for this process alone."""
    if path is None:
        return INDEX.open_in_memory()
    with suppress(DatabaseDamaged):
        return INDEX.open(path)
    remove_database(path)
    return INDEX.open(path)


def copy(old: "sqlite3.Connection", new: "sqlite3.Connection") -> None:
    """Copy what can still be read of an index that can no longer be written; nothing, where nothing can."""
    import sqlite3  # noqa: PLC0415 - half an interpreter start, only where there is an index

    with suppress(sqlite3.Error):
        old.backup(new)
