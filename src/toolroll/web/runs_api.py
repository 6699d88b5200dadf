"""The part of the page's API that is about recorded runs: lists, figures, timelines, forks, replays, exports."""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from toolroll.apps.chats import Chats
from toolroll.apps.export.page import render_page
from toolroll.apps.export.run_tree import format_json_lines, read_run_tree
from toolroll.apps.export.timeline import TurnView, build_timeline, iterate_turns
from toolroll.apps.run_book import RunBook
from toolroll.apps.spec import recorded_kind
from toolroll.home.keys import known_secrets
from toolroll.home.tokens import Token
from toolroll.journal.journal import Journal
from toolroll.journal.places import find_run_log
from toolroll.journal.records import RunBegan
from toolroll.journal.sqlite import SqliteJournal
from toolroll.journal.statistics import Statistics, read_statistics
from toolroll.journal.summaries import RunSummary
from toolroll.web.models import Operation
from toolroll.web.page_models import ChatStarted
from toolroll.web.problems import Problem
from toolroll.web.routing import answer_with, chat_operation, chat_path_id, read_body
from toolroll.web.run_models import (
    DayModel,
    FigureModel,
    ForkRequest,
    ModelModel,
    ReplayModel,
    RunLine,
    RunPage,
    SpanModel,
    TimelineModel,
    ToolModel,
)
from toolroll.web.transcript import make_title

MAX_RUNS: Final = 500
DAYS: Final = 30
MAX_DAYS: Final = 365
MAX_NAMES: Final = 20
_DAY_S: Final = 86_400
_MAX_ARGUMENTS: Final = 200
_FORMS: Final = {"html": "text/html; charset=utf-8", "jsonl": "application/jsonl; charset=utf-8"}
_FILTERS: Final = ("app", "state", "folder")


class RunsApi:
    """The operations on recorded runs."""

    def __init__(self, chats: Chats, journal: Journal, book: RunBook, environment: Mapping[str, str]) -> None:
        self._chats, self._journal, self._book, self._environment = chats, journal, book, environment

    async def list_runs(self, request: Request, _person: Token) -> Response:
        """List runs, the newest first, by words, application, state and folder."""
        words = request.query_params.get("find", "").casefold().split()
        wanted = {name: request.query_params[name] for name in _FILTERS if request.query_params.get(name)}
        found, total = await asyncio.to_thread(self._book.read, limit=MAX_RUNS)
        lines = [run_line(one) for one in found]
        shown = [one for one in lines if _fits(one, wanted) and _has_words(one, words)]
        return answer_with(RunPage(runs=tuple(shown), total=total))

    async def show_figures(self, request: Request, _person: Token) -> Response:
        """Show figures over all runs of the last days."""
        given = request.query_params.get("days", str(DAYS))
        if not (given.isascii() and given.isdigit() and 1 <= int(given[:4]) <= MAX_DAYS):
            raise Problem(400, "invalid_query", f"days: must be a whole number from 1 to {MAX_DAYS}.")
        log = find_run_log(self._environment)
        first = date.today() - timedelta(days=int(given) - 1)  # noqa: DTZ011 - of this machine, as the figures are
        since = time.mktime(first.timetuple())
        figures = await asyncio.to_thread(read_statistics, log, since=since)
        return answer_with(_figures(figures, first, int(given)))

    async def show_timeline(self, request: Request, _person: Token) -> Response:
        """Show the steps and calls of a run on the line of time."""
        chat_id = chat_path_id(request)
        recording = await self._journal.read(chat_id)
        times = await self._journal.times(chat_id) if isinstance(self._journal, SqliteJournal) else {}
        turns = list(iterate_turns(build_timeline(recording, times)))
        zero = min(times.values(), default=None)
        first = next((record for _, record in recording if isinstance(record, RunBegan)), None)
        timeline = TimelineModel(
            began=zero,
            seconds=max(times.values(), default=0.0) - (zero or 0.0),
            spans=tuple(span for turn in turns for span in _spans(turn, zero)),
            forked_from=None if first is None else first.forked_from,
            forked_at=None if first is None else first.at,
        )
        return answer_with(timeline)

    async def fork_chat(self, request: Request, _person: Token) -> Response:
        """Begin a chat with the first steps of this one."""
        asked = await read_body(request, ForkRequest)
        made = await self._chats.fork(chat_path_id(request), at_step=asked.at_step, prompt=asked.text)
        return JSONResponse({"id": made}, status_code=202, headers={"Location": f"/api/chats/{made}"})

    async def replay_chat(self, request: Request, _person: Token) -> Response:
        """Play a run again without its model, and compare."""
        report = await self._chats.replay(chat_path_id(request))
        replayed = ReplayModel(
            is_same=report.is_same,
            steps=report.steps,
            calls_run=report.calls_run,
            calls_from_record=report.calls_from_record,
            notes=tuple(map(str, report.notes)),
            differences=tuple(map(str, report.differences)),
        )
        return answer_with(replayed)

    async def export_chat(self, request: Request, _person: Token) -> Response:
        """Download a run: as one page for people, or as lines for programs."""
        form, chat_id = request.query_params.get("form", "html"), chat_path_id(request)
        if form not in _FORMS:
            raise Problem(400, "invalid_query", f"form: must be one of {', '.join(_FORMS)}.")
        if not isinstance(self._journal, SqliteJournal):
            raise Problem(409, "not_here", "Runs in PostgreSQL are exported by 'toolroll runs export'.")
        await self._journal.read(chat_id)  # a problem if there is no such run
        run = await read_run_tree(self._journal, chat_id, secrets=known_secrets(self._environment))
        pieces = render_page(run) if form == "html" else format_json_lines(run)
        data = (await asyncio.to_thread("".join, pieces)).encode("utf-8", "surrogatepass")
        name = f'attachment; filename="run-{chat_id[:12]}.{form}"'
        return Response(data, headers={"content-type": _FORMS[form], "content-disposition": name})


