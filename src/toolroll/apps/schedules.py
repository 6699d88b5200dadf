"""Schedules: an idea that is explored again and again, and times as people write them (D12).

A schedule is a run of its own in the journal, and each of its ticks is a job whose id follows from the schedule and the
time. So a tick that several workers queue is queued once, and nothing has to be remembered about it.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from toolroll.apps.jobs import JobRequest, JobStore
from toolroll.apps.run_log import recorded_settings
from toolroll.errors import JournalRefused, UsageError
from toolroll.journal.journal import Journal, RunRow
from toolroll.journal.records import RunBegan, RunEnded
from toolroll.journal.tables import JOB_PREFIX
from toolroll.kernel.call.context import random_id

SCHEDULE_PREFIX: Final = f"{JOB_PREFIX}every-"
MIN_EVERY_S: Final = 60
MAX_EVERY_S: Final = 366 * 86_400
MAX_AHEAD_S: Final = 10 * 366 * 86_400
_ID_CHARACTERS: Final = 12
_UNITS_S: Final = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_INTERVAL: Final = re.compile(r"([0-9]{1,6}) ?([mhdw])")
_CLOCK: Final = re.compile(r"([0-9]{1,2}):([0-9]{2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """What is queued, at `first` and every so many seconds after it; times are seconds since 1970."""

    id: str
    request: JobRequest
    first: float
    every_s: int
    priority: int = 0

    def latest_tick(self, now: float) -> float | None:
        """Return the time of the latest tick that is due; None before the first. Of several missed ones it is one."""
        if now < self.first:
            return None
        return self.first + (now - self.first) // self.every_s * self.every_s

    def next_tick(self, now: float) -> float:
        """Return the time of the next tick that is not due yet."""
        latest = self.latest_tick(now)
        return self.first if latest is None else latest + self.every_s

    def job_id(self, tick: float) -> str:
        """Return the id of the job of a tick, which is the same in every process."""
        named = f"{self.id}\0{round(tick)}".encode()
        return JOB_PREFIX + hashlib.sha256(named).hexdigest()[:32]

    def fields(self, now: float) -> dict[str, object]:
        """Return the schedule as `--json` and the HTTP API show it."""
        return {
            "id": self.id,
            "title": self.request.title,
            "model": self.request.model,
            "every_seconds": self.every_s,
            "first": _iso(self.first),
            "next": _iso(self.next_tick(now)),
            "priority": self.priority,
        }


class ScheduleBook:
    """The schedules of a journal."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._known: dict[str, Schedule] = {}

    async def add(self, request: JobRequest, *, first: float, every_s: int, priority: int = 0) -> Schedule:
        """Store a schedule."""
        if not MIN_EVERY_S <= every_s <= MAX_EVERY_S:
            raise UsageError("A schedule repeats at least every minute and at most once a year.")
        made = Schedule(
            id=f"{SCHEDULE_PREFIX}{random_id()[:_ID_CHARACTERS]}",
            request=request,
            first=first,
            every_s=every_s,
            priority=priority,
        )
        kept = {"first": first, "every_s": every_s, "priority": priority}
        settings = {**request.record, "schedule": kept}
        began = RunBegan(model=request.model, system="", tools={}, settings=settings, closes_inside=True)
        await self._journal.append(made.id, began)
        await self._journal.release(made.id)
        return made

    async def list(self, runs: Sequence[RunRow] | None = None) -> list[Schedule]:
        """Return all schedules, the newest first; `runs` are all runs, if the caller has just listed them."""
        found = await self._journal.runs() if runs is None else runs
        return [await self._read(run.run_id) for run in found if is_schedule(run) and run.last_kind != "finished"]

    async def find(self, given: str) -> Schedule:
        """Return the schedule that is meant: by its id, or the beginning of it, with or without its first words."""
        word = given.removeprefix(JOB_PREFIX).removeprefix("every-")
        fitting = [one for one in await self.list() if word and one.id.removeprefix(SCHEDULE_PREFIX).startswith(word)]
        if len(fitting) > 1:
            raise UsageError(f"{len(fitting)} schedules begin with {given!r}. Write more of the id.")
        if not fitting:
            raise JournalRefused(f"There is no schedule {given[:64]!r}. See 'toolroll jobs schedules list'.")
        return fitting[0]

    async def remove(self, schedule: Schedule) -> None:
        """End a schedule; a job that it has queued stays."""
        await self._journal.append(schedule.id, RunEnded(stop_reason="removed", stop_detail="", text=""))
        await self._journal.release(schedule.id)

    async def _read(self, schedule_id: str) -> Schedule:
        if schedule_id not in self._known:
            settings = recorded_settings(await self._journal.read(schedule_id))
            self._known[schedule_id] = _read_schedule(schedule_id, settings)
        return self._known[schedule_id]


