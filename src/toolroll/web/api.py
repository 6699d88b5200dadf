"""The HTTP API for jobs: queue an exploration, look, cancel, retry, answer, and follow its events (R32)."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, get_args

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from toolroll.apps.explore import ExploreOptions, open_source
from toolroll.apps.job_news import tell_again
from toolroll.apps.jobs import STEP, JobRequest, JobStatus, JobStore
from toolroll.apps.project import Project
from toolroll.apps.webhooks import WebhookSender, check_webhook
from toolroll.engine.engine import JobRow, JobState
from toolroll.home.tokens import Token, TokenBook
from toolroll.journal.records import StateSet
from toolroll.journal.tables import JOB_PREFIX
from toolroll.kernel.call.context import utc_now
from toolroll.packs.research.source import MAX_STORED_BYTES
from toolroll.web.models import (
    MAX_PAGE,
    Answer,
    ExplorationRequest,
    Health,
    JobModel,
    JobPage,
    Operation,
    make_openapi,
)
from toolroll.web.page_parts import ALL_PAGE_OPERATIONS
from toolroll.web.problems import Problem
from toolroll.web.routing import Doorkeeper, make_routes, read_body
from toolroll.web.sessions import Sessions

EVENT_POLL_S: Final = 0.5
"""Between two looks for new records of a job that is followed."""
KEEP_ALIVE_S: Final = 15.0
DEFAULT_PAGE: Final = 50
MAX_KEY_CHARACTERS: Final = 200
_STATES: Final = get_args(JobState)
_NOT_OVER_HTTP: Final = ("scripted:", "local:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What the routes work with. Explorations are written to `folder`, or to the repository in `place`."""

    store: JobStore
    tokens: TokenBook
    environment: Mapping[str, str]
    folder: Path
    place: ExploreOptions
    """The options that a request does not have: where research is kept."""
    sessions: Sessions | None = None
    """The sessions of the page, if there is one."""
    data: Path | None = None
    """The folder with the writer's profiles and posts; without it, the one in the user's home."""
    doctor: Callable[[], Sequence[Mapping[str, str]]] = tuple
    """Looks at everything, as `toolroll doctor` does; it may take a second, and runs in a thread."""

    @property
    def doorkeeper(self) -> Doorkeeper:
        """Return who decides who is let in."""
        return Doorkeeper(tokens=self.tokens, sessions=self.sessions)


