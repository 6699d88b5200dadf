"""What every worker does beside its jobs: it finds work that a killed process left between two stores, and tells news.

A job is recorded before it is queued, and an answer before its job is queued again. A process that is killed in between
leaves a run that is neither ended, waiting, held nor queued: here it is queued. A job that was given up or cancelled
has no worker that could tell its address, so that is done here too.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from datetime import datetime
from typing import Final

from toolroll.apps.job_news import News, tell
from toolroll.apps.jobs import JobStore, open_questions
from toolroll.apps.schedules import Ticker, is_schedule
from toolroll.apps.webhooks import WebhookSender
from toolroll.engine.engine import JobRow, Ticket
from toolroll.errors import ToolrollError
from toolroll.journal.journal import RunRow
from toolroll.journal.tables import JOB_PREFIX
from toolroll.kernel.call.context import utc_now

LOOK_S: Final = 5.0
"""Between two looks: a list of all runs, which takes some milliseconds for a thousand of them."""
MAX_NEWS_AGE_S: Final = 86_400.0
"""What is older than a day is told only by 'toolroll jobs notify'."""
MAX_TOLD_AT_ONCE: Final = 20

_log: Final = logging.getLogger("toolroll.jobs")


class JobUpkeep:
    """Looks after the jobs of one store; several processes may do so at a time."""

    def __init__(self, store: JobStore, sender: WebhookSender, *, clock: Callable[[], datetime] = utc_now) -> None:
        self._store, self._sender, self._clock = store, sender, clock
        self._ticker = Ticker(store)
        self._told: set[tuple[str, float]] = set()
        self._first_runs: dict[str, str] = {}
        self._seen: dict[str, int] = {}

    async def run(self, stop: asyncio.Event, *, look_s: float = LOOK_S) -> None:
        """Look again and again, until `stop` is set: queue what was left or is due, and tell what nobody has told."""
        # An address may take half a minute to fail; the queue does not wait for that.
        await asyncio.gather(_repeat(self.queue_left, stop, look_s), _repeat(self.tell_ended, stop, look_s))

    async def queue_left(self) -> int:
        """Queue jobs and answers that were recorded and not queued, and due schedules; return how many that were."""
        # In this order: what is recorded and queued in between is then known.
        listed = await self._store.journal.runs()
        runs = {run.run_id: run for run in listed}
        rows = {row.run_id: row for row in await self._store.list()}
        left = [run_id for run_id, run in runs.items() if _is_open_job(run) and run_id not in rows]
        queued = await _count(self._queue_job(job_id) for job_id in left)
        waiting = [row for row in rows.values() if row.state == "waiting"]
        queued += await _count(self._queue_answer(row, runs) for row in waiting)
        return queued + await self._ticker.tick(self._clock().timestamp(), listed)

    async def tell_ended(self) -> None:
        """Tell the addresses of jobs that were given up or cancelled, each once."""
        now = self._clock().timestamp()
        ended = [row for row in await self._store.list() if row.state in ("dead", "cancelled")]
        recent = [row for row in ended if now - row.updated < MAX_NEWS_AGE_S]
        new = [row for row in recent if (row.run_id, row.updated) not in self._told][:MAX_TOLD_AT_ONCE]
        await asyncio.gather(*map(self._tell, new))

    async def _tell(self, row: JobRow) -> None:
        journal = self._store.journal
        if not await journal.acquire(row.run_id):
            return  # another process tells it
        try:
            status = await self._store.read(row)
            if await tell(self._sender, News.from_status(status), now=self._clock()) is False:
                _log.warning("%s: its webhook was not taken. See 'toolroll jobs show'.", row.run_id)
        finally:
            await journal.release(row.run_id)
        self._told.add((row.run_id, row.updated))

    async def _queue_job(self, job_id: str) -> bool:
        """Queue a job that is on record only, unless somebody is about to."""
        journal = self._store.journal
        if not await journal.acquire(job_id):
            return False
        try:
            await self._store.enqueue(job_id)
        finally:
            await journal.release(job_id)
        _log.info("%s: was recorded and not queued; it is now.", job_id)
        return True

    async def _queue_answer(self, row: JobRow, runs: dict[str, RunRow]) -> bool:
        """Queue a job that has its answer, and still waits."""
        journal = self._store.journal
        if row.run_id not in self._first_runs:
            self._first_runs[row.run_id] = (await self._store.read_job(row.run_id)).runs[0]
        run_id = self._first_runs[row.run_id]
        run = runs.get(run_id)
        # A run that has no new record since the last look has no new answer: waiting costs nothing.
        if run is None or self._seen.get(run_id) == run.records or not await journal.acquire(run_id):
            return False
        try:
            recording = await journal.read(run_id)
        finally:
            await journal.release(run_id)
        self._seen[run_id] = run.records
        if open_questions(recording):
            return False
        await self._store.engine.submit(Ticket(run_id=row.run_id, cause=run.records, key=row.key))
        return True


def _is_open_job(run: RunRow) -> bool:
    return run.run_id.startswith(JOB_PREFIX) and not is_schedule(run) and run.last_kind != "finished"


async def _repeat(look: Callable[[], Awaitable[object]], stop: asyncio.Event, pause_s: float) -> None:
    while not stop.is_set():
        try:
            await look()
        except ToolrollError as error:
            _log.warning("Looking after the jobs failed, and is tried again: %s", error.message)
        with suppress(TimeoutError):
            async with asyncio.timeout(pause_s):
                await stop.wait()


async def _count(works: Iterable[Awaitable[bool]]) -> int:
    return sum([await work for work in works])
