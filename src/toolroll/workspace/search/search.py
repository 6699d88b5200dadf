"""Search files for lines that match a regular expression (C12).

Two passes of ripgrep. The first counts the matching lines of every file, and names those without any: the true number
is known however few are shown, and so is what was looked at. The second finds the places, in the first few files by
path only. So the answer is the same each time although the search runs on all cores.
"""

import asyncio
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import repeat
from typing import TYPE_CHECKING, Final

from toolroll.errors import ArgumentsRefused, ToolrollError
from toolroll.safe.limits import MAX_ERROR_MESSAGE_CHARACTERS
from toolroll.safe.paths.names import RelativePath
from toolroll.safe.programs.ripgrep import run_ripgrep
from toolroll.safe.programs.ripgrep_output import RipgrepMatch, parse_match
from toolroll.safe.text import one_line, visible
from toolroll.workspace.search.counts import MatchCounts, Scope, count_matches, count_not_utf8, explain_no_match
from toolroll.workspace.search.globs import check_glob
from toolroll.workspace.search.match_lines import UTF16_MARKS, MatchLine, read_match_line
from toolroll.workspace.search.skipped import count_skipped, parse_log
from toolroll.workspace.search.tree import decode_name, path_argument, to_path
from toolroll.workspace.search.walk import Deadline, Skipped

if TYPE_CHECKING:
    from toolroll.workspace.workspace import Workspace

_FILES_AT_ONCE: Final = 200  # in one command: their paths fit into the 128 KiB of the smallest usual limit
_PLACES_BYTES: Final = 1 << 30  # printed by the second pass: its lines are shortened as they come
_HEAD_BYTES: Final = 65_536  # of a file that is named itself: where its being binary is looked for
_EXIT_PROBLEM: Final = 2
_SHOWN_PATTERN_CHARACTERS: Final = 200  # in an error: who wrote it knows the rest
MAX_ACCOUNTED_FILES: Final = 2_000
"""Files among which nothing was found that are looked through again for the reason: a tenth of a second.

Of more the log of the search has to do. It is less exact in one thing: files that are protected for an odd spelling of
their names (`id_rsa~`, `.env.mine`) count as searched, though nothing that is in them could have been shown.
"""
_ESCAPED_LETTERS: Final = re.compile(r"\\[xupP]")
_ASCII_WORDS: Final = re.compile(r"[\w \"'/:;<>=,-]+", re.ASCII)
_SECONDS_TO_CHECK: Final = 5.0  # a pattern; building the largest that is allowed takes less than one


