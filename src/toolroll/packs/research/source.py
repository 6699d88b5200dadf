"""Where research is kept: the one protocol that a folder and a GitHub repository are used through (R5).

Paths are relative to `ideas/` and checked by the source itself before it asks for anything. Failures are errors of the
tree: FileMissing, NotAFile (also for links that lead out, and submodules), FileTooLarge, and others for all else.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, Protocol, TypeAlias, runtime_checkable

from toolroll.errors import FileMissing, FileTooLarge, NotAFile, NotText, PathRefused
from toolroll.packs.research.paths import parse_research_path
from toolroll.safe.paths.names import quote_path
from toolroll.workspace.text import decode

DOCUMENT: Final = "research.md"
"""The name of the document in each idea's folder."""

LOG: Final = "exploration-log.json"
"""The name of the log beside it."""

MAX_READ_BYTES: Final = 51_200
"""50 KB: what one document may take of a model's context, about 13,000 tokens."""

MAX_STORED_BYTES: Final = 8 * 1024 * 1024
"""Of a file that is changed rather than shown: an exploration log of some ten thousand runs."""

MAX_LISTED_FILES: Final = 2_000
"""Below `ideas/`: many more than the list for a model has room for."""

TEXT_SUFFIXES: Final = frozenset(
    {
        "",
        ".adoc",
        ".csv",
        ".htm",
        ".html",
        ".json",
        ".markdown",
        ".md",
        ".org",
        ".rst",
        ".tex",
        ".text",
        ".txt",
        ".yaml",
    }
)
"""Of files that are named to a model: research is text."""

MAX_LISTED_ENTRIES: Final = 50
"""Of a folder that was asked for as a file: an idea's folder has two or three."""

_DATED: Final = re.compile(r"(\d{4}-\d{2}-\d{2})-(.+)")

Change: TypeAlias = Callable[[str | None], str]
"""Makes a file's new content from its old one, or from None where there is no such file. It may be asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchFile:
    """A file as text; `size` is how many bytes its keeper says it has."""

    content: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IdeaEntry:
    """One idea that was explored: the path of its document, as `read_research` takes it, and what its folder says."""

    path: str
    title: str
    date: date | None


class ResearchSource(Protocol):
    """Keeps research: read it, list it, write it."""

    async def read(self, path: str, *, limit_bytes: int = MAX_READ_BYTES) -> ResearchFile:
        """Return a whole file; raise FileTooLarge above the limit."""
        ...

    async def list_ideas(self) -> Sequence[IdeaEntry]:
        """Return the ideas that have a document, the newest first."""
        ...

    async def write(self, path: str, content: str, *, message: str) -> None:
        """Make or replace a file; `message` says why, for a source that keeps a history."""
        ...

    async def update(self, path: str, change: Change, *, message: str) -> None:
        """Change a file without losing what others write to it meanwhile: `change` is then asked again."""
        ...

    def where(self, path: str) -> str:
        """Return where a person finds the file: a path on disk, or an address."""
        ...


@runtime_checkable
class FileListing(Protocol):
    """A source that names all its files, and not only the documents of ideas."""

    async def list_files(self) -> Sequence[str]:
        """Return the paths of files that `read_research` can read, sorted."""
        ...


@runtime_checkable
class ListedSource(Protocol):
    """A source on another machine. A model asks it only for what it lists: any other path could carry private text."""

    async def check_listed(self, path: str) -> None:
        """Raise FileMissing for a path that the source does not list, without asking for it."""
        ...


@runtime_checkable
class LinkedSource(Protocol):
    """A source in which a path may be a link: rules judge where it leads, and that is what is read then."""

    async def locate(self, path: str) -> str:
        """Return where a path leads without links; one that leads nowhere is returned as it is."""
        ...

    def without_links(self) -> ResearchSource:
        """Return the same source, in which no link is followed."""
        ...


def decode_file(path: str, data: bytes, *, size: int) -> ResearchFile:
    """Return the bytes as a file of text, or raise NotText."""
    return ResearchFile(content=decode(data, path=path).text, size=size)


def decode_exact(path: str, data: bytes) -> str:
    """Return text that encodes to the same bytes again: what is only guessed must not be written back."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise NotText(f"'{quote_path(path)}' is not UTF-8, so it is not changed.", path=quote_path(path)) from error


def missing_error(path: str) -> FileMissing:
    """Return the error for a path with nothing there."""
    return FileMissing(f"File not found: {path}", path=path)


def not_a_file_error(path: str, entries: Iterable[str] = ()) -> NotAFile:
    """Return the error for a folder, a link or a submodule; `entries` are the names in a folder, folders with `/`."""
    inside = tuple(sorted(f"{path}/{quote_path(name)}" for name in entries))
    return NotAFile(f"Path is not a file: {path}", path=path, entries=inside[:MAX_LISTED_ENTRIES])


def too_large_error(path: str, *, limit_bytes: int) -> FileTooLarge:
    """Return the error for a file above the limit; it says what the model can do."""
    # These words were agreed on for the tool's limit; a larger one is for programs, which have no use for the advice.
    message = "File exceeds 50KB limit. Try a more specific path or request a summary."
    if limit_bytes != MAX_READ_BYTES:
        message = f"'{path}' has more than {limit_bytes:,} bytes."
    return FileTooLarge(message, path=path, limit_bytes=limit_bytes)


def select_research(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the paths of texts that `read_research` could name, sorted; exploration logs are no research."""
    return tuple(sorted(path for path in paths if _is_research(path)))


def _is_research(path: str) -> bool:
    name = path.rpartition("/")[2]
    suffix = name[name.rfind(".") :].casefold() if "." in name else ""
    if name == LOG or suffix not in TEXT_SUFFIXES:
        return False
    try:
        return parse_research_path(path) == path
    except PathRefused:
        return False


def make_entries(folders: Iterable[str]) -> tuple[IdeaEntry, ...]:
    """Return the entries for folders that have a document, except those that `read_research` could not name."""
    found = [entry for name in folders if (entry := _parse_idea(name)) is not None]
    return tuple(sorted(found, key=lambda entry: (entry.date or date.min, entry.path), reverse=True))


def _parse_idea(folder: str) -> IdeaEntry | None:
    try:
        path = parse_research_path(f"{folder}/{DOCUMENT}")
    except PathRefused:
        return None
    dated = _DATED.fullmatch(folder)
    day = _parse_day(dated[1]) if dated else None
    slug = dated[2] if dated and day else folder
    return IdeaEntry(path=path, title=slug.replace("-", " ").replace("_", " ").strip(), date=day)


def _parse_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