def run_line(run: RunSummary) -> RunLine:
    """Return a run as a line of a list."""
    settings = run.settings
    return RunLine(
        id=run.run_id,
        title=make_title(run.prompt),
        app=recorded_kind(settings),
        folder=str(settings.get("root") or settings.get("folder") or ""),
        model=run.model,
        state="damaged" if run.is_damaged else run.stop_reason or "open",
        steps=run.steps,
        began=run.began,
        updated=run.updated,
        input_tokens=run.input_tokens,
        output_tokens=run.output_tokens,
        cost=run.cost,
        forked_from=run.forked_from,
    )


def _fits(line: RunLine, wanted: Mapping[str, str]) -> bool:
    return all(getattr(line, name) == value for name, value in wanted.items())


def _has_words(line: RunLine, words: list[str]) -> bool:
    text = f"{line.title} {line.folder} {line.model} {line.app} {line.state} {line.id}".casefold()
    return all(word in text for word in words)


def _spans(turn: TurnView, zero: float | None) -> Iterator[SpanModel]:
    answered = turn.answered
    yield SpanModel(
        kind="step",
        step=turn.number,
        start_s=_start(turn.at, answered.duration_s * 1_000, zero),
        duration_ms=answered.duration_s * 1_000,
        input_tokens=answered.usage.input_total,
        output_tokens=answered.usage.output_tokens,
        cost=answered.cost,
        is_inherited=turn.is_inherited,
    )
    for call in turn.calls.values():
        ended = call.ended
        took_ms = None if ended is None else ended.duration_ms
        yield SpanModel(
            kind="call",
            step=turn.number,
            call_id=call.call_id,
            name=call.name,
            arguments=_short_arguments(call.arguments),
            start_s=None if took_ms is None else _start(call.at, took_ms, zero),
            duration_ms=took_ms,
            is_error=ended is not None and ended.result.is_error,
            is_inherited=turn.is_inherited,
        )


def _short_arguments(arguments: str) -> str:
    """Return what names the object of a call: its short texts. What is no object is left out."""
    try:
        found = json.loads(arguments)
    except ValueError:
        return "{}"
    values = found.items() if isinstance(found, dict) else ()
    return json.dumps({key: one for key, one in values if isinstance(one, str) and len(one) <= _MAX_ARGUMENTS})


def _start(at: float | None, took_ms: float, zero: float | None) -> float | None:
    return None if at is None or zero is None else max(0.0, at - zero - took_ms / 1_000)


def _figures(found: Statistics, first: date, days: int) -> FigureModel:
    dates = [first + timedelta(days=number) for number in range(days)]
    tools = sorted(found.tools.values(), key=lambda one: (-one.calls, one.name))[:MAX_NAMES]
    models = sorted(found.models.values(), key=lambda one: (-one.steps, one.name))[:MAX_NAMES]
    counted = [(day, found.days.get(day)) for day in dates]
    return FigureModel(
        runs=found.runs,
        days=tuple(
            DayModel(
                day=day.isoformat(),
                steps=0 if one is None else one.steps,
                tokens=0 if one is None else one.tokens,
                cost=0.0 if one is None else one.cost,
            )
            for day, one in counted
        ),
        tools=tuple(
            ToolModel(
                name=one.name,
                calls=one.calls,
                failures=one.failures,
                approvals=one.approvals,
                rejections=one.rejections,
                median_ms=one.latency.percentile(0.5),
                slow_ms=one.latency.percentile(0.95),
            )
            for one in tools
        ),
        models=tuple(
            ModelModel(
                name=one.name,
                steps=one.steps,
                input_tokens=one.input_tokens,
                output_tokens=one.output_tokens,
                cached_tokens=one.cached_tokens,
                cost=one.cost,
                unpriced=one.unpriced,
            )
            for one in models
        ),
    )


def _filter(length: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": length}


RUN_OPERATIONS: Final = (
    Operation(
        method="GET",
        path="/api/runs",
        name="list_runs",
        summary="List runs, the newest first",
        scope="page",
        answer=RunPage,
        query={"find": _filter(200), "app": _filter(20), "state": _filter(40), "folder": _filter(4_096)},
    ),
    Operation(
        method="GET",
        path="/api/figures",
        name="show_figures",
        summary="Figures over all runs",
        scope="page",
        answer=FigureModel,
        query={"days": {"type": "integer", "minimum": 1, "maximum": MAX_DAYS}},
    ),
    chat_operation("show_timeline", "Show a run by time", path="/timeline", method="GET", answer=TimelineModel),
    chat_operation("fork_chat", "Fork a chat", path="/fork", body=ForkRequest, answer=ChatStarted, status=202),
    chat_operation("replay_chat", "Play a run again and compare", path="/replay", answer=ReplayModel),
    chat_operation(
        "export_chat",
        "Download a run",
        path="/export",
        method="GET",
        answer=None,
        media_type="text/html",
        query={"form": {"type": "string", "enum": list(_FORMS)}},
    ),
)
