"""What `toolroll worker` does: it drives queued jobs until it is told to end, or, with --drain, until none is left."""

import asyncio
import logging
import os
import signal
import time
from collections import Counter
from contextlib import suppress
from typing import Final

from toolroll.apps.job_driver import JobDriver
from toolroll.apps.job_upkeep import JobUpkeep
from toolroll.apps.jobs import JobStore, open_jobs
from toolroll.apps.webhooks import WebhookSender
from toolroll.cli.actions.jobs import short_id
from toolroll.cli.driver import split_names
from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, Session
from toolroll.engine.engine import DEFAULT_QUEUE, Ending, JobRefused, JobRow
from toolroll.errors import DatabaseFailed, ToolrollError
from toolroll.home.settings import read_settings
from toolroll.safe.text import terminal_safe

_LOOK_S: Final = 0.25
"""The longest time between two looks at whether anything is left to do."""
_FIRST_LOOK_S: Final = 0.01
"""The shortest one: at first, and whenever a job has ended; from then on it doubles."""

_DOWN_S: Final = 2.0
"""Between two looks at whether a database that is down at the start is there."""


def run_worker(session: Session, *, concurrency: int, queues: str | None, drain: bool) -> int:
    """Drive jobs; return the exit code."""
    session.claim_stdout()
    session.set_up_logging()
    if not session.debug:
        _show_log()
    with open_jobs(os.environ) as store:
        named = split_names(queues) or store.own_queues
        return asyncio.run(_Worker(session, store).run(concurrency, named, drain=drain))


class _Worker:
    """One worker process: its jobs, and how it ends."""

    def __init__(self, session: Session, store: JobStore) -> None:
        self._session = session
        self._store = store
        self._driver = JobDriver(store.journal, os.environ, rates=store.rates)
        self._upkeep = JobUpkeep(store, WebhookSender(store.journal, os.environ))
        self._stop = asyncio.Event()
        self._work: asyncio.Task[None] | None = None
        self._endings: Counter[str] = Counter()
        self._look_s = _FIRST_LOOK_S
        self._problem: OSError | None = None

    async def run(self, slots: int, queues: tuple[str, ...], *, drain: bool) -> int:
        """Work until told to end; return the exit code."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._end)
        if not await self._begin():
            return DONE
        notify(f"Working, {slots} at a time. Ctrl-C ends it when the running jobs are done.", dim=True)
        self._work = asyncio.ensure_future(
            self._store.engine.work(self._drive, slots=slots, queues=queues, stop=self._stop)
        )
        beside = [asyncio.ensure_future(self._upkeep.run(self._stop))]
        if drain:
            beside.append(asyncio.ensure_future(self._end_when_empty(queues)))
        await asyncio.wait([self._work])
        for task in beside:
            task.cancel()
        await asyncio.wait(beside)
        if not self._work.cancelled():
            await self._work
            await self._upkeep.tell_ended()  # of the last jobs, too
        if self._session.json:
            self._session.write_json({name: self._endings[name] for name in ("done", "waiting", "failed")})
        if self._problem is not None:
            raise self._problem
        return DONE

    async def _begin(self) -> bool:
        """Prepare the queue; a database that is not there yet is waited for. Return whether there is work to begin."""
        while not self._stop.is_set():
            try:
                await self._store.engine.limit_queue(DEFAULT_QUEUE, read_settings(os.environ).jobs.concurrency)
                await self._upkeep.queue_left()
            except DatabaseFailed as error:
                if not error.is_passing:
                    raise
                notify(f"! {error.message} Trying again.")
                with suppress(TimeoutError):
                    async with asyncio.timeout(_DOWN_S):
                        await self._stop.wait()
            else:
                return True
        return False

    async def _drive(self, job_id: str) -> Ending:
        try:
            ending = await self._driver(job_id)
        except (ToolrollError, JobRefused) as error:
            self._show(job_id, "failed", f"  {error}")
            raise
        self._show(job_id, ending)
        return ending

    def _show(self, job_id: str, ending: str, why: str = "") -> None:
        """Count an ending and show it. A line that cannot be written fails the worker at its end, and not the job."""
        self._endings[ending] += 1
        self._look_s = _FIRST_LOOK_S
        if not self._session.json:
            try:
                self._session.show(f"{short_id(job_id)}  {ending}{why}")
            except OSError as error:
                self._problem = self._problem or error

    async def _end_when_empty(self, queues: tuple[str, ...]) -> None:
        while await self._has_work(queues):  # other processes change the queue: there is no event
            await asyncio.sleep(self._look_s)
            self._look_s = min(2 * self._look_s, _LOOK_S)
        self._stop.set()

    async def _has_work(self, queues: tuple[str, ...]) -> bool:
        try:
            rows = await self._store.engine.list_jobs()
        except DatabaseFailed:
            return True  # nobody knows
        named = [row for row in rows if not queues or row.queue in queues]
        return any(row.state == "running" or (row.state == "queued" and _is_due(row)) for row in named)

    def _end(self) -> None:
        if self._stop.is_set() and self._work is not None:
            self._work.cancel()
        else:
            notify("Ending when the running jobs are done. Again ends at once; another worker then goes on with them.")
        self._stop.set()


def _is_due(row: JobRow) -> bool:
    """Return whether a queued job is for now: due, or between two attempts. One for a later time is not waited for."""
    return row.attempts > 0 or row.not_before <= time.time()


class _NoteHandler(logging.Handler):
    """Shows the notes of jobs beside the answer, a line each."""

    def emit(self, record: logging.LogRecord) -> None:
        """Show one note."""
        notify(terminal_safe(record.getMessage()), dim=True)


def _show_log() -> None:
    logger = logging.getLogger("toolroll.jobs")
    logger.addHandler(_NoteHandler())
    logger.setLevel(logging.INFO)
