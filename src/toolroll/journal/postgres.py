"""The run log in PostgreSQL: the same records, checksums and redaction as in SQLite, for any number of machines.

A run is held by a process, whose sign of life is in `postgres/presence.py`. Every write is fenced in its own statement:
it lands only while the run still has the holder and the fence that it was taken under. So a process that was given up
for dead writes nothing more, and fails before it acts, because what it is about to do is recorded first.
"""

import threading
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from psycopg.errors import UniqueViolation

from toolroll.errors import JournalRefused
from toolroll.journal.chain import chain_hash
from toolroll.journal.codec import Encoded, encode
from toolroll.journal.deletion import Deletion, delete, measure_deletion
from toolroll.journal.journal import Recording, RunRow
from toolroll.journal.postgres_tables import Statements, read_consistently
from toolroll.journal.records import CallEnded, Record, RunBegan
from toolroll.journal.rows import Tail, read_rows, read_times, repair_tail
from toolroll.journal.sealed import FOLDER as SEALED
from toolroll.journal.sealed import SealedFolder
from toolroll.journal.statistics import Statistics, gather
from toolroll.journal.summaries import RunSummary, summarize
from toolroll.journal.tables import FORMAT_VERSION, LIST_RUNS, check_format
from toolroll.kernel.data.messages import ToolCall
from toolroll.postgres.address import Address
from toolroll.postgres.database import Connection, Database, finish
from toolroll.postgres.presence import Presence
from toolroll.safe.secrets.redact import held_secrets

T = TypeVar("T")

