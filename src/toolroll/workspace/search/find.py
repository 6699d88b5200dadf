"""Files by name: a pattern with wildcards, or any part of a name; the most likely ones first (C13)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from toolroll.errors import ArgumentsRefused
from toolroll.safe.paths.names import RelativePath
from toolroll.workspace.search.globs import check_glob, fits
from toolroll.workspace.search.lookalikes import Twins, twins_in
from toolroll.workspace.search.tree import path_from, start_of
from toolroll.workspace.search.walk import Clock, Skipped, count_ignored, passed_over, walk

if TYPE_CHECKING:
    from toolroll.workspace.workspace import Workspace

Rank = tuple[int, int, int, str]

_WILD: Final = frozenset("*?[{")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Files by relevance; `more` of them are not in `paths`, and what is `ignored` counts only where there are none."""

    paths: tuple[RelativePath, ...]
    total: int
    searched: int
    skipped: Skipped
    twins: Twins = frozenset()
    """Paths that look like others, found or not."""

    @property
    def more(self) -> int:
        """How many fit beyond those that are here."""
        return self.total - len(self.paths)


async def find_files(
    workspace: "Workspace", pattern: str, *, folder: RelativePath | None = None, limit: int | None = None
) -> Found:
    """The files that count below a folder whose names fit, whatever the case of their letters.

    With `*`, `?` or `**` the pattern is for the name, or, where it has a `/`, for the path from the workspace or from
    that folder. Without, or where no file fits it, it is a part of a name or path. Exact names come first, then
    beginnings, then the rest; among equals, the shorter path. ArgumentsRefused where nothing fits a broken pattern.
    """
    wanted = pattern.strip()
    if not wanted:
        raise ArgumentsRefused("The pattern is empty. Give a name such as 'main.py', a part of one, or '**/*.py'.")
    clock = Clock(seconds=workspace.limits.search_seconds)
    start = start_of(workspace, folder)
    is_wild = not _WILD.isdisjoint(wanted)
    rank = _by_pattern(wanted, start) if is_wild else _by_part(wanted)
    seen = await walk(workspace, start, clock)
    ranked = _ranked(seen.names, rank) or _ranked(seen.names, _by_part(wanted))
    most = workspace.limits.found_files if limit is None else limit
    skipped = passed_over(seen)
    if not ranked:
        skipped = await count_ignored(workspace, start, clock, seen, lambda name: rank(name) is not None)
        if is_wild and not skipped.ignored and not skipped.timed_out:
            check_glob(wanted, name="pattern")
    first = [path_from(name) for _, name in ranked[:most]]
    paths = tuple(path for path in first if workspace.glance(path))
    return Found(
        paths=paths,
        total=len(ranked) - len(first) + len(paths),
        searched=len(seen.names),
        skipped=skipped,
        twins=twins_in(seen.names),
    )


def _ranked(names: list[str], rank: Callable[[str], Rank | None]) -> list[tuple[Rank, str]]:
    return sorted((place, name) for name in names if (place := rank(name)))


def _by_pattern(pattern: str, start: str) -> Callable[[str], Rank | None]:
    folded, above = pattern.casefold(), start.removeprefix("./")
    below = len(above) + 1 if above else 0

    def rank(name: str) -> Rank | None:
        if fits(pattern, name) or fits(pattern, name[below:]):
            return _placed(0, name)
        lower = name.casefold()
        return _placed(1, name) if fits(folded, lower) or fits(folded, lower[below:]) else None

    return rank


def _by_part(part: str) -> Callable[[str], Rank | None]:
    part = part.removeprefix("./").strip("/")
    folded = part.casefold()

    def rank(name: str) -> Rank | None:
        lower = name.casefold()
        if folded not in lower:
            return None
        last = lower.rpartition("/")[2]
        return _placed(_likeness(folded, last, lower, exact=name.endswith(part)), name)

    return rank


def _likeness(part: str, name: str, path: str, *, exact: bool) -> int:
    """How well a part fits: 0 is best."""
    if name == part or path.endswith("/" + part) or path == part:
        return 0 if exact else 1
    if name.partition(".")[0] == part:
        return 2
    if name.startswith(part):
        return 3
    return 4 if part in name else 5


def _placed(likeness: int, name: str) -> Rank:
    return (likeness, name.count("/"), len(name), name)
