"""Searching an output: ripgrep finds the lines, in time that grows with the size alone whatever the pattern (XF6).

A text in a small output is looked for here: that takes less than the start of a program. Ripgrep is asked only where
the matching lines are, not for the lines: what it prints is short even for a line of a gigabyte. The text is then read
from the file, as much of it as is shown.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NoReturn

from toolroll.errors import ToolFailure
from toolroll.outputs.kept import KeptOutput
from toolroll.outputs.meta import missing
from toolroll.safe.programs.ripgrep import Ended, RipgrepEnd, stream_ripgrep
from toolroll.safe.text import one_line

MAX_MATCHES: Final = 50
"""Matching lines that are shown when nothing else is said (K54)."""
MATCHES_LIMIT: Final = 1_000
"""Matching lines that are shown at most: more do not fit the answer."""
SEARCH_S: Final = 60.0
"""A gigabyte takes under a second; the slowest patterns ten times that."""
MAX_PATTERN_CHARACTERS: Final = 8_192
"""Of a pattern; one argument of a program can be 131,072 bytes long on Linux."""

SMALL_BYTES: Final = 2 << 20
"""Up to here a text is looked for in memory: 0.3 ms without a match, 6 ms with one in every line of usual length."""

# When more match than are wanted, ripgrep goes on to print where each is, or counts all from the beginning again.
_LISTED_PER_MS: Final = 1_500  # lines: to tell the column it looks for every match in each
_RECOUNT_MS: Final = 2  # to start it once more
_RECOUNTED_PER_MS: Final = 1_300_000  # bytes, where every line matches, which is the slowest
_OUTPUT_BYTES: Final = 1 << 28  # far over what is printed until counting is faster
_MAX_TOLD_CHARACTERS: Final = 400

# Raw bytes, whatever they look like; one answer a line; no line itself. Without --no-ignore it looks in all folders
# above for what it should leave out: 0.3 ms for nothing. A pattern that would become larger than the sizes say is
# refused by ripgrep, in milliseconds.
_RAW: Final = ("--text", "--encoding=none", "--no-ignore")
_ALWAYS: Final = (*_RAW, "--color=never", "--no-filename", "--no-heading", "--engine=default")
_SIZES: Final = ("--regex-size-limit=10M", "--dfa-size-limit=20M")
_PLACES: Final = ("--line-number", "--byte-offset", "--column", "--max-columns=1")
_SEARCHED: Final = (0, 1)
_BAD_PATTERN: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A matching line: its number from 0, the byte at which it begins, and where in it the first match is."""

    line: int
    start: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """The first matching lines, and how many there are in all."""

    first: tuple[Match, ...]
    total: int


async def find_matches(kept: KeptOutput, pattern: str, *, regex: bool = False, max_matches: int) -> Matches:
    """The first lines that match, and the true number of all."""
    _check(pattern)
    if not regex and kept.meta.text_bytes <= SMALL_BYTES:
        with kept.opened() as output:
            data = output.read(0, output.byte_size)
        return _found(data, pattern.encode(), max_matches)
    search = _Search(kept, pattern, regex=regex, wanted=max_matches)
    total = await search.total()
    return Matches(first=tuple(search.first), total=total)


def _found(data: bytes, text: bytes, wanted: int) -> Matches:
    """The lines with that text; each is looked at up to its first one."""
    first: list[Match] = []
    line = counted = start = 0
    while len(first) < wanted and (at := data.find(text, start)) != -1:
        begin = data.rfind(b"\n", counted, at) + 1 or counted
        line += data.count(b"\n", counted, begin)
        first.append(Match(line=line, start=begin, column=at - begin))
        counted = begin
        start = data.find(b"\n", at) + 1 or len(data)
    more = 0 if len(first) < wanted else _lines_with(text, data, start)
    return Matches(first=tuple(first), total=len(first) + more)


def _lines_with(text: bytes, data: bytes, start: int) -> int:
    """How many lines from there on have it."""
    # A text, then the rest of its line: nothing to try twice (XF6). The empty group is what is listed for each.
    return len(re.compile(re.escape(text) + rb".*()").findall(data, start))


