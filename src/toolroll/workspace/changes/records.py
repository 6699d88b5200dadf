"""Describe changes on record, their files and contents, and write and read them as rows of the history.

A content is stored once, compressed, under its hash.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from toolroll.safe.record_database import RecordDatabase

if TYPE_CHECKING:
    import sqlite3

Kind: TypeAlias = Literal["change", "undo", "redo"]
State: TypeAlias = Literal["intended", "applied", "failed", "partial"]
"""Intended: begun, and not known to have ended. Failed: nothing of it is there. Partial: some of it may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file of a change. The contents are hashes, None where there is no file.

    `after_mode` is the mode that was given, None where it stayed as it was. `undone_by` is the change that took it
    back.
    """

    path: str
    before: str | None
    after: str | None
    before_mode: int | None = None
    after_mode: int | None = None
    made_folders: int = 0
    hard_linked: bool = False
    undone_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One change as it is on record."""

    id: str
    at: float
    run_id: str
    description: str
    kind: Kind
    state: State
    entries: tuple[Entry, ...]

    @property
    def is_undone(self) -> bool:
        """Return whether all of it has been taken back."""
        return all(entry.undone_by is not None for entry in self.entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A change that is about to happen: its entries with all the contents they speak of.

    `undoes` says, for an undo or a redo, which changes each path takes back.
    """

    id: str
    run_id: str
    description: str
    kind: Kind
    entries: tuple[Entry, ...]
    contents: tuple[bytes, ...]
    undoes: tuple[tuple[str, str], ...] = ()
    call_id: str | None = None
    """The call of the run that makes the change: what became of the call is what became of the change."""
    batch: str | None = None
    """What changes share that were allowed together, and are undone together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """How much is kept: what is older goes, and of the rest the oldest, until it fits.

    The latest changes stay whatever their age, because a clock can be wrong: one that is 100 days ahead for an hour
    would make all of them old.
    """

    max_bytes: int = 256 << 20  # compressed: years of edits by hand, weeks of a busy agent
    max_age_s: float = 90 * 86_400
    min_changes: int = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedChanges:
    """What was let go: these changes can no longer be undone. `is_over` says that the newest alone is too much."""

    ids: tuple[str, ...] = ()
    freed_bytes: int = 0
    is_over: bool = False


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
create table if not exists calls (
    change text primary key,
    run_id text not null,
    call_id text not null
) strict, without rowid;
create index if not exists calls_of_run on calls (run_id, call_id);
create table if not exists batches (
    change text primary key,
    batch text not null
) strict, without rowid;
create index if not exists changes_of_batch on batches (batch);
"""
HISTORY: Final = RecordDatabase(
    name="history",
    version=3,  # 1 had no calls, 2 no batches
    tables=_TABLES,
    synchronous="full",  # an intent must be there when the files that it names are: also after a power cut
    first_pragma="auto_vacuum = incremental",
    loss="The project stays as it is, but what was changed until now can no longer be undone.",
)

_ENTRY_COLUMNS: Final = "path, before, after, before_mode, after_mode, made_folders, hard_linked, undone_by"
_RECORD_COLUMNS: Final = "id, at, run_id, description, kind, state"


def insert_entries(db: "sqlite3.Connection", change: str, entries: Sequence[Entry]) -> None:
    """Add the files of a change."""
    rows = [
        (change, number, one.path, one.before, one.after, one.before_mode, one.after_mode, one.made_folders)
        for number, one in enumerate(entries)
    ]
    db.executemany("insert into entries values (?, ?, ?, ?, ?, ?, ?, ?, 0, null)", rows)


def read_records(db: "sqlite3.Connection", where: str, values: Sequence[object], limit: int = -1) -> tuple[Record, ...]:
    """Return the changes for which a condition holds, the latest first."""
    query = f"select {_RECORD_COLUMNS} from changes where {where} order by number desc limit ?"  # noqa: S608 - ours
    rows = db.execute(query, (*values, limit)).fetchall()
    return tuple(_record(db, row) for row in rows)


def _record(db: "sqlite3.Connection", row: Sequence[object]) -> Record:
    query = f"select {_ENTRY_COLUMNS} from entries where change = ? order by position"  # noqa: S608 - ours
    names = _ENTRY_COLUMNS.split(", ")
    found = [dict(zip(names, entry, strict=True)) for entry in db.execute(query, (row[0],))]
    entries = tuple(Entry(**{**entry, "hard_linked": bool(entry["hard_linked"])}) for entry in found)
    return Record(**dict(zip(_RECORD_COLUMNS.split(", "), row, strict=True)), entries=entries)  # type: ignore[arg-type]
