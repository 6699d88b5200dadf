"""`read_research`: earlier research, from wherever it is kept (R1-R6); read once a run (R25), logged each time (R26).

A surface says where with `deps`: `ideas` (the folder; `ideas` in the working folder if it is left out), or `repository`
(OWNER/NAME on GitHub) with `branch`. A program overrides `research.source` with a source of its own.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final, Literal, NotRequired, TypeAlias, cast

from pydantic import Field
from typing_extensions import TypedDict

from toolroll.agent.run import AgentRun
from toolroll.errors import FileMissing, FileTooLarge, NotAFile, PathRefused, ToolFailure, ToolrollError
from toolroll.home.keys import with_keys
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.data.serialize import dump_json
from toolroll.kernel.define.decorator import tool
from toolroll.kernel.depends.dependency import DependencyKey, Depends
from toolroll.packs.research.local import LocalSource
from toolroll.packs.research.paths import EXAMPLE, IDEAS, MAX_PATH_CHARACTERS, parse_research_path, trim
from toolroll.packs.research.source import LinkedSource, ListedSource, ResearchFile, ResearchSource
from toolroll.safe.paths.names import quote_path
from toolroll.workspace.denials import Denials

ErrorType: TypeAlias = Literal["file_not_found", "path_validation", "file_too_large", "api_error"]

READ_BEFORE: Final = "Already read in this run: this is the same content again, from memory."


class ReadResult(TypedDict):
    """A file that was read; `note` says that it was not the first time."""

    ok: Literal[True]
    content: str
    bytes: int
    note: NotRequired[str]


class ReadFailure(TypedDict):
    """Why a file was not read; `entries` are the paths in a folder that was asked for as a file."""

    ok: Literal[False]
    error_type: ErrorType
    message: str
    entries: NotRequired[list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRecord:
    """One call of `read_research` as it is logged: `bytes` of a success, `error_type` of a failure."""

    name: Literal["read_research"] = "read_research"
    path: str
    duration_ms: int
    ok: bool
    bytes: int | None = None
    error_type: ErrorType | None = None


async def open_source(ctx: ToolContext) -> AsyncIterator[ResearchSource]:
    """Open the source of the run's research; close it when the run ends."""
    repository = cast("str | None", ctx.deps.get("repository"))
    if repository is None:
        yield LocalSource(cast("Path | None", ctx.deps.get("ideas")) or Path.cwd() / IDEAS)
        return
    from toolroll.packs.research.github import GitHubSource  # noqa: PLC0415 - most research is in a folder

    branch = cast("str | None", ctx.deps.get("branch"))
    async with GitHubSource.from_environment(repository, environment=with_keys(os.environ), branch=branch) as source:
        yield source


SOURCE: Final[DependencyKey[ResearchSource]] = DependencyKey("research.source", open_source, scope="run")

FromSource = Annotated[ResearchSource, Depends(SOURCE)]


@dataclass(slots=True, kw_only=True)
class ReadCache:
    """What a run has read so far; two that ask for the same file at once read it once."""

    _files: dict[str, ResearchFile] = field(default_factory=dict)
    _asked: dict[str, asyncio.Lock] = field(default_factory=dict)

    async def read(self, path: str, source: ResearchSource) -> tuple[ResearchFile, bool]:
        """Return the file, and whether it was read before."""
        # A lock, not a shared task: when the one who reads is cancelled, the next one in line reads.
        async with self._asked.setdefault(path, asyncio.Lock()):
            known = self._files.get(path)
            if known is not None:
                return known, True
            if isinstance(source, ListedSource):
                await source.check_listed(path)
            self._files[path] = await source.read(path)
            return self._files[path], False


def make_read_cache() -> ReadCache:
    """Return the cache of a run that has read nothing."""
    return ReadCache()


READ_CACHE: Final[DependencyKey[ReadCache]] = DependencyKey("research.memory", make_read_cache, scope="run")

FromReadCache = Annotated[ReadCache, Depends(READ_CACHE)]


