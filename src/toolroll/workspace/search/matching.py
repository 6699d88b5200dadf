"""Let ripgrep look through files that a walk has found, and prove that it read these and no others (XP5).

It is given names, and opens them as any program does: a folder that becomes a link meanwhile leads it outside. So the
folders are looked at again afterwards. Where one has changed, or had changed a moment before the walk, nothing of the
answer about its files is used, not even that they do not match. These files are opened through the workspace, and
ripgrep reads them from the handles.
"""

import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from toolroll.errors import FileMissing, FileProblem, PathRefused, RootGone, ToolFailure
from toolroll.safe.paths.open_file import OpenFile
from toolroll.safe.programs.ripgrep import RipgrepEnd, collect_ripgrep
from toolroll.safe.text import one_line
from toolroll.workspace.limits import Limits
from toolroll.workspace.search.survey import Deadline, Survey, changed_folders, is_current, settled_survey
from toolroll.workspace.search.tree import to_path

if TYPE_CHECKING:
    from toolroll.workspace.workspace import Workspace

NUL_PATTERN: Final = r"--regexp=\x00"
"""What no text has in it. Files that are named to ripgrep are never taken for binary ones, so it is asked for this."""
HANDLES_AT_ONCE: Final = 200
"""Files held open for one command: a process may usually have 1,024."""
_NAMES_BYTES: Final = 3 << 19  # of names in one command: three quarters of what Linux takes with its usual limits
_ROW_BYTES: Final = 4_200  # the longest path and a number
_FOUND, _NONE, _PROBLEM = 0, 1, 2  # exit codes
_ROW: Final = re.compile(rb"([^\0]+)\0([0-9]+)\r?\n")  # a program that was stopped may leave half of one
_COMPLAINT: Final = re.compile(r"^rg: (.{1,4096}?): [^:\n]+ \(os error \d+\)$", re.MULTILINE | re.DOTALL)
_HANDLES: Final = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"
_SHOWN_CHARACTERS: Final = 300
_NUL: Final = ("--text", "--max-count=1", NUL_PATTERN)
_LARGER_BYTES: Final = 1 << 18  # of a file whose size is looked at in each search: few have so much
_SIZES_KEPT_S: Final = 60.0


@dataclass(slots=True, kw_only=True)
class Matched:
    """The files with matches, and how many lines of each; `binary` are those of them with a NUL, where it was asked."""

    counts: dict[str, int] = field(default_factory=dict)
    binary: set[str] = field(default_factory=set)
    unreadable: set[str] = field(default_factory=set)
    too_large: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    timed_out: bool = False
    problem: str | None = None
    """Why it refused to begin: most often the pattern."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is looked for: `pattern` are arguments of ripgrep. With `finds_nul` it fits whatever has a NUL in it, too.

    `tells_binary` finds out which of the matching files have one; where nothing matches, which of all files.
    """

    pattern: Sequence[str]
    limit_bytes: int
    """The size of the largest file that is read."""
    tells_binary: bool = False
    finds_nul: bool = False


def match_files(workspace: "Workspace", seen: Survey, names: Sequence[str], query: Query, clock: Deadline) -> Matched:
    """Count the matching lines of these files of a walk; for threads, as it waits.

    ToolFailure where it breaks down: nobody takes that for "no match".
    """
    with workspace.handle() as root_fd:
        found, small = _match_by_name(workspace, root_fd, seen, names, query, clock)
        changed = changed_folders(root_fd, seen)
        unproven = [name for name in small if _folder_of(name) in changed] if changed else []
        for name in unproven:
            found.counts.pop(name, None)
            found.unreadable.discard(name)
            found.binary.discard(name)
        _search_twice(found, unproven, query, partial(_search_handles, found, workspace, clock, query.limit_bytes))
    return found


def match_current_files(
    workspace: "Workspace", start: str, query: Query, clock: Deadline, fits: Callable[[str], bool] | None = None
) -> tuple[Survey, list[str], Matched]:
    """Walk below a folder and count the matching lines of the files that fit; return these, too.

    What was kept of an earlier walk is tried first, and proven afterwards: one look at each folder instead of two.
    """
    if (kept := workspace.walks.get(start)) is not None:
        names = list(filter(fits, kept.names)) if fits else kept.names
        with workspace.handle() as root_fd:
            found, _ = _match_by_name(workspace, root_fd, kept, names, query, clock)
            if is_current(workspace, root_fd, kept):
                return kept, names, found
    seen = settled_survey(workspace, start, clock)
    names = list(filter(fits, seen.names)) if fits else seen.names
    return seen, names, match_files(workspace, seen, names, query, clock)


def _match_by_name(
    workspace: "Workspace", root_fd: int, seen: Survey, names: Sequence[str], query: Query, clock: Deadline
) -> tuple[Matched, Sequence[str]]:
    """Return what ripgrep says of the files in settled folders, unproven; and all that are small enough."""
    found = Matched(too_large=_large_files(root_fd, seen, names, query.limit_bytes, workspace.limits))
    small = [name for name in names if name not in found.too_large] if found.too_large else names
    fresh = {folder.path for folder in seen.folders if not folder.is_settled}
    by_name = [name for name in small if _folder_of(name) not in fresh] if fresh else small
    _search_twice(found, by_name, query, partial(_search_names, found, root_fd, clock))
    return found, small


