"""Jobs: an exploration or a task of the coding agent that waits in a queue until a worker drives it.

A job is a run of its own in the journal: what was asked for is its first record, and each of its steps is a record. The
engine knows only its id.
"""

import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

from toolroll.agent.run import is_on_record
from toolroll.apps.explore import ExploreOptions
from toolroll.apps.run_log import open_journal, recorded_settings
from toolroll.apps.spec import AgentSpec
from toolroll.apps.webhooks import Delivery, read_deliveries, shorten_address
from toolroll.engine.engine import DEFAULT_QUEUE, Engine, JobRow, Ticket
from toolroll.engine.local import LocalEngine
from toolroll.engine.rates import LocalRates, RateLimiter
from toolroll.errors import DecisionRefused, JournalRefused, RecordTooNew, UsageError
from toolroll.home.folders import find_folders
from toolroll.journal.journal import Journal, Recording
from toolroll.journal.records import (
    ApprovalAnswer,
    ApprovalQuestion,
    CallEnded,
    MessageAdded,
    RunBegan,
    RunEnded,
    StateSet,
)
from toolroll.journal.sqlite import SqliteJournal
from toolroll.journal.tables import JOB_PREFIX
from toolroll.kernel.call.context import random_id
from toolroll.lazy import load
from toolroll.packs.research.exploration import JOB, Job
from toolroll.packs.research.ideas import idea_slug
from toolroll.safe.secrets.redact import redact_shown

App: TypeAlias = Literal["explore", "code"]
StepState: TypeAlias = Literal["pending", "running", "waiting", "done", "failed"]

