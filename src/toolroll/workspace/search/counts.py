"""Count the matching lines of each file, and explain why there are none."""

import os
import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from toolroll.safe.programs.ripgrep import gather_ripgrep
from toolroll.workspace.search.globs import compile_glob, matches_glob
from toolroll.workspace.search.skipped import MAX_LOG_BYTES
from toolroll.workspace.search.tree import walk_arguments
from toolroll.workspace.search.walk import Deadline, Skipped, count_ignored, unreadable_paths, walk

if TYPE_CHECKING:
    from toolroll.workspace.workspace import Workspace

_ROW_BYTES: Final = 256  # a long path and a number
_EXIT_PROBLEM: Final = 2
_NOT_UTF8: Final = ("--invert-match", "--line-regexp", "--regexp=.*")  # `.` fits no byte that is not of a character
_LOOKED_AT: Final = re.compile(r"^([0-9]+) files searched$", re.MULTILINE)
_BETWEEN_ROWS: Final = "\r\n./"  # ripgrep ends rows as it was told that lines end
_ROW: Final = re.compile(r"(?:\./)?([^\0]+)\0([0-9]+)\r?\n")  # a program that was stopped may leave half of one
_PLAIN_GLOB: Final = re.compile(r"[\w.*?+-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where is searched: below `start`, in the words of ripgrep, in files that fit the pattern."""

    start: str
    file_pattern: str | None

    def has(self, name: str) -> bool:
        """Return whether the pattern fits a file, by its path from the workspace or from where the search starts."""
        if self.file_pattern is None:
            return True
        below = name.removeprefix(self.start.removeprefix("./") + "/")
        return matches_glob(self.file_pattern, name) or matches_glob(self.file_pattern, below)

    @property
    def arguments(self) -> list[str]:
        """Return what lets ripgrep pass over most files that do not fit.

        As a type of files: `--glob` would also bring back what is ignored. Types are about the last name alone.
        """
        names = {wanted[-1] for wanted in compile_glob(self.file_pattern or "")}
        if not names or not all(map(_PLAIN_GLOB.fullmatch, names)) or "**" in names:
            return []
        return [*(f"--type-add=wanted:{name}" for name in sorted(names)), "--type=wanted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchCounts:
    """The files that were searched, and the numbers of matching lines where there are any; nothing denied is here.

    `unreadable` files and folders could have had more.
    """

    searched: Set[str]
    matching: dict[str, int]
    timed_out: bool
    failed: bool
    unreadable: int = 0
    looked_at: int = 0
    """How many files ripgrep opened, binary ones among them: where it was not asked for their names."""
    log: str = ""
    """What it passed over, in its own words: where it was asked for them."""


async def count_matches(
    workspace: "Workspace",
    asked: Sequence[str],
    scope: Scope,
    clock: Deadline,
    *,
    with_all: bool = False,
    with_log: bool = False,
) -> MatchCounts:
    """Search everything once; `failed` says that nothing was searched and something is wrong.

    Only `with_all` the files without a match are named, too: to look at 15,000 names takes longer than the search.
    Only `with_log` the log says what was skipped.
    """
    limits = workspace.limits
    # With zeros included it names every file that it took for text; binary ones are missing.
    flags = ["--count", "--null", "--with-filename", f"--max-filesize={limits.search_file_bytes}"]
    flags += ["--include-zero"] if with_all else ["--stats"]
    flags += ["--debug"] if with_log else []
    arguments = [*flags, *walk_arguments(workspace), *scope.arguments, *asked, "--", scope.start]
    end, printed = await gather_ripgrep(
        arguments,
        cwd=workspace.root,
        timeout_s=clock.left_s,
        limit_bytes=_ROW_BYTES * limits.walk_files,
        stderr_bytes=MAX_LOG_BYTES,
    )
    counted, rest = _read_rows(printed)
    wanted = counted if scope.file_pattern is None else {name: counted[name] for name in filter(scope.has, counted)}
    visible = workspace.denials.visible(wanted)
    seen = wanted if visible is wanted else {name: wanted[name] for name in visible}
    looked_at = _LOOKED_AT.search(rest)
    return MatchCounts(
        searched=seen.keys(),
        matching={name: count for name, count in seen.items() if count} if with_all else seen,
        timed_out=end.ended != "exited",
        failed=end.exit_code == _EXIT_PROBLEM and not counted,
        looked_at=int(looked_at[1]) if looked_at else 0,
        log=end.stderr if with_log else "",
        unreadable=sum(_may_match(workspace, scope, name) for name in unreadable_paths(end.stderr)),
    )


async def count_not_utf8(workspace: "Workspace", scope: Scope, counts: MatchCounts, clock: Deadline) -> int:
    """Count the searched files that are in an older encoding: only ASCII can be found there."""
    found = await count_matches(workspace, _NOT_UTF8, scope, clock)
    return len(found.matching.keys() & counts.searched if counts.searched else found.matching)


def _may_match(workspace: "Workspace", scope: Scope, name: str) -> bool:
    return not workspace.denials.hides(name) and (scope.has(name) or (workspace.root / name).is_dir())


def _read_rows(printed: bytes) -> tuple[dict[str, int], str]:
    """Read names and numbers, and what is printed after them; a name may have line ends in it, but no NUL."""
    # Decoded at once, and as names are: 8,000 names take 30 ms one by one, and 3 ms so.
    text = os.fsdecode(printed)
    end = (text.find("\n", text.rfind("\0")) + 1 or len(text)) if "\0" in text else 0
    rows, rest = text[:end], text[end:]
    is_usual = rows.startswith("./") and rows.endswith("\r\n")
    if is_usual and rows.count(_BETWEEN_ROWS) == rows.count("\0") - 1:  # it stands in no name
        flat = rows[len("./") : -len("\r\n")].replace(_BETWEEN_ROWS, "\0").split("\0")
        return dict(zip(flat[::2], map(int, flat[1::2]), strict=True)), rest
    return {name: int(number) for name, number in _ROW.findall(rows)}, rest


async def explain_no_match(workspace: "Workspace", scope: Scope, counts: MatchCounts, clock: Deadline) -> Skipped:
    """Return why nothing matched: what was passed over, by reason."""
    tracked = await walk(workspace, scope.start, clock)
    skipped = await count_ignored(workspace, scope.start, clock, tracked, scope.has)
    if counts.timed_out or skipped.timed_out:
        return replace(skipped, timed_out=True)
    reasons = Counter(
        _unsearched_reason(workspace, name) for name in tracked.names if name not in counts.searched and scope.has(name)
    )
    return replace(
        skipped,
        binary=reasons["binary"],
        too_large=reasons["too large"],
        unreadable=skipped.unreadable + reasons["unreadable"],
    )


def _unsearched_reason(workspace: "Workspace", name: str) -> Literal["binary", "too large", "unreadable"]:
    path = workspace.root / name
    try:
        size = path.lstat().st_size
    except OSError:
        return "unreadable"
    if size > workspace.limits.search_file_bytes:
        return "too large"
    return "binary" if os.access(path, os.R_OK) else "unreadable"