class _Search:
    def __init__(self, kept: KeptOutput, pattern: str, *, regex: bool, wanted: int) -> None:
        self.first: list[Match] = []
        self._count = 0
        self._held = b""
        self._kept = kept
        self._wanted = wanted
        kind = () if regex else ("--fixed-strings",)
        self._asked = (*_ALWAYS, *_SIZES, *kind, f"--regexp={pattern}")

    async def total(self) -> int:
        """How many lines match; then the first ones are known, too."""
        if await self._run(_PLACES, self._hear) != "exited":
            await self._run(("--count",), self._hear_count)
        return self._count

    async def _run(self, options: tuple[str, ...], on_chunk: Callable[[bytes], bool]) -> Ended:
        with self._kept.as_input() as (name, fd):
            arguments = (*self._asked, *options, "--", name)
            end = await stream_ripgrep(
                arguments, stdin_fd=fd, timeout_s=SEARCH_S, on_chunk=on_chunk, limit_bytes=_OUTPUT_BYTES
            )
        _judge(end, self._kept)
        return end.ended

    def _hear(self, chunk: bytes) -> bool:
        self._count += chunk.count(b"\n")
        rows, ended, self._held = (self._held + chunk).rpartition(b"\n")
        missing = self._wanted - len(self.first)
        if ended and missing:
            self.first += map(_place, rows.split(b"\n", missing)[:missing])
        if not ended or self._count <= self._wanted:
            return True
        return not self._is_faster_counted(_place(rows[rows.rfind(b"\n") + 1 :]).start)

    def _is_faster_counted(self, start: int) -> bool:
        """Whether it is, if the matches go on as they came up to that byte."""
        size = self._kept.meta.text_bytes
        ahead = self._count * (size - start) // max(start, 1)
        return ahead / _LISTED_PER_MS > _RECOUNT_MS + size / _RECOUNTED_PER_MS

    def _hear_count(self, chunk: bytes) -> bool:
        self._count = int(chunk)  # one number, and one write
        return True


def _place(line: bytes) -> Match:
    number, column, start, _ = line.split(b":", 3)
    return Match(line=int(number) - 1, start=int(start), column=int(column) - 1)


def _check(pattern: str) -> None:
    if not pattern:
        _refuse("it is empty, and would match every line")
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        _refuse(f"it has {len(pattern):,} characters, and {MAX_PATTERN_CHARACTERS:,} are allowed")
    if "\n" in pattern:
        _refuse("it has a line end in it, and lines are searched one at a time. Search for one line of it")
    if "\0" in pattern or not _can_be_encoded(pattern):
        _refuse(r"it has a character in it that no argument can have. Use regex and an escape such as \x00")


def _can_be_encoded(pattern: str) -> bool:
    try:
        pattern.encode()
    except UnicodeEncodeError:
        return False
    return True


def _judge(end: RipgrepEnd, kept: KeptOutput) -> None:
    if end.ended == "timeout":
        text = f"The search took longer than {SEARCH_S:g} s and was stopped. Use a simpler pattern."
        raise ToolFailure(text, code="pattern_timeout")
    if end.ended == "exited" and end.exit_code == _BAD_PATTERN:
        if not kept.data_path.exists():  # collected since it was opened
            raise missing(kept.meta.id)
        _refuse(one_line(_reason(end.stderr), _MAX_TOLD_CHARACTERS))
    if end.ended == "exited" and end.exit_code not in _SEARCHED:  # killed, for want of memory: it may not have seen all
        text = "The search ended before it had seen all of the output. Try again, or with a simpler pattern."
        raise ToolFailure(text, code="search_failed")


def _reason(stderr: str) -> str:
    """What is wrong, without the pattern as ripgrep rewrote it before, and without the options it advises after."""
    last = stderr.strip().removeprefix("rg: ").rpartition("\nerror: ")[2]
    return " ".join(last.partition("\n\n")[0].split()).rstrip(".")


def _refuse(why: str) -> NoReturn:
    raise ToolFailure(f"The pattern cannot be used: {why}.", code="invalid_pattern")
