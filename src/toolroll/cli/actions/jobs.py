"""What `toolroll jobs` does: it lists, shows, follows, cancels, retries and answers queued work."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from toolroll.apps.job_news import tell_again
from toolroll.apps.jobs import JobStatus, JobStore, open_jobs
from toolroll.apps.webhooks import Delivery, WebhookSender
from toolroll.cli.render.job_bars import JobBars
from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, FAILED, NEEDS_APPROVAL, Session
from toolroll.engine.engine import JobRow
from toolroll.errors import UsageError
from toolroll.kernel.call.context import utc_now
from toolroll.safe.text import one_line

T = TypeVar("T")

POLL_S: Final = 0.5
"""Between two looks at the queue while jobs are watched."""
MAX_TITLE_CHARACTERS: Final = 60
_ID_CHARACTERS: Final = 12
_OPEN: Final = ("queued", "running")


def list_jobs(session: Session, *, state: tuple[str, ...], limit: int) -> int:
    """List the jobs; return the exit code."""

    async def work(store: JobStore) -> tuple[list[JobStatus], int]:
        rows = [row for row in await store.list() if not state or row.state in state]
        return [await store.read(row) for row in rows[:limit]], len(rows) - limit

    found, more = _with_jobs(work)
    if session.json:
        session.write_json({"jobs": [status.fields for status in found]})
        return DONE
    if found:
        session.show("\n".join(map(format_job, found)))
    elif state:
        notify(f"No job is {' or '.join(state)}.")
    else:
        notify("There are no jobs yet. Queue one with 'toolroll explore IDEA --queue'.")
    if more > 0:
        notify(f"· {more:,} more: toolroll jobs list --limit {limit + more}")
    return DONE


def show_job(session: Session, job_id: str) -> int:
    """Show a job; return the exit code."""

    async def work(store: JobStore) -> JobStatus:
        return await store.read(await store.find(job_id))

    status = _with_jobs(work)
    if session.json:
        session.write_json(status.fields)
    else:
        session.show("\n".join(_describe_job(status)))
    return DONE


def watch_jobs(session: Session, job_ids: tuple[str, ...]) -> int:
    """Follow jobs until each has ended or waits; the exit code is 1 if one was given up, and 3 if one waits."""

    async def work(store: JobStore) -> list[JobStatus]:
        wanted = [(await store.find(given)).run_id for given in job_ids]
        rows = await store.list()
        followed = wanted or [row.run_id for row in rows if row.state in _OPEN]
        return await _follow(session, store, followed)

    ended = _with_jobs(work)
    if session.json:
        session.write_json({"jobs": [status.fields for status in ended]})
    elif not ended:
        notify("No job is open. See 'toolroll jobs list'.")
    states = {status.row.state for status in ended}
    if "dead" in states:
        return FAILED
    return NEEDS_APPROVAL if "waiting" in states else DONE


async def _follow(session: Session, store: JobStore, job_ids: Sequence[str]) -> list[JobStatus]:
    """Follow jobs until none is open: with bars at a terminal, else with a line for every change."""
    if session.json or session.plain or not session.out.isatty() or not job_ids:
        return await _look_at(store, job_ids, _ChangedLines(session).update)
    with JobBars(session.out) as bars:
        ended = await _look_at(store, job_ids, bars.update)
    session.show("\n".join(map(format_job, ended)))
    return ended


async def _look_at(
    store: JobStore, job_ids: Sequence[str], update: Callable[[Sequence[JobStatus]], None]
) -> list[JobStatus]:
    while True:
        rows = await store.engine.list_jobs(job_ids)
        statuses = [await store.read(row) for row in reversed(rows)]
        update(statuses)
        if not any(status.row.state in _OPEN for status in statuses):
            return statuses
        await asyncio.sleep(POLL_S)


class _ChangedLines:
    """Shows a job on a line whenever it has changed."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._shown: dict[str, str] = {}

    def update(self, statuses: Sequence[JobStatus]) -> None:
        """Show those that have changed."""
        for status in statuses:
            line = format_job(status)
            if self._shown.get(status.row.run_id) != line:
                self._shown[status.row.run_id] = line
                if not self._session.json:
                    self._session.show(line)


def cancel_job(session: Session, job_id: str) -> int:
    """Cancel a job; return the exit code."""
    return _change(
        session, job_id, lambda store, row: store.engine.cancel(row.run_id), "Cancelled", "cannot be cancelled"
    )


def retry_job(session: Session, job_id: str) -> int:
    """Queue a job again; return the exit code."""
    return _change(
        session, job_id, lambda store, row: store.engine.retry(row.run_id), "Queued", "cannot be retried now"
    )


