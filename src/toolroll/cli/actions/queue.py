"""What `--queue` and `--file` do: they queue ideas, one or many, or a task of the coding agent, for a worker."""

import asyncio
import csv
import io
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Final, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from toolroll.apps.explore import ExploreOptions, check_token
from toolroll.apps.jobs import JobRequest, JobStore, open_jobs
from toolroll.apps.project import Project
from toolroll.apps.schedules import Schedule, ScheduleBook, parse_interval, parse_time
from toolroll.apps.spec import AgentSpec
from toolroll.apps.webhooks import check_webhook
from toolroll.cli.actions.jobs import short_id
from toolroll.cli.actions.schedules import show_schedules
from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, Session
from toolroll.errors import FileTooLarge, UsageError
from toolroll.packs.research.prompts import MAX_CONTEXT_CHARACTERS, MAX_IDEA_CHARACTERS
from toolroll.safe.text import one_line
from toolroll.workspace.text import decode

MAX_FILE_BYTES: Final = 16 * 1024 * 1024
MAX_IDEAS: Final = 100_000
_TITLE_CHARACTERS: Final = 60


class IdeaLine(BaseModel):
    """One idea of a file; what it does not say is taken from the options."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True)

    idea: str = Field(min_length=1, max_length=MAX_IDEA_CHARACTERS)
    mode: str | None = None
    context: str | None = Field(default=None, max_length=MAX_CONTEXT_CHARACTERS)


PlacedIdea: TypeAlias = tuple[str, IdeaLine]
"""An idea, and where it stands in its file, for errors; nothing for one that was typed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePlace:
    """When queued ideas are explored, and who is told, as it was typed."""

    priority: int = 0
    webhook: str | None = None
    at: str | None = None
    every: str | None = None


def queue_ideas(
    session: Session, options: ExploreOptions, file: BinaryIO | None, place: QueuePlace, *, yes: bool
) -> int:
    """Queue one idea or those of a file, once or again and again; return the exit code."""
    now = time.time()
    start = None if place.at is None else parse_time(place.at, now=now)
    every_s = None if place.every is None else parse_interval(place.every)
    address = None if place.webhook is None else check_webhook(place.webhook, os.environ)
    lines = [("", IdeaLine(idea=options.idea))] if file is None else read_ideas(file)
    check_token(options.place, os.environ)
    with Project.open(Path.cwd(), os.environ, flags={"model": options.model or None}) as project:
        chosen = options.with_model(project)
    made = [_make_request(chosen, placed, search_consent=yes) for placed in lines]
    requests = [replace(request, webhook=address) for request in made]

    async def schedule(store: JobStore, every_s: int) -> list[Schedule]:
        first, book = now if start is None else start, ScheduleBook(store.journal)
        mine = [replace(request, host=store.host) for request in requests]  # any machine may queue its ticks
        return [await book.add(request, first=first, every_s=every_s, priority=place.priority) for request in mine]

    async def submit(store: JobStore) -> list[tuple[str, bool]]:
        return [await store.submit(request, priority=place.priority, not_before=start or 0.0) for request in requests]

    with open_jobs(os.environ) as store:
        if every_s is not None:
            show_schedules(session, asyncio.run(schedule(store, every_s)), now=now)
        else:
            _show_queued(session, requests, asyncio.run(submit(store)))
    return DONE


def queue_code(session: Session, spec: AgentSpec, prompt: str, webhook: str | None) -> int:
    """Queue a task of the coding agent; return the exit code."""
    address = None if webhook is None else check_webhook(webhook, os.environ)
    request = JobRequest(code=spec, prompt=prompt, webhook=address)

    async def submit(store: JobStore) -> list[tuple[str, bool]]:
        return [await store.submit(request)]

    with open_jobs(os.environ) as store:
        queued = asyncio.run(submit(store))
    _show_queued(session, [request], queued)
    return DONE


def read_ideas(file: BinaryIO) -> Sequence[PlacedIdea]:
    """Read a file of ideas: a line each, JSON Lines, or CSV with a header, by the ending of its name."""
    name = str(getattr(file, "name", "ideas"))
    data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise FileTooLarge(f"'{name}' has more than {MAX_FILE_BYTES:,} bytes.", path=name, limit_bytes=MAX_FILE_BYTES)
    text = decode(data, path=name).text
    suffix = Path(name).suffix.casefold()
    if suffix in (".jsonl", ".ndjson"):
        found = [_check(number, name, line) for number, line in _lines(text)]
    elif suffix == ".csv":
        found = _read_csv(text, name)
    else:
        found = [_check(number, name, {"idea": line}) for number, line in _lines(text)]
    if not found:
        raise UsageError(f"'{name}' has no ideas. Write one on each line.")
    if len(found) > MAX_IDEAS:
        raise UsageError(f"'{name}' has {len(found):,} ideas; at most {MAX_IDEAS:,} are queued at once.")
    return found


def _read_csv(text: str, name: str) -> list[PlacedIdea]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    rows: list[tuple[int, dict[str, Any]]] = []
    start = 1
    try:
        header = reader.fieldnames or ()
        start = reader.line_num + 1
        for row in reader:  # a text in quotes may have several lines: the first of them is named
            rows.append((start, row))
            start = reader.line_num + 1
    except csv.Error as error:
        raise UsageError(f"'{name}', line {start}: {error}.") from None
    if "idea" not in header:
        raise UsageError(f"'{name}', line 1: no column is named 'idea'. The first line names the columns.")
    for number, row in rows:
        if None in row:
            raise UsageError(
                f"'{name}', line {number}: it has more columns than the first line names. Put a text with commas in "
                "quotes."
            )
    return [_check(number, name, {key: value for key, value in row.items() if value}) for number, row in rows]


def _lines(text: str) -> Iterable[tuple[int, str]]:
    return ((number, line.strip()) for number, line in enumerate(text.split("\n"), start=1) if line.strip())


def _check(number: int, name: str, given: object) -> PlacedIdea:
    place = f"'{name}', line {number}"
    try:
        if isinstance(given, str):
            return place, IdeaLine.model_validate_json(given)
        return place, IdeaLine.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"{place}: {f'{where}: ' if where else ''}{first['msg']}.") from None


def _make_request(options: ExploreOptions, placed: PlacedIdea, *, search_consent: bool) -> JobRequest:
    place, line = placed
    mine = replace(
        options,
        idea=line.idea,
        mode=line.mode or options.mode,
        context=options.context if line.context is None else line.context,
    )
    try:
        mine.check()  # before anything is queued, and with names as they were typed
    except UsageError as error:
        raise (UsageError(f"{place}: {error.message}") if place else error) from None
    return JobRequest(explore=mine.for_job(), search_consent=search_consent)


def _show_queued(session: Session, requests: Sequence[JobRequest], queued: Sequence[tuple[str, bool]]) -> None:
    if session.json:
        jobs = [
            {"id": job_id, "title": request.title, "is_new": is_new}
            for request, (job_id, is_new) in zip(requests, queued, strict=True)
        ]
        session.write_json({"jobs": jobs})
        return
    for request, (job_id, is_new) in zip(requests, queued, strict=True):
        note = "" if is_new else " (queued before)"
        session.show(f"{short_id(job_id)}  {one_line(request.title, _TITLE_CHARACTERS)}{note}")
    notify("Start a worker, if none is running: toolroll worker. Follow the jobs: toolroll jobs watch.")
