"""Store the index in SQLite: files with their stamps, symbols, imports, and where those lead.

Everything in it can be read from the workspace again: a file that is damaged or of another version is made anew.
"""

import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Final, cast

from toolroll.safe.sqlite import CacheDatabase, DatabaseDamaged, DatabaseRefused, remove_database, transaction
from toolroll.workspace.symbols.imports.statement import ImportStatement, Resolved
from toolroll.workspace.symbols.languages.registry import is_manifest
from toolroll.workspace.symbols.symbol import Rows, Symbol, Value, read_binds, read_names, to_statement, to_symbol

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

PARSED: Final = "parsed"
OTHER: Final = "other"
"""The states of files that are in no language we know, and of those whose symbols are here."""

_SYMBOL: Final = "name, kind, line, col, start_line, end_line, parent, signature, doc, exported"
_STAMPS: Final = "select path, id, size, mtime_ns, hash, state from files"
_STATEMENTS: Final = "select imports.id, path, body from imports join files on files.id = file"
_GENERATION: Final = "generation"
_PAGE: Final = 5_000  # rows that are in memory at once where all of a table is looked at
MAX_NAMED: Final = 5_000  # definitions of one name: `__init__` may have as many as there are files
_IMPORTS_A_FILE: Final = 16_384  # more than one file may have, so that a number tells both its file and its place


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """A file as the index knows it."""

    id: int
    size: int
    mtime_ns: int
    hash: str | None
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    """A file as it was looked at now, with what was found in it."""

    path: str
    language: str | None
    size: int
    mtime_ns: int
    hash: str | None
    state: str
    rows: Rows = ([], [], False)


