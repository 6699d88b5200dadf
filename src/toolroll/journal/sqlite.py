"""The run log in one SQLite file: every record is kept when `append` returns, also through `kill -9`.

Write-ahead logging with `synchronous=NORMAL` loses nothing when a process dies; only a power cut can take the last
moments. Each row carries the hash of the one before it: a damaged record is found, and what precedes it still opens.
"""

import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from toolroll.errors import JournalRefused
from toolroll.journal.codec import FORMAT_VERSION, decode, encode
from toolroll.journal.records import Record
from toolroll.safe.files import private_folder

BUSY_TIMEOUT_S: Final = 10.0
"""How long one process waits for another's write; a write takes well under a millisecond."""
LEASE_S: Final = 60.0
"""How long a run belongs to the process that drives it without a sign of life."""

_SCHEMA: Final = """
create table if not exists runs (
    run_id text primary key,
    format integer not null,
    began real not null,
    owner text,
    leased_until real not null default 0
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
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A run in the list of runs."""

    run_id: str
    began: float
    records: int
    last_kind: str


class SqliteJournal:
    """Runs in a file. One instance serves one process; several processes may share the file."""

    def __init__(
        self, path: Path, *, owner: str, secrets: tuple[str, ...] = (), clock: Callable[[], float] = time.time
    ) -> None:
        self._path = path
        self._owner = owner
        self._secrets = secrets
        self._clock = clock
        self._connection: sqlite3.Connection | None = None
        self._tails: dict[str, tuple[int, str]] = {}

    async def append(self, run_id: str, record: Record, /) -> int:
        """Add a record to a run and return its index; refused while the run belongs to another process."""
        body = encode(record, secrets=self._secrets)
        with self._transaction() as db:
            number, chain = self._tail(db, run_id)
            number, chain = number + 1, chained(chain, body)
            self._renew(db, run_id)
            row = (run_id, number, record.kind, self._clock(), body, chain)
            db.execute("insert into records values (?, ?, ?, ?, ?, ?)", row)
        self._tails[run_id] = (number, chain)
        return number

    async def read(self, run_id: str, /, *, after: int = 0) -> Sequence[tuple[int, Record]]:
        """The records of a run with an index above `after`, in order; damage ends the list with an error."""
        return [(number, decode(body)) for number, body in self._rows(run_id) if number > after]

    async def runs(self) -> Sequence[RunRow]:
        """All runs, the latest first."""
        query = (
            "select runs.run_id, began, max(number), kind from runs join records using (run_id) "
            "group by run_id order by began desc"
        )
        found = self._db().execute(query).fetchall()
        return [RunRow(run_id=row[0], began=row[1], records=row[2], last_kind=row[3]) for row in found]

    async def release(self, run_id: str) -> None:
        """Let another process go on with the run."""
        with self._transaction() as db:
            db.execute(
                "update runs set owner = null, leased_until = 0 where run_id = ? and owner = ?", (run_id, self._owner)
            )

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _rows(self, run_id: str) -> Iterator[tuple[int, bytes]]:
        self._check_format(run_id)
        chain = ""
        query = "select number, body, chain from records where run_id = ? order by number"
        for expected, (number, body, kept) in enumerate(self._db().execute(query, (run_id,)), start=1):
            chain = chained(chain, body)
            if number != expected or chain != kept:
                raise JournalRefused(
                    f"Record {expected} of run {run_id} is damaged. What stands before it can still be read."
                )
            yield number, body

    def _check_format(self, run_id: str) -> None:
        row = self._db().execute("select format from runs where run_id = ?", (run_id,)).fetchone()
        if row is None:
            raise JournalRefused(f"There is no run {run_id!r}. See `toolroll runs list`.")
        if row[0] > FORMAT_VERSION:
            raise JournalRefused(
                f"Run {run_id} was written by a newer version of toolroll (format {row[0]}, this one reads up to "
                f"{FORMAT_VERSION}). Update toolroll to open it."
            )

    def _tail(self, db: sqlite3.Connection, run_id: str) -> tuple[int, str]:
        query = "select number, chain from records where run_id = ? order by number desc limit 1"
        row = db.execute(query, (run_id,)).fetchone()
        return (row[0], row[1]) if row else (0, "")

    def _renew(self, db: sqlite3.Connection, run_id: str) -> None:
        now = self._clock()
        db.execute(
            "insert into runs (run_id, format, began, owner, leased_until) values (?, ?, ?, ?, ?) "
            "on conflict (run_id) do update set owner = excluded.owner, leased_until = excluded.leased_until "
            "where owner is null or owner = excluded.owner or leased_until < ?",
            (run_id, FORMAT_VERSION, now, self._owner, now + LEASE_S, now),
        )
        row = db.execute("select owner from runs where run_id = ?", (run_id,)).fetchone()
        if row[0] != self._owner:
            raise JournalRefused(f"Run {run_id} is being driven by another process ({row[0]}). Wait until it ends.")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        db = self._db()
        db.execute("begin immediate")
        try:
            yield db
        except BaseException:
            db.execute("rollback")
            raise
        db.execute("commit")

    def _db(self) -> sqlite3.Connection:
        if self._connection is None:
            private_folder(self._path.parent)
            self._connection = sqlite3.connect(self._path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
            self._path.chmod(0o600)
            self._connection.execute("pragma journal_mode = wal")
            self._connection.execute("pragma synchronous = normal")
            self._connection.executescript(_SCHEMA)
        return self._connection


def chained(before: str, body: bytes) -> str:
    """The hash of a record that stands on the one before it."""
    return hashlib.sha256(before.encode() + body).hexdigest()
