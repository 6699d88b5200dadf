"""List what is in a folder, a page at a time (C11)."""

import asyncio
import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from toolroll.errors import ArgumentsRefused, FileProblem, PathRefused
from toolroll.safe.paths.listing import Entry, Special
from toolroll.safe.paths.names import RelativePath
from toolroll.workspace.search.lookalikes import Lookalikes, find_lookalikes, spell_lookalike
from toolroll.workspace.search.skipped import SkipLog, count_skipped, log_walk
from toolroll.workspace.search.tree import is_ignored_by_default, search_start, to_path
from toolroll.workspace.search.walk import Deadline, Skipped, find_special_entries, walk

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
    clock = Deadline(seconds=workspace.limits.search_seconds)
    entries, denied = workspace.entries(folder)  # or the error that says what else is there
    start = search_start(workspace, folder)
    if recursive:
        return await _list_below(workspace, start, offset, clock)
    marks = _IgnoredMarks(await log_walk(workspace, start, clock, in_one_folder=True), at_root=folder is None)
    above = folder.parts if folder else ()
    ordered = sorted(entries, key=lambda entry: (entry.kind != "folder", entry.name))
    page = ordered[offset : offset + workspace.limits.page_entries]
    return Listing(
        entries=tuple(_to_listed(entry, above, ignored=marks.has(entry)) for entry in page),
        total=len(ordered),
        offset=offset,
        skipped=Skipped(denied=denied),
        lookalikes=find_lookalikes("/".join((*above, entry.name)) for entry in entries),
    )


class _IgnoredMarks:
    """Which entries of one folder are ignored: as a walk says, and where its time was up, as the built-in list does."""

    def __init__(self, log: SkipLog, *, at_root: bool) -> None:
        self._names = frozenset(name.rpartition("/")[2] for name in log.ignored)
        self._is_complete, self._at_root = log.is_complete, at_root

    def has(self, entry: Entry) -> bool:
        if entry.name in self._names or self._is_complete:
            return entry.name in self._names
        return is_ignored_by_default(entry.name, is_folder=entry.kind == "folder", at_root=self._at_root)


async def _list_below(workspace: "Workspace", start: str, offset: int, clock: Deadline) -> Listing:
    seen = await walk(workspace, start, clock)
    log = await log_walk(workspace, start, clock)
    beside = await asyncio.to_thread(find_special_entries, workspace, start, log.ignored, clock)
    paths = sorted(map(to_path, [*seen.names, *beside.names]), key=lambda path: path.parts)
    page = paths[offset : offset + workspace.limits.page_entries]
    entries = _look_up_page(workspace, page, frozenset(beside.names))
    passed = await count_skipped(workspace, log, clock)
    return Listing(
        entries=tuple(entries),
        total=len(paths) - len(page) + len(entries),
        offset=offset,
        skipped=Skipped(
            ignored=passed.ignored,
            denied=seen.denied,
            unreadable=seen.unreadable,
            timed_out=not (seen.is_complete and beside.is_complete),
            at_least=passed.at_least,
        ),
        lookalikes=find_lookalikes([*seen.names, *beside.names]),
    )


def _to_listed(entry: Entry, above: tuple[str, ...], *, ignored: bool = False) -> ListedEntry:
    return ListedEntry(
        path=RelativePath(parts=(*above, entry.name)),
        kind=entry.special or entry.kind,
        size=entry.size,
        mtime_ns=entry.mtime_ns,
        ignored=ignored,
    )


def _look_up_page(workspace: "Workspace", page: Iterable[RelativePath], beside: Collection[str]) -> list[ListedEntry]:
    """Return the paths of a page with what is there now; what is gone, or cannot be seen any more, is left out."""
    folders = dict[RelativePath, dict[str, Entry]]()
    found = (
        _look_up_special(workspace, path, folders) if str(path) in beside else _look_up_file(workspace, path)
        for path in page
    )
    return [one for one in found if one]


def _look_up_file(workspace: "Workspace", path: RelativePath) -> ListedEntry | None:
    found = workspace.find_status(path)
    return None if found is None else ListedEntry(path=path, kind=found.kind, size=found.size, mtime_ns=found.mtime_ns)


def _look_up_special(
    workspace: "Workspace", path: RelativePath, folders: dict[RelativePath, dict[str, Entry]]
) -> ListedEntry | None:
    """Return what is at a path itself, no link followed; `folders` keeps those that were looked into."""
    if path.parent not in folders:
        folders[path.parent] = {}
        with suppress(FileProblem, PathRefused):
            folders[path.parent] = {entry.name: entry for entry in workspace.entries(path.parent)[0]}
    entry = folders[path.parent].get(path.name)
    return None if entry is None else _to_listed(entry, path.parent.parts)
