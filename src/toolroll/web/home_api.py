"""The first screen's part of the API: what waits, what was finished, what was done last, and a demo without a key."""

import asyncio
import shutil
from collections.abc import Iterable, Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from toolroll._version import __version__
from toolroll.apps.chats import Chats
from toolroll.apps.jobs import JobStatus, JobStore
from toolroll.apps.project import Project
from toolroll.apps.run_book import RunBook
from toolroll.home.folders import find_folders
from toolroll.home.tokens import Token
from toolroll.kernel.call.context import random_id
from toolroll.models.catalog import ALIASES
from toolroll.models.scripted_file import PREFIX
from toolroll.web.models import Operation
from toolroll.web.page_models import ChatStarted
from toolroll.web.routing import answer_with
from toolroll.web.run_models import FinishedLine, HomeModel, RunLine, WaitingLine
from toolroll.web.runs_api import MAX_RUNS, run_line

HOME_RUNS: Final = 12
MAX_FINISHED: Final = 5
MAX_CHOICES: Final = 8
DEMO_FOLDER: Final = "demo"
DEMO_PROMPT: Final = (
    "Zero cups should read 'no tea at all'. Where is that written, who depends on it, and can you change it?"
)


class HomeApi:
    """The operations of the first screen."""

    def __init__(
        self, chats: Chats, store: JobStore, book: RunBook, folder: Path, environment: Mapping[str, str]
    ) -> None:
        self._chats, self._store, self._book = chats, store, book
        self._folder, self._environment = folder, environment

    async def show_home(self, _request: Request, _person: Token) -> Response:
        """Say what waits, what was finished, and what was done last."""
        found, _ = await asyncio.to_thread(self._book.read, limit=MAX_RUNS)
        lines = [run_line(one) for one in found]
        jobs = await self._jobs()
        with Project.open(self._folder, self._environment) as project:
            model = project.settings.model
        home = HomeModel(
            folder=str(self._folder),
            model=model,
            models=_first([*(line.model for line in lines if ":" in line.model), *ALIASES]),
            folders=_first([str(self._folder), *(line.folder for line in lines if line.folder)]),
            version=__version__,
            waiting=(*_waiting_jobs(jobs), *_waiting_chats(lines, jobs)),
            finished=tuple(
                FinishedLine(id=job.row.run_id, title=job.request.title, updated=job.row.updated)
                for job in jobs
                if job.row.state == "done" and job.request.app == "explore"
            )[:MAX_FINISHED],
            runs=tuple(lines[:HOME_RUNS]),
        )
        return answer_with(home)

    async def start_demo(self, _request: Request, _person: Token) -> Response:
        """Begin a chat in a copy of the sample project, with answers that are recorded: no key, no network."""
        place = find_folders(self._environment).data / DEMO_FOLDER / random_id()[:8]
        script = await asyncio.to_thread(_copy_demo, place)
        chat_id = await self._chats.start(DEMO_PROMPT, folder=place / "tea-board", model=f"{PREFIX}{script}")
        return JSONResponse({"id": chat_id}, status_code=202, headers={"Location": f"/api/chats/{chat_id}"})

    async def _jobs(self) -> list[JobStatus]:
        rows = [row for row in await self._store.list() if row.state in ("waiting", "done")]
        latest = sorted(rows, key=lambda row: (row.state != "waiting", -row.updated))
        waiting = sum(row.state == "waiting" for row in rows)
        return [await self._store.read(row) for row in latest[: waiting + 2 * MAX_FINISHED]]


def _copy_demo(place: Path) -> Path:
    """Copy the sample project and what the model says in it; return the path of that."""
    place.mkdir(parents=True, exist_ok=True)
    with as_file(files("toolroll.packs.code") / "sample") as sample:
        shutil.copytree(sample, place / "tea-board", ignore=shutil.ignore_patterns("__pycache__"))
    with as_file(files("toolroll.packs.code") / "demo.json") as script:
        shutil.copyfile(script, place / "demo.json")
    return place / "demo.json"


def _waiting_jobs(jobs: Iterable[JobStatus]) -> list[WaitingLine]:
    return [
        WaitingLine(
            kind="job",
            id=job.row.run_id,
            title=job.request.title,
            app=job.request.app,
            folder="",
            updated=job.row.updated,
        )
        for job in jobs
        if job.row.state == "waiting"
    ]


def _waiting_chats(lines: Iterable[RunLine], jobs: Iterable[JobStatus]) -> list[WaitingLine]:
    """Return the runs that wait; one that a job drives is answered with the job."""
    driven = {run for job in jobs for run in job.job.runs}
    return [
        WaitingLine(kind="chat", id=one.id, title=one.title, app=one.app, folder=one.folder, updated=one.updated)
        for one in lines
        if one.state == "approval_pending" and one.id not in driven
    ]


def _first(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))[:MAX_CHOICES]


HOME_OPERATIONS: Final = (
    Operation(method="GET", path="/api/home", name="show_home", summary="What waits", scope="page", answer=HomeModel),
    Operation(
        method="POST",
        path="/api/demo",
        name="start_demo",
        summary="Begin a chat that needs no key",
        scope="page",
        status=202,
        answer=ChatStarted,
    ),
)
