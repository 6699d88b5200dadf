"""A project's own files (`.toolroll/tools/*.py`, its settings): which there are, and which somebody has trusted (C43).

Tools are Python code that would run as the user. Nothing here runs any of it but bytes that are trusted at that moment.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from toolroll.apps.surface import Surface
from toolroll.errors import DefinitionError, FileProblem, NotAFile, PathRefused, ToolrollError
from toolroll.home.mcp_servers import MCP_JSON
from toolroll.home.project_settings import PROJECT_SETTINGS, read_mcp_json_bytes, read_project_bytes, untrusted_note
from toolroll.home.rules import workspace_key
from toolroll.home.trust import TrustBook
from toolroll.packs.catalog import CatalogEntry, load_content
from toolroll.safe.paths import listing
from toolroll.safe.paths.names import parse_path, quote_path
from toolroll.safe.paths.root import Root

PROJECT_TOOLS: Final = ".toolroll/tools"
"""Where a project keeps them; no tool reads or writes there."""

MAX_FILE_BYTES: Final = 262_144
"""Of one file: what nobody can look through is not trusted by looking at it."""

MAX_FILES: Final = 100
"""That are looked at: whoever wrote the project decides how many there are."""


def project_tool_files(root: Path, surface: Surface) -> list[tuple[str, bytes]]:
    """Return the project's own tool files with their content; warn about those that cannot be used."""
    # Not through a workspace: its guard lets nobody in there, and a miss would be looked for all over the project.
    with Root(root) as files:
        try:
            entries = files.list_folder(parse_path(PROJECT_TOOLS))
        except FileProblem:
            return []
        named = [entry for entry in entries if entry.name.endswith(".py")]
        if len(named) > MAX_FILES:
            surface.warn(f"'{PROJECT_TOOLS}' holds {len(named):,} files; only the first {MAX_FILES} are looked at.")
        return [found for entry in named[:MAX_FILES] if (found := _read(files, entry, surface))]


def project_files(root: Path, surface: Surface) -> list[tuple[str, bytes]]:
    """Return all files of a project that need trust: its settings, its MCP servers and its tool files."""
    found: list[tuple[str, bytes]] = []
    for path, read in ((PROJECT_SETTINGS, read_project_bytes), (MCP_JSON, read_mcp_json_bytes)):
        try:
            content = read(root)
        except (FileProblem, PathRefused) as error:
            surface.warn(error.message)
            content = None
        found += [] if content is None else [(path, content)]
    return [*found, *project_tool_files(root, surface)]


def load_trusted_tools(root: Path, taken: Sequence[CatalogEntry], surface: Surface) -> list[CatalogEntry]:
    """Load the tools whose files are trusted as they are, but for those whose names are `taken`; warn about these."""
    names = {entry.tool.name: entry.origin for entry in taken}
    found: list[CatalogEntry] = []
    for entry in _trusted_tools(root, surface):
        name = entry.tool.name
        if name in names:
            surface.warn(f"'{quote_path(entry.origin)}' has a tool '{name}', and so has {names[name]}. It is not used.")
        else:
            names[name] = f"'{quote_path(entry.origin)}'"
            found.append(entry)
    return found


def _read(files: Root, entry: listing.Entry, surface: Surface) -> tuple[str, bytes] | None:
    path = f"{PROJECT_TOOLS}/{entry.name}"
    try:
        if entry.kind != "file":
            raise NotAFile(f"'{quote_path(path)}' is no regular file, and is not used.", path=quote_path(path))
        return path, files.read_bytes(parse_path(path), limit_bytes=MAX_FILE_BYTES)
    except (FileProblem, PathRefused) as error:
        surface.warn(error.message)
        return None


def _trusted_tools(root: Path, surface: Surface) -> Iterator[CatalogEntry]:
    book, workspace = TrustBook.from_environment(surface.environment), workspace_key(root)
    for path, content in project_tool_files(root, surface):
        try:
            is_trusted = book.trusts(workspace, path, content)
        except ToolrollError as error:
            surface.warn(error.message)
            return
        if is_trusted:
            yield from _load(root, path, content, surface)
        else:
            surface.note(untrusted_note(root, path, "tools"))


def _load(root: Path, path: str, content: bytes, surface: Surface) -> list[CatalogEntry]:
    place = str(root.resolve() / path)
    try:
        # The bytes that were trusted, not the file: it could be another one by the time it is read again.
        tools = load_content(content, place)
    except DefinitionError as error:
        surface.warn(error.message)
        return []
    return [CatalogEntry(tool=tool, origin=path, place=place) for tool in tools]
