"""What `toolroll jobs schedules` does: it lists and removes what is explored again and again."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Final, TypeVar

from toolroll.apps.jobs import open_jobs
from toolroll.apps.schedules import SCHEDULE_PREFIX, Schedule, ScheduleBook
from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, Session
from toolroll.safe.text import one_line

T = TypeVar("T")

MAX_TITLE_CHARACTERS: Final = 60
_UNITS: Final = ((604_800, "w"), (86_400, "d"), (3_600, "h"), (60, "m"))


def list_schedules(session: Session) -> int:
    """List the schedules; return the exit code."""
    show_schedules(session, _with_book(ScheduleBook.list), now=time.time())
    return DONE


def remove_schedule(session: Session, schedule_id: str) -> int:
    """Remove a schedule; return the exit code."""

    async def remove(book: ScheduleBook) -> Schedule:
        found = await book.find(schedule_id)
        await book.remove(found)
        return found

    removed = _with_book(remove)
    if session.json:
        session.write_json({"removed": removed.id})
    else:
        session.show(f"Removed: {_short(removed)}. A job that it has queued stays: see 'toolroll jobs list'.")
    return DONE


def show_schedules(session: Session, schedules: Sequence[Schedule], *, now: float) -> None:
    """Show schedules, a line each."""
    if session.json:
        session.write_json({"schedules": [schedule.fields(now) for schedule in schedules]})
    elif schedules:
        session.show("\n".join(_format(schedule, now) for schedule in schedules))
    else:
        notify("There are no schedules. Add one: toolroll explore IDEA --every 1d")


def _format(schedule: Schedule, now: float) -> str:
    following = datetime.fromtimestamp(schedule.next_tick(now)).astimezone().strftime("%Y-%m-%d %H:%M")
    title = one_line(schedule.request.title, MAX_TITLE_CHARACTERS)
    return f"{_short(schedule):<12}  every {_interval(schedule.every_s)}, next {following}  {title}"


def _interval(seconds: int) -> str:
    size, unit = next((size, unit) for size, unit in _UNITS if seconds % size == 0)
    return f"{seconds // size}{unit}"


def _short(schedule: Schedule) -> str:
    return schedule.id.removeprefix(SCHEDULE_PREFIX)


def _with_book(work: Callable[[ScheduleBook], Awaitable[T]]) -> T:
    async def run() -> T:
        return await work(ScheduleBook(store.journal))

    with open_jobs(os.environ) as store:
        return asyncio.run(run())