async def locate_research(paths: Sequence[str], ctx: ToolContext) -> list[str]:
    """Return where paths lead without links; one that the tool would refuse is left as it is."""
    source = await ctx.resolve(SOURCE)
    return [await _locate(source, path) for path in paths] if isinstance(source, LinkedSource) else list(paths)


async def _locate(source: LinkedSource, path: str) -> str:
    try:
        return await source.locate(path)
    except PathRefused:
        return path


def _judged_place(path: str, source: ResearchSource, ctx: ToolContext) -> tuple[str, ResearchSource]:
    """Return the file that rules have judged, and the source to read it from: with no link in between any more."""
    name = parse_research_path(path)
    judged = next((target.resolved for target in ctx.targets if target.name == path), None)
    if judged is None or not isinstance(source, LinkedSource):
        return name, source
    return judged, source.without_links()


@tool(brings=("private", "untrusted"), paths=["path"], locate=locate_research)
async def read_research(
    path: Annotated[
        str,
        Field(
            description=f"Path of the document relative to {IDEAS}/: '<date>-<slug>/research.md', as in '{EXAMPLE}'.",
            # Told to the model and checked by our own rules: pydantic would refuse it in another form (R1).
            json_schema_extra={"minLength": 1, "maxLength": MAX_PATH_CHARACTERS},
        ),
    ],
    source: FromSource,
    memory: FromReadCache,
    ctx: ToolContext,
) -> ReadResult:
    """Read an existing research document. Use it to build on earlier research, once for each document.

    Answers with ok, content and bytes, or with ok false, error_type and message.
    """
    begun = ctx.now()
    try:
        name, place = _judged_place(path, source, ctx)
        file, is_known = await memory.read(name, place)
    except ToolrollError as error:
        failed = _without_hidden(describe_failure(error), ctx.denied_paths)
        kind = failed["error_type"]
        _log_read(
            ctx, ReadRecord(path=quote_path(trim(path)), duration_ms=_elapsed_ms(begun, ctx), ok=False, error_type=kind)
        )
        raise ToolFailure(failed, code=kind) from error
    _log_read(ctx, ReadRecord(path=name, duration_ms=_elapsed_ms(begun, ctx), ok=True, bytes=file.size))
    answer: ReadResult = {"ok": True, "content": file.content, "bytes": file.size}
    return {**answer, "note": READ_BEFORE} if is_known else answer


TOOLS: Final = (read_research,)
"""The tools of the pack."""


def describe_failure(error: ToolrollError) -> ReadFailure:
    """Describe an error for the model: its kind, and a message that does not change."""
    match error:
        case PathRefused():
            return {"ok": False, "error_type": "path_validation", "message": error.message}
        case FileMissing():
            return {"ok": False, "error_type": "file_not_found", "message": error.message}
        case FileTooLarge():
            return {"ok": False, "error_type": "file_too_large", "message": error.message}
        case NotAFile():
            told: ReadFailure = {"ok": False, "error_type": "api_error", "message": error.message}
            return {**told, "entries": list(error.entries)} if error.entries else told
        case _:
            message = f"Failed to read file: {error.message}"
            return {"ok": False, "error_type": "api_error", "message": message}


def _without_hidden(failed: ReadFailure, denied: Sequence[str]) -> ReadFailure:
    """Return a failure that names nothing in a folder that rules keep from the call."""
    if not denied or "entries" not in failed:
        return failed
    hides = Denials(denied, protected=()).hides
    return {**failed, "entries": [entry for entry in failed["entries"] if not hides(entry.rstrip("/"))]}


def _elapsed_ms(begun: datetime, ctx: ToolContext) -> int:
    return max(round((ctx.now() - begun).total_seconds() * 1_000), 0)


def _log_read(ctx: ToolContext, record: ReadRecord) -> None:
    """Log a read; an agent logs a line for each of its calls itself, with the same figures."""
    if isinstance(ctx.run, AgentRun):
        return
    fields = asdict(record)
    ctx.logger.info("tool_call %s", dump_json(fields), extra={"tool_call": fields})
