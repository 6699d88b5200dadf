"""Walk the names below a folder in bounded time, and account for what was skipped (C2, C11)."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

from toolroll.workspace.search.survey import Deadline, Survey, survey

if TYPE_CHECKING:
    from toolroll.workspace.workspace import Workspace

P = ParamSpec("P")
T = TypeVar("T")
NameFilter = Callable[[str], bool]

MAX_COUNTING_SECONDS: Final = 1.0  # for the number of ignored files: a hundred thousand of them


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
    too_deep: int = 0
    """Folders that lie deeper than a path may go: nothing in them can be named."""
    unread_ignores: int = 0
    """Ignore files that are links, pipes or the like, or far too large: they exclude nothing."""

    @property
    def total(self) -> int:
        """Return how many files that is."""
        return self.ignored + self.binary + self.too_large + self.denied + self.unreadable


async def in_thread(clock: Deadline, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function in a thread; where the caller is cancelled, its clock ends what the function does."""
    try:
        return await asyncio.to_thread(function, *args, **kwargs)
    except asyncio.CancelledError:
        clock.is_cancelled = True
        raise


async def walk(workspace: "Workspace", start: str, clock: Deadline) -> Survey:
    """Return what is below a starting point."""
    return await in_thread(clock, survey, workspace, start, clock)


async def count_ignored(
    workspace: "Workspace", clock: Deadline, seen: Survey, fits: NameFilter = lambda _: True
) -> Skipped:
    """Return the account of a walk, with the number of ignored files that fit: counted within a second."""
    brief = Deadline(seconds=min(clock.left_s, MAX_COUNTING_SECONDS))
    return await in_thread(brief, _count_ignored, workspace, brief, seen, fits)


def _count_ignored(workspace: "Workspace", clock: Deadline, seen: Survey, fits: NameFilter) -> Skipped:
    visible = workspace.denials.visible
    ignored, is_complete = sum(map(fits, visible(seen.ignored_files))), clock.left_s > 0
    for folder in visible(seen.ignored_folders):
        below = survey(workspace, folder, clock, ignoring=False)
        is_complete = is_complete and below.is_complete
        ignored += sum(map(fits, below.names))
    return replace(skipped_by_walk(seen), ignored=ignored, at_least=not is_complete)


def skipped_by_walk(seen: Survey) -> Skipped:
    """Return the account of a walk that found something."""
    return Skipped(
        denied=seen.denied,
        unreadable=len(seen.unreadable),
        timed_out=not seen.is_complete,
        too_deep=seen.too_deep,
        unread_ignores=seen.unread_ignores,
    )
