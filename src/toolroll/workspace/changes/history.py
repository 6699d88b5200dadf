"""Record every applied change with the contents before and after, outside of the project, for undo and redo (C31).

A change is on record with all its contents before the first file is touched, so that a kill at any moment leaves
enough to finish it or to take it back (`recovery`).
"""

import os
import secrets
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from toolroll.errors import JournalRefused
from toolroll.home.keys import known_secrets
from toolroll.kernel.approval.request import content_hash
from toolroll.messages import Template
from toolroll.safe.paths.os_errors import os_errors
from toolroll.safe.secrets.redact import redact
from toolroll.safe.sqlite import transaction
from toolroll.workspace.changes.records import (
    HISTORY,
    DroppedChanges,
    Intent,
    Quota,
    Record,
    State,
    insert_entries,
    read_records,
)

if TYPE_CHECKING:
    import sqlite3

FILE_NAME: Final = "history.sqlite3"
CONTENT_DAMAGED: Final = Template(
    "content_damaged", "A content in the history '{path}' is damaged ({hash}).", "It cannot be restored."
)
CONTENT_MISSING: Final = Template(
    "content_missing", "A content in the history '{path}' is missing ({hash}).", "It cannot be restored."
)
_ID_BYTES: Final = 6  # 48 bits: short enough to type, and two in one workspace are never the same by chance
_LEVEL: Final = 3  # of zlib: half the time of the usual one, for an eighth more of space
_OLDEST: Final = """
select id from changes where state <> 'intended' and id <> ? order by number limit 1
"""
_AGE: Final = """
select at, (select count(*) from changes as later where later.number > changes.number) from changes where id = ?
"""
_NEWEST_UNDOABLE: Final = """
select id from changes where kind = 'change' and state in ('applied', 'partial')
and exists (select 1 from entries where change = changes.id and undone_by is null) order by number desc limit 1
"""
_TAKEN_FROM_RUN: Final = """
select undoes.change from undoes join changes as taken on taken.id = undoes.target where taken.run_id = ?
"""
_REDONE: Final = """
select undone.target, undone.path, redo.id from changes as redo
join entries on entries.change = redo.id and entries.undone_by is null
join undoes as turned on turned.change = redo.id and turned.path = entries.path
join undoes as undone on undone.change = turned.target and undone.path = turned.path
where redo.kind = 'redo' and redo.state in ('applied', 'partial') order by redo.number
"""
_OF_CALL: Final = "id in (select change from calls where run_id = ? and call_id = ?)"
_WITHOUT_CALL: Final = "run_id = ? and not exists (select 1 from calls where change = changes.id)"
_OF_BATCH: Final = "select change from batches where batch = (select batch from batches where change = ?)"
_DROP_UNUSED: Final = """
delete from contents where not exists (select 1 from entries where before = hash)
and not exists (select 1 from entries where after = hash)
"""


def new_id() -> str:
    """Return a name for a change that no other one has."""
    return secrets.token_hex(_ID_BYTES)


