"""Walk the names below a folder in bounded time, and account for what was skipped (C2, C11).

ripgrep names the files. Links, pipes, sockets, devices and empty folders, which it does not name, are found by
`look_beside` (XF1).
"""

import os
import re
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from toolroll.safe.programs.ripgrep import run_ripgrep
from toolroll.workspace.search.tree import decode_name, walk_arguments

if TYPE_CHECKING:
    from toolroll.workspace.workspace import Workspace

NameFilter = Callable[[str], bool]

MAX_COUNTING_SECONDS: Final = 1.0  # for the number of ignored files: a hundred thousand of them
_PATH_BYTES: Final = 256  # of a long path: what a walk may print is this much for each file that it may look at
# A name may have line ends in it; one that is longer than any path is none.
_COMPLAINT: Final = re.compile(r"^rg: \./(.{1,4096}?): [^:\n]+ \(os error \d+\)$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """How many files were passed over, by reason; `denied` is the same whatever was searched for in that folder."""

    ignored: int = 0
    binary: int = 0
    too_large: int = 0
    denied: int = 0
    unreadable: int = 0
    timed_out: bool = False
    at_least: bool = False
    """Whether there are more of them: counting all would have taken too long."""

    @property
    def total(self) -> int:
        """Return all of them."""
        return self.ignored + self.binary + self.too_large + self.denied + self.unreadable


@dataclass(slots=True, kw_only=True)
class Deadline:
    """The time that is left for one request, however many programs it takes."""

    seconds: float
    started: float = field(default_factory=time.monotonic)

    @property
    def left_s(self) -> float:
        """Return the seconds that are left; never below zero."""
        return max(0.0, self.seconds - (time.monotonic() - self.started))


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkResult:
    """The names that a walk found, as text with `/`, in no order; `is_complete` says that there are no more.

    `unreadable` folders could not be looked into.
    """

    names: list[str]
    denied: int
    unreadable: int
    is_complete: bool


async def walk(workspace: "Workspace", start: str, clock: Deadline, *, ignoring: bool = True) -> WalkResult:
    """Return the files below a starting point that count (or all), without those that are denied, which are counted."""
    names: list[str] = []
    hides, most = workspace.denials.hides, workspace.limits.walk_files
    denied = 0

    def on_name(printed: bytes) -> bool:
        nonlocal denied
        name = decode_name(printed)
        if hides(name):
            denied += 1
        else:
            names.append(name)
        return len(names) + denied < most

    arguments = ["--files", "--null", *walk_arguments(workspace, ignoring=ignoring, denying=False), "--", start]
    end = await run_ripgrep(
        arguments,
        cwd=workspace.root,
        timeout_s=clock.left_s,
        on_line=on_name,
        limit_bytes=_PATH_BYTES * most,
        separator=b"\0",
    )
    unreadable = sum(not hides(name) for name in unreadable_paths(end.stderr))
    return WalkResult(names=names, denied=denied, unreadable=unreadable, is_complete=end.ended == "exited")


def unreadable_paths(stderr: str) -> list[str]:
    """Return the files and folders that ripgrep says it could not read."""
    return _COMPLAINT.findall(stderr)


async def count_ignored(
    workspace: "Workspace", start: str, clock: Deadline, seen: WalkResult, fits: NameFilter
) -> Skipped:
    """Return the account of a walk that found nothing: at least so many files were not among those that count."""
    brief = Deadline(seconds=min(clock.left_s, MAX_COUNTING_SECONDS))
    every = await walk(workspace, start, brief, ignoring=False)
    kept = set(seen.names)
    ignored = sum(name not in kept and fits(name) for name in every.names)
    return replace(skipped_by_walk(seen), ignored=ignored, at_least=not every.is_complete)


def skipped_by_walk(seen: WalkResult) -> Skipped:
    """Return the account of a walk that found something."""
    return Skipped(denied=seen.denied, unreadable=seen.unreadable, timed_out=not seen.is_complete)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialEntries:
    """The paths, as text with `/` and in no order; `is_complete` says that the time was enough for all."""

    names: tuple[str, ...]
    is_complete: bool


def find_special_entries(
    workspace: "Workspace", start: str, ignored: Collection[str], clock: Deadline
) -> SpecialEntries:
    """Return what a walk does not name below a folder, without what is ignored and denied; for threads, as it waits.

    A folder is named where nothing at all is in it: what is in others is named, or passed over and counted. It goes by
    names, as the walk does: whoever shows one looks at it again.
    """
    above, passed = start.removeprefix("./"), frozenset(ignored)
    folders, found = [above], list[str]()
    while folders and clock.left_s:
        folder = folders.pop()
        with suppress(OSError):  # unreadable ones are counted by the walk, others are gone
            inner, others, is_empty = _scan_folder(workspace, folder)
            folders += [name for name in inner if name not in passed]
            found += [name for name in others if name not in passed]
            found += [folder] if is_empty and folder != above else []
    return SpecialEntries(names=tuple(found), is_complete=not folders)


def _scan_folder(workspace: "Workspace", folder: str) -> tuple[list[str], list[str], bool]:
    """Return the folders in one, what is neither folder nor file, and whether it is empty. Nothing denied is named."""
    # Not through the guarded listing: it asks for every file's size, and takes 10 times as long.
    prefix, hides = f"{folder}/" if folder else "", workspace.denials.hides
    inner, others = list[str](), list[str]()
    is_empty = True
    with os.scandir(workspace.root / folder) as scan:
        for entry in scan:
            is_empty = False
            if not entry.is_file(follow_symlinks=False) and not hides(name := f"{prefix}{entry.name}"):
                (inner if entry.is_dir(follow_symlinks=False) else others).append(name)
    return inner, others, is_empty
