"""Write a unified diff that is always ready in time.

`difflib` takes minutes where a few lines repeat in thousands of others, and where every other of thousands of lines
changes. So what both texts begin and end with is set aside first, long texts are cut at lines that both have exactly
once (patience diff), and where the rest is still too much alike in too many ways, it is shown as taken out and put in
whole.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, TypeAlias

MAX_DIFF_PAIRS: Final = 50_000
"""Pairs of equal lines that `difflib` may have to choose from: about a second at worst."""

MAX_DIFF_CELLS: Final = 500_000
"""Lines of the one text times lines of the other that `difflib` is given at once: a tenth of a second at worst."""

CONTEXT_LINES: Final = 3
"""Unchanged lines shown around a change, as in every diff."""

Opcode: TypeAlias = tuple[str, int, int, int, int]


def unified_diff(before: str, after: str, *, path: str) -> list[str]:
    """Return the change as lines of a unified diff; none where nothing changed."""
    if before == after:
        return []
    old, new = _lines(before), _lines(after)
    lines = [f"--- a/{path}\n", f"+++ b/{path}\n"]
    matcher = SequenceMatcher(None, "", "")
    matcher.opcodes = opcodes(old, new)  # type: ignore[attr-defined]  # what get_opcodes() would work out itself
    for hunk in matcher.get_grouped_opcodes(CONTEXT_LINES):
        lines.append(_header(hunk))
        lines.extend(_body(hunk, old, new))
    return lines


def _lines(text: str) -> list[str]:
    lines = text.split("\n")  # not splitlines(): form feeds and U+2028 do not end a line (XF4)
    ended = [line + "\n" for line in lines[:-1]]
    return [*ended, lines[-1] + "\n\\ No newline at end of file\n"] if lines[-1] else ended


def opcodes(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """Return what `difflib` would call the changes from one list of lines to the other, but always in time."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    is_small = len(middle_old) * len(middle_new) <= MAX_DIFF_CELLS
    middle = _match_by_difflib(middle_old, middle_new) if is_small else _match_by_anchors(middle_old, middle_new)
    ends = [("equal", len(old) - tail, len(old), len(new) - tail, len(new))] if tail else []
    return [*([("equal", 0, head, 0, head)] if head else []), *_shift(middle, head, head), *ends]


def _shift(found: Sequence[Opcode], by_old: int, by_new: int) -> Iterator[Opcode]:
    return ((tag, i1 + by_old, i2 + by_old, j1 + by_new, j2 + by_new) for tag, i1, i2, j1, j2 in found)


def _match_by_difflib(old: Sequence[str], new: Sequence[str]) -> Sequence[Opcode]:
    if len(old) <= 1 and len(new) <= 1 and (old or new):  # thousands of times in one edit; what is equal was set aside
        return [("replace" if old and new else "delete" if old else "insert", 0, len(old), 0, len(new))]
    if _pairs(old, new) > MAX_DIFF_PAIRS:
        return [("replace", 0, len(old), 0, len(new))]
    return SequenceMatcher(None, old, new).get_opcodes()


def _match_by_anchors(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """Return the changes between lines that both texts have once, in the same order."""
    anchors = _in_order(_once_in_both(old, new))
    if not anchors:
        return [("replace", 0, len(old), 0, len(new))]
    found: list[Opcode] = []
    at_old = at_new = 0
    for i, j in [*anchors, (len(old), len(new))]:
        gap_old, gap_new = old[at_old:i], new[at_new:j]
        is_small = len(gap_old) * len(gap_new) <= MAX_DIFF_CELLS
        gap = opcodes(gap_old, gap_new) if is_small else [("replace", 0, len(gap_old), 0, len(gap_new))]
        anchor = [("equal", i, i + 1, j, j + 1)] if i < len(old) else []
        for one in (*_shift(gap, at_old, at_new), *anchor):
            _append(found, one)
        at_old, at_new = i + 1, j + 1
    return found


def _append(found: list[Opcode], one: Opcode) -> None:
    if found and found[-1][0] == one[0] == "equal":
        one = ("equal", found[-1][1], one[2], found[-1][3], one[4])
        found.pop()
    found.append(one)


def _once_in_both(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    counts_old, counts_new = Counter(old), Counter(new)
    places = {line: number for number, line in enumerate(new) if counts_new[line] == 1}
    return [(i, places[line]) for i, line in enumerate(old) if line in places and counts_old[line] == 1]


def _in_order(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return as many of the pairs as possible in one order in both texts: the longest increasing subsequence."""
    ends: list[int] = []  # the smallest place in the new text at which a sequence of each length ends
    last: list[int] = []  # which pair that is
    before: list[int] = []  # and, for each pair, the one before it
    for number, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        ends[length : length + 1] = [j]
        last[length : length + 1] = [number]
        before.append(last[length - 1] if length else -1)
    found: list[tuple[int, int]] = []
    at = last[-1] if last else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    different = (number for number, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1])
    return next(different, min(len(old), len(new)))


def _pairs(old: Sequence[str], new: Sequence[str]) -> int:
    # `difflib` passes over lines that make up more than a hundredth of a text of 200 lines, such as empty ones.
    popular = len(new) // 100 + 1 if len(new) >= 200 else len(new)  # noqa: PLR2004 - both are its own numbers
    counts = {line: number for line, number in Counter(new).items() if number <= popular}
    return sum(number * counts.get(line, 0) for line, number in Counter(old).items())


def _header(hunk: Sequence[Opcode]) -> str:
    (_, i1, _, j1, _), (_, _, i2, _, j2) = hunk[0], hunk[-1]
    return f"@@ -{_range(i1, i2)} +{_range(j1, j2)} @@\n"


def _range(start: int, stop: int) -> str:
    # An empty range is named after the line before it (POSIX diff -u).
    length = stop - start
    return f"{start + 1 if length else start}" + ("" if length == 1 else f",{length}")


def _body(hunk: Sequence[Opcode], old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    for tag, i1, i2, j1, j2 in hunk:
        if tag == "equal":
            yield from (" " + line for line in old[i1:i2])
        else:
            yield from ("-" + line for line in old[i1:i2])
            yield from ("+" + line for line in new[j1:j2])
