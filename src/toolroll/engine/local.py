"""The engine that needs nothing: a queue in a SQLite file beside the run log, shared by the processes of one machine.

A worker is alive as long as it holds the lock on its file (`journal/holder.py`): what a killed one was driving is
queued again by the next look of any other, with no lease to wait for.
"""

import asyncio
import json
import logging
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, Final

from toolroll.engine.engine import LEFT_PAUSE_S, MAX_ATTEMPTS, Drive, Ending, JobLeft, JobRefused, JobRow, Ticket
from toolroll.errors import ToolrollError
from toolroll.journal.holder import Holder
from toolroll.safe.record_database import RecordDatabase
from toolroll.safe.secrets.redact import redact_shown
from toolroll.safe.sqlite import transaction
from toolroll.safe.text import one_line

POLL_S: Final = 0.25
"""How often a worker looks for jobs, dead workers and cancellations: a query of 0.1 ms."""
FIRST_PAUSE_S: Final = 2.0
MAX_PAUSE_S: Final = 300.0
"""Before the second attempt, doubled for each later one, up to five minutes."""
MAX_ERROR_CHARACTERS: Final = 500

_TABLES: Final = """
create table if not exists jobs (
    run_id text primary key,
    cause integer not null,
    claimed integer not null default -1,
    queue text not null,
    key text,
    state text not null,
    priority integer not null,
    attempts integer not null default 0,
    not_before real not null,
    created real not null,
    updated real not null,
    worker text,
    error text not null default '',
    cancelling integer not null default 0
) strict;
create index if not exists by_state on jobs (state, queue, not_before);
create unique index if not exists open_key on jobs (key)
    where key is not null and state in ('queued', 'running', 'waiting');
create table if not exists queues (
    name text primary key,
    slots integer not null
) strict;
"""
JOB_QUEUE: Final = RecordDatabase(
    name="job queue",
    version=1,
    tables=_TABLES,
    synchronous="normal",
    loss="What was queued must then be queued again; runs that have begun are in the run log.",
)
_LIST: Final = """
select run_id, queue, key, state, priority, attempts, not_before, created, updated, worker, error, cancelling
from jobs where ? is null or run_id in (select value from json_each(?)) order by created desc, rowid desc
"""
# A queue without a row of its own has no limit over all workers.
_NEXT: Final = """
select run_id from jobs where state = 'queued' and not_before <= :now {queues}
    and coalesce((select slots from queues where name = jobs.queue), 1000000)
        > (select count(*) from jobs as other where other.queue = jobs.queue and other.state = 'running')
order by priority desc, not_before, created, rowid limit 1
"""

_log: Final = logging.getLogger("toolroll.engine")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    run_id: str
    cause: int
    attempts: int


