"""Find files by name: by a pattern with wildcards or any part of a name, the most likely ones first (C13)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from toolroll.errors import ArgumentsRefused
from toolroll.safe.paths.names import RelativePath
from toolroll.workspace.search.globs import check_glob, matches_glob
from toolroll.workspace.search.lookalikes import Lookalikes, find_lookalikes
from toolroll.workspace.search.survey import Deadline
from toolroll.workspace.search.tree import search_start, to_path
from toolroll.workspace.search.walk import Skipped, count_ignored, skipped_by_walk, walk

if TYPE_CHECKING:
    from toolroll.workspace.workspace import Workspace

Rank = tuple[int, int, int, str]

_WILD: Final = frozenset("*?[{")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFiles:
    """Files by relevance; `more` of them are not in `paths`, and what is `ignored` counts only where there are none."""

    paths: tuple[RelativePath, ...]
    total: int
    searched: int
    skipped: Skipped
    lookalikes: Lookalikes = frozenset()
    """Paths that look like others, found or not."""

    @property
    def more(self) -> int:
        """Return how many fit beyond those that are here."""
        return self.total - len(self.paths)


async def find_files(
    workspace: "Workspace", pattern: str, *, folder: RelativePath | None = None, limit: int | None = None
) -> FoundFiles:
    """Return the files that count below a folder whose names fit, whatever the case of their letters.

    With `*`, `?` or `**` the pattern is for the name, or, where it has a `/`, for the path from the workspace or from
    that folder. Without, or where no file fits it, it is a part of a name or path. Exact names come first, then
    beginnings, then the rest; among equals, the shorter path. ArgumentsRefused where nothing fits a broken pattern.
    """
    wanted = pattern.strip()
    if not wanted:
        raise ArgumentsRefused("The pattern is empty. Give a name such as 'main.py', a part of one, or '**/*.py'.")
    clock = Deadline(seconds=workspace.limits.search_seconds)
    start = search_start(workspace, folder)
    is_wild = not _WILD.isdisjoint(wanted)
    rank = _pattern_rank(wanted, start) if is_wild else _part_rank(wanted)
    seen = await walk(workspace, start, clock)
    names = seen.names
    ranked = _rank_names(names, rank) or _rank_names(names, _part_rank(wanted))
    most = workspace.limits.found_files if limit is None else limit
    skipped = skipped_by_walk(seen)
    if not ranked:
        skipped = await count_ignored(workspace, clock, seen, lambda name: rank(name) is not None)
        if is_wild and not skipped.ignored and not skipped.timed_out:
            check_glob(wanted, name="pattern")
    first = [to_path(name) for _, name in ranked[:most]]
    paths = tuple(path for path in first if workspace.find_status(path))
    return FoundFiles(
        paths=paths,
        total=len(ranked) - len(first) + len(paths),
        searched=len(names),
        skipped=skipped,
        lookalikes=find_lookalikes(names),
    )


def _rank_names(names: list[str], rank: Callable[[str], Rank | None]) -> list[tuple[Rank, str]]:
    return sorted((place, name) for name in names if (place := rank(name)))


def _pattern_rank(pattern: str, start: str) -> Callable[[str], Rank | None]:
    folded, above = pattern.casefold(), start
    below = len(above) + 1 if above else 0

    def rank(name: str) -> Rank | None:
        if matches_glob(pattern, name) or matches_glob(pattern, name[below:]):
            return _rank(0, name)
        lower = name.casefold()
        return _rank(1, name) if matches_glob(folded, lower) or matches_glob(folded, lower[below:]) else None

    return rank


def _part_rank(part: str) -> Callable[[str], Rank | None]:
    part = part.removeprefix("./").strip("/")
    folded = part.casefold()

    def rank(name: str) -> Rank | None:
        lower = name.casefold()
        if folded not in lower:
            return None
        last = lower.rpartition("/")[2]
        return _rank(_likeness(folded, last, lower, exact=name.endswith(part)), name)

    return rank


def _likeness(part: str, name: str, path: str, *, exact: bool) -> int:
    """Return how well a part fits: 0 is best."""
    if name == part or path.endswith("/" + part) or path == part:
        return 0 if exact else 1
    if name.partition(".")[0] == part:
        return 2
    if name.startswith(part):
        return 3
    return 4 if part in name else 5


def _rank(likeness: int, name: str) -> Rank:
    return (likeness, name.count("/"), len(name), name)
