"""The engine for many machines: a queue in PostgreSQL, worked off by workers anywhere.

A worker is alive as its presence says (`postgres/presence.py`). What a gone one was driving is queued again by any
other. Each claim has a number, the fence: how a claim ended counts only while the job still has it.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Final

from toolroll.engine.engine import LEFT_PAUSE_S, MAX_ATTEMPTS, Drive, JobLeft, JobRefused, JobRow, Ticket
from toolroll.engine.local import FIRST_PAUSE_S, MAX_ERROR_CHARACTERS, MAX_PAUSE_S
from toolroll.errors import DatabaseFailed, ToolrollError
from toolroll.postgres.database import Connection, Database
from toolroll.postgres.presence import BEAT_S, Presence
from toolroll.safe.secrets.redact import redact_shown
from toolroll.safe.text import one_line

POLL_S: Final = 0.25
"""How often a worker looks for jobs and cancellations: two queries of half a millisecond."""
TAKE_OVER_S: Final = 0.5
"""Between two looks for workers that are gone."""
_DOWN_PAUSE_S: Final = 1.0
"""Before a worker looks again at a database that it could not reach."""

# Without a clock of a test, it is that of the server: those of many machines differ.
_NOW: Final = "select coalesce(%s::float8, extract(epoch from clock_timestamp())::float8)"
_COLUMNS: Final = (
    "run_id, queue, key, state, priority, attempts, not_before, created, updated, worker, error, cancelling"
)
_LIST: Final = f"""
select {_COLUMNS} from jobs where %s::text[] is null or run_id = any(%s) order by created desc, rowid desc
"""  # noqa: S608 - of words above
_TWIN: Final = """
select run_id from jobs where key = %s and run_id != %s and state in ('queued', 'running', 'waiting')
"""
_INSERT: Final = """
insert into jobs (run_id, cause, queue, key, state, priority, not_before, created, updated)
values (%s, %s, %s, %s, 'queued', %s, %s, %s, %s) on conflict do nothing
"""
# A running job looks at its cause again when it ends; the others are driven once more.
_SUBMIT_AGAIN: Final = """
update jobs set cause = %(cause)s, state = case when state = 'running' then state else 'queued' end,
    not_before = %(not_before)s, updated = %(now)s, attempts = 0
where run_id = %(run_id)s and cause < %(cause)s
"""
_CANCEL: Final = """
update jobs set state = case when state = 'running' then state else 'cancelled' end, cancelling = (state = 'running'),
    updated = %s where run_id = %s and state in ('queued', 'running', 'waiting')
"""
_RETRY: Final = """
update jobs set state = 'queued', attempts = 0, not_before = 0, cancelling = false, updated = %s
where run_id = %s and state in ('dead', 'cancelled') and not exists (
    select 1 from jobs as other where other.key = jobs.key and other.run_id != jobs.run_id
        and other.state in ('queued', 'running', 'waiting'))
"""
_END: Final = """
update jobs set state = case when %(ending)s = 'done' then 'done' when cancelling then 'cancelled'
    when cause > %(cause)s then 'queued' else 'waiting' end,
    worker = null, error = '', attempts = 0, cancelling = false, updated = %(now)s
where run_id = %(run_id)s and fence = %(fence)s and state = 'running'
"""
_LEAVE: Final = """
update jobs set state = case when cancelling then 'cancelled' else 'queued' end, worker = null,
    attempts = attempts - 1, cancelling = false, updated = %(now)s
where run_id = %(run_id)s and fence = %(fence)s and state = 'running'
"""
_DEFER: Final = """
update jobs set state = case when cancelling then 'cancelled' else 'queued' end, worker = null,
    attempts = attempts - 1, cancelling = false, error = %(error)s, not_before = %(now)s + %(pause)s,
    updated = %(now)s
where run_id = %(run_id)s and fence = %(fence)s and state = 'running'
"""
_FAIL: Final = """
update jobs set state = case when cancelling then 'cancelled' when %(is_last)s then 'dead' else 'queued' end,
    worker = null, cancelling = false, error = %(error)s, updated = %(now)s,
    not_before = case when %(pause)s > 0 then %(now)s + %(pause)s else not_before end
where run_id = %(run_id)s and fence = %(fence)s and state = 'running'
"""
_LEFT: Final = """
select run_id, attempts, fence from jobs where worker = %s and state = 'running' for update skip locked
"""
_LOST: Final = """
select run_id from jobs
where run_id = any(%(ids)s) and (cancelling or state != 'running' or worker is distinct from %(by)s)
"""

_log: Final = logging.getLogger("toolroll.engine")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A job that this worker drives now: the record that gave reason to, which attempt it is, and the fence."""

    run_id: str
    cause: int
    attempts: int
    fence: int