# Fence and insert are one statement, and one round trip: no row means that somebody else has the run now.
_APPEND: Final = """
with held as (select 1 from runs where run_id = %s and holder = %s and fence = %s for share)
insert into records (run_id, number, kind, at, body, chain)
select %s, new.* from held, unnest(%s::int[], %s::text[], %s::float8[], %s::bytea[], %s::text[]) as new
"""
_TAKE: Final = "update runs set holder = %s, fence = fence + 1 where run_id = %s returning fence"
_BEGIN: Final = "insert into runs (run_id, format, began) values (%s, %s, %s) on conflict do nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """A run of ours: its end, and the fence that each write is checked against."""

    tail: Tail
    fence: int


class PostgresJournal:
    """Runs in a database. One instance serves one process, on any number of event loops and threads.

    `folder` is private to this machine: it has the arguments of waiting calls that hold a secret, which are never put
    into the database. `secrets` are values that are never stored, beside those of the environment.
    """

    def __init__(
        self,
        database: Database,
        *,
        folder: Path,
        secrets: Sequence[str] = (),
        clock: Callable[[], float] = time.time,
        presence: Presence | None = None,
    ) -> None:
        self.database = database
        self.presence: Presence = presence or Presence(database)
        self.folder = folder
        self.archive: object | None = None
        """Where whole outputs of tools are shared, as `outputs/archive.py` has it; set by whoever opens both."""
        known = (*database.address.secrets, *secrets, *held_secrets())
        self.secrets: tuple[str, ...] = tuple(dict.fromkeys(known))
        self._clock = clock
        self._sealed = SealedFolder(folder / SEALED)
        self._held: dict[str, _Held] = {}
        self._last: dict[str, Future[Any]] = {}
        self._guard = threading.Lock()

    async def append(self, run_id: str, /, *records: Record) -> int:
        """Add records to a run, all or none; refused when the run belongs to another process, or by now does."""
        encoded = [(record, encode(record, secrets=self.secrets)) for record in records]
        number = await self._in_order(run_id, lambda: self._append(run_id, encoded))
        for record in records:
            if isinstance(record, CallEnded):
                self._sealed.remove(run_id, record.result.call_id)
        return number

    async def read(self, run_id: str, /, *, after: int = 0) -> Recording:
        """Return the records of a run with an index above `after`; those that are damaged are left out, and named."""

        def read(db: Connection) -> Recording:
            with read_consistently(db) as tables:
                check_format(tables, run_id)
                return read_rows(tables, run_id, after)

        return await self.database.call(read)

    async def runs(self) -> Sequence[RunRow]:
        """Return all runs, the latest first."""
        found = await self.database.call(lambda db: Statements(db).execute(LIST_RUNS).fetchall())
        names = ("run_id", "began", "parent", "records", "updated", "last_kind")
        return [RunRow(**dict(zip(names, row, strict=True))) for row in found]

    async def acquire(self, run_id: str, /) -> bool:
        """Hold the run, if nobody else does: no other process, and no other task of this one."""
        return await self._in_order(run_id, lambda: self._acquire(run_id))

    async def release(self, run_id: str, /) -> None:
        """Let another process go on with the run."""
        await self._in_order(run_id, lambda: self._release(run_id))

    async def is_held(self, run_id: str, /) -> bool:
        """Return whether somebody drives the run now: another process, or another task of this one."""
        return await self.driver(run_id) is not None

    async def driver(self, run_id: str, /) -> str | None:
        """Return the name of the process that drives the run now, if one does."""

        def look(db: Connection) -> str | None:
            with db.transaction():
                row = db.execute("select holder from runs where run_id = %s", (run_id,)).fetchone()
                return None if row is None or not self.presence.is_alive(db, row[0]) else str(row[0])

        return await self.database.call(look)

    async def seal(self, run_id: str, /, *calls: ToolCall) -> None:
        """Keep the arguments of those calls whose record has lost a secret, on this machine, until they have ended."""
        self._sealed.seal(run_id, calls, self.secrets)

    async def unseal(self, run_id: str, /, *calls: ToolCall) -> dict[str, str]:
        """Return the arguments that were sealed for these recorded calls, by call id; drop all others of the run."""
        return self._sealed.unseal(run_id, calls)

    async def measure_deletion(self, run_ids: Sequence[str], /) -> Deletion:
        """Return what would go if these runs were deleted, their parts included."""
        return await self.database.call(lambda db: measure_deletion(Statements(db), run_ids))

    async def delete(self, run_ids: Sequence[str], /) -> Deletion:
        """Delete runs with their parts and the texts that no other run uses, all or none; refused while one goes on."""

        def remove(db: Connection) -> Deletion:
            with db.transaction():
                # A text that somebody begins to use meanwhile must stay: writers of records wait until this is done.
                db.execute("lock table records in share row exclusive mode")
                return delete(Statements(db), run_ids, lambda name: self.presence.is_alive(db, name))

        gone = await self.database.call(remove)
        for run_id in gone.runs:
            self._sealed.remove_run(run_id)
        return gone

    async def statistics(self, *, since: float = 0.0, model: str | None = None) -> Statistics:
        """Return the figures of all that was recorded since then, of one model if one is named."""
        return await self.database.call(lambda db: gather(Statements(db), since=since, model=model))

    async def summaries(self, *, limit: int, only: Collection[str] | None = None) -> tuple[list[RunSummary], int]:
        """Return the latest runs for a list, at most `limit`, and how many there are."""
        return await self.database.call(lambda db: summarize(Statements(db), limit=limit, only=only))

    async def times(self, run_id: str, /) -> dict[int, float]:
        """Return when each record of a run was written, by its index: seconds since 1970."""
        return await self.database.call(lambda db: read_times(Statements(db), run_id))

    def close(self) -> None:
        """Give up what is held, and close the database."""
        self._held.clear()
        self.presence.close()
        self.database.close()

    async def _in_order(self, run_id: str, work: Callable[[], T]) -> T:
        """Do what changes a run on a thread, one after the other in the order of the calls."""
        with self._guard:
            before = self._last.get(run_id)
            future = self.database.submit(lambda: _after(before, work))
            self._last[run_id] = future
        try:
            return await finish(future)
        finally:
            with self._guard:
                if self._last.get(run_id) is future:
                    del self._last[run_id]

    def _append(self, run_id: str, encoded: Sequence[tuple[Record, Encoded]]) -> int:
        if run_id not in self._held and not self._acquire(run_id):
            raise JournalRefused(f"Run {run_id} is being driven by another process. Wait until it ends.")
        held = self._held[run_id]
        number, chain = held.tail
        rows: list[tuple[int, str, float, bytes, str]] = []
        for record, stored in encoded:
            number, chain = number + 1, chain_hash(chain, stored.body)
            rows.append((number, record.kind, self._clock(), stored.body, chain))
        if rows and not self._write(run_id, held, encoded, rows):
            del self._held[run_id]
            raise JournalRefused(f"Run {run_id} was taken over by another process. Nothing more is written here.")
        self._held[run_id] = _Held(tail=(number, chain), fence=held.fence)
        return number

    def _write(
        self,
        run_id: str,
        held: _Held,
        encoded: Sequence[tuple[Record, Encoded]],
        rows: Sequence[tuple[int, str, float, bytes, str]],
    ) -> bool:
        """Write rows if the run is still ours; return whether it is."""
        columns = [list(column) for column in zip(*rows, strict=True)]
        values = (run_id, self.presence.name, held.fence, run_id, *columns)
        contents = {name: body for _, stored in encoded for name, body in stored.contents.items()}
        parents = [record.parent for record, _ in encoded if isinstance(record, RunBegan) and record.parent is not None]

        def write(db: Connection) -> bool:
            if not contents and not parents:
                return db.execute(_APPEND, values).rowcount > 0
            with db.transaction():
                is_ours = db.execute(_APPEND, values).rowcount > 0
                if is_ours:
                    _insert_contents(db, contents)
                    for parent in parents:
                        db.execute("update runs set parent = %s where run_id = %s", (parent, run_id))
                return is_ours

        def write_once(db: Connection) -> bool:
            """Write; where an earlier try landed without our hearing of it, the checksum tells."""
            try:
                return write(db)
            except UniqueViolation:
                number, chain = rows[-1][0], rows[-1][-1]
                found = db.execute("select chain from records where run_id = %s and number = %s", (run_id, number))
                return found.fetchone() == (chain,)

        return self.database.run(write_once)

    def _acquire(self, run_id: str) -> bool:
        if run_id in self._held:
            return False
        name = self.presence.hold()

        def take(db: Connection) -> _Held | None:
            with db.transaction():
                db.execute(_BEGIN, (run_id, FORMAT_VERSION, self._clock()))
                row = db.execute("select holder from runs where run_id = %s for update", (run_id,)).fetchone()
                holder = None if row is None else row[0]
                if holder != name and self.presence.is_alive(db, holder):
                    return None
                check_format(Statements(db), run_id)
                taken = db.execute(_TAKE, (name, run_id)).fetchone()
                assert taken is not None  # the row is there, and locked by us
                return _Held(tail=repair_tail(Statements(db), run_id), fence=taken[0])

        held = self.database.run(take)
        if held is not None:
            self._held[run_id] = held
        return held is not None

    def _release(self, run_id: str) -> None:
        held = self._held.pop(run_id, None)
        if held is not None:
            values = (run_id, self.presence.name, held.fence)
            self.database.run(
                lambda db: db.execute(
                    "update runs set holder = null where run_id = %s and holder = %s and fence = %s", values
                )
            )


def open_journal(address: Address, *, folder: Path, secrets: Sequence[str]) -> PostgresJournal:
    """Open the run log in a database; `folder` is private to this machine."""
    return PostgresJournal(Database(address), folder=folder, secrets=secrets)


def _after(before: "Future[Any] | None", work: Callable[[], T]) -> T:
    """Do the work when what came before it is done; how that ended is the business of who waits for it."""
    if before is not None:
        with suppress(BaseException):
            before.exception()
    return work()


def _insert_contents(db: Connection, contents: dict[str, bytes]) -> None:
    # In one order everywhere, so that two writers of the same texts do not wait for each other.
    for name in sorted(contents):
        db.execute("insert into contents values (%s, %s) on conflict do nothing", (name, contents[name]))
