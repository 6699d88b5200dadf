"""The ideas of the page: documents with their versions and sources, and what an exploration does."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from toolroll.apps.explore import ExploreOptions, open_source
from toolroll.apps.jobs import JobStore
from toolroll.errors import FileMissing, NotAFile, PathRefused, RunMissing, ToolrollError
from toolroll.home.tokens import Token
from toolroll.journal.journal import Recording
from toolroll.journal.records import CallEnded, ModelTurn, StateSet
from toolroll.packs.research.log import log_path, parse_log
from toolroll.packs.research.overview import read_overviews
from toolroll.packs.research.source import MAX_STORED_BYTES, ResearchSource
from toolroll.packs.search.sources import QUERIES_STATE, SOURCES_STATE
from toolroll.web.ideas_models import (
    Activity,
    ActivityList,
    IdeaDocument,
    IdeaLine,
    IdeaList,
    IdeaVersion,
    SourceModel,
    VersionRun,
)
from toolroll.web.models import Operation
from toolroll.web.problems import Problem

MAX_ACTIVITIES: Final = 500
MAX_SHOWN_CHARACTERS: Final = 300

_UPDATE: Final = re.compile(r"^## Update - (\d{4}-\d{2}-\d{2})[ \t]*$", re.MULTILINE)
_NOTE: Final = re.compile(r"^\[\^(\d{1,9})\]: \[(.*)\]\(<([^>]*)>\), found (.*)$", re.MULTILINE)
_ESCAPED: Final = re.compile(r"\\(.)")


class IdeasApi:
    """The operations on ideas. They are kept where the service writes them: in a folder, or in a repository."""

    def __init__(self, store: JobStore, place: ExploreOptions, environment: Mapping[str, str]) -> None:
        self._store, self._environment = store, environment
        self._place = place if place.repo or place.ideas else place.for_job()

    async def list_ideas(self, _request: Request, _person: Token) -> Response:
        """List the ideas that have a document, the newest first."""
        async with open_source(self._place.place, self._environment) as source:
            found = await read_overviews(source, await source.list_ideas())
        lines = tuple(
            IdeaLine(
                path=one.entry.path,
                title=one.title,
                date=None if one.entry.date is None else one.entry.date.isoformat(),
                mode=one.mode,
                model=one.model,
                explorations=one.explorations,
                cost=one.cost_usd,
            )
            for one in found
        )
        return _answer(
            IdeaList(place=self._place.repo or self._place.ideas or "", is_repo=bool(self._place.repo), ideas=lines)
        )

    async def show_idea(self, request: Request, _person: Token) -> Response:
        """Show a document with its versions, its sources, and the explorations that it is from."""
        path = request.query_params.get("path", "")
        try:
            async with open_source(self._place.place, self._environment) as source:
                content = (await source.read(path, limit_bytes=MAX_STORED_BYTES)).content
                shown = IdeaDocument(
                    path=path,
                    where=source.where(path),
                    versions=tuple(split_versions(content)),
                    sources=tuple(read_footnotes(content)),
                    runs=await _read_runs(source, path),
                )
        except (FileMissing, NotAFile, PathRefused) as error:
            raise Problem(404, "not_found", str(error.message)) from error
        return _answer(shown)

    async def show_activity(self, request: Request, person: Token) -> Response:
        """Show what an exploration has searched for, found and read so far."""
        del person  # the page sees all jobs
        rows = await self._store.engine.list_jobs([request.path_params["job_id"]])
        if not rows:
            raise Problem(404, "job_not_found", "There is no such job.")
        done: list[Activity] = []
        characters = 0
        for run_id in (await self._store.read(rows[0])).job.runs:
            try:
                recording = await self._store.journal.read(run_id)
            except RunMissing:  # it has not begun
                continue
            done += list_activities(recording)
            characters += sum(len(one.message.text) for _, one in recording if isinstance(one, ModelTurn))
        return _answer(ActivityList(activities=tuple(done[:MAX_ACTIVITIES]), written=characters))


def list_activities(recording: Recording) -> Iterator[Activity]:
    """Yield what a run of research did, in order: queries, pages that were found, and calls."""
    for number, record in recording:
        match record:
            case StateSet(name=name, value=str(query)) if name.startswith(QUERIES_STATE):
                yield Activity(kind="query", text=query, at=number)
            case StateSet(name=name, value={"title": str(title), "url": str(url), "cited": False}) if name.startswith(
                SOURCES_STATE
            ):
                yield Activity(kind="page", text=title[:MAX_SHOWN_CHARACTERS], url=url, at=number)
            case CallEnded(result=result):
                said = _first_line(str(result.content))
                yield Activity(kind="failed" if result.is_error else "call", text=result.name, detail=said, at=number)
            case _:
                continue


def split_versions(content: str) -> Iterator[IdeaVersion]:
    """Yield the document as it was first written, then each update."""
    found = list(_UPDATE.finditer(content))
    starts = [0, *(one.start() for one in found)]
    ends = [*starts[1:], len(content)]
    dates = ["", *(one[1] for one in found)]
    for start, end, date in zip(starts, ends, dates, strict=True):
        yield IdeaVersion(date=date, text=content[start:end])


def read_footnotes(content: str) -> Iterator[SourceModel]:
    """Yield the sources that the text refers to, as the document itself lists them."""
    for number, title, url, found in _NOTE.findall(content):
        yield SourceModel(number=int(number), title=_ESCAPED.sub(r"\1", title), url=url, found=found)


async def _read_runs(source: ResearchSource, path: str) -> tuple[VersionRun, ...]:
    """Return the explorations in the log beside a document; none where there is no log."""
    try:
        text = (await source.read(log_path(path), limit_bytes=MAX_STORED_BYTES)).content
    except ToolrollError:
        return ()
    return tuple(_run(one) for one in parse_log(text) if isinstance(one, Mapping) and "idea" in one)


def _run(entry: Mapping[object, object]) -> VersionRun:
    cost, runs, steps = entry.get("cost_usd"), entry.get("runs"), entry.get("steps")
    return VersionRun(
        idea=str(entry["idea"]),
        mode=str(entry.get("mode", "")),
        model=str(entry.get("model", "")),
        completed=str(entry.get("completed_at", "")),
        is_update=entry.get("is_update") is True,
        steps=steps if isinstance(steps, int) else 0,
        cost=float(cost) if isinstance(cost, int | float) else None,
        runs=tuple(map(str, runs)) if isinstance(runs, list) else (),
    )


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "")[:MAX_SHOWN_CHARACTERS]


def _answer(model: BaseModel) -> Response:
    return Response(model.model_dump_json(), media_type="application/json")


IDEA_OPERATIONS: Final = (
    Operation(
        method="GET",
        path="/api/ideas",
        name="list_ideas",
        summary="List documents",
        scope="page",
        answer=IdeaList,
    ),
    Operation(
        method="GET",
        path="/api/ideas/document",
        name="show_idea",
        summary="A document with its versions and sources",
        scope="page",
        answer=IdeaDocument,
        query={"path": {"type": "string", "maxLength": 500}},
        problems=(404,),
    ),
    Operation(
        method="GET",
        path="/api/jobs/{job_id}/activity",
        name="show_activity",
        summary="What an exploration searched for and found",
        scope="page",
        answer=ActivityList,
        problems=(404,),
    ),
)
