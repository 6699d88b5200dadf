"""What an engine is: it decides when and where a recorded run is driven, and keeps nothing else.

The journal is the truth. A job is "drive run X until it ends or waits for a person"; the engine owns its place in the
queue, its attempts and its worker, but no step, no payload and no approval.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias, get_args

JobState: TypeAlias = Literal["queued", "running", "waiting", "done", "dead", "cancelled"]
"""`waiting` is for a person's answer, and `dead` is given up after the last attempt: it can be retried by hand."""

JOB_STATES: Final[tuple[JobState, ...]] = get_args(JobState)
OPEN_STATES: Final[tuple[JobState, ...]] = ("queued", "running", "waiting")

DEFAULT_QUEUE: Final = "default"
LEFT_PAUSE_S: Final = 30.0
"""Before a job that was left for another worker is looked at again."""
MAX_ATTEMPTS: Final = 5
"""Attempts that end in an error or with the death of the worker, before a job is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A request to drive a run. `cause` is the index of the record that gave reason to.

    To submit a ticket twice is to submit it once. Of tickets with the same `key` only one is open at a time. Higher
    priorities are driven first, and nothing is driven before `not_before` (seconds since 1970).
    """

    run_id: str
    cause: int = 0
    queue: str = DEFAULT_QUEUE
    key: str | None = None
    priority: int = 0
    not_before: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow:
    """A job as the engine sees it; times are seconds since 1970, and `error` is why the last attempt failed."""

    run_id: str
    queue: str
    key: str | None
    state: JobState
    priority: int
    attempts: int
    not_before: float
    created: float
    updated: float
    worker: str | None = None
    error: str = ""
    is_cancelling: bool = False


Ending: TypeAlias = Literal["done", "waiting"]
"""What driving a run came to: it ended, or it waits for a person."""

Drive: TypeAlias = Callable[[str], Awaitable[Ending]]
"""Drives the run of that id. An error is an attempt that failed; `JobRefused` says that no other one would help, and
`JobLeft` that another worker has to."""


class JobRefused(Exception):
    """A job cannot succeed as it is: it is given up at once."""


class JobLeft(Exception):
    """A job is for another worker, such as one of a newer version: it stays queued, and this was no attempt."""


class Engine(Protocol):
    """A queue of runs to drive, and the workers that drive them."""

    async def submit(self, ticket: Ticket, /) -> str:
        """Queue a run; return its id, or that of the open job with the same key, which is then the one there is."""
        ...

    async def cancel(self, run_id: str, /) -> bool:
        """Ask for the end of a job; return whether there was an open one. A running job ends within seconds."""
        ...

    async def retry(self, run_id: str, /) -> bool:
        """Queue a dead or cancelled job again, with all of its attempts; return whether it is queued now.

        It is not where there is no such job, or where another one with its key is open.
        """
        ...

    async def list_jobs(self, run_ids: Sequence[str] | None = None, /) -> Sequence[JobRow]:
        """Return all jobs, or those of these runs, the newest first."""
        ...

    async def limit_queue(self, queue: str, slots: int | None) -> None:
        """Drive at most so many jobs of a queue at a time, over all workers; None takes the limit away."""
        ...

    async def work(self, drive: Drive, *, slots: int, queues: Sequence[str] = (), stop: asyncio.Event) -> None:
        """Drive jobs, at most `slots` at a time, of these queues or of all, until `stop` is set.

        Then no new job begins; those that run are driven to their end.
        """
        ...
