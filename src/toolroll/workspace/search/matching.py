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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from toolroll.errors import FileMissing, FileProblem, PathRefused, RootGone, ToolFailure
from toolroll.safe.paths.open_file import OpenFile
from toolroll.safe.programs.ripgrep import RipgrepEnd, collect_ripgrep
from toolroll.safe.text import one_line
from toolroll.workspace.search.survey import Deadline, Survey, changed_folders
from toolroll.workspace.search.tree import to_path

if TYPE_CHECKING:
    from toolroll.workspace.workspace import Workspace

HANDLES_AT_ONCE: Final = 200
"""Files held open for one command: a process may usually have 1,024."""
_NAMES_BYTES: Final = 3 << 19  # of names in one command: three quarters of what Linux takes with its usual limits
_ROW_BYTES: Final = 4_200  # the longest path and a number
_FOUND, _NONE, _PROBLEM = 0, 1, 2  # exit codes
_ROW: Final = re.compile(rb"([^\0]+)\0([0-9]+)\r?\n")  # a program that was stopped may leave half of one
_COMPLAINT: Final = re.compile(r"^rg: (.{1,4096}?): [^:\n]+ \(os error \d+\)$", re.MULTILINE | re.DOTALL)
_HANDLES: Final = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"
_SHOWN_CHARACTERS: Final = 300


@dataclass(slots=True, kw_only=True)
class Matched:
    """The files with matches, and how many lines of each; `searched` were read to the end."""

    counts: dict[str, int] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    too_large: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    timed_out: bool = False
    problem: str | None = None
    """Why it refused to begin: most often the pattern."""


def match_files(
    workspace: "Workspace",
    seen: Survey,
    names: Sequence[str],
    pattern: Sequence[str],
    clock: Deadline,
    *,
    limit_bytes: int | None = None,
) -> Matched:
    """Count the matching lines of these files of a walk; for threads, as it waits.

    `pattern` are arguments of ripgrep, `limit_bytes` the size of the largest file that is read (0: sizes are known).
    ToolFailure where it breaks down: nobody takes that for "no match".
    """
    found, most = Matched(), limit_bytes or workspace.limits.search_file_bytes
    with workspace.handle() as root_fd:
        # Of a second look at some of them, sizes are known already.
        small = list(names) if limit_bytes == 0 else _without_large(root_fd, names, most, found)
        changed = {folder.path for folder in seen.folders if not folder.is_settled}
        by_name = [name for name in small if _folder_of(name) not in changed] if changed else small
        for some in _batches(by_name):
            _search_names(found, root_fd, some, pattern, clock)
        changed |= changed_folders(root_fd, seen)
        unproven = [name for name in small if _folder_of(name) in changed] if changed else []
        for name in unproven:
            found.counts.pop(name, None)
            found.unreadable.discard(name)
        for first in range(0, len(unproven), HANDLES_AT_ONCE):
            _search_handles(found, workspace, unproven[first : first + HANDLES_AT_ONCE], pattern, clock, most)
    return found


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


def _without_large(root_fd: int, names: Sequence[str], limit_bytes: int, found: Matched) -> list[str]:
    """Return the files that are small enough; what cannot be looked at is left to the search."""
    small = []
    for name in names:
        with suppress(OSError):
            status = os.stat(name, dir_fd=root_fd, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode) and status.st_size > limit_bytes:
                found.too_large.add(name)
                continue
        small.append(name)
    return small


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


def _search_names(found: Matched, root_fd: int, names: Sequence[str], pattern: Sequence[str], clock: Deadline) -> None:
    shown = {f"./{name}": name for name in names}
    # By the handle: the name of the workspace may stand for another folder by now.
    cwd = f"{_HANDLES}/{root_fd}"
    _search(found, shown, cwd, (), pattern, clock)


def _search_handles(
    found: Matched,
    workspace: "Workspace",
    names: Sequence[str],
    pattern: Sequence[str],
    clock: Deadline,
    limit_bytes: int,
) -> None:
    with ExitStack() as stack:
        opened = open_files(workspace, names, stack, found)
        large = {name for name, file in opened.items() if file.stat.st_size > limit_bytes}
        found.too_large |= large
        files = {name: file for name, file in opened.items() if name not in large}
        shown = {handle_name(file): name for name, file in files.items()}
        if shown:
            _search(found, shown, None, [file.fd for file in files.values()], pattern, clock)


def _search(
    found: Matched,
    shown: Mapping[str, str],
    cwd: str | None,
    handles: Sequence[int],
    pattern: Sequence[str],
    clock: Deadline,
) -> None:
    if found.problem is not None:
        return
    arguments = ["--count", "--null", "--with-filename", "--color=never", *pattern, "--", *shown]
    end, printed = collect_ripgrep(
        arguments, cwd=cwd, pass_fds=handles, left_s=lambda: clock.left_s, limit_bytes=_ROW_BYTES * len(shown)
    )
    check_end(end)
    for name, count in _ROW.findall(printed):
        if (path := shown.get(os.fsdecode(name))) is not None:
            found.counts[path] = int(count)
    complained = [shown[name] for name in _COMPLAINT.findall(end.stderr) if name in shown]
    found.unreadable.update(complained)
    found.timed_out = found.timed_out or end.ended != "exited"
    if end.exit_code == _PROBLEM and not complained and not printed:
        found.problem = end.stderr
