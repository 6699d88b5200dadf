"""Count the matching lines of each file, and explain why there are none."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from toolroll.safe.paths.scan import Mark
from toolroll.workspace.search.globs import matches_glob
from toolroll.workspace.search.matching import NUL_PATTERN, Query, match_current_files, match_files
from toolroll.workspace.search.survey import Deadline, Folder, Survey
from toolroll.workspace.search.walk import Skipped, count_ignored, in_thread

if TYPE_CHECKING:
    from toolroll.workspace.workspace import Workspace

_NOT_UTF8: Final = ("--invert-match", "--line-regexp", "--regexp=.*")  # `.` fits no byte that is not of a character


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where is searched: below `start`, a folder or a file, in files that fit the pattern."""

    start: str
    file_pattern: str | None
    is_folder: bool = True

    def has(self, name: str) -> bool:
        """Return whether the pattern fits a file, by its path from the workspace or from where the search starts."""
        if self.file_pattern is None:
            return True
        below = name.removeprefix(self.start + "/")
        return matches_glob(self.file_pattern, name) or matches_glob(self.file_pattern, below)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchCounts:
    """The files with matching lines, and how many; nothing denied or binary is here. `text` is what was searched.

    Where something matched, `text` and `binary` are about the files with matches alone.
    """

    seen: Survey
    text: Sequence[str]
    matching: dict[str, int]
    binary: int
    too_large: int
    unreadable: int
    timed_out: bool
    problem: str | None = None
    """Why nothing was searched."""


async def count_matches(
    workspace: "Workspace", asked: Sequence[str], scope: Scope, clock: Deadline, *, with_nul: bool
) -> MatchCounts:
    """Search everything once, and tell binary files apart.

    `with_nul` looks for what binary files have at the same time: for plain words, which costs nothing. Otherwise the
    files are read once more where nothing matched.
    """
    return await in_thread(clock, _count_matches, workspace, asked, scope, clock, with_nul=with_nul)


def _count_matches(
    workspace: "Workspace", asked: Sequence[str], scope: Scope, clock: Deadline, *, with_nul: bool
) -> MatchCounts:
    query = Query(
        pattern=["--text", *asked, *([NUL_PATTERN] if with_nul else [])],
        limit_bytes=workspace.limits.search_file_bytes,
        tells_binary=True,
        finds_nul=with_nul,
    )
    if scope.is_folder:
        fits = None if scope.file_pattern is None else scope.has
        seen, names, found = match_current_files(workspace, scope.start, query, clock, fits)
    else:
        seen, names = _only(scope.start), list(filter(scope.has, [scope.start]))
        found = match_files(workspace, seen, names, query, clock)
    matching = {name: count for name, count in found.counts.items() if name not in found.binary}
    passed = found.binary | found.too_large | found.unreadable | found.gone
    return MatchCounts(
        seen=seen,
        text=list(matching) if matching else [name for name in names if name not in passed],
        matching=matching,
        binary=len(found.binary),
        too_large=len(found.too_large),
        unreadable=len(found.unreadable) + len(seen.unreadable),
        timed_out=found.timed_out or not seen.is_complete,
        problem=found.problem,
    )


def _only(start: str) -> Survey:
    """Return a walk that is one file, whose folder nobody has looked at: it is opened through the workspace."""
    folder = Folder(path=start.rpartition("/")[0], mark=Mark(0, 0, 0, 0), is_settled=False, files=(start,))
    return Survey(folders=[folder])


async def count_not_utf8(workspace: "Workspace", counts: MatchCounts, clock: Deadline) -> int:
    """Count the searched files that are in an older encoding: only ASCII can be found there."""
    query = Query(pattern=["--text", *_NOT_UTF8], limit_bytes=workspace.limits.search_file_bytes)
    found = await in_thread(clock, match_files, workspace, counts.seen, counts.text, query, clock)
    return len(found.counts)


async def explain_no_match(workspace: "Workspace", scope: Scope, counts: MatchCounts, clock: Deadline) -> Skipped:
    """Return why nothing matched: what was passed over, by reason."""
    skipped = await count_ignored(workspace, clock, counts.seen, scope.has)
    return replace(
        skipped,
        binary=counts.binary,
        too_large=counts.too_large,
        unreadable=counts.unreadable,
        timed_out=counts.timed_out,
    )