@dataclass(frozen=True, slots=True, kw_only=True)
class FileMatches:
    """The matches of one file: `count` lines, of which the first are in `lines`."""

    path: RelativePath
    count: int
    lines: tuple[MatchLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """What matched, by path. `total` lines in `matching_files` files; all numbers are at least so where time ran out.

    `searched` and `skipped` are complete only where nothing matched: else only files with matches are counted, and what
    could not be read. So it is with `not_utf8`: files in which a pattern that is more than ASCII letters may fit what
    is not found.
    """

    files: tuple[FileMatches, ...]
    total: int
    matching_files: int
    searched: int
    skipped: Skipped
    not_utf8: int = 0

    @property
    def shown(self) -> int:
        """Return how many lines are here."""
        return sum(len(file.lines) for file in self.files)

    @property
    def more(self) -> int:
        """Return how many lines match beyond those that are here."""
        return self.total - self.shown

    @property
    def is_complete(self) -> bool:
        """Return whether everything was searched before the time was up."""
        return not self.skipped.timed_out


async def search(
    workspace: "Workspace",
    pattern: str,
    *,
    folder: RelativePath | None = None,
    file_pattern: str | None = None,
    max_matches: int | None = None,
    ignore_case: bool = False,
) -> SearchResult:
    """Return the lines below a folder, or in one file, that match; ArgumentsRefused where a pattern makes no sense.

    Binary files, those over the limit, ignored and denied ones are not searched. A file that is named itself is,
    though it may be ignored.
    """
    clock = Deadline(seconds=workspace.limits.search_seconds)
    asked = _Pattern(pattern=_check_text(pattern), ignore_case=ignore_case)
    status = workspace.status(folder)
    if status.kind != "folder" and (unsearched := _why_unsearchable(workspace, status.resolved)):
        return SearchResult(files=(), total=0, matching_files=0, searched=0, skipped=unsearched)
    scope = Scope(start=path_argument(status.resolved), file_pattern=file_pattern)
    counts = await count_matches(workspace, asked.arguments, scope, clock, with_log=file_pattern is None)
    if counts.failed:
        await _check_pattern(asked)
    if not counts.matching and not counts.timed_out:
        if _is_too_many_to_explain(counts, scope):
            return await _explain_by_log(workspace, asked, scope, counts, clock)
        counts = await count_matches(workspace, asked.arguments, scope, clock, with_all=True)
    most = workspace.limits.matches if max_matches is None else max_matches
    files = await _read_matches(workspace, asked, list(_first_files(counts.matching, most)), most, clock)
    skipped = Skipped(unreadable=counts.unreadable, timed_out=counts.timed_out or clock.left_s == 0)
    if not counts.matching and status.kind == "folder":
        skipped = await explain_no_match(workspace, scope, counts, clock)
    if not counts.matching:
        _check_scope(scope, counts, skipped)
    return SearchResult(
        files=files,
        total=sum(counts.matching.values()),
        matching_files=len(counts.matching),
        searched=len(counts.searched),
        skipped=skipped,
        not_utf8=0 if counts.matching or asked.is_ascii else await count_not_utf8(workspace, scope, counts, clock),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pattern:
    pattern: str
    ignore_case: bool

    @property
    def arguments(self) -> list[str]:
        # With CRLF as a line end, `$` fits where a person sees the end of the line.
        return ["--crlf", *(["--ignore-case"] if self.ignore_case else []), f"--regexp={self.pattern}"]

    @property
    def is_ascii(self) -> bool:
        """Return whether it is words in ASCII: they are found in every encoding, and need no further pass."""
        return _ASCII_WORDS.fullmatch(self.pattern) is not None

    @property
    def has_letters(self) -> bool:
        """Return whether it asks for letters beyond ASCII, by themselves or by their number or kind."""
        return not self.pattern.isascii() or _ESCAPED_LETTERS.search(self.pattern) is not None


def _is_too_many_to_explain(counts: MatchCounts, scope: Scope) -> bool:
    """Return whether to say why nothing was found would take several times as long as to search."""
    return scope.file_pattern is None and counts.looked_at > MAX_ACCOUNTED_FILES


def _check_scope(scope: Scope, counts: MatchCounts, skipped: Skipped) -> None:
    """Raise ArgumentsRefused where no file was searched, as none fits a broken pattern."""
    is_fitting = counts.searched or skipped.ignored or skipped.binary or skipped.too_large
    if scope.file_pattern is not None and not is_fitting and not skipped.timed_out:
        check_glob(scope.file_pattern, name="filePattern")


async def _explain_by_log(
    workspace: "Workspace", asked: _Pattern, scope: Scope, counts: MatchCounts, clock: Deadline
) -> SearchResult:
    log = parse_log(counts.log)
    skipped = await count_skipped(workspace, log, clock)
    return SearchResult(
        files=(),
        total=0,
        matching_files=0,
        searched=counts.looked_at - len(log.binary),
        skipped=replace(skipped, unreadable=counts.unreadable),
        not_utf8=await count_not_utf8(workspace, scope, counts, clock) if asked.has_letters else 0,
    )


def _check_text(pattern: str) -> str:
    if not pattern or "\0" in pattern:
        raise ArgumentsRefused("The pattern is empty, or has a NUL in it. Give a regular expression, such as 'TODO'.")
    return pattern


def _why_unsearchable(workspace: "Workspace", path: RelativePath) -> Skipped | None:
    """Return why a file that was named itself cannot be searched; whatever is no file is an error."""
    with workspace.open(path) as file:
        if file.stat.st_size > workspace.limits.search_file_bytes:
            return Skipped(too_large=1)
        head = os.pread(file.fd, _HEAD_BYTES, 0)
    return Skipped(binary=1) if b"\0" in head and not head.startswith(UTF16_MARKS) else None


async def _check_pattern(asked: _Pattern) -> None:
    """Try the pattern alone, so that its errors are told apart from those of files."""
    end = await run_ripgrep(
        [*asked.arguments, "--", "-"], timeout_s=_SECONDS_TO_CHECK, on_line=lambda _: True, limit_bytes=_PLACES_BYTES
    )
    if end.exit_code == _EXIT_PROBLEM:
        why = f"{_reason(end.stderr)} in '{one_line(asked.pattern, _SHOWN_PATTERN_CHARACTERS)}'"
        advice = "Lines are searched one by one. To find special characters as they are, put a backslash before each."
        raise ArgumentsRefused(f"The pattern cannot be searched for: {why}\n{advice}")


def _reason(stderr: str) -> str:
    """Return what is wrong, without the pattern as ripgrep rewrote it and without the options it advises."""
    last = stderr.strip().removeprefix("rg: ").rpartition("\nerror: ")[2]
    return visible(last.partition("\n\n")[0])[: MAX_ERROR_MESSAGE_CHARACTERS // 2]


def _first_files(matching: dict[str, int], most: int) -> Iterator[tuple[str, int]]:
    """Yield the first files by path that have enough lines together."""
    lines = 0
    # Each has a line at least, so that no more are needed; `/` is before all else in the order of the parts.
    keys = map(str.replace, matching, repeat("/"), repeat("\0"))
    for name in map(str.replace, nsmallest(most, keys), repeat("\0"), repeat("/")):
        if lines >= most:
            return
        lines += matching[name]
        yield name, matching[name]


async def _read_matches(
    workspace: "Workspace", asked: _Pattern, counts: list[tuple[str, int]], most: int, clock: Deadline
) -> tuple[FileMatches, ...]:
    places = await _find_places(workspace, asked, [name for name, _ in counts], most, clock)
    return await asyncio.to_thread(_read_all, workspace, counts, places, most)


async def _find_places(
    workspace: "Workspace", asked: _Pattern, names: Sequence[str], most: int, clock: Deadline
) -> dict[str, list[RipgrepMatch]]:
    places: dict[str, list[RipgrepMatch]] = {}

    def on_line(line: bytes) -> bool:
        if match := parse_match(line):
            places.setdefault(decode_name(match.path), []).append(match)
        return True

    for first in range(0, len(names), _FILES_AT_ONCE):
        paths = [f"./{name}" for name in names[first : first + _FILES_AT_ONCE]]
        await run_ripgrep(
            ["--json", f"--max-count={most}", *asked.arguments, "--", *paths],
            cwd=workspace.root,
            timeout_s=clock.left_s,
            on_line=on_line,
            limit_bytes=_PLACES_BYTES,
        )
    return places


def _read_all(
    workspace: "Workspace", counts: list[tuple[str, int]], places: dict[str, list[RipgrepMatch]], most: int
) -> tuple[FileMatches, ...]:
    files = []
    for name, count in counts:
        path, wanted = to_path(name), places.get(name, [])[:most]
        # What was removed, or became a link to somewhere, since it was searched has nothing to show.
        with suppress(ToolrollError):
            lines = _read_file(workspace, path, wanted)
            files.append(FileMatches(path=path, count=count, lines=lines))
            most -= len(lines)
    return tuple(files)


def _read_file(workspace: "Workspace", path: RelativePath, places: Sequence[RipgrepMatch]) -> tuple[MatchLine, ...]:
    limits = workspace.limits
    with workspace.open(path) as file:
        return tuple(
            read_match_line(file, place, characters=limits.match_characters, limit_bytes=limits.search_file_bytes)
            for place in places
        )
