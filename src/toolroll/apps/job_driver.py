"""Drives a job to its end, or until it waits for a person: each step is recorded, limited in time and tried again."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from toolroll.agent.approvals import AskLater
from toolroll.agent.run import is_on_record
from toolroll.apps.code import build_code_agent
from toolroll.apps.explore import ExploreOptions, ask_for_searches, make_research_options, open_source
from toolroll.apps.job_news import News, tell
from toolroll.apps.jobs import DOCUMENT, LIMIT, STEP, JobRequest, read_steps
from toolroll.apps.models import connect_model
from toolroll.apps.project import Project
from toolroll.apps.rate_limits import LimitedModel, find_limits
from toolroll.apps.run_log import recorded_settings
from toolroll.apps.spec import AgentSpec
from toolroll.apps.surface import MakeApprover, Note, Surface, ask_nobody
from toolroll.apps.webhooks import WebhookSender
from toolroll.engine.engine import Ending, JobLeft, JobRefused
from toolroll.engine.rates import RateLimiter, Wait
from toolroll.errors import (
    AuthenticationFailed,
    ContentRefused,
    ContextTooLong,
    FileProblem,
    JournalRefused,
    ModelTimeout,
    PathRefused,
    PermissionRefused,
    QuotaExceeded,
    RecordTooNew,
    RequestRefused,
    ToolrollError,
    UsageError,
)
from toolroll.home.folders import find_folders
from toolroll.home.settings_schema import Rate
from toolroll.journal.journal import Journal
from toolroll.journal.records import RunEnded, StateSet
from toolroll.kernel.call.context import utc_now
from toolroll.models.model import Model
from toolroll.packs.research.exploration import ExplorationResult, Job, explore
from toolroll.safe.paths.files import private_folder
from toolroll.safe.secrets.redact import redact_line

T = TypeVar("T")

_log: Final = logging.getLogger("toolroll.jobs")

_PERMANENT: Final = (
    AuthenticationFailed,
    ContentRefused,
    ContextTooLong,
    FileProblem,
    PathRefused,
    PermissionRefused,
    QuotaExceeded,
    RequestRefused,
    UsageError,
)
"""Errors that another attempt would only repeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRule:
    """How long one try of a step may take, and how often it is tried within one attempt at the job."""

    seconds: float
    tries: int = 1


RULES: Final[Mapping[str, StepRule]] = {
    "initialize": StepRule(seconds=60),
    "check_existing": StepRule(seconds=120, tries=3),
    # A model call has retries of its own, and what was answered is on record for the next attempt at the job.
    "generate_research": StepRule(seconds=3_600),
    "run": StepRule(seconds=3_600),
    "write": StepRule(seconds=120, tries=3),
    "notify": StepRule(seconds=120),
}
MAX_LOGGED_CHARACTERS: Final = 200
HOLD_TRIES: Final = 20
HOLD_PAUSE_S: Final = 0.1
FIRST_PAUSE_S: Final = 1.0
"""Before the second try of a step, doubled for each later one."""


