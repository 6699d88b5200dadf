"""Searching a stored output, and showing the matching lines as `grep -n` does, within a limit of lines and bytes.

Ripgrep finds the lines in time that grows with the size of the output only, whatever the pattern (XF6). It is asked for
the places of the matches, not for the lines, so that what it prints stays short even for a line of a gigabyte; the text
is then read from the file. A plain text in a small output is searched in memory, which takes less than starting a
program.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn

from toolroll.errors import ToolFailure
from toolroll.outputs.cut import NextPage, whole_characters
from toolroll.outputs.format import missing_output
from toolroll.outputs.reader import PAGE_BYTES, OpenOutput, StoredOutput, decode_for_display
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
MAX_AROUND: Final = 100
"""Lines before and after a match at most: for more there are pages."""
LINE_BYTES: Final = 1_000
"""Of one line; what is longer is shown around its first match."""
_BEFORE_BYTES: Final = 300  # of a long line, left of the match


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


async def find_matches(kept: StoredOutput, pattern: str, *, regex: bool = False, max_matches: int) -> Matches:
    """Return the first lines that match, and the true number of all."""
    _check_pattern(pattern)
    if not regex and kept.meta.text_bytes <= SMALL_BYTES:
        with kept.open_data() as output:
            data = output.read(0, output.byte_size)
        return _find_in_memory(data, pattern.encode(), max_matches)
    search = _Search(kept, pattern, regex=regex, wanted=max_matches)
    total = await search.total()
    return Matches(first=tuple(search.first), total=total)


def _find_in_memory(data: bytes, text: bytes, wanted: int) -> Matches:
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
    def __init__(self, kept: StoredOutput, pattern: str, *, regex: bool, wanted: int) -> None:
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
        _check_end(end, self._kept)
        return end.ended

    def _hear(self, chunk: bytes) -> bool:
        self._count += chunk.count(b"\n")
        rows, ended, self._held = (self._held + chunk).rpartition(b"\n")
        missing = self._wanted - len(self.first)
        if ended and missing:
            self.first += map(_parse_match, rows.split(b"\n", missing)[:missing])
        if not ended or self._count <= self._wanted:
            return True
        return not self._is_faster_counted(_parse_match(rows[rows.rfind(b"\n") + 1 :]).start)

    def _is_faster_counted(self, start: int) -> bool:
        """Whether it is, if the matches go on as they came up to that byte."""
        size = self._kept.meta.text_bytes
        ahead = self._count * (size - start) // max(start, 1)
        return ahead / _LISTED_PER_MS > _RECOUNT_MS + size / _RECOUNTED_PER_MS

    def _hear_count(self, chunk: bytes) -> bool:
        self._count = int(chunk)  # one number, and one write
        return True


def _parse_match(line: bytes) -> Match:
    number, column, start, _ = line.split(b":", 3)
    return Match(line=int(number) - 1, start=int(start), column=int(column) - 1)


def _check_pattern(pattern: str) -> None:
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


def _check_end(end: RipgrepEnd, kept: StoredOutput) -> None:
    if end.ended == "timeout":
        text = f"The search took longer than {SEARCH_S:g} s and was stopped. Use a simpler pattern."
        raise ToolFailure(text, code="pattern_timeout")
    if end.ended == "exited" and end.exit_code == _BAD_PATTERN:
        if not kept.data_path.exists():  # collected since it was opened
            raise missing_output(kept.meta.id)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """Lines that follow each other, from `first` up to and with `last`."""

    first: int
    last: int
    matches: dict[int, Match]


def show_matches(kept: StoredOutput, matches: Matches, *, before: int = 0, after: int = 0) -> str:
    """Return the matches with line numbers (`5:` for a match, `4-` for a line around it), and how many are left."""
    if not matches.total:
        return f"[No line of {kept.meta.line_count:,} matches.]" if kept.meta.line_count else "[The output is empty.]"
    groups = _merge_groups(matches.first, min(before, MAX_AROUND), min(after, MAX_AROUND), kept.meta.line_count)
    with kept.open_data() as output:
        rows, shown = _fit_rows(_rows(output, groups))
    rest = matches.total - shown
    told = f"{shown:,} of {matches.total:,} matching lines"
    end = f"...and {rest:,} more\n" if rest else ""
    onward = NextPage(ref_id=kept.meta.id, offset=matches.first[max(shown - 1, 0)].line)
    return f"{''.join(rows)}{end}[{told}. Read on from the last one: {onward}]"


def _merge_groups(matches: Sequence[Match], before: int, after: int, line_count: int) -> list[_Group]:
    groups: list[_Group] = []
    for match in matches:
        first, last = max(match.line - before, 0), min(match.line + after, line_count - 1)
        found = {match.line: match}
        if groups and first <= groups[-1].last + 1:
            joined = groups.pop()
            joined.matches.update(found)
            first, found = joined.first, joined.matches
        groups.append(_Group(first=first, last=last, matches=found))
    return groups


def _rows(output: OpenOutput, groups: list[_Group]) -> Iterator[tuple[str, bool]]:
    """Each row, and whether it is a match."""
    # Only context leaves gaps that are worth a mark, as in grep.
    is_apart = any(group.first != group.last for group in groups)
    for group in groups:
        if is_apart and group is not groups[0]:
            yield "--\n", False
        first = group.matches.get(group.first)
        start = output.line_start(group.first) if first is None else first.start
        for line in range(group.first, group.last + 1):
            match = group.matches.get(line)
            text, start = _line(output, line, start, match)
            yield f"{line + 1}{'-' if match is None else ':'}{text}\n", match is not None


def _fit_rows(rows: Iterator[tuple[str, bool]]) -> tuple[list[str], int]:
    """The rows that fit one answer, and how many matches are among them."""
    kept: list[str] = []
    used = shown = 0
    for row, is_match in rows:
        used += len(row.encode())
        if used > PAGE_BYTES:
            break
        kept.append(row)
        shown += is_match
    return kept, shown


def _line(output: OpenOutput, line: int, start: int, match: Match | None) -> tuple[str, int]:
    """What is shown of a line, and where the next one begins."""
    head, ended, _ = output.read(start, LINE_BYTES + 1).partition(b"\n")
    if ended or len(head) <= LINE_BYTES:
        return decode_for_display(head), start + len(head) + 1
    following = output.line_start(line + 1)
    return _window(output, line, start, following, 0 if match is None else match.column), following


def _window(output: OpenOutput, line: int, start: int, following: int, column: int) -> str:
    low = max(column - _BEFORE_BYTES, 0)
    data = output.read(start + low, min(LINE_BYTES + 1, following - start - low)).removesuffix(b"\n")
    begin = 0 if low == 0 else _next_character(data)
    end = len(data) if len(data) <= LINE_BYTES else whole_characters(data, LINE_BYTES)
    left, right = "…" if low else "", "…" if start + low + end < following - 1 else ""
    note = f" [line of {following - start:,} bytes, from offset {line} column {low + begin}]"
    return f"{left}{decode_for_display(data[begin:end])}{right}{note}"


def _next_character(data: bytes) -> int:
    return next((at for at in range(4) if whole_characters(data, at) == at), 0)