def notify_again(session: Session, job_id: str) -> int:
    """Tell the webhook of a job once more; return the exit code."""

    async def work(store: JobStore) -> tuple[JobStatus, bool]:
        row = await store.find(job_id)
        sender = WebhookSender(store.journal, os.environ)
        is_taken = await tell_again(store, sender, await store.read(row), now=utc_now())
        return await store.read(row), is_taken

    status, is_taken = _with_jobs(work)
    last = status.deliveries[-1]
    if not is_taken:
        session.fail("webhook_failed", f"The address did not take it: {format_delivery(last)}")
        return FAILED
    if session.json:
        session.write_json({"job": status.row.run_id, "event": last.event, "status": last.status})
    else:
        session.show(f"Told: {last.event}, answered with status {last.status}.")
    return DONE


def approve_call(session: Session, job_id: str, call_id: str | None) -> int:
    """Approve a call that a job asks about; return the exit code."""
    return _answer(session, job_id, call_id, is_yes=True, why=None)


def reject_call(session: Session, job_id: str, call_id: str | None, *, why: str | None) -> int:
    """Reject a call that a job asks about; return the exit code."""
    return _answer(session, job_id, call_id, is_yes=False, why=why)


def _answer(session: Session, job_id: str, call_id: str | None, *, is_yes: bool, why: str | None) -> int:
    async def work(store: JobStore) -> tuple[str, str]:
        status = await store.read(await store.find(job_id))
        call = call_id or _only_question(status)
        await store.answer(status, call, is_yes=is_yes, reason=why)
        return status.row.run_id, call

    job, call = _with_jobs(work)
    if session.json:
        session.write_json({"job": job, "call": call, "approved": is_yes})
    else:
        session.show(
            f"{'Approved' if is_yes else 'Rejected'}: {call}. The job {short_id(job)} goes on when a worker has time."
        )
    return DONE


def _only_question(status: JobStatus) -> str:
    if len(status.questions) != 1:
        asked = ", ".join(question.call_id for question in status.questions)
        what = f"It asks about several: {asked}. Name one of them." if asked else "It asks about nothing."
        raise UsageError(f"The job {short_id(status.row.run_id)} is {status.row.state}. {what}")
    return status.questions[0].call_id


def _change(
    session: Session, job_id: str, change: Callable[[JobStore, JobRow], Awaitable[bool]], done: str, refused: str
) -> int:
    async def work(store: JobStore) -> tuple[JobRow, bool]:
        row = await store.find(job_id)
        return row, await change(store, row)

    row, is_changed = _with_jobs(work)
    if not is_changed:
        raise UsageError(f"The job {short_id(row.run_id)} is {row.state}: it {refused}.")
    if session.json:
        session.write_json({"job": row.run_id, "was": row.state})
    else:
        session.show(f"{done}: {short_id(row.run_id)}, which was {row.state}.")
    return DONE


def format_job(status: JobStatus) -> str:
    """Return a job on one line."""
    row = status.row
    state = "cancelling" if row.is_cancelling else row.state
    active = next((step for step in status.steps if step.state in ("running", "failed")), None)
    where = f" {active.name}" if active is not None and row.state in ("running", "dead", "queued") else ""
    tries = f" (attempt {row.attempts})" if row.attempts > 1 and row.state in ("running", "queued") else ""
    title = one_line(status.request.title, MAX_TITLE_CHARACTERS)
    if status.limit is not None:
        where = f" waits for the rate limit of {status.limit.name}"
    end = f" · {row.error}" if row.error and row.state in ("queued", "dead") else ""
    return f"{short_id(row.run_id)}  {state:<9}{where}{tries}  {title}{end}"


def short_id(job_id: str) -> str:
    """Return as much of an id as people need."""
    return job_id[:_ID_CHARACTERS]


def _describe_job(status: JobStatus) -> list[str]:
    lines = [format_job(status), f"  {status.request.app}, {status.request.model}, run {status.job.runs[0]}"]
    for step in status.steps:
        error = f": {step.error}" if step.error else ""
        tries = f" ({step.attempts} tries)" if step.attempts > 1 else ""
        lines.append(f"  {_MARKS[step.state]} {step.name}{tries}{error}")
    for question in status.questions:
        lines += [f"  asks: {question.tool} ({question.call_id}) {question.why}".rstrip(), *_indent(question.preview)]
        lines.append(f"  answer: toolroll jobs approve|reject {short_id(status.row.run_id)} {question.call_id}")
    if status.result:
        lines.append(f"  result: {status.result}")
    lines += [f"  webhook {one.at[:19]} {one.event}: {format_delivery(one)}" for one in status.deliveries]
    return lines


def format_delivery(delivery: Delivery) -> str:
    """Return what a try came to."""
    status = "" if delivery.status is None else f"status {delivery.status}"
    return ", ".join(part for part in (status, delivery.error) if part)


_MARKS: Final = {"pending": "·", "running": ">", "waiting": "?", "done": "+", "failed": "!"}


def _indent(text: str) -> list[str]:
    return [f"    {line}" for line in text.splitlines()]


def _with_jobs(work: Callable[[JobStore], Awaitable[T]]) -> T:
    async def run() -> T:
        return await work(store)

    with open_jobs(os.environ) as store:
        return asyncio.run(run())