class Ticker:
    """Queues the ticks that are due. Several processes may do so: each tick is one job."""

    def __init__(self, store: JobStore) -> None:
        self._store = store
        self._book = ScheduleBook(store.journal)
        self._queued: dict[str, float] = {}

    async def tick(self, now: float, runs: Sequence[RunRow]) -> int:
        """Queue what is due; return how many jobs that were."""
        queued = 0
        for schedule in await self._book.list(runs):
            due = schedule.latest_tick(now)
            if due is None or self._queued.get(schedule.id) == due:
                continue
            request = replace(schedule.request, schedule=schedule.id)
            # If the job of an earlier tick is still open, it is one that asks for the same: this tick is left out.
            _, is_new = await self._store.submit(request, priority=schedule.priority, job_id=schedule.job_id(due))
            self._queued[schedule.id] = due
            queued += is_new
        return queued


def is_schedule(run: RunRow) -> bool:
    """Return whether a run is a schedule."""
    return run.run_id.startswith(SCHEDULE_PREFIX)


def parse_interval(text: str) -> int:
    """Return the seconds of an interval such as '30m', '6h', '1d' or '2w'."""
    found = _INTERVAL.fullmatch(text.strip().casefold())
    seconds = 0 if found is None else int(found[1]) * _UNITS_S[found[2]]
    if not MIN_EVERY_S <= seconds <= MAX_EVERY_S:
        raise UsageError(f"{text[:40]!r} is no interval from a minute to a year. Write it like 30m, 6h, 1d or 2w.")
    return seconds


def parse_time(text: str, *, now: float) -> float:
    """Return the time that is meant, in seconds since 1970; a time without a zone is that of this machine.

    '23:30' is the next time that the clock shows it, '+2h' is in two hours, and '2026-12-24 18:00' is what it says.
    """
    word = text.strip()
    try:
        if word.startswith("+"):
            return now + parse_interval(word[1:])
        when = _parse_clock(word, now) if _CLOCK.fullmatch(word) else datetime.fromisoformat(word).timestamp()
    except (ValueError, OverflowError, OSError, UsageError):
        raise UsageError(f"{text[:40]!r} is no time. Write it like 23:30, +2h or 2026-12-24T18:00.") from None
    if not now <= when <= now + MAX_AHEAD_S:
        raise UsageError(f"{text[:40]!r} is in the past, or more than ten years ahead.")
    return when


def _parse_clock(word: str, now: float) -> float:
    hour, minute = map(int, word.split(":"))
    # Without a zone, so that each day has the rules of its own: a clock that is put forward or back is followed.
    today = datetime.fromtimestamp(now).replace(hour=hour, minute=minute, second=0, microsecond=0)  # noqa: DTZ006 - local
    return next(when for day in range(3) if (when := (today + timedelta(days=day)).timestamp()) >= now)


def _read_schedule(schedule_id: str, settings: Mapping[str, object]) -> Schedule:
    match settings.get("schedule"):
        case {"first": int() | float() as first, "every_s": int(every_s), "priority": int(priority)}:
            request = JobRequest.from_record({**settings, "schedule": None})
            return Schedule(id=schedule_id, request=request, first=first, every_s=every_s, priority=priority)
        case _:
            raise JournalRefused(f"The schedule {schedule_id} cannot be read. Remove it, and add it again.")


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