class LocalEngine:
    """The queue in one file. One instance serves one process; several processes may share the file."""

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time, poll_s: float = POLL_S) -> None:
        self._path = path
        self._clock = clock
        self._poll_s = poll_s
        self._db: sqlite3.Connection | None = None
        self._holder: Holder | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def submit(self, ticket: Ticket, /) -> str:
        """Queue a run; return its id, or that of the open job with the same key."""
        with self._transaction() as db:
            twin = _find_twin(db, ticket)
            if twin is not None:
                return twin
            known = db.execute("select cause, state from jobs where run_id = ?", (ticket.run_id,)).fetchone()
            if known is None:
                self._insert(db, ticket)
            elif ticket.cause > known[0]:
                # A running job looks at its cause again when it ends; the others are driven once more.
                state = known[1] if known[1] == "running" else "queued"
                db.execute(
                    "update jobs set cause = ?, state = ?, not_before = ?, updated = ?, attempts = 0 where run_id = ?",
                    (ticket.cause, state, ticket.not_before, self._clock(), ticket.run_id),
                )
        return ticket.run_id

    async def cancel(self, run_id: str, /) -> bool:
        """Ask for the end of a job; return whether there was an open one."""
        with self._transaction() as db:
            now = self._clock()
            ended = db.execute(
                "update jobs set state = 'cancelled', updated = ? where run_id = ? and state in ('queued', 'waiting')",
                (now, run_id),
            )
            asked = db.execute(
                "update jobs set cancelling = 1, updated = ? where run_id = ? and state = 'running'", (now, run_id)
            )
            return ended.rowcount + asked.rowcount > 0

    async def retry(self, run_id: str, /) -> bool:
        """Queue a dead or cancelled job again; return whether there was one, and none that is open has its key."""
        with self._transaction() as db:
            changed = db.execute(
                "update jobs set state = 'queued', attempts = 0, not_before = 0, cancelling = 0, updated = ? "
                "where run_id = ? and state in ('dead', 'cancelled') and not exists (select 1 from jobs as other "
                "where other.key = jobs.key and other.run_id != jobs.run_id "
                "and other.state in ('queued', 'running', 'waiting'))",
                (self._clock(), run_id),
            )
            return changed.rowcount > 0

    async def list_jobs(self, run_ids: Sequence[str] | None = None, /) -> Sequence[JobRow]:
        """Return all jobs, or those of these runs, the newest first."""
        if not self._path.exists():
            return []
        wanted = None if run_ids is None else json.dumps(list(run_ids))
        with self._reading() as db:
            rows = db.execute(_LIST, (wanted, wanted)).fetchall()
        return [_job_row(row) for row in rows]

    async def limit_queue(self, queue: str, slots: int | None) -> None:
        """Drive at most so many jobs of a queue at a time, over all workers; None takes the limit away."""
        with self._transaction() as db:
            db.execute("delete from queues where name = ?", (queue,))
            if slots is not None:
                db.execute("insert into queues values (?, ?)", (queue, slots))

    async def work(self, drive: Drive, *, slots: int, queues: Sequence[str] = (), stop: asyncio.Event) -> None:
        """Drive jobs until `stop` is set; those that run then are driven to their end."""
        try:
            while not stop.is_set():
                self.take_over()
                self._begin_jobs(drive, slots, queues)
                self._end_cancelled()
                await self._pause(stop)
            if self._tasks:
                await asyncio.wait(self._tasks.values())
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def take_over(self) -> int:
        """Queue again what workers were driving that are gone; return how many jobs that were."""
        holder = self._own_holder()
        with self._transaction() as db:
            rows = db.execute("select run_id, worker, attempts from jobs where state = 'running'").fetchall()
            left = [(run_id, attempts) for run_id, worker, attempts in rows if not holder.is_alive(worker or "")]
            for run_id, attempts in left:
                died = f"The worker ended in the middle of it, {attempts} times."
                self._end_attempt(db, run_id, attempts, error=died, pause=False)
        return len(left)

    def close(self) -> None:
        """Close the file; what is still driven here is free for others."""
        if self._db is not None:
            self._db.close()
            self._db = None
        if self._holder is not None:
            self._holder.close()
            self._holder = None

    def _begin_jobs(self, drive: Drive, slots: int, queues: Sequence[str]) -> None:
        while len(self._tasks) < slots:
            claim = self._claim(queues)
            if claim is None:
                return
            task = asyncio.create_task(self._drive(claim, drive), name=f"job {claim.run_id}")
            self._tasks[claim.run_id] = task
            task.add_done_callback(partial(self._forget, claim.run_id))

    def _forget(self, run_id: str, _task: asyncio.Task[None]) -> None:
        del self._tasks[run_id]

    def _claim(self, queues: Sequence[str]) -> _Claim | None:
        named = "and queue in ({})".format(", ".join("?" * len(queues))) if queues else ""
        now = self._clock()
        statement = _NEXT.replace(":now", "?").format(queues=named)
        with self._transaction() as db:
            found = db.execute(statement, (now, *queues)).fetchone()
            if found is None:
                return None
            [row] = db.execute(
                "update jobs set state = 'running', worker = ?, attempts = attempts + 1, claimed = cause, updated = ? "
                "where run_id = ? returning run_id, cause, attempts",
                (self._own_holder().name, now, found[0]),
            ).fetchall()
        return _Claim(run_id=row[0], cause=row[1], attempts=row[2])

    async def _drive(self, claim: _Claim, drive: Drive) -> None:
        try:
            ending = await drive(claim.run_id)
        except asyncio.CancelledError:
            self._leave(claim)
        except JobLeft as error:
            self._defer(claim.run_id, str(error))
        except JobRefused as error:
            self._fail(claim.run_id, str(error), MAX_ATTEMPTS)
        except ToolrollError as error:
            self._fail(claim.run_id, error.message, claim.attempts)
        except Exception as error:  # noqa: BLE001 - a job runs tools and sources of others: one that fails ends no worker
            _log.exception("Job %s failed unexpectedly.", claim.run_id)
            self._fail(claim.run_id, f"{type(error).__name__}: {error}", claim.attempts)
        else:
            self._end(claim, ending)

    def _end(self, claim: _Claim, ending: Ending) -> None:
        """Note how driving ended; an answer that came in the meantime queues a waiting job at once."""
        with self._transaction() as db:
            db.execute(
                "update jobs set state = case when ? = 'done' then 'done' when cancelling then 'cancelled' "
                "when cause > ? then 'queued' else 'waiting' end, "
                "worker = null, error = '', attempts = 0, cancelling = 0, updated = ? where run_id = ?",
                (ending, claim.cause, self._clock(), claim.run_id),
            )

    def _leave(self, claim: _Claim) -> None:
        """Note that a job was cancelled, or that its worker ends: then another one goes on, and it is no attempt."""
        with self._transaction() as db:
            db.execute(
                "update jobs set state = case when cancelling then 'cancelled' else 'queued' end, worker = null, "
                "attempts = attempts - 1, cancelling = 0, updated = ? where run_id = ?",
                (self._clock(), claim.run_id),
            )

    def _defer(self, run_id: str, message: str) -> None:
        now = self._clock()
        with self._transaction() as db:
            db.execute(
                "update jobs set state = case when cancelling then 'cancelled' else 'queued' end, worker = null, "
                "attempts = attempts - 1, cancelling = 0, error = ?, not_before = ?, updated = ? where run_id = ?",
                (one_line(message, MAX_ERROR_CHARACTERS), now + LEFT_PAUSE_S, now, run_id),
            )

    def _fail(self, run_id: str, message: str, attempts: int) -> None:
        with self._transaction() as db:
            self._end_attempt(db, run_id, attempts, error=message, pause=True)

    def _end_attempt(self, db: sqlite3.Connection, run_id: str, attempts: int, *, error: str, pause: bool) -> None:
        pause_s = min(FIRST_PAUSE_S * 2 ** (attempts - 1), MAX_PAUSE_S) if pause else 0.0
        is_last = attempts >= MAX_ATTEMPTS
        now = self._clock()
        db.execute(
            "update jobs set state = case when cancelling then 'cancelled' when ? then 'dead' else 'queued' end, "
            "worker = null, cancelling = 0, error = ?, not_before = ?, updated = ? where run_id = ?",
            (is_last, one_line(redact_shown(error), MAX_ERROR_CHARACTERS), now + pause_s, now, run_id),
        )

    def _end_cancelled(self) -> None:
        if not self._tasks:
            return
        with self._reading() as db:
            rows = db.execute("select run_id from jobs where state = 'running' and cancelling").fetchall()
        for [run_id] in rows:
            if run_id in self._tasks:
                self._tasks[run_id].cancel()

    async def _pause(self, stop: asyncio.Event) -> None:
        """Wait until the next look: for a job that ends, for `stop`, or for a moment."""
        stopped = asyncio.ensure_future(stop.wait())
        await asyncio.wait({stopped, *self._tasks.values()}, timeout=self._poll_s, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()

    def _insert(self, db: sqlite3.Connection, ticket: Ticket) -> None:
        now = self._clock()
        db.execute(
            "insert into jobs (run_id, cause, queue, key, state, priority, not_before, created, updated) "
            "values (?, ?, ?, ?, 'queued', ?, ?, ?, ?)",
            (ticket.run_id, ticket.cause, ticket.queue, ticket.key, ticket.priority, ticket.not_before, now, now),
        )

    def _own_holder(self) -> Holder:
        if self._holder is None:
            self._holder = Holder(self._path.with_name(f"{self._path.name}.workers"))
        return self._holder

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._reading() as db, transaction(db):
            yield db

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with JOB_QUEUE.errors(self._path):
            if self._db is None:
                self._db = JOB_QUEUE.open(self._path)
            yield self._db


def _find_twin(db: sqlite3.Connection, ticket: Ticket) -> str | None:
    """Return another open job with the key of the ticket."""
    if ticket.key is None:
        return None
    row = db.execute(
        "select run_id from jobs where key = ? and run_id != ? and state in ('queued', 'running', 'waiting')",
        (ticket.key, ticket.run_id),
    ).fetchone()
    return None if row is None else str(row[0])


def _job_row(row: tuple[Any, ...]) -> JobRow:
    names = [field.name for field in fields(JobRow)]
    values = dict(zip(names, row, strict=True))
    return JobRow(**values | {"is_cancelling": bool(values["is_cancelling"])})