class History:
    """The changes of one workspace, in a file of its private folder. Threads and processes may share it."""

    def __init__(self, state: Path, *, quota: Quota | None = None, clock: Callable[[], float] = time.time) -> None:
        self.path: Final = state / FILE_NAME
        self._quota = quota or Quota()
        self._clock = clock
        self._db: sqlite3.Connection | None = None
        self._lock = threading.RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            db, self._db = self._db, None
            if db is not None:
                db.close()

    def begin(self, intent: Intent) -> None:
        """Put a change on record that is about to happen, with all that is needed to take it back."""
        bodies = [(content_hash(data), zlib.compress(data, _LEVEL)) for data in intent.contents]
        row = (intent.id, self._clock(), intent.run_id, _without_secrets(intent.description), intent.kind)
        with self._writing() as db:
            db.execute(
                "insert into changes (id, at, run_id, description, kind, state) values (?, ?, ?, ?, ?, 'intended')", row
            )
            insert_entries(db, intent.id, intent.entries)
            undoes = [(intent.id, path, target) for path, target in intent.undoes]
            db.executemany("insert into undoes values (?, ?, ?)", undoes)
            db.executemany("insert or ignore into contents values (?, ?)", bodies)
            if intent.call_id is not None:
                db.execute("insert into calls values (?, ?, ?)", (intent.id, intent.run_id, intent.call_id))
            if intent.batch is not None:
                db.execute("insert into batches values (?, ?)", (intent.id, intent.batch))

    def finish(
        self, change: str, state: State, *, hard_linked: Sequence[str] = (), rolled_back: Sequence[str] = ()
    ) -> None:
        """Say what became of a change; one that took others back marks them so at the same moment."""
        with self._writing() as db:
            db.execute("update changes set state = ? where id = ?", (state, change))
            linked = [(change, path) for path in hard_linked]
            db.executemany("update entries set hard_linked = 1 where change = ? and path = ?", linked)
            back = [(change, change, path) for path in rolled_back]
            db.executemany("update entries set undone_by = ? where change = ? and path = ?", back)
            if state in ("applied", "partial"):
                _mark_undone(db, change)

    def changes(self, *, run_id: str | None = None, path: str | None = None, limit: int = -1) -> tuple[Record, ...]:
        """Return what happened, the latest first: of one run, to one file, or all of it."""
        conditions = {
            "run_id = ?": run_id,
            "exists (select 1 from entries where change = changes.id and path = ?)": path,
        }
        given = {condition: value for condition, value in conditions.items() if value is not None}
        return self._records(" and ".join(given) or "1", list(given.values()), limit)

    def get(self, change: str) -> Record | None:
        """Return one change, or None."""
        return next(iter(self._records("id = ?", [change])), None)

    def of_call(self, run_id: str, call_id: str) -> Record | None:
        """Return the latest change that a call of a run began, or None."""
        return next(iter(self._records(_OF_CALL, [run_id, call_id], 1)), None)

    def allowed_with(self, change: str) -> frozenset[str]:
        """Return the changes that were allowed together with this one, itself among them."""
        with self._reading() as db:
            rows = db.execute(_OF_BATCH, (change,)).fetchall()
        return frozenset((change, *(row[0] for row in rows)))

    def has_changes_without_call(self, run_id: str) -> bool:
        """Return whether a run has changes of unknown calls: versions before 0.2.0 did not record them."""
        return bool(self._records(_WITHOUT_CALL, [run_id], 1))

    def unfinished(self) -> tuple[Record, ...]:
        """Return changes that began and have not ended yet: of a process at work, or of one that was killed."""
        return self._records("state = 'intended'", [])

    def undos_of(self, change: str) -> tuple[Record, ...]:
        """Return the changes that took this one back, the latest first."""
        return self._records("kind = 'undo' and id in (select change from undoes where target = ?)", [change])

    def undos_of_run(self, run_id: str) -> tuple[Record, ...]:
        """Return the changes that took back what a run had changed, the latest first."""
        return self._records(f"kind = 'undo' and id in ({_TAKEN_FROM_RUN})", [run_id])

    def taken_back_by(self, undo: str, path: str) -> tuple[Record, ...]:
        """Return the changes of a file that an undo took back, as far as they are kept, the latest first."""
        return self._records("id in (select target from undoes where change = ? and path = ?)", [undo, path])

    def redone(self) -> dict[tuple[str, str], str]:
        """Return, by change and file, the redo that last brought back what was undone."""
        if not self.path.exists():
            return {}
        with self._reading() as db:
            return {(change, path): redo for change, path, redo in db.execute(_REDONE)}

    def content(self, hash_: str) -> bytes:
        """Return a content by its hash; damage is found, never handed out."""
        with self._reading() as db:
            row = db.execute("select body from contents where hash = ?", (hash_,)).fetchone()
        try:
            data = zlib.decompress(row[0]) if row else None
        except zlib.error:
            data = None
        if data is None or content_hash(data) != hash_:
            problem = CONTENT_DAMAGED if row else CONTENT_MISSING
            raise JournalRefused(problem(path=self.path, hash=hash_[:12]))
        return data

    def drop_oldest(self) -> DroppedChanges:
        """Drop what is too old or too much, the oldest first; never the newest change that can be undone."""
        gone: list[str] = []
        with self._writing() as db:
            before = _size(db)
            kept = (db.execute(_NEWEST_UNDOABLE).fetchone() or ("",))[0]
            while (oldest := db.execute(_OLDEST, (kept,)).fetchone()) and self._is_too_much(db, oldest[0]):
                _drop(db, oldest[0])
                gone.append(oldest[0])
            after = _size(db)
        if gone:
            with self._reading() as db:
                db.execute("pragma incremental_vacuum").fetchall()
        return DroppedChanges(ids=tuple(gone), freed_bytes=before - after, is_over=after > self._quota.max_bytes)

    def _is_too_much(self, db: "sqlite3.Connection", oldest: str) -> bool:
        if _size(db) > self._quota.max_bytes:
            return True
        at, later = db.execute(_AGE, (oldest,)).fetchone()
        return bool(at < self._clock() - self._quota.max_age_s and later >= self._quota.min_changes)

    def _records(self, where: str, values: Sequence[object], limit: int = -1) -> tuple[Record, ...]:
        with os_errors(self.path.name):
            is_there = self.path.exists()
        if not is_there:
            return ()
        with self._reading() as db:
            return read_records(db, where, values, limit)

    @contextmanager
    def _writing(self) -> Iterator["sqlite3.Connection"]:
        with self._reading() as db, transaction(db):
            yield db

    @contextmanager
    def _reading(self) -> Iterator["sqlite3.Connection"]:
        with self._lock, HISTORY.errors(self.path):
            if self._db is None:
                self._db = HISTORY.open(self.path)
            yield self._db


def _mark_undone(db: "sqlite3.Connection", change: str) -> None:
    [kind] = db.execute("select kind from changes where id = ?", (change,)).fetchone()
    targets = db.execute(
        "select target, path from undoes join entries using (change, path) where change = ? and undone_by is null",
        (change,),
    ).fetchall()
    for target, path in targets:
        db.execute("update entries set undone_by = ? where change = ? and path = ?", (change, target, path))
        if kind == "redo":
            # What an undo had taken back is there again.
            db.execute(
                "update entries set undone_by = null where path = ? and change in "
                "(select target from undoes where change = ? and path = ?)",
                (path, target, path),
            )


def _size(db: "sqlite3.Connection") -> int:
    [size] = db.execute("select coalesce(sum(length(body)), 0) from contents").fetchone()
    return int(size)


def _drop(db: "sqlite3.Connection", change: str) -> None:
    for table in ("entries", "undoes", "calls", "batches"):
        db.execute(f"delete from {table} where change = ?", (change,))  # noqa: S608 - ours
    db.execute("delete from changes where id = ?", (change,))
    db.execute(_DROP_UNUSED)


def _without_secrets(description: str) -> str:
    """Redact words of a model, which are listed later; unlike contents, nothing needs them byte for byte."""
    return redact(description, known=known_secrets(os.environ))
