"""What is in a folder, a page at a time (C11)."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from toolroll.errors import ArgumentsRefused
from toolroll.safe.listing import Entry, Special
from toolroll.safe.names import RelativePath, shown
from toolroll.workspace.account import Skipped
from toolroll.workspace.ignored import is_built_in
from toolroll.workspace.tree import path_from, start_of
from toolroll.workspace.walking import Clock, count_ignored, passed_over, walk

if TYPE_CHECKING:
    from toolroll.workspace.workspace import Workspace

ListedKind = Literal["file", "folder", "link", "other"] | Special

_OUTER_BLANK: Final = re.compile(r"(?:^|(?<=/))\s+|\s+(?=/|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One entry; `ignored` ones are passed over by searches, and by lists of all that is below a folder."""

    path: RelativePath
    kind: ListedKind
    size: int = 0
    mtime_ns: int = 0
    ignored: bool = False

    @property
    def shown(self) -> str:
        """The path with every character to be seen."""
        return shown_path(self.path)


def shown_path(path: RelativePath) -> str:
    """The path with every character to be seen: invisible, reordering and undecodable ones are escaped.

    So are blanks around a name: a path is trimmed before it is used, so that such a file is not what it seems (XP7).
    """
    return _OUTER_BLANK.sub(lambda blanks: "".join(f"‹U+{ord(one):04X}›" for one in blanks[0]), shown(str(path)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A page of a list: `offset` entries came before it, `more` come after."""

    entries: tuple[Listed, ...]
    total: int
    offset: int
    skipped: Skipped

    @property
    def more(self) -> int:
        """How many entries come after this page."""
        return max(0, self.total - self.offset - len(self.entries))

    @property
    def next_offset(self) -> int | None:
        """Where the next page begins; None after the last."""
        return self.offset + len(self.entries) if self.more else None


async def list_folder(
    workspace: "Workspace", folder: RelativePath | None = None, *, recursive: bool = False, offset: int = 0
) -> Listing:
    """One page of what is in a folder (None: the workspace).

    By itself a folder is listed whole, folders first, with links, pipes and the like as what they are. What the
    built-in list ignores is there too, marked: a person who looks for `node_modules` must find it. With `recursive`
    it is the files that count, at any depth, by path: ignored ones, links and special files are left out.
    """
    if offset < 0:
        raise ArgumentsRefused(f"The offset of a page is 0 or more, not {offset}.")
    if recursive:
        return await _list_below(workspace, folder, offset)
    entries, denied = workspace.entries(folder)
    above = folder.parts if folder else ()
    ordered = sorted(entries, key=lambda entry: (entry.kind != "folder", entry.name))
    page = ordered[offset : offset + workspace.limits.page_entries]
    return Listing(
        entries=tuple(_listed(entry, above) for entry in page),
        total=len(ordered),
        offset=offset,
        skipped=Skipped(denied=denied),
    )


async def _list_below(workspace: "Workspace", folder: RelativePath | None, offset: int) -> Listing:
    clock = Clock(seconds=workspace.limits.search_seconds)
    start = start_of(workspace, folder)
    seen = await walk(workspace, start, clock)
    paths = sorted(map(path_from, seen.names), key=lambda path: path.parts)
    page = paths[offset : offset + workspace.limits.page_entries]
    entries = [entry for path in page if (entry := _stamped(workspace, path))]
    skipped = passed_over(seen)
    if not paths:
        skipped = await count_ignored(workspace, start, clock, seen, lambda _: True)
    return Listing(
        entries=tuple(entries),
        total=len(paths) - len(page) + len(entries),
        offset=offset,
        skipped=skipped,
    )


def _listed(entry: Entry, above: tuple[str, ...]) -> Listed:
    ignored = is_built_in(entry.name, is_folder=entry.kind == "folder", at_root=not above)
    return Listed(
        path=RelativePath(parts=(*above, entry.name)),
        kind=entry.special or entry.kind,
        size=entry.size,
        mtime_ns=entry.mtime_ns,
        ignored=ignored,
    )


def _stamped(workspace: "Workspace", path: RelativePath) -> Listed | None:
    found = workspace.glance(path)
    return None if found is None else Listed(path=path, kind=found.kind, size=found.size, mtime_ns=found.mtime_ns)