class Api:
    """The routes of the service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._store = service.store

    def routes(self) -> list[Route]:
        """Return the routes, each with its check of the token."""
        return [
            *make_routes(self, OPERATIONS, self._service.doorkeeper),
            Route("/api/openapi.json", self._openapi, methods=["GET"]),
        ]

    async def create_exploration(self, request: Request, token: Token) -> Response:
        """Queue an exploration."""
        asked = await read_body(request, ExplorationRequest)
        options = self._make_options(asked)
        options.check()
        webhook = None if asked.webhook is None else check_webhook(asked.webhook, self._service.environment)
        job = JobRequest(explore=options, owner=token.name, webhook=webhook)
        queued, is_new = await self._store.submit(job, priority=asked.priority, job_id=_idempotent_id(request, token))
        status = await self._find(queued, token, is_new=is_new)
        return JSONResponse(status.fields, status_code=202, headers={"Location": f"/api/jobs/{queued}"})

    async def list_jobs(self, request: Request, token: Token) -> Response:
        """List the jobs that the token may see."""
        state, limit, after = _read_query(request)
        rows = [row for row in await self._store.list() if state is None or row.state == state]
        if after is not None:
            rows = _rows_after(rows, after)
        found: list[JobStatus] = []
        for row in rows:
            status = await self._store.read(row)
            if _may_see(token, status):
                found.append(status)
            if len(found) > limit:
                break
        page, more = found[:limit], found[limit:]
        following = page[-1].row.run_id if more else None
        return JSONResponse({"jobs": [status.fields for status in page], "next": following})

    async def show_job(self, request: Request, token: Token) -> Response:
        """Show one job."""
        return JSONResponse((await self._named(request, token)).fields)

    async def cancel_job(self, request: Request, token: Token) -> Response:
        """Cancel a job."""
        return await self._change(request, token, self._store.engine.cancel, "is not open")

    async def retry_job(self, request: Request, token: Token) -> Response:
        """Queue a dead or cancelled job again."""
        return await self._change(request, token, self._store.engine.retry, "cannot be retried")

    async def notify_again(self, request: Request, token: Token) -> Response:
        """Tell the address of a job once more."""
        status = await self._named(request, token)
        sender = WebhookSender(self._store.journal, self._service.environment)
        await tell_again(self._store, sender, status, now=utc_now())
        return JSONResponse((await self._find(status.row.run_id, token)).fields)

    async def answer_job(self, request: Request, token: Token) -> Response:
        """Answer a question of a job."""
        status = await self._named(request, token)
        answer = await read_body(request, Answer)
        is_yes = answer.decision == "approve"
        await self._store.answer(status, answer.call_id, is_yes=is_yes, reason=answer.reason)
        return JSONResponse((await self._find(status.row.run_id, token)).fields)

    async def show_document(self, request: Request, token: Token) -> Response:
        """Return the document of an exploration that is done."""
        status = await self._named(request, token)
        if status.row.state != "done" or status.request.explore is None or status.document is None:
            raise Problem(409, "no_document", f"The job is {status.row.state}, and has no document.")
        async with open_source(status.request.explore.place, self._service.environment) as source:
            content = (await source.read(status.document, limit_bytes=MAX_STORED_BYTES)).content
        return PlainTextResponse(content, media_type="text/markdown")

    async def follow_job(self, request: Request, token: Token) -> Response:
        """Send the steps of a job as server-sent events, from `Last-Event-ID` on, until it ends or waits."""
        status = await self._named(request, token)
        after = _read_event_id(request)
        return StreamingResponse(self._events(status.row.run_id, after), media_type="text/event-stream")

    async def check_health(self, _request: Request) -> Response:
        """Say that the process answers."""
        return JSONResponse({"status": "ok"})

    async def check_ready(self, _request: Request) -> Response:
        """Say that the queue and the run log can be used."""
        await self._store.list()
        return JSONResponse({"status": "ok"})

    async def show_metrics(self, _request: Request, _token: Token) -> Response:
        """Count the jobs by state, as Prometheus reads it."""
        rows = await self._store.list()
        lines = ["# HELP toolroll_jobs Jobs by state.", "# TYPE toolroll_jobs gauge"]
        lines += [f'toolroll_jobs{{state="{state}"}} {sum(row.state == state for row in rows)}' for state in _STATES]
        return PlainTextResponse("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")

    async def _openapi(self, _request: Request) -> Response:
        return JSONResponse(make_openapi((*OPERATIONS, *ALL_PAGE_OPERATIONS)))

    async def _change(
        self, request: Request, token: Token, change: Callable[[str], Awaitable[bool]], refused: str
    ) -> Response:
        status = await self._named(request, token)
        if not await change(status.row.run_id):
            raise Problem(409, "wrong_state", f"The job is {status.row.state}: it {refused}.")
        return JSONResponse((await self._find(status.row.run_id, token)).fields)

    async def _named(self, request: Request, token: Token) -> JobStatus:
        return await self._find(request.path_params["job_id"], token)

    async def _find(self, job_id: str, token: Token, *, is_new: bool = False) -> JobStatus:
        """Return a job; one of somebody else is as unknown as one that is not there."""
        rows = await self._store.engine.list_jobs([job_id])
        status = await self._store.read(rows[0]) if rows else None
        if status is None or not (is_new or _may_see(token, status)):
            raise Problem(404, "job_not_found", "There is no such job.")
        return status

    def _make_options(self, asked: ExplorationRequest) -> ExploreOptions:
        # A file, or an address of the caller's choice, is nothing that a token should be able to name.
        if asked.model is not None and (asked.model.startswith(_NOT_OVER_HTTP) or "@" in asked.model):
            raise Problem(400, "invalid_body", "model: name a model of a provider, such as 'sonnet' or 'openai:NAME'.")
        given = asked.model_dump(exclude={"priority", "model", "webhook"})
        options = replace(self._service.place, **given, model=asked.model or "")
        with Project.open(self._service.folder, self._service.environment, flags={"model": asked.model}) as project:
            return options.with_model(project).for_job()

    async def _events(self, job_id: str, after: int) -> AsyncIterator[str]:
        silent_s = 0.0
        while True:
            [row] = await self._store.engine.list_jobs([job_id])
            recording = await self._store.journal.read(job_id, after=after)
            for number, record in recording:
                after = number
                if isinstance(record, StateSet) and record.name == STEP:
                    yield _format_event(number, "step", record.value)
            if row.state not in ("queued", "running"):
                yield _format_event(None, "end", {"state": row.state})
                return
            await asyncio.sleep(EVENT_POLL_S)
            silent_s = 0.0 if len(recording) else silent_s + EVENT_POLL_S
            if silent_s >= KEEP_ALIVE_S:
                silent_s = 0.0
                yield ": still here\n\n"


def _may_see(token: Token, status: JobStatus) -> bool:
    return "all" in token.scopes or status.request.owner == token.name


def _read_query(request: Request) -> tuple[str | None, int, str | None]:
    unknown = sorted(set(request.query_params) - {"state", "limit", "after"})
    if unknown:
        raise Problem(400, "invalid_query", "Unknown parameter. Known are: state, limit, after.")
    state, limit = request.query_params.get("state"), request.query_params.get("limit", str(DEFAULT_PAGE))
    if state is not None and state not in _STATES:
        raise Problem(400, "invalid_query", f"state: must be one of {', '.join(_STATES)}.")
    if not (limit.isascii() and limit.isdigit() and len(limit) < 5 and 1 <= int(limit) <= MAX_PAGE):  # noqa: PLR2004 - digits
        raise Problem(400, "invalid_query", f"limit: must be a whole number from 1 to {MAX_PAGE}.")
    return state, int(limit), request.query_params.get("after")


def _rows_after(rows: list[JobRow], after: str) -> list[JobRow]:
    places = [place for place, row in enumerate(rows) if row.run_id == after]
    if not places:
        raise Problem(400, "invalid_query", "after: there is no such job in this list.")
    return rows[places[0] + 1 :]


def _read_event_id(request: Request) -> int:
    given = request.headers.get("last-event-id", "0")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else 0  # noqa: PLR2004 - digits


def _idempotent_id(request: Request, token: Token) -> str | None:
    """Return the id of the job that this key of the caller stands for; None without a key."""
    key = request.headers.get("idempotency-key")
    if key is None:
        return None
    if not 1 <= len(key) <= MAX_KEY_CHARACTERS:
        raise Problem(400, "invalid_key", f"Idempotency-Key: 1 to {MAX_KEY_CHARACTERS} characters.")
    named = f"{token.name}\0{key}".encode()
    return JOB_PREFIX + hashlib.sha256(named).hexdigest()[:32]


def _format_event(number: int | None, kind: str, value: object) -> str:
    head = "" if number is None else f"id: {number}\n"
    return f"{head}event: {kind}\ndata: {json.dumps(value, ensure_ascii=False)}\n\n"


_LIST_QUERY: Final[Mapping[str, Mapping[str, Any]]] = {
    "state": {"type": "string", "enum": list(_STATES)},
    "limit": {"type": "integer", "minimum": 1, "maximum": MAX_PAGE},
    "after": {"type": "string", "pattern": "^job-[0-9a-f]{32}$"},
}
_KEY_HEADER: Final = {"Idempotency-Key": {"type": "string", "minLength": 1, "maxLength": MAX_KEY_CHARACTERS}}

OPERATIONS: Final = (
    Operation(
        method="POST",
        path="/api/explorations",
        name="create_exploration",
        summary="Queue an exploration",
        scope="run",
        status=202,
        body=ExplorationRequest,
        answer=JobModel,
        header=_KEY_HEADER,
        problems=(404, 415),
    ),
    Operation(
        method="GET",
        path="/api/jobs",
        name="list_jobs",
        summary="List jobs, the newest first",
        scope="read",
        answer=JobPage,
        query=_LIST_QUERY,
    ),
    Operation(
        method="GET",
        path="/api/jobs/{job_id}",
        name="show_job",
        summary="Show a job",
        scope="read",
        answer=JobModel,
        problems=(404,),
    ),
    Operation(
        method="POST",
        path="/api/jobs/{job_id}/cancel",
        name="cancel_job",
        summary="Cancel a job",
        scope="run",
        answer=JobModel,
        problems=(404, 409),
    ),
    Operation(
        method="POST",
        path="/api/jobs/{job_id}/retry",
        name="retry_job",
        summary="Queue a dead or cancelled job again",
        scope="run",
        answer=JobModel,
        problems=(404, 409),
    ),
    Operation(
        method="POST",
        path="/api/jobs/{job_id}/notify",
        name="notify_again",
        summary="Tell the webhook of a job once more",
        scope="run",
        answer=JobModel,
        problems=(404, 409),
    ),
    Operation(
        method="POST",
        path="/api/jobs/{job_id}/answers",
        name="answer_job",
        summary="Answer a question of a job",
        scope="approve",
        body=Answer,
        answer=JobModel,
        problems=(404, 409, 415),
    ),
    Operation(
        method="GET",
        path="/api/jobs/{job_id}/document",
        name="show_document",
        summary="Read the document of an exploration",
        scope="read",
        media_type="text/markdown",
        problems=(404, 409),
    ),
    Operation(
        method="GET",
        path="/api/jobs/{job_id}/events",
        name="follow_job",
        summary="Follow a job by server-sent events",
        scope="read",
        media_type="text/event-stream",
        header={"Last-Event-ID": {"type": "string", "pattern": "^[0-9]{1,9}$"}},
        problems=(404,),
    ),
    Operation(
        method="GET", path="/healthz", name="check_health", summary="Whether it answers", scope=None, answer=Health
    ),
    Operation(method="GET", path="/readyz", name="check_ready", summary="Whether it works", scope=None, answer=Health),
    Operation(
        method="GET",
        path="/metrics",
        name="show_metrics",
        summary="Figures for Prometheus",
        scope="read",
        media_type="text/plain; version=0.0.4",
    ),
)
