"""Find where a name is used: files that hold the word are parsed, and only names count."""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Final, cast

from toolroll.errors import ToolrollError
from toolroll.safe.paths.names import RelativePath
from toolroll.workspace.symbols.languages.language import is_installed
from toolroll.workspace.symbols.languages.registry import language_of
from toolroll.workspace.symbols.source_files import OUT_OF_TIME, find_files_with, skip_reason
from toolroll.workspace.symbols.workers import Task, Workers
from toolroll.workspace.workspace import Workspace

MAX_FILES: Final = 1_000  # with the word in them: three seconds of parsing on one core
MAX_FOUND: Final = 20_000  # places: some 10 MB, and a hundred times what anybody reads

OccurrenceRows = list[list[int | str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """One place where a name stands as a name."""

    path: str
    line: int
    column: int
    text: str
    """The line, without what is blank around it."""
    inside: str | None = None
    """The definition that it stands in, as a dotted path."""
    is_definition: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """All places that were found, by file and line."""

    found: tuple[Reference, ...]
    notes: tuple[str, ...] = ()


def find_references(workspace: Workspace, workers: Workers, name: str) -> References:
    """Return every place where the name is used or defined, but for strings and comments."""
    if not re.search(r"\w", name):
        return References(found=())
    files, is_whole = find_files_with(
        workspace, ["--word-regexp", "--fixed-strings", f"--regexp={name}"], MAX_FILES + 1
    )
    found: list[Reference] = []
    unread: list[str] = []
    tasks = _tasks(workspace, files[:MAX_FILES], name, unread)
    with closing(workers.map(tasks, expected=len(files))) as replies:
        for path, reply in replies:
            if reply.failure is not None:
                unread.append(path)
                continue
            for line, column, text in cast("OccurrenceRows", reply.value):
                found.append(Reference(path=path, line=int(line), column=int(column), text=str(text)))
            if len(found) > MAX_FOUND:
                break
    found.sort(key=lambda one: (one.path, one.line, one.column))
    is_cut = len(files) > MAX_FILES or len(found) > MAX_FOUND
    return References(found=tuple(found[:MAX_FOUND]), notes=tuple(_notes(unread, is_cut=is_cut, is_whole=is_whole)))


def _tasks(workspace: Workspace, files: list[RelativePath], name: str, unread: list[str]) -> Iterator[tuple[str, Task]]:
    for path in files:
        language = language_of(str(path))
        if language is None or not is_installed(language):
            unread.append(str(path))
            continue
        try:
            data = workspace.without_links().read(path).data
        except ToolrollError:
            unread.append(str(path))
            continue
        if skip_reason(data) is None:
            exact = language_of(str(path), data) or language
            yield str(path), Task(operation="occurrences", language=exact.name, data=data, name=name)


def _notes(unread: list[str], *, is_cut: bool, is_whole: bool) -> Iterator[str]:
    if not is_whole:
        yield OUT_OF_TIME
    if is_cut:
        yield (
            f"More than {MAX_FILES:,} files have this word, or it stands in more than {MAX_FOUND:,} places; only so "
            "many were looked at. Ask for a rarer name."
        )
    if unread:
        some = ", ".join(sorted(unread)[:3])
        have = "1 file has" if len(unread) == 1 else f"{len(unread):,} files have"
        yield f"{have} the word, but cannot be parsed (such as {some}): use search_files there."
