"""The run log in one SQLite file: every record is kept when `append` returns, also through `kill -9`.

Write-ahead logging with `synchronous=NORMAL` loses nothing when a process dies; only a power cut can take the last
moments. Each row carries the hash of the one before it: a damaged record is found, and hides only itself.
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeAlias

from toolroll.errors import JournalRefused
from toolroll.journal.chain import chain_hash
from toolroll.journal.codec import Encoded, encode
from toolroll.journal.deletion import Deletion, delete, measure_deletion
from toolroll.journal.holder import Holder, process_of
from toolroll.journal.journal import Recording, RunRow
from toolroll.journal.records import CallEnded, Record, RunBegan
from toolroll.journal.rows import Tail, read_rows, read_times, repair_tail
from toolroll.journal.sealed import FOLDER as SEALED
from toolroll.journal.sealed import SealedFolder
from toolroll.journal.statistics import Statistics, gather
from toolroll.journal.tables import FORMAT_VERSION, LIST_RUNS, RUN_LOG, check_format
from toolroll.kernel.data.messages import ToolCall
from toolroll.safe.secrets.redact import held_secrets
from toolroll.safe.sqlite import transaction

_Row: TypeAlias = tuple[str, int, str, float, bytes, str]
_INSERT: Final = "insert into records values (?, ?, ?, ?, ?, ?)"
_ONE_MORE: Final = ", (?, ?, ?, ?, ?, ?)"
_FEW_ROWS: Final = 4
"""Rows that go into one statement; SQLite compiles it once for each number of them."""


class SqliteJournal:
    """Runs in a file, private to the user. One instance serves one process; several processes may share the file.

    `secrets` are values that are never stored, beside those of the environment and all that looks like a secret.
    """

    def __init__(
        self, path: Path | str, *, secrets: Sequence[str] = (), clock: Callable[[], float] = time.time
    ) -> None:
        self._path = Path(path)
        self.secrets: tuple[str, ...] = tuple(dict.fromkeys((*secrets, *held_secrets())))
        self._clock = clock
        self._sealed = SealedFolder(self._path.parent / SEALED)
        self._connection: sqlite3.Connection | None = None
        self._holder: Holder | None = None
        self._tails: dict[str, tuple[int, str]] = {}
        self._sealing: set[str] = set()
        # Threads with an event loop each may share a journal; a transaction belongs to one of them at a time.
        self._lock = threading.RLock()

    @property
    def folder(self) -> Path:
        """Return the folder of the file, where what belongs to its runs may be stored too."""
        return self._path.parent

    async def append(self, run_id: str, /, *records: Record) -> int:
        """Add records to a run, all or none; refused while the run belongs to another holder."""
        encoded = [(record, encode(record, secrets=self.secrets)) for record in records]
        if run_id not in self._tails and not await self.acquire(run_id):
            raise JournalRefused(f"Run {run_id} is being driven by another process. Wait until it ends.")
        with self._lock, RUN_LOG.errors(self._path):
            number = self._write(self._open(), run_id, encoded)
        if run_id in self._sealing:  # nearly no run; to look for a file costs each call two system calls
            for record in records:
                if isinstance(record, CallEnded):
                    self._sealed.remove(run_id, record.result.call_id)
        return number

    async def read(self, run_id: str, /, *, after: int = 0) -> Recording:
        """Return the records of a run with an index above `after`; those that are damaged are left out, and named."""
        with self._reading() as db:
            check_format(db, run_id)
            return read_rows(db, run_id, after)

    async def runs(self) -> Sequence[RunRow]:
        """Return all runs, the latest first."""
        if not self._path.exists():
            return []
        with self._reading() as db:
            found = db.execute(LIST_RUNS).fetchall()
        names = ("run_id", "began", "parent", "records", "updated", "last_kind")
        return [RunRow(**dict(zip(names, row, strict=True))) for row in found]

    async def acquire(self, run_id: str, /) -> bool:
        """Hold the run, if nobody else does: no other process, and no other task of this one."""
        with self._lock:
            if run_id in self._tails:
                return False
            with self._transaction() as db:
                tail = self._take_run(db, run_id)
            if tail is not None:
                self._tails[run_id] = tail
                self._note_sealed(run_id)
            return tail is not None

    async def release(self, run_id: str, /) -> None:
        """Let another process go on with the run."""
        self._sealing.discard(run_id)
        if self._tails.pop(run_id, None) is not None:
            with self._transaction() as db:
                db.execute("update runs set holder = null where run_id = ?", (run_id,))

    async def is_held(self, run_id: str, /) -> bool:
        """Return whether somebody drives the run now: another process, or another task of this one."""
        return await self.driver(run_id) is not None

    async def driver(self, run_id: str, /) -> int | None:
        """Return the id of the process that drives the run now, if one does."""
        with self._reading() as db:
            row = db.execute("select holder from runs where run_id = ?", (run_id,)).fetchone()
            if row is None or row[0] is None or not self._own_holder().is_alive(row[0]):
                return None
            return process_of(row[0])

    async def seal(self, run_id: str, /, *calls: ToolCall) -> None:
        """Keep the arguments of those calls whose record has lost a secret, until they have their result."""
        self._sealed.seal(run_id, calls, self.secrets)
        self._note_sealed(run_id)

    async def unseal(self, run_id: str, /, *calls: ToolCall) -> dict[str, str]:
        """Return the arguments that were sealed for these recorded calls, by call id; drop all others of the run."""
        return self._sealed.unseal(run_id, calls)

    async def measure_deletion(self, run_ids: Sequence[str], /) -> Deletion:
        """Return what would go if these runs were deleted, their parts included."""
        with self._reading() as db:
            return measure_deletion(db, run_ids)

    async def delete(self, run_ids: Sequence[str], /) -> Deletion:
        """Delete runs with their parts and the texts that no other run uses, all or none; those that are not there
        are left out. Refused while somebody drives one of them. What is deleted is overwritten in the file.
        """
        with self._reading() as db:
            db.execute("pragma secure_delete = on")
            with self._transaction():
                gone = delete(db, run_ids, self._own_holder().is_alive)
            db.execute("pragma wal_checkpoint(truncate)")  # else the log beside the file still has it
        for run_id in gone.runs:
            self._sealed.remove_run(run_id)
        return gone

    async def statistics(self, *, since: float = 0.0, model: str | None = None) -> "Statistics":
        """Return the figures of all that was recorded since then, of one model if one is named."""
        if not self._path.exists():
            return Statistics()
        with self._reading() as db:
            return gather(db, since=since, model=model)

    async def times(self, run_id: str, /) -> dict[int, float]:
        """Return when each record of a run was written, by its index: seconds since 1970."""
        with self._reading() as db:
            return read_times(db, run_id)

    def close(self) -> None:
        """Close the file; whatever is still held is free."""
        with self._lock:
            self._tails.clear()
            if self._connection is not None:
                self._connection.close()
                self._connection = None
            if self._holder is not None:
                self._holder.close()
                self._holder = None

    def _note_sealed(self, run_id: str) -> None:
        if self._sealed.has_any(run_id):
            self._sealing.add(run_id)

    def _take_run(self, db: sqlite3.Connection, run_id: str) -> Tail | None:
        holder = self._own_holder()
        row = db.execute("select holder from runs where run_id = ?", (run_id,)).fetchone()
        if row is None:
            begun = (run_id, FORMAT_VERSION, self._clock(), holder.name)
            db.execute("insert into runs (run_id, format, began, holder) values (?, ?, ?, ?)", begun)
            return (0, "")
        if row[0] is not None and holder.is_alive(row[0]):
            return None
        check_format(db, run_id)
        db.execute("update runs set holder = ? where run_id = ?", (holder.name, run_id))
        return repair_tail(db, run_id)

    def _own_holder(self) -> Holder:
        if self._holder is None:
            self._holder = Holder(self._path.with_name(f"{self._path.name}.holders"))
        return self._holder

    def _write(self, db: sqlite3.Connection, run_id: str, encoded: Sequence[tuple[Record, Encoded]]) -> int:
        number, chain = self._tails[run_id]
        rows: list[_Row] = []
        for record, stored in encoded:
            number, chain = number + 1, chain_hash(chain, stored.body)
            rows.append((run_id, number, record.kind, self._clock(), stored.body, chain))
        if len(rows) <= _FEW_ROWS and not any(_has_more(*one) for one in encoded):
            # One statement is a transaction by itself, without the cost of two more.
            db.execute(_INSERT + _ONE_MORE * (len(rows) - 1), [value for row in rows for value in row])
        else:
            with self._transaction():
                for record, stored in encoded:
                    _insert_more(db, run_id, record, stored)
                db.executemany(_INSERT, rows)
        self._tails[run_id] = number, chain
        return number

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._reading() as db, transaction(db):
            yield db

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, RUN_LOG.errors(self._path):
            yield self._open()

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = RUN_LOG.open(self._path)
        return self._connection


def _has_more(record: Record, encoded: Encoded) -> bool:
    """Whether the record needs another row than its own."""
    return bool(encoded.contents) or (isinstance(record, RunBegan) and record.parent is not None)


def _insert_more(db: sqlite3.Connection, run_id: str, record: Record, encoded: Encoded) -> None:
    if encoded.contents:
        db.executemany("insert or ignore into contents values (?, ?)", encoded.contents.items())
    if isinstance(record, RunBegan) and record.parent is not None:
        db.execute("update runs set parent = ? where run_id = ?", (record.parent, run_id))