def _search_twice(
    found: Matched, names: Sequence[str], query: Query, search: Callable[[Sequence[str], Sequence[str]], dict[str, int]]
) -> None:
    """Search for the pattern, and then, where it matters, for what only binary files have in them."""
    found.counts |= search(names, query.pattern)
    if query.tells_binary:
        only_matching = found.counts or query.finds_nul
        found.binary |= search(
            [name for name in names if name in found.counts] if only_matching else names, _NUL
        ).keys()


def handle_name(file: OpenFile) -> str:
    """Return the path by which a program opens a file that it was given open."""
    return f"{_HANDLES}/{file.fd}"


def open_files(workspace: "Workspace", names: Sequence[str], stack: ExitStack, found: Matched) -> dict[str, OpenFile]:
    """Return these files opened through the workspace, links refused; those that are gone or refused are noted."""
    opened, direct = dict[str, OpenFile](), workspace.without_links()
    for name in names:
        try:
            opened[name] = stack.enter_context(direct.open(to_path(name)))
        except RootGone:
            raise
        except FileMissing:
            found.gone.add(name)
        except (FileProblem, PathRefused):
            found.unreadable.add(name)
    return opened


def check_end(end: RipgrepEnd) -> None:
    """Raise ToolFailure where the program was ended by a signal, or by a lack of memory."""
    if end.ended == "exited" and end.exit_code not in {_FOUND, _NONE, _PROBLEM}:
        why = one_line(end.stderr.strip(), _SHOWN_CHARACTERS) or "it gave no reason"
        raise ToolFailure(
            f"The search broke down (exit code {end.exit_code}): {why}. Search a smaller folder, or fewer files."
        )


def _folder_of(name: str) -> str:
    return name.rpartition("/")[0]


def _large_files(root_fd: int, seen: Survey, names: Sequence[str], limit_bytes: int, limits: Limits) -> set[str]:
    """Return the files that are too large by now; a small one that grows is noticed within a minute."""
    looked = seen.large
    if looked is None or time.monotonic() - looked[0] > _SIZES_KEPT_S:
        least = min(_LARGER_BYTES, limits.file_bytes, limits.search_file_bytes)
        larger = frozenset(name for name in names if _size_of(root_fd, name) > least)
        if len(names) == sum(len(folder.files) for folder in seen.folders):
            seen.large = time.monotonic(), larger
    else:
        larger = looked[1].intersection(names)
    return {name for name in larger if _size_of(root_fd, name) > limit_bytes}


def _size_of(root_fd: int, name: str) -> int:
    """Return the size of a file; 0 where it cannot be looked at, which is left to the search."""
    try:
        status = os.stat(name, dir_fd=root_fd, follow_symlinks=False)
    except OSError:
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _batches(names: Sequence[str]) -> Iterator[list[str]]:
    some, size = list[str](), 0
    for name in names:
        size += 4 * len(name) + 16  # four bytes a character at most; the dot, the slash, the end, and a pointer to it
        if size > _NAMES_BYTES:
            yield some
            some, size = [], 4 * len(name) + 16
        some.append(name)
    if some:
        yield some


def _search_names(
    found: Matched, root_fd: int, clock: Deadline, names: Sequence[str], pattern: Sequence[str]
) -> dict[str, int]:
    counts = dict[str, int]()
    # By the handle: the name of the workspace may stand for another folder by now.
    cwd = f"{_HANDLES}/{root_fd}"
    for some in _batches(names):
        counts |= _search(found, {f"./{name}": name for name in some}, cwd, (), pattern, clock)
    return counts


def _search_handles(
    found: Matched,
    workspace: "Workspace",
    clock: Deadline,
    limit_bytes: int,
    names: Sequence[str],
    pattern: Sequence[str],
) -> dict[str, int]:
    counts = dict[str, int]()
    for first in range(0, len(names), HANDLES_AT_ONCE):
        with ExitStack() as stack:
            opened = open_files(workspace, names[first : first + HANDLES_AT_ONCE], stack, found)
            large = {name for name, file in opened.items() if file.stat.st_size > limit_bytes}
            found.too_large |= large
            files = {name: file for name, file in opened.items() if name not in large}
            shown = {handle_name(file): name for name, file in files.items()}
            counts |= _search(found, shown, None, [file.fd for file in files.values()], pattern, clock)
    return counts


def _search(
    found: Matched,
    shown: Mapping[str, str],
    cwd: str | None,
    handles: Sequence[int],
    pattern: Sequence[str],
    clock: Deadline,
) -> dict[str, int]:
    """Return how many lines match, by file; `shown` are the files by the names that ripgrep is given."""
    if found.problem is not None or not shown:
        return {}
    arguments = ["--count", "--null", "--with-filename", "--color=never", *pattern, "--", *shown]
    end, printed = collect_ripgrep(
        arguments, cwd=cwd, pass_fds=handles, left_s=lambda: clock.left_s, limit_bytes=_ROW_BYTES * len(shown)
    )
    check_end(end)
    complained = [shown[name] for name in _COMPLAINT.findall(end.stderr) if name in shown]
    found.unreadable.update(complained)
    found.timed_out = found.timed_out or end.ended != "exited"
    if end.exit_code == _PROBLEM and not complained and not printed:
        found.problem = end.stderr
    rows = ((shown.get(os.fsdecode(name)), count) for name, count in _ROW.findall(printed))
    return {path: int(count) for path, count in rows if path is not None}
