"""A project's own files (`.toolroll/tools/*.py`, its settings): what is there, and what somebody has trusted (C43).

Tools are Python that would run as the person. Nothing here runs any of it but bytes that are trusted at that moment.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from toolroll.cli.render.prose import notify
from toolroll.errors import DefinitionError, FileProblem, NotAFile, PathRefused, ToolrollError
from toolroll.home.project_settings import PROJECT_SETTINGS, read_project_bytes, untrusted_note
from toolroll.home.rules import workspace_key
from toolroll.home.settings import Settings
from toolroll.home.trust import TrustBook
from toolroll.packs.catalog import CatalogEntry
from toolroll.packs.load import load_content
from toolroll.safe.paths import listing
from toolroll.safe.paths.names import parse_path, quote_path
from toolroll.safe.paths.root import Root
from toolroll.safe.text import terminal_safe

PROJECT_TOOLS: Final = ".toolroll/tools"
"""Where a project keeps them; no tool reads or writes there."""

MAX_FILE_BYTES: Final = 262_144
"""Of one file: what nobody can look through is not trusted by looking at it."""

MAX_FILES: Final = 100
"""That are looked at: whoever wrote the project decides how many there are."""


def project_tool_files(root: Path) -> list[tuple[str, bytes]]:
    """The project's own tool files with their content; what cannot be used is told as a warning."""
    # Not through a workspace: its guard lets nobody in there, and a miss would be looked for all over the project.
    with Root(root) as files:
        try:
            entries = files.list_folder(parse_path(PROJECT_TOOLS))
        except FileProblem:
            return []
        named = [entry for entry in entries if entry.name.endswith(".py")]
        if len(named) > MAX_FILES:
            _warn(f"'{PROJECT_TOOLS}' holds {len(named):,} files; only the first {MAX_FILES} are looked at.")
        return [found for entry in named[:MAX_FILES] if (found := _read(files, entry))]


def project_files(root: Path) -> list[tuple[str, bytes]]:
    """All that a project brings and that needs trust: its settings, if it has some, and its tool files."""
    try:
        content = read_project_bytes(root)
    except (FileProblem, PathRefused) as error:
        _warn(error.message)
        content = None
    settings = [] if content is None else [(PROJECT_SETTINGS, content)]
    return [*settings, *project_tool_files(root)]


def show_notes(settings: Settings) -> None:
    """Say what a person should know about the settings, once a command."""
    for note in settings.notes:
        notify(f"Note: {terminal_safe(note)}")


def load_trusted_tools(root: Path, taken: Sequence[CatalogEntry], environment: Mapping[str, str]) -> list[CatalogEntry]:
    """The tools of files whose content is trusted, without those whose names are taken; the rest is told about."""
    names = {entry.tool.name: entry.origin for entry in taken}
    found: list[CatalogEntry] = []
    for entry in _trusted(root, environment):
        name = entry.tool.name
        if name in names:
            _warn(f"'{quote_path(entry.origin)}' has a tool '{name}', and so has {names[name]}. It is not used.")
        else:
            names[name] = f"'{quote_path(entry.origin)}'"
            found.append(entry)
    return found


def _read(files: Root, entry: listing.Entry) -> tuple[str, bytes] | None:
    path = f"{PROJECT_TOOLS}/{entry.name}"
    try:
        if entry.kind != "file":
            told = f"'{quote_path(path)}' is no regular file, and is not used."
            raise NotAFile(told, path=quote_path(path))
        return path, files.read_bytes(parse_path(path), limit_bytes=MAX_FILE_BYTES)
    except (FileProblem, PathRefused) as error:
        _warn(error.message)
        return None


def _trusted(root: Path, environment: Mapping[str, str]) -> Iterator[CatalogEntry]:
    book, place = TrustBook.from_environment(environment), workspace_key(root)
    for path, content in project_tool_files(root):
        try:
            is_trusted = book.trusts(place, path, content)
        except ToolrollError as error:
            _warn(error.message)
            return
        if is_trusted:
            yield from _load(root, path, content)
        else:
            _warn_untrusted(root, path)


def _load(root: Path, path: str, content: bytes) -> list[CatalogEntry]:
    place = str(root.resolve() / path)
    try:
        # The bytes that were trusted, not the file: it could be another one by the time it is read again.
        tools = load_content(content, place)
    except DefinitionError as error:
        _warn(error.message)
        return []
    return [CatalogEntry(tool=tool, origin=path, place=place) for tool in tools]


def _warn_untrusted(root: Path, path: str) -> None:
    notify(f"Note: {untrusted_note(root, path, 'tools')}")


def _warn(text: str) -> None:
    notify(f"Warning: {terminal_safe(text)}")
