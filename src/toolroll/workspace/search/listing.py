"""List what is in a folder, a page at a time (C11)."""

import asyncio
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final, Literal

from toolroll.errors import (
    ArgumentsRefused,
    FileMissing,
    FileSystemRefused,
    NotAFile,
    OutsideRoot,
    PathRefused,
)
from toolroll.safe.paths.listing import Entry, Special
from toolroll.safe.paths.names import RelativePath
from toolroll.workspace.search.lookalikes import Lookalikes, find_lookalikes, spell_lookalike
from toolroll.workspace.search.survey import Deadline, list_names
from toolroll.workspace.search.tree import search_start, to_path
from toolroll.workspace.search.walk import Skipped, count_ignored, walk

if TYPE_CHECKING:
    from toolroll.workspace.workspace import Workspace

ListedKind = Literal["file", "folder", "link", "other"] | Special

_OUTER_BLANK: Final = re.compile(r"(?:^|(?<=/))\s+|\s+(?=/|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedEntry:
    """One entry; `ignored` ones are passed over by searches, and by lists of all that is below a folder."""

    path: RelativePath
    kind: ListedKind
    size: int = 0
    mtime_ns: int = 0
    ignored: bool = False


def display_path(path: RelativePath, lookalikes: Lookalikes = frozenset()) -> str:
    """Return the path with every character to be seen: invisible, reordering and undecodable ones are escaped.

    So are blanks around a name: a path is trimmed before it is used, so that such a file is not what it seems (XP7).
    So is a name that looks like another one: see `lookalikes`.
    """
    shown = spell_lookalike(str(path), lookalikes)
    return _OUTER_BLANK.sub(lambda blanks: "".join(f"‹U+{ord(one):04X}›" for one in blanks[0]), shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A page of a list: `offset` entries came before it, `more` come after."""

    entries: tuple[ListedEntry, ...]
    total: int
    offset: int
    skipped: Skipped
    lookalikes: Lookalikes = frozenset()
    """Paths that look like others in the whole list."""

    @property
    def more(self) -> int:
        """Return how many entries come after this page."""
        return max(0, self.total - self.offset - len(self.entries))

    @property
    def next_offset(self) -> int | None:
        """Return where the next page begins; None after the last."""
        return self.offset + len(self.entries) if self.more else None


async def list_folder(
    workspace: "Workspace", folder: RelativePath | None = None, *, recursive: bool = False, offset: int = 0
) -> Listing:
    """List one page of what is in a folder (None: the workspace).

    By itself a folder is listed whole, folders first, with links, pipes and the like as what they are. What is ignored
    is there too, marked: a person who looks for `node_modules` must find it. With `recursive` it is the files at any
    depth, by path, with links, special files and empty folders between them; ignored ones are left out, and counted.
    """
    if offset < 0:
        raise ArgumentsRefused(f"The offset of a page is 0 or more, not {offset}.")
    workspace.status(folder)  # or the error that says what else is there
    workspace.look_up(folder, ())  # or the one that says what it is instead
    start = search_start(workspace, folder)
    if recursive:
        return await _list_below(workspace, start, offset)
    found = await asyncio.to_thread(list_names, workspace, start)
    above, ordered = folder.parts if folder else (), [*sorted(found.folders), *sorted(found.others)]
    page = workspace.look_up(folder, ordered[offset : offset + workspace.limits.page_entries])
    return Listing(
        entries=tuple(_to_listed(entry, above, ignored=entry.name in found.ignored) for entry in page),
        total=len(ordered),
        offset=offset,
        skipped=Skipped(denied=found.denied, timed_out=found.is_cut, unread_ignores=found.unread_ignores),
        lookalikes=find_lookalikes("/".join((*above, name)) for name in ordered),
    )


async def _list_below(workspace: "Workspace", start: str, offset: int) -> Listing:
    clock = Deadline(seconds=workspace.limits.search_seconds)
    seen = await walk(workspace, start, clock)
    names = [*seen.names, *seen.special]
    # `/` is before all else in the order of the parts.
    ordered = sorted(names, key=lambda name: name.replace("/", "\0"))
    page = ordered[offset : offset + workspace.limits.page_entries]
    entries = _look_up_page(workspace, map(to_path, page))
    return Listing(
        entries=tuple(entries),
        total=len(names) - len(page) + len(entries),
        offset=offset,
        skipped=await count_ignored(workspace, clock, seen),
        lookalikes=find_lookalikes(names),
    )


def _to_listed(entry: Entry, above: tuple[str, ...], *, ignored: bool = False) -> ListedEntry:
    return ListedEntry(
        path=RelativePath(parts=(*above, entry.name)),
        kind=entry.special or entry.kind,
        size=entry.size,
        mtime_ns=entry.mtime_ns,
        ignored=ignored,
    )


def _look_up_page(workspace: "Workspace", page: Iterable[RelativePath]) -> list[ListedEntry]:
    """Return the paths of a page with what is there now; what is gone, or cannot be seen any more, is left out."""
    found = list[ListedEntry]()
    direct = workspace.without_links()
    for folder, paths in groupby(page, key=lambda path: path.parent):
        with suppress(FileMissing, NotAFile, OutsideRoot, FileSystemRefused, PathRefused):
            names = [path.name for path in paths]
            found += (_to_listed(entry, folder.parts) for entry in direct.look_up(folder, names))
    return found
