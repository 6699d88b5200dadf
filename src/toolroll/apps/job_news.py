"""What the address of a webhook is told about a job, and when: it ended, waits, was given up or cancelled (R33)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from toolroll.apps.jobs import JobRequest, JobStatus, JobStore
from toolroll.apps.webhooks import Event, Message, WebhookSender
from toolroll.engine.engine import JobState
from toolroll.errors import DecisionRefused, UsageError

EVENTS: Final[Mapping[JobState, Event]] = {
    "done": "job.done",
    "waiting": "job.waiting",
    "dead": "job.dead",
    "cancelled": "job.cancelled",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What has become of a job. `occasion` tells it from earlier news of the same kind."""

    job_id: str
    request: JobRequest
    state: JobState
    result: str = ""
    error: str = ""
    calls: Sequence[str] = ()
    occasion: str = ""

    @classmethod
    def from_status(cls, status: JobStatus) -> "News":
        """Return the latest news of a job; UsageError if it is still on its way."""
        row = status.row
        if row.state not in EVENTS:
            raise UsageError(f"The job is {row.state}: there is nothing to tell yet. See 'toolroll jobs watch'.")
        return cls(
            job_id=row.run_id,
            request=status.request,
            state=row.state,
            result=status.result,
            error=row.error if row.state == "dead" else "",
            calls=[question.call_id for question in status.questions],
            occasion=str(row.updated) if row.state in ("dead", "cancelled") else "",
        )

    def as_message(self, now: datetime) -> Message:
        """Return the message: which job, what became of it, and not what it has read or written."""
        request = self.request
        data = {
            "id": self.job_id,
            "app": request.app,
            "title": request.title,
            "model": request.model,
            "state": self.state,
            # Of an exploration that is where its document is; an answer of the coding agent stays here.
            "document": self.result or None if request.explore is not None else None,
            "error": self.error or None,
            "questions": list(self.calls),
        }
        occasion = self.occasion or "\0".join(sorted(self.calls))
        return Message.new(EVENTS[self.state], data, detail=occasion, now=now)


async def tell(sender: WebhookSender, news: News, *, now: datetime, again: bool = False) -> bool | None:
    """Tell the address of a job, while the job is held; return whether it was taken, or None if there is no address."""
    url = sender.address(news.request.webhook)
    if url is None:
        return None
    return await sender.deliver(news.job_id, url, news.as_message(now), again=again)


async def tell_again(store: JobStore, sender: WebhookSender, status: JobStatus, *, now: datetime) -> bool:
    """Tell the latest news of a job once more; return whether it was taken."""
    news = News.from_status(status)
    if not await store.journal.acquire(news.job_id):
        raise DecisionRefused("The job is being driven at this moment. Look again: 'toolroll jobs show'.")
    try:
        is_taken = await tell(sender, news, now=now, again=True)
    finally:
        await store.journal.release(news.job_id)
    if is_taken is None:
        raise UsageError("The job has no webhook, and the setting webhooks.url is not set: there is nobody to tell.")
    return is_taken
