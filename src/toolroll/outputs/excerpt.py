"""Matching lines with what is around them, as `grep -n` shows it: bounded in lines, in bytes, and in each line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from toolroll.outputs.cut import whole_characters
from toolroll.outputs.grep import Match, Matches
from toolroll.outputs.kept import KeptOutput, OpenOutput
from toolroll.outputs.names import NextPage
from toolroll.outputs.page import PAGE_BYTES, shown_text

MAX_AROUND: Final = 100
"""Lines before and after a match at most: for more there are pages."""
LINE_BYTES: Final = 1_000
"""Of one line; what is longer is shown around its first match."""

_BEFORE_BYTES: Final = 300  # of a long line, left of the match


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """Lines that follow each other, from `first` up to and with `last`."""

    first: int
    last: int
    matches: dict[int, Match]


def excerpt(kept: KeptOutput, matches: Matches, *, before: int = 0, after: int = 0) -> str:
    """The matches with their numbers, `5:` for a match and `4-` for a line around it, then how many more there are."""
    if not matches.total:
        return f"[No line of {kept.meta.line_count:,} matches.]" if kept.meta.line_count else "[The output is empty.]"
    groups = _merged(matches.first, min(before, MAX_AROUND), min(after, MAX_AROUND), kept.meta.line_count)
    with kept.opened() as output:
        rows, shown = _within(_rows(output, groups))
    rest = matches.total - shown
    told = f"{shown:,} of {matches.total:,} matching lines"
    end = f"...and {rest:,} more\n" if rest else ""
    onward = NextPage(ref_id=kept.meta.id, offset=matches.first[max(shown - 1, 0)].line)
    return f"{''.join(rows)}{end}[{told}. Read on from the last one: {onward}]"


def _merged(matches: Sequence[Match], before: int, after: int, line_count: int) -> list[_Group]:
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


def _within(rows: Iterator[tuple[str, bool]]) -> tuple[list[str], int]:
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
        return shown_text(head), start + len(head) + 1
    following = output.line_start(line + 1)
    return _window(output, line, start, following, 0 if match is None else match.column), following


def _window(output: OpenOutput, line: int, start: int, following: int, column: int) -> str:
    low = max(column - _BEFORE_BYTES, 0)
    data = output.read(start + low, min(LINE_BYTES + 1, following - start - low)).removesuffix(b"\n")
    begin = 0 if low == 0 else _next_character(data)
    end = len(data) if len(data) <= LINE_BYTES else whole_characters(data, LINE_BYTES)
    left, right = "…" if low else "", "…" if start + low + end < following - 1 else ""
    note = f" [line of {following - start:,} bytes, from offset {line} column {low + begin}]"
    return f"{left}{shown_text(data[begin:end])}{right}{note}"


def _next_character(data: bytes) -> int:
    return next((at for at in range(4) if whole_characters(data, at) == at), 0)