class PostgresEngine:
    """The queue in a database. One instance serves one process; any number of machines share the queue.

    `clock` replaces the clock of the server, for tests.
    """

    def __init__(
        self,
        database: Database,
        presence: Presence,
        *,
        clock: Callable[[], float] | None = None,
        poll_s: float = POLL_S,
        take_over_s: float = TAKE_OVER_S,
    ) -> None:
        self._database, self._presence = database, presence
        self._clock = clock
        self._poll_s, self._take_over_s = poll_s, take_over_s
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._looked = self._beaten = float("-inf")

    async def submit(self, ticket: Ticket, /) -> str:
        """Queue a run; return its id, or that of the open job with the same key."""
        return await self._database.call(partial(self._submit, ticket))

    async def cancel(self, run_id: str, /) -> bool:
        """Ask for the end of a job; return whether there was an open one."""
        return await self._change(_CANCEL, run_id)

    async def retry(self, run_id: str, /) -> bool:
        """Queue a dead or cancelled job again; return whether there was one, and none that is open has its key."""
        return await self._change(_RETRY, run_id)

    async def list_jobs(self, run_ids: Sequence[str] | None = None, /) -> Sequence[JobRow]:
        """Return all jobs, or those of these runs, the newest first."""
        wanted = None if run_ids is None else list(run_ids)
        names = [field.name for field in fields(JobRow)]
        rows = await self._database.call(lambda db: db.execute(_LIST, (wanted, wanted)).fetchall())
        return [JobRow(**dict(zip(names, row, strict=True))) for row in rows]

    async def limit_queue(self, queue: str, slots: int | None) -> None:
        """Drive at most so many jobs of a queue at a time, over all workers; None takes the limit away."""

        def change(db: Connection) -> None:
            if slots is None:
                db.execute("delete from queues where name = %s", (queue,))
            else:
                db.execute(
                    "insert into queues values (%s, %s) on conflict (name) do update set slots = excluded.slots",
                    (queue, slots),
                )

        await self._database.call(change)

    async def work(self, drive: Drive, *, slots: int, queues: Sequence[str] = (), stop: asyncio.Event) -> None:
        """Drive jobs until `stop` is set; those that run then are driven to their end.

        A lost database is waited for.
        """
        try:
            while not stop.is_set():
                pause_s = self._poll_s
                try:
                    await self._look(drive, slots, queues, stop)
                except DatabaseFailed as error:
                    if not error.is_passing:
                        raise
                    _log.warning("%s It is tried again.", error.message)
                    pause_s = _DOWN_PAUSE_S
                await self._pause(stop, pause_s)
            while self._tasks:  # they can still be cancelled, and this process is still at work
                await asyncio.wait(self._tasks.values(), timeout=self._poll_s, return_when=asyncio.FIRST_COMPLETED)
                with suppress(DatabaseFailed):
                    await self._look_after(asyncio.get_running_loop().time())
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def take_over(self) -> int:
        """Queue again what workers were driving that are gone; return how many jobs that were."""
        return await self._database.call(self._take_over)

    async def _look(self, drive: Drive, slots: int, queues: Sequence[str], stop: asyncio.Event) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._looked >= self._take_over_s:
            self._looked = now
            await self.take_over()
        await self._look_after(now)
        while len(self._tasks) < slots and not stop.is_set():
            claim = await self._claim_next(queues)
            if claim is None:
                return
            self._begin(claim, drive)

    async def _claim_next(self, queues: Sequence[str]) -> Claim | None:
        """Claim a job; a worker that is cancelled meanwhile gives back what it has claimed."""
        claiming = asyncio.ensure_future(self._database.call(lambda db: self._claim(db, queues)))
        try:
            return await asyncio.shield(claiming)
        except asyncio.CancelledError:
            with suppress(DatabaseFailed):
                claim = await claiming
                if claim is not None:
                    await self._note(claim, _LEAVE)
            raise

    async def _look_after(self, now: float) -> None:
        """Beat, and end what was cancelled, or taken over because this process seemed to be gone."""
        if now - self._beaten >= BEAT_S:
            self._beaten = now
            await self._database.call(self._presence.beat)
        if not self._tasks:
            return
        values = {"ids": list(self._tasks), "by": self._presence.name}
        for [run_id] in await self._database.call(lambda db: db.execute(_LOST, values).fetchall()):
            if run_id in self._tasks:
                self._tasks[run_id].cancel()

    def _begin(self, claim: Claim, drive: Drive) -> None:
        task = asyncio.create_task(self._drive(claim, drive), name=f"job {claim.run_id}")
        self._tasks[claim.run_id] = task
        task.add_done_callback(lambda _: self._tasks.pop(claim.run_id, None))

    async def _drive(self, claim: Claim, drive: Drive) -> None:
        try:
            ending = await drive(claim.run_id)
        except asyncio.CancelledError:
            await self._note(claim, _LEAVE)
        except JobLeft as error:
            await self._note(claim, _DEFER, error=one_line(str(error), MAX_ERROR_CHARACTERS), pause=LEFT_PAUSE_S)
        except JobRefused as error:
            await self._fail(claim, str(error), MAX_ATTEMPTS)
        except ToolrollError as error:
            await self._fail(claim, error.message, claim.attempts)
        except Exception as error:  # noqa: BLE001 - a job runs tools and sources of others: one that fails ends no worker
            _log.exception("Job %s failed unexpectedly.", claim.run_id)
            await self._fail(claim, f"{type(error).__name__}: {error}", claim.attempts)
        else:
            await self._note(claim, _END, ending=ending, cause=claim.cause)

    async def _fail(self, claim: Claim, message: str, attempts: int) -> None:
        values = fail_values(message, attempts, pause=True)
        await self._note(claim, _FAIL, **values)

    async def _note(self, claim: Claim, statement: str, **values: object) -> None:
        """Note how a claim ended, if the job is still ours. A database that is gone too long leaves it to others."""

        def write(db: Connection) -> None:
            given = {"run_id": claim.run_id, "fence": claim.fence, "now": self._now(db), **values}
            db.execute(statement.encode(), given)

        try:
            await self._database.call(write)
        except DatabaseFailed as error:
            _log.warning("%s: how it ended could not be noted; it is driven again. %s", claim.run_id, error.message)

    def _now(self, db: Connection) -> float:
        row = db.execute(_NOW, (None if self._clock is None else self._clock(),)).fetchone()
        assert row is not None  # a number
        return float(row[0])

    def _submit(self, ticket: Ticket, db: Connection) -> str:
        with db.transaction():
            twin = None
            if ticket.key is not None:
                # Two submitters of one key come one after the other.
                db.execute("select pg_advisory_xact_lock(hashtextextended(%s, 1))", (ticket.key,))
                twin = db.execute(_TWIN, (ticket.key, ticket.run_id)).fetchone()
            if twin is not None:
                return str(twin[0])
            now = self._now(db)
            row = (ticket.run_id, ticket.cause, ticket.queue, ticket.key, ticket.priority, ticket.not_before, now, now)
            if db.execute(_INSERT, row).rowcount == 0:
                named = {"run_id": ticket.run_id, "cause": ticket.cause, "not_before": ticket.not_before, "now": now}
                db.execute(_SUBMIT_AGAIN, named)
        return ticket.run_id

    async def _change(self, statement: str, run_id: str) -> bool:
        def change(db: Connection) -> bool:
            return db.execute(statement.encode(), (self._now(db), run_id)).rowcount > 0

        return await self._database.call(change)

    def _claim(self, db: Connection, queues: Sequence[str]) -> Claim | None:
        values = (self._presence.hold(), self._now(db), list(queues) or None)
        row = db.execute("select run_id, cause, attempts, fence from claim_job(%s, %s, %s)", values).fetchone()
        return None if row is None else Claim(run_id=row[0], cause=row[1], attempts=row[2], fence=row[3])

    def _take_over(self, db: Connection) -> int:
        running = db.execute("select distinct worker from jobs where state = 'running' and worker is not null")
        return sum(self._take_from(db, worker) for [worker] in running.fetchall() if worker != self._presence.name)

    def _take_from(self, db: Connection, worker: str) -> int:
        with db.transaction():
            if self._presence.is_alive(db, worker):
                return 0
            now = self._now(db)
            left = db.execute(_LEFT, (worker,)).fetchall()
            for run_id, attempts, fence in left:
                died = f"The worker ended in the middle of it, {attempts} times."
                values = {"run_id": run_id, "fence": fence, "now": now, **fail_values(died, attempts, pause=False)}
                db.execute(_FAIL.encode(), values)
        if left:
            _log.info("Worker %s is gone; %d jobs of it are queued again.", worker, len(left))
        return len(left)

    async def _pause(self, stop: asyncio.Event, pause_s: float) -> None:
        """Wait until the next look: for a job that ends, for `stop`, or for a moment."""
        stopped = asyncio.ensure_future(stop.wait())
        wait_s = pause_s * random.uniform(0.8, 1.2)  # noqa: S311 - so that workers do not all look at once
        await asyncio.wait({stopped, *self._tasks.values()}, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()


def fail_values(message: str, attempts: int, *, pause: bool) -> dict[str, Any]:
    """Return what is noted of an attempt that failed: why, whether it was the last, and when the next one is due."""
    return {
        "is_last": attempts >= MAX_ATTEMPTS,
        "error": one_line(redact_shown(message), MAX_ERROR_CHARACTERS),
        "pause": min(FIRST_PAUSE_S * 2 ** (attempts - 1), MAX_PAUSE_S) if pause else 0.0,
    }
