"""Suggest what may have been meant by a path that does not exist."""

import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from toolroll.errors import ToolrollError
from toolroll.safe.paths.names import RelativePath, quote_path
from toolroll.workspace.search.lookalikes import find_twins
from toolroll.workspace.search.tree import tracked_paths

if TYPE_CHECKING:
    from toolroll.workspace.workspace import Workspace

MAX_SUGGESTIONS: Final = 3
MAX_NAMED: Final = 12
"""Of a folder's names in an error."""
MAX_COMPARED_NAMES: Final = 2_000  # by likeness, which takes about 10 µs a name
MAX_SECONDS: Final = 1.0  # for names elsewhere in the tree: an error must not take longer than the answer would have
_LIKENESS: Final = 0.6  # difflib's own idea of close


def suggest_paths(workspace: "Workspace", path: RelativePath) -> tuple[str, ...]:
    """Return up to three paths that exist: similar ones in the same folder, or of the same name elsewhere."""
    found = dict.fromkeys(_beside(workspace, path))
    with suppress(OSError, ToolrollError):  # no walk can be made: that is no reason to say something else
        found |= dict.fromkeys(_elsewhere(workspace, path))
    return tuple(found)[:MAX_SUGGESTIONS]


def describe_nearest(workspace: "Workspace", path: RelativePath) -> str:
    """Return what the nearest folder above a path holds, if some of it is missing; empty where that cannot be told."""
    folder = path.parent if path.parts else path
    while folder.parts and not workspace.exists(folder):
        folder = folder.parent
    try:
        entries = sorted(workspace.entries(folder)[0], key=lambda entry: entry.name)
    except ToolrollError:
        return ""
    names = [f"{quote_path(entry.name)}{'/' if entry.kind == 'folder' else ''}" for entry in entries]
    if not names:
        return ""
    more = f" and {len(names) - MAX_NAMED:,} more" if len(names) > MAX_NAMED else ""
    where = f"'{quote_path(str(folder))}'" if folder.parts else "The project"
    return f"{where} holds {', '.join(names[:MAX_NAMED])}{more}."


def _beside(workspace: "Workspace", path: RelativePath) -> Iterator[str]:
    if not path.parts:
        return
    try:
        # Asked for first: of a folder that is missing too, suggestions would be looked for in turn, up to the root.
        entries = workspace.entries(path.parent)[0] if workspace.exists(path.parent) else ()
    except ToolrollError:
        return  # it may not be listed
    names = [entry.name for entry in entries]
    for name in (*find_twins(path.name, names), *_alike(path.name, names)):
        yield str(RelativePath(parts=(*path.parts[:-1], name)))


def _elsewhere(workspace: "Workspace", path: RelativePath) -> Iterator[str]:
    until, wanted = time.monotonic() + MAX_SECONDS, path.name.casefold()
    for other in tracked_paths(workspace):
        if other.name.casefold() == wanted and workspace.find_status(other):
            yield str(other)
        if time.monotonic() > until:
            return


def _alike(name: str, names: Iterable[str]) -> list[str]:
    by_fold = {other.casefold(): other for other in list(names)[:MAX_COMPARED_NAMES]}
    close = get_close_matches(name.casefold(), by_fold, n=MAX_SUGGESTIONS, cutoff=_LIKENESS)
    return [by_fold[fold] for fold in close]
