"""Count the matching lines of each file, and explain why there are none."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from toolroll.safe.paths.scan import Mark
from toolroll.workspace.search.globs import matches_glob
from toolroll.workspace.search.matching import Matched, match_files
from toolroll.workspace.search.survey import Deadline, Folder, Survey, settled_survey
from toolroll.workspace.search.walk import Skipped, count_ignored, in_thread

if TYPE_CHECKING:
    from toolroll.workspace.workspace import Workspace

_NOT_UTF8: Final = ("--invert-match", "--line-regexp", "--regexp=.*")  # `.` fits no byte that is not of a character
_NUL: Final = r"--regexp=\x00"
"""What no text has in it. Files that are named to ripgrep are never taken for binary ones, so it is asked for this."""


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
    seen = settled_survey(workspace, scope.start, clock) if scope.is_folder else _only(scope.start)
    names = seen.names if scope.file_pattern is None else list(filter(scope.has, seen.names))
    pattern = ["--text", *asked, *([_NUL] if with_nul else [])]
    found = match_files(workspace, seen, names, pattern, clock)
    readable = [name for name in names if name not in found.too_large]
    suspects = list(found.counts) if found.counts or with_nul else readable
    binary = _find_binary(workspace, seen, suspects, clock)
    matching = {name: count for name, count in found.counts.items() if name not in binary.counts}
    passed = binary.counts.keys() | found.too_large | found.unreadable | found.gone
    return MatchCounts(
        seen=seen,
        text=list(matching) if matching else [name for name in names if name not in passed],
        matching=matching,
        binary=len(binary.counts),
        too_large=len(found.too_large),
        unreadable=len(found.unreadable) + len(seen.unreadable),
        timed_out=found.timed_out or binary.timed_out or not seen.is_complete,
        problem=found.problem,
    )


def _find_binary(workspace: "Workspace", seen: Survey, names: Sequence[str], clock: Deadline) -> Matched:
    return match_files(workspace, seen, names, ["--text", "--max-count=1", _NUL], clock, limit_bytes=0)


def _only(start: str) -> Survey:
    """Return a walk that is one file, whose folder nobody has looked at: it is opened through the workspace."""
    folder = Folder(path=start.rpartition("/")[0], mark=Mark(0, 0, 0, 0), is_settled=False, files=(start,))
    return Survey(folders=[folder])


async def count_not_utf8(workspace: "Workspace", counts: MatchCounts, clock: Deadline) -> int:
    """Count the searched files that are in an older encoding: only ASCII can be found there."""
    found = await in_thread(clock, match_files, workspace, counts.seen, counts.text, ["--text", *_NOT_UTF8], clock)
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