class Store:
    """One index on disk; threads share it one after the other, processes through SQLite."""

    def __init__(self, path: Path | None) -> None:
        self.path: Final = path
        """None where it is in memory, for this process alone."""
        self._db: sqlite3.Connection = connect(path)
        self._lock = threading.RLock()

    def in_memory(self) -> "Store":
        """Return the same for this process alone, as far as this one can be read; this one is closed."""
        store = Store(None)
        with self._lock:
            copy_database(self._db, store._db)
        self.close()
        return store

    def close(self) -> None:
        """Close the file; every use after it is an error."""
        with self._lock:
            self._db.close()

    # --- Writing ---------------------------------------------------------------------------------------

    def put(self, files: Sequence[FileRow]) -> list[int]:
        """Replace what is known of these files, all or none, and return their numbers.

        What somebody has learned of a younger content meanwhile stays.
        """
        with self._writing() as db:
            return [number for file in files if (number := _put(db, file)) is not None]

    @property
    def generation(self) -> int:
        """Return a number that changes whenever files come or go, or a manifest changes."""
        return self.fact(_GENERATION)

    def restamp(self, files: Iterable[tuple[int, int, int]]) -> None:
        """Store a new size and time, given with the number, of files whose content is the same."""
        with self._writing() as db:
            db.executemany("update files set size = ?2, mtime_ns = ?3 where id = ?1", files)

    def forget(self, numbers: Iterable[int]) -> None:
        """Forget files that are gone."""
        with self._writing() as db:
            for number in numbers:
                _empty(db, number)
                db.execute("delete from files where id = ?", (number,))
                _next_generation(db)

    def put_edges(self, numbers: Sequence[int], edges: Iterable[tuple[int, Resolved]]) -> None:
        """Replace where these statements lead."""
        with self._writing() as db:
            db.executemany("delete from edges where import = ?", ((number,) for number in numbers))
            db.executemany(
                "insert into edges values (?, ?, ?, ?, ?)",
                ((number, number // _IMPORTS_A_FILE, to.path, to.module, to.certainty) for number, to in edges),
            )

    def set_fact(self, name: str, value: int) -> None:
        """Store a number under a name."""
        with self._writing() as db:
            db.execute("insert or replace into facts values (?, ?)", (name, value))

    # --- Files -----------------------------------------------------------------------------------------

    def fact(self, name: str) -> int:
        """Return the number kept under a name, or 0."""
        rows = self.all("select value from facts where name = ?", (name,))
        return cast("int", rows[0][0]) if rows else 0

    def sorted_stamps(self) -> Iterator[tuple[str, Stamp]]:
        """Yield every file with its path, in the order of paths, some thousand at a time."""
        last = ""
        while rows := list(self._stamps(f"{_STAMPS} where path > ? order by path limit {_PAGE}", (last,))):
            yield from rows
            last = rows[-1][0]

    def stamp(self, path: str) -> Stamp | None:
        """Return one file as it is known, or None."""
        found = self._stamps(f"{_STAMPS} where path = ?", (path,))
        return next((stamp for _, stamp in found), None)

    def paths(self) -> list[str]:
        """Return the paths of every file."""
        return [cast("str", path) for (path,) in self.all("select path from files")]

    def states(self) -> dict[str, int]:
        """Return how many files there are by state."""
        rows = self.all("select state, count(*) from files group by 1")
        return {cast("str", state): cast("int", count) for state, count in rows}

    # --- Symbols and imports ---------------------------------------------------------------------------

    def named(self, name: str) -> list[tuple[str, Symbol]]:
        """Return the definitions of a name, `MAX_NAMED` at most, each with its file."""
        query = f"select path, {_SYMBOL} from symbols join files on id = file where name = ? limit {MAX_NAMED}"  # noqa: S608
        rows = self.all(query, (name,))
        return [(cast("str", row[0]), to_symbol(row[1:])) for row in rows]

    def outline(self, path: str) -> list[Symbol]:
        """Return the definitions of one file in their order."""
        query = f"select {_SYMBOL} from symbols join files on id = file where path = ? order by symbols.rowid"  # noqa: S608
        return [to_symbol(row) for row in self.all(query, (path,))]

    def statements(self, files: Iterable[int] | None = None) -> Iterator[tuple[int, str, ImportStatement]]:
        """Yield the imports of these files (None: of all) with their number and the path of their file."""
        if files is None:
            yield from self._every_statement()
            return
        for number in files:
            yield from map(_statement, self.all(f"{_STATEMENTS} where file = ?", (number,)))

    def _every_statement(self) -> Iterator[tuple[int, str, ImportStatement]]:
        """Yield all of them, some thousand at a time: a large tree has a hundred megabytes of them."""
        last = -1
        while rows := self.all(f"{_STATEMENTS} where imports.id > ? order by imports.id limit {_PAGE}", (last,)):
            yield from map(_statement, rows)
            last = cast("int", rows[-1][0])

    def all(self, query: str, values: Sequence[Value] = ()) -> "list[tuple[Value, ...]]":
        """Return the rows that a query finds."""
        with self._lock, INDEX.errors(self.path):
            return self._db.execute(query, values).fetchall()

    def _stamps(self, query: str, values: Sequence[Value] = ()) -> Iterator[tuple[str, Stamp]]:
        for row in self.all(query, values):
            path, number, size, mtime_ns, digest, state = cast("tuple[str, int, int, int, str | None, str]", row)
            yield path, Stamp(id=number, size=size, mtime_ns=mtime_ns, hash=digest, state=intern(state))

    @contextmanager
    def _writing(self) -> "Iterator[sqlite3.Connection]":
        with self._lock, INDEX.errors(self.path), transaction(self._db):
            yield self._db


def connect(path: Path | None) -> "sqlite3.Connection":
    """Open the index, empty where there was none that could be used; without a path, for this process alone."""
    if path is None:
        return INDEX.open_in_memory()
    with suppress(DatabaseDamaged):
        return INDEX.open(path)
    remove_database(path)
    return INDEX.open(path)


def copy_database(old: "sqlite3.Connection", new: "sqlite3.Connection") -> None:
    """Copy what can still be read of an index that can no longer be written; nothing, where nothing can."""
    with suppress(DatabaseDamaged, DatabaseRefused), INDEX.errors(None):
        old.backup(new)


def _put(db: "sqlite3.Connection", file: FileRow) -> int | None:
    known = db.execute("select id, mtime_ns from files where path = ?", (file.path,)).fetchone()
    if known is not None and known[1] > file.mtime_ns > 0:
        return None
    if known is not None:
        _empty(db, known[0])
        db.execute("delete from files where id = ?", (known[0],))
    number = known[0] if known is not None else None
    if number is None or is_manifest(file.path):
        _next_generation(db)
    values = (number, file.path, file.language, file.size, file.mtime_ns, file.hash, file.state)
    number = cast("int", db.execute("insert into files values (?, ?, ?, ?, ?, ?, ?)", values).lastrowid)
    symbols, imports, _ = file.rows
    db.executemany("insert into symbols values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", ([number, *row] for row in symbols))
    first = number * _IMPORTS_A_FILE
    for place, row in enumerate(imports, start=first):
        db.execute("insert into imports values (?, ?, ?)", (place, number, json.dumps(row)))
        db.executemany("insert or ignore into names values (?, ?)", ((name, place) for name in read_names(row)))
        db.executemany("insert or ignore into binds values (?, ?)", ((name, place) for name in read_binds(row)))
    return number


def _next_generation(db: "sqlite3.Connection") -> None:
    db.execute("insert into facts values (?, 1) on conflict (name) do update set value = value + 1", (_GENERATION,))


def _empty(db: "sqlite3.Connection", number: int) -> None:
    """Forget what was found in a file."""
    first = number * _IMPORTS_A_FILE
    for table in ("names", "binds"):
        between = (first, first + _IMPORTS_A_FILE - 1)
        db.execute(f"delete from {table} where import between ? and ?", between)  # noqa: S608
    for table in ("symbols", "imports", "edges"):
        db.execute(f"delete from {table} where file = ?", (number,))  # noqa: S608


def _statement(row: "tuple[Value, ...]") -> tuple[int, str, ImportStatement]:
    number, path, body = row
    return cast("int", number), cast("str", path), to_statement(json.loads(cast("str", body)))