STEPS: Final[Mapping[App, tuple[str, ...]]] = {
    "explore": ("initialize", "check_existing", "generate_research", "write", "notify"),
    "code": ("initialize", "run", "notify"),
}
STEP: Final = "step"
"""The name of the state that a job records each of its steps under."""
PLACE: Final = "place"
"""The name under which a job records its priority and its time, so that it can be queued from its record alone."""
LIMIT: Final = "limit"
"""The name of the state that a job records a wait for a rate limit under."""
LIMIT_GRACE: Final = timedelta(seconds=10)
"""A wait is asked about again every few seconds, and may be longer than it was said to be."""
DOCUMENT: Final = "document"
"""The name of the state under which an exploration records the path of its document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """What a job is to do: explore an idea, or give the coding agent a prompt.

    `search_consent` is the person's consent, given when the job was queued, to searches of an exploration that reads
    private text; without it only our own search is used, and bounded.
    """

    explore: ExploreOptions | None = None
    code: AgentSpec | None = None
    prompt: str = ""
    search_consent: bool = False
    owner: str = ""
    """The name of the token that queued it over HTTP."""
    webhook: str | None = None
    """The address that is told when it ends or waits; without one, it is that of the settings."""
    host: str | None = None
    """The machine that has its folder, where several share the queue; None is the one that queues it."""
    schedule: str | None = None
    """The id of the schedule that it is a tick of. Such an exploration updates the research that there is."""

    @property
    def app(self) -> App:
        """Return which application does it."""
        return "code" if self.explore is None else "explore"

    @property
    def title(self) -> str:
        """Return what was asked for, in the person's words and without secrets, to be shown."""
        return redact_shown(self.prompt if self.explore is None else self.explore.idea)

    @property
    def model(self) -> str:
        """Return the name of the model that is asked."""
        options = self.code if self.explore is None else self.explore
        return "" if options is None else options.model

    @property
    def key(self) -> str | None:
        """Return what two requests have in common that ask for the same: one of them is enough."""
        if self.explore is None:
            return None
        place = self.explore.repo or self.explore.ideas or ""
        return f"explore:{place}:{self.explore.branch or ''}:{idea_slug(self.explore.idea)}"

    @property
    def is_movable(self) -> bool:
        """Return whether any machine can do it: an exploration that reads and writes no folder of this one."""
        return self.explore is not None and self.explore.repo is not None

    @property
    def record(self) -> dict[str, object]:
        """Return what the job records of it."""
        asked = self.code.record if self.code is not None else self.explore.record if self.explore is not None else {}
        return {
            "kind": "job",
            "app": self.app,
            self.app: asked,
            "prompt": self.prompt,
            "search_consent": self.search_consent,
            "owner": self.owner,
            "webhook": self.webhook,
            "schedule": self.schedule,
            "host": self.host,
        }

    @classmethod
    def from_record(cls, settings: Mapping[str, object]) -> "JobRequest":
        """Return the request that a job recorded."""
        match settings:
            case {"kind": "job", "app": "explore", "explore": Mapping() as asked}:
                made = cls(explore=ExploreOptions.from_record(asked, is_job=True))
            case {"kind": "job", "app": "code", "code": Mapping() as asked}:
                made = cls(code=AgentSpec.from_job(asked), prompt=str(settings.get("prompt", "")))
            case _:
                raise RecordTooNew(
                    "This is no job that this version of toolroll can drive. Update toolroll to drive it."
                )
        owner, webhook, schedule, host = (settings.get(name) for name in ("owner", "webhook", "schedule", "host"))
        return replace(
            made,
            search_consent=settings.get("search_consent") is True,
            owner=owner if isinstance(owner, str) else "",
            webhook=webhook if isinstance(webhook, str) else None,
            schedule=schedule if isinstance(schedule, str) else None,
            host=host if isinstance(host, str) else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StepProgress:
    """One step of a job: where it is, when it began and ended, and why it failed."""

    name: str
    state: StepState
    started_at: str | None = None
    ended_at: str | None = None
    attempts: int = 0
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Something that a job asks a person: the call, and what was shown of it."""

    call_id: str
    tool: str
    preview: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitWait:
    """A rate limit that a job waits for: of which model or provider, and until when at least."""

    name: str
    until: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """A job with all that is on record about it."""

    row: JobRow
    request: JobRequest
    job: Job
    steps: tuple[StepProgress, ...]
    questions: tuple[Question, ...] = ()
    result: str = ""
    document: str | None = None
    """The path of the document of an exploration, where research is kept."""
    deliveries: tuple[Delivery, ...] = ()
    limit: LimitWait | None = None
    """The rate limit that it waits for, or waited for last."""

    @property
    def fields(self) -> dict[str, object]:
        """Return the job as `--json` and the HTTP API show it."""
        row = self.row
        return {
            "id": row.run_id,
            "app": self.request.app,
            "title": self.request.title,
            "model": self.request.model,
            "state": row.state,
            "queue": row.queue,
            "priority": row.priority,
            "attempts": row.attempts,
            "last_error": row.error or None,
            "created": _iso(row.created),
            "updated": _iso(row.updated),
            "not_before": _iso(row.not_before) if row.not_before else None,
            "steps": [asdict(step) for step in self.steps],
            "questions": [asdict(question) for question in self.questions],
            "runs": list(self.job.runs),
            "result": self.result or None,
            "waits_for_limit": None if self.limit is None else self.limit.name,
            "schedule": self.request.schedule,
            "webhook": None if self.request.webhook is None else shorten_address(self.request.webhook),
            "deliveries": [asdict(delivery) for delivery in self.deliveries],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStore:
    """The journal and the engine together: what commands, the HTTP service and workers use."""

    journal: Journal
    engine: Engine
    rates: RateLimiter | None = None
    host: str | None = None
    """The name of this machine, where several share the queue: work in a folder of it is done by its own workers."""

    async def submit(
        self, request: JobRequest, *, priority: int = 0, not_before: float = 0.0, job_id: str | None = None
    ) -> tuple[str, bool]:
        """Queue a job; return its id, and whether it is new: an open one that asks for the same is enough.

        With a `job_id`, doing it twice is doing it once.
        """
        if job_id is not None and await self._is_known(job_id):
            return job_id, False
        job = replace(Job.new(), id=job_id or f"{JOB_PREFIX}{random_id()}")
        place = {"priority": priority, "not_before": not_before, "queue": self._choose_queue(request)}
        settings = {**request.record, JOB: job.fields, PLACE: place}
        began = RunBegan(model=request.model, system="", tools={}, settings=settings, closes_inside=True)
        await self.journal.append(job.id, began)
        queued = await self._enqueue(job.id, settings)
        await self.journal.release(job.id)
        return queued, queued == job.id

    @property
    def own_queues(self) -> tuple[str, ...]:
        """Return the queues that a worker of this machine works off; none are all that there are."""
        return () if self.host is None else (DEFAULT_QUEUE, host_queue(self.host))

    def _choose_queue(self, request: JobRequest) -> str:
        """Return the queue of a job: that of this machine for one that works in a folder here."""
        return DEFAULT_QUEUE if self.host is None or request.is_movable else host_queue(request.host or self.host)

    async def _is_known(self, job_id: str) -> bool:
        """Return whether a job is queued, on record, or about to be recorded by somebody else."""
        if await self.engine.list_jobs([job_id]) or not await self.journal.acquire(job_id):
            return True
        is_known = await is_on_record(self.journal, job_id)
        if is_known:  # it is queued by the upkeep of a worker, if it has not ended
            await self.journal.release(job_id)
        return is_known

    async def enqueue(self, job_id: str) -> str:
        """Queue a job that is on record; return its id, or that of an open one that asks for the same.

        Doing it twice is doing it once. The caller holds the job.
        """
        return await self._enqueue(job_id, recorded_settings(await self.journal.read(job_id)))

    async def _enqueue(self, job_id: str, settings: Mapping[str, object]) -> str:
        key = JobRequest.from_record(settings).key
        match settings.get(PLACE):
            case {"priority": int(priority), "not_before": int() | float() as not_before, **more}:
                queue = str(more.get("queue") or DEFAULT_QUEUE)
                ticket = Ticket(run_id=job_id, cause=1, queue=queue, key=key, priority=priority, not_before=not_before)
            case _:
                ticket = Ticket(run_id=job_id, cause=1, key=key)
        queued = await self.engine.submit(ticket)
        if queued != job_id:
            await self.journal.append(job_id, RunEnded(stop_reason="duplicate", stop_detail=queued, text=""))
        return queued

    async def read_job(self, job_id: str) -> Job:
        """Return a job by its id, with the ids of its runs."""
        return Job.from_settings(recorded_settings(await self.journal.read(job_id)))

    async def list(self) -> Sequence[JobRow]:
        """Return all jobs, the newest first."""
        return await self.engine.list_jobs()

    async def find(self, given: str) -> JobRow:
        """Return the job that is meant: by its id, or the beginning of it."""
        wanted = given if given.startswith(JOB_PREFIX) else f"{JOB_PREFIX}{given}"
        rows = [row for row in await self.engine.list_jobs() if row.run_id.startswith(wanted)]
        if len(rows) > 1 and all(row.run_id != wanted for row in rows):
            raise UsageError(f"{len(rows)} jobs begin with {given!r}. Write more of the id.")
        if not rows:
            raise JournalRefused(f"There is no job {given[:64]!r}. See 'toolroll jobs list'.")
        return rows[0]

    async def read(self, row: JobRow) -> JobStatus:
        """Return everything on record about a job."""
        recording = await self.journal.read(row.run_id)
        settings = recorded_settings(recording)
        request, job = JobRequest.from_record(settings), Job.from_settings(settings)
        ended = [record for _, record in recording if isinstance(record, RunEnded)]
        return JobStatus(
            row=row,
            request=request,
            job=job,
            steps=read_steps(request.app, recording),
            questions=await self._questions(job) if row.state == "waiting" else (),
            result=ended[-1].text if ended else "",
            document=_read_document(recording),
            deliveries=read_deliveries(recording),
            limit=_read_limit(recording) if row.state == "running" else None,
        )

    async def answer(self, status: JobStatus, call_id: str, *, is_yes: bool, reason: str | None = None) -> None:
        """Record a person's answer, bound to what was shown, and queue the job; of several answers the first counts."""
        run_id = status.job.runs[0]
        if not await self.journal.acquire(run_id):
            raise DecisionRefused("The job is being driven at this moment. Look again: 'toolroll jobs show'.")
        try:
            asked = open_questions(await self.journal.read(run_id)).get(call_id)
            if asked is None:
                raise DecisionRefused(f"The job does not ask about {call_id[:64]!r}, or has an answer already.")
            answer = ApprovalAnswer(
                call_id=call_id, digest=asked.digest, decision="approve" if is_yes else "reject", reason=reason
            )
            cause = await self.journal.append(run_id, answer)
        finally:
            await self.journal.release(run_id)
        await self.engine.submit(Ticket(run_id=status.row.run_id, cause=cause, key=status.row.key))

    async def _questions(self, job: Job) -> tuple[Question, ...]:
        asked = open_questions(await self.journal.read(job.runs[0]))
        return tuple(
            Question(call_id=one.call_id, tool=one.tool, preview=one.preview, why=one.why) for one in asked.values()
        )


@contextmanager
def open_jobs(environment: Mapping[str, str]) -> Iterator[JobStore]:
    """Open the user's own jobs: a queue beside the run log, in a file or in their database."""
    with closing(open_journal(environment)) as journal:
        if isinstance(journal, SqliteJournal):
            path = jobs_file(environment)
            with closing(LocalEngine(path)) as engine, closing(LocalRates(path.with_name("rates.db"))) as rates:
                yield JobStore(journal=journal, engine=engine, rates=rates)
        else:
            make_engine = load("toolroll.engine.postgres:PostgresEngine")  # psycopg: many interpreter starts
            make_rates = load("toolroll.engine.postgres_rates:PostgresRates")
            database = journal.database
            yield JobStore(
                journal=journal,
                engine=make_engine(database, journal.presence),
                rates=make_rates(database),
                host=socket.gethostname(),
            )


def host_queue(host: str) -> str:
    """Return the queue of the jobs that only one machine can do."""
    return f"host:{host}"


def jobs_file(environment: Mapping[str, str]) -> Path:
    """Return the path of the file that holds the queue."""
    return find_folders(environment).data / "jobs.db"


def open_questions(recording: Recording) -> dict[str, ApprovalQuestion]:
    """Return the questions of a run that nobody has answered yet, by the id of their call."""
    asked: dict[str, ApprovalQuestion] = {}
    for _, record in recording:
        match record:
            case ApprovalQuestion():
                asked[record.call_id] = record
            case ApprovalAnswer():
                asked.pop(record.call_id, None)
            case CallEnded():
                asked.pop(record.result.call_id, None)
            case MessageAdded():  # the person went on with something else
                asked.clear()
            case _:
                pass
    return asked


def read_steps(app: App, recording: Recording) -> tuple[StepProgress, ...]:
    """Return where each step of a job is, by what the job recorded."""
    steps = {name: StepProgress(name=name, state="pending") for name in STEPS[app]}
    for _, record in recording:
        match record:
            case StateSet(name=name, value={"step": str(step), "state": str(state), "at": str(at), **more}) if (
                name == STEP and step in steps and state in _STEP_STATES
            ):
                steps[step] = _advance(steps[step], state, at, more.get("error"))
            case _:
                pass
    return tuple(steps.values())


def _read_document(recording: Recording) -> str | None:
    states = [record for _, record in recording if isinstance(record, StateSet) and record.name == DOCUMENT]
    return str(states[-1].value) if states else None


def _read_limit(recording: Recording) -> LimitWait | None:
    """Return the rate limit that a job waits for now, if its last record says so and the time is not over."""
    _, last = recording.records[-1]
    match last:
        case StateSet(name=name, value={"name": str(limit), "until": str(until)}) if name == LIMIT:
            is_over = datetime.fromisoformat(until) < datetime.now(UTC) - LIMIT_GRACE
            return None if is_over else LimitWait(name=limit, until=until)
        case _:
            return None


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


_STEP_STATES: Final[tuple[StepState, ...]] = get_args(StepState)


def _advance(step: StepProgress, state: str, at: str, error: object) -> StepProgress:
    if state == "running":
        begun = step.started_at or at
        return replace(step, state="running", started_at=begun, ended_at=None, attempts=step.attempts + 1, error=None)
    [known] = [one for one in _STEP_STATES if one == state]
    return replace(step, state=known, ended_at=at, error=None if error is None else str(error))