class JobDriver:
    """Drives jobs in one process: `await driver(job_id)`."""

    def __init__(
        self,
        journal: Journal,
        environment: Mapping[str, str],
        *,
        clock: Callable[[], datetime] = utc_now,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        sender: WebhookSender | None = None,
        rates: RateLimiter | None = None,
    ) -> None:
        self._journal = journal
        self._environment = environment
        self._clock = clock
        self._sleep = sleep
        self._rates = rates
        self._sender = sender or WebhookSender(journal, environment, clock=clock, sleep=sleep)

    async def __call__(self, job_id: str) -> Ending:
        """Go on with a job from what is on record; nothing that was finished is paid or written again."""
        try:
            await self._hold(job_id)
            recording = await self._journal.read(job_id)
            if any(isinstance(record, RunEnded) for _, record in recording):
                return "done"
            settings = recorded_settings(recording)
            request, job = JobRequest.from_record(settings), Job.from_settings(settings)
            begun = any(step.attempts for step in read_steps(request.app, recording) if step.name in _PAID_STEPS)
            return await self._drive(request, job, is_resumed=begun)
        except RecordTooNew as error:
            raise JobLeft(error.message) from error
        except _PERMANENT as error:
            raise JobRefused(error.message) from error
        finally:
            await self._journal.release(job_id)

    async def _hold(self, job_id: str) -> None:
        """Hold the job; whoever has just queued it, or tells news of it, lets go of it in a moment."""
        for tried in range(HOLD_TRIES):
            if await self._journal.acquire(job_id):
                return
            if tried + 1 < HOLD_TRIES:
                await asyncio.sleep(HOLD_PAUSE_S)
        raise JournalRefused(f"Job {job_id} is being driven by another process.")

    async def _drive(self, request: JobRequest, job: Job, *, is_resumed: bool) -> Ending:
        steps = _Steps(self._journal, job.id, self._clock, self._sleep)
        if request.explore is not None:
            result = await self._explore(request.explore, request, job, steps, is_resumed=is_resumed)
            await self._journal.append(job.id, StateSet(name=DOCUMENT, value=result.path))
            text = result.where
        else:
            assert request.code is not None  # a request is for one of the two
            try:
                text = await self._run_code(request.code, request.prompt, job, steps)
            except _Waits as waits:
                await self._tell(News(job_id=job.id, request=request, state="waiting", calls=waits.calls))
                return "waiting"
        await steps.run("notify", partial(self._notify, job, request, text))
        await self._journal.append(job.id, RunEnded(stop_reason="answer", stop_detail="", text=text, has_answer=True))
        return "done"

    async def _explore(
        self, options: ExploreOptions, request: JobRequest, job: Job, steps: "_Steps", *, is_resumed: bool
    ) -> ExplorationResult:
        async def initialize() -> Project:
            folder = _find_folder(options.folder, self._environment, is_movable=request.is_movable)
            return Project.open(folder, self._environment, flags={"model": options.model})

        with await steps.run("initialize", initialize) as project:
            surface = self._surface(job)
            async with open_source(options.place, self._environment) as source:
                made = make_research_options(
                    options,
                    model=self._connect(options.model, project, job),
                    project=project,
                    surface=surface,
                    journal=self._journal,
                )
                prepare = partial(ask_for_searches, surface=surface, yes=request.search_consent)
                return await explore(
                    replace(options.request, is_repeat=request.schedule is not None),
                    source,
                    job=job,
                    is_resumed=is_resumed,
                    run_step=steps.run,
                    prepare=prepare,
                    clock=self._clock,
                    **made,
                )

    def _connect(self, name: str, project: Project, job: Job) -> Model:
        """Return the model, which waits for its rate limits; the job records that it waits."""
        model = connect_model(name, self._environment, settings=project.settings)
        if self._rates is None:
            return model

        async def record(wait: Wait) -> None:
            _log.info("%s: waits for the rate limit of %s, %.0f s or more.", job.id, wait.name, wait.seconds)
            until = self._clock() + timedelta(seconds=wait.seconds)
            value = {"name": wait.name, "until": until.isoformat()}
            await self._journal.append(job.id, StateSet(name=LIMIT, value=value))

        rates = [Rate.parse(text) for text in project.settings.jobs.rates]
        return LimitedModel(model, find_limits(name, rates), self._rates, on_limit=record)

    async def _run_code(self, spec: AgentSpec, prompt: str, job: Job, steps: "_Steps") -> str:
        """Return the answer of the coding agent."""

        async def initialize() -> Project:
            return Project.open(spec.project_folder, self._environment, flags={"model": spec.model})

        with await steps.run("initialize", initialize) as project:
            surface = self._surface(job, lambda _memory, _seconds: AskLater())

            async def run() -> str:
                model = self._connect(spec.model, project, job)
                await project.learn_servers(surface)
                async with build_code_agent(
                    spec, project=project, surface=surface, journal=self._journal, model=model
                ) as agent:
                    project.recover_changes(agent.setup.tools, surface)
                    if await is_on_record(self._journal, job.runs[0]):
                        result = await agent.start(resume=job.runs[0]).wait()
                    else:
                        result = await agent.start(prompt, run_id=job.runs[0]).wait()
                if result.stop_reason == "approval_pending":
                    raise _Waits([request.call_id for request in result.pending])
                return result.text

            return await steps.run("run", run)

    async def _notify(self, job: Job, request: JobRequest, text: str) -> None:
        """Say in the log, and to the address of the job, that it has ended."""
        _log.info("%s: done: %s", job.id, redact_line(text, MAX_LOGGED_CHARACTERS))
        await self._tell(News(job_id=job.id, request=request, state="done", result=text))

    async def _tell(self, news: News) -> None:
        if await tell(self._sender, news, now=self._clock()) is False:
            _log.warning("%s: its webhook was not taken. See 'toolroll jobs show'.", news.job_id)

    def _surface(self, job: Job, make_approver: MakeApprover = ask_nobody) -> Surface:
        """Return a place without a person: notes go to the log."""

        def notify(note: Note) -> None:
            _log.info("%s: %s", job.id, note.text)

        return Surface(environment=self._environment, notify=notify, make_approver=make_approver)


def _find_folder(given: str, environment: Mapping[str, str], *, is_movable: bool) -> Path:
    """Return the folder of a job; for one that was queued on another machine, and needs none, one of our own."""
    folder = Path(given)
    is_elsewhere = is_movable and not folder.is_dir()
    return private_folder(find_folders(environment).data) if is_elsewhere else folder


_PAID_STEPS: Final = ("generate_research", "run")


class _Waits(Exception):
    """The job waits for a person: its step is not done, and no worker is needed until the answer is there."""

    def __init__(self, calls: Sequence[str]) -> None:
        super().__init__()
        self.calls = calls


class _Steps:
    """The steps of one attempt at a job."""

    def __init__(
        self,
        journal: Journal,
        job_id: str,
        clock: Callable[[], datetime],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._journal, self._job_id, self._clock, self._sleep = journal, job_id, clock, sleep

    async def run(self, step: str, work: Callable[[], Awaitable[T]], /) -> T:
        """Do a step; one that fails is tried again, as often as its rule allows, if that can help."""
        rule = RULES[step]
        for tried in range(1, rule.tries + 1):
            await self._record(step, "running")
            try:
                async with asyncio.timeout(rule.seconds):
                    done = await work()
            except TimeoutError:
                await self._fail(step, error := ModelTimeout(f"The step {step} took more than {rule.seconds:g} s."))
                if tried == rule.tries:
                    raise error from None
            except _Waits:
                await self._record(step, "waiting")
                raise
            except ToolrollError as error:
                await self._fail(step, error)
                if tried == rule.tries or isinstance(error, _PERMANENT):
                    raise
            else:
                await self._record(step, "done")
                return done
            await self._sleep(FIRST_PAUSE_S * 2 ** (tried - 1))
        raise AssertionError("the last try returns or raises")

    async def _fail(self, step: str, error: ToolrollError) -> None:
        with suppress(ToolrollError):  # the error itself is the news
            await self._record(step, "failed", error=error.message)

    async def _record(self, step: str, state: str, **more: str) -> None:
        value = {"step": step, "state": state, "at": self._clock().isoformat(), **more}
        await self._journal.append(self._job_id, StateSet(name=STEP, value=value))
