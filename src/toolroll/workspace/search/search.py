"""Search files for lines that match a regular expression (C12).

A walk of ours says which files there are. ripgrep looks through them twice: first it counts the matching lines of
every file, so that the true number is known however few are shown. Then it finds the places, in the first few files by
path only, which are held open meanwhile: what is shown is read from the files that were searched.
"""

import asyncio
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from heapq import nsmallest
from itertools import repeat
from typing import TYPE_CHECKING, Final

from toolroll.errors import ArgumentsRefused, ToolFailure, ToolrollError
from toolroll.safe.limits import MAX_ERROR_MESSAGE_CHARACTERS
from toolroll.safe.paths.names import RelativePath
from toolroll.safe.paths.open_file import OpenFile
from toolroll.safe.programs.ripgrep import run_ripgrep
from toolroll.safe.programs.ripgrep_output import RipgrepMatch, parse_match
from toolroll.safe.text import one_line, visible
from toolroll.workspace.search.counts import MatchCounts, Scope, count_matches, count_not_utf8, explain_no_match
from toolroll.workspace.search.globs import check_glob
from toolroll.workspace.search.match_lines import UTF16_MARKS, MatchLine, read_match_line
from toolroll.workspace.search.matching import HANDLES_AT_ONCE, Matched, check_end, handle_name, open_files
from toolroll.workspace.search.survey import Deadline
from toolroll.workspace.search.tree import to_path
from toolroll.workspace.search.walk import Skipped, in_thread

if TYPE_CHECKING:
    from toolroll.workspace.workspace import Workspace

_PLACES_BYTES: Final = 1 << 30  # printed by the second pass: its lines are shortened as they come
_HEAD_BYTES: Final = 65_536  # of a file that is named itself: where its being binary is looked for
_EXIT_PROBLEM: Final = 2
_SHOWN_PATTERN_CHARACTERS: Final = 200  # in an error: who wrote it knows the rest
MAX_ACCOUNTED_FILES: Final = 2_000
"""Files that are read once more for an older encoding whatever the pattern; of more, only where it asks for letters."""
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
    start = "/".join(status.resolved.parts)
    scope = Scope(start=start, file_pattern=file_pattern, is_folder=status.kind == "folder")
    counts = await count_matches(workspace, asked.arguments, scope, clock, with_nul=asked.is_ascii)
    if counts.problem is not None or not counts.text:
        await _check_pattern(asked, counts.problem)
    most = workspace.limits.matches if max_matches is None else max_matches
    files = await _read_matches(workspace, asked, list(_first_files(counts.matching, most)), most, clock)
    skipped = Skipped(unreadable=counts.unreadable, timed_out=counts.timed_out or clock.left_s == 0)
    if not counts.matching and scope.is_folder:
        skipped = await explain_no_match(workspace, scope, counts, clock)
    if not counts.matching:
        _check_scope(scope, counts, skipped)
    is_many = len(counts.text) > MAX_ACCOUNTED_FILES
    may_miss = not counts.matching and (asked.has_letters if is_many else not asked.is_ascii)
    return SearchResult(
        files=files,
        total=sum(counts.matching.values()),
        matching_files=len(counts.matching),
        searched=len(counts.text),
        skipped=skipped,
        not_utf8=await count_not_utf8(workspace, counts, clock) if may_miss else 0,
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


def _check_scope(scope: Scope, counts: MatchCounts, skipped: Skipped) -> None:
    """Raise ArgumentsRefused where no file was searched, as none fits a broken pattern."""
    is_fitting = counts.text or skipped.ignored or skipped.binary or skipped.too_large
    if scope.file_pattern is not None and not is_fitting and not skipped.timed_out:
        check_glob(scope.file_pattern, name="filePattern")


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


async def _check_pattern(asked: _Pattern, problem: str | None) -> None:
    """Try the pattern alone, so that its errors are told apart from those of files."""
    end = await run_ripgrep(
        [*asked.arguments, "--", "-"], timeout_s=_SECONDS_TO_CHECK, on_line=lambda _: True, limit_bytes=_PLACES_BYTES
    )
    if end.exit_code == _EXIT_PROBLEM:
        why = f"{_reason(end.stderr)} in '{one_line(asked.pattern, _SHOWN_PATTERN_CHARACTERS)}'"
        advice = "Lines are searched one by one. To find special characters as they are, put a backslash before each."
        raise ArgumentsRefused(f"The pattern cannot be searched for: {why}\n{advice}")
    if problem is not None:
        raise ToolFailure(f"The search broke down: {_reason(problem)}. Search a smaller folder.")


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
    files = list[FileMatches]()
    for first in range(0, len(counts), HANDLES_AT_ONCE):
        some = dict(counts[first : first + HANDLES_AT_ONCE])
        with ExitStack() as stack:
            # What was removed, or became a link to somewhere, since it was counted has nothing to show.
            opened = await in_thread(clock, open_files, workspace, list(some), stack, Matched())
            places = await _find_places(asked, opened, most, clock)
            for name, file in opened.items():
                lines = await asyncio.to_thread(_read_file, workspace, file, places.get(name, [])[:most])
                files.append(FileMatches(path=to_path(name), count=some[name], lines=lines))
                most -= len(lines)
    return tuple(files)


async def _find_places(
    asked: _Pattern, opened: Mapping[str, OpenFile], most: int, clock: Deadline
) -> dict[str, list[RipgrepMatch]]:
    """Return where the pattern fits in files that are held open: ripgrep reads them from the same handles."""
    places: dict[str, list[RipgrepMatch]] = {}
    names = {handle_name(file).encode(): name for name, file in opened.items()}

    def on_line(line: bytes) -> bool:
        if match := parse_match(line):
            places.setdefault(names[match.path], []).append(match)
        return True

    if names:
        end = await run_ripgrep(
            ["--json", f"--max-count={most}", *asked.arguments, "--", *map(os.fsdecode, names)],
            pass_fds=[file.fd for file in opened.values()],
            timeout_s=clock.left_s,
            on_line=on_line,
            limit_bytes=_PLACES_BYTES,
        )
        check_end(end)
    return places


def _read_file(workspace: "Workspace", file: OpenFile, places: Sequence[RipgrepMatch]) -> tuple[MatchLine, ...]:
    limits = workspace.limits
    lines = list[MatchLine]()
    with suppress(ToolrollError):  # one in UTF-16 that has grown over the limit
        lines.extend(
            read_match_line(file, place, characters=limits.match_characters, limit_bytes=limits.search_file_bytes)
            for place in places
        )
    return tuple(lines)
