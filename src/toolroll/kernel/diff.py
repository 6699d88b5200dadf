"""A unified diff that is always ready in time.

`difflib` takes minutes where a few lines repeat in thousands of others. So what both texts begin and end with is set
aside first, and where the rest is still too much alike in too many ways, it is shown as taken out and put in whole.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, TypeAlias

MAX_DIFF_PAIRS: Final = 50_000
"""Pairs of equal lines that `difflib` may have to choose from: about a second at worst."""

CONTEXT_LINES: Final = 3
"""Unchanged lines shown around a change, as in every diff."""

Opcode: TypeAlias = tuple[str, int, int, int, int]


def unified_diff(before: str, after: str, *, path: str) -> list[str]:
    """The change as lines of a unified diff; none where nothing changed."""
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
    """What `difflib` would call the changes from one list of lines to the other, but always in time."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    middle: Sequence[Opcode] = [("replace", 0, len(middle_old), 0, len(middle_new))]
    if _pairs(middle_old, middle_new) <= MAX_DIFF_PAIRS:
        middle = SequenceMatcher(None, middle_old, middle_new).get_opcodes()
    moved = [(tag, i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in middle]
    ends = [("equal", len(old) - tail, len(old), len(new) - tail, len(new))] if tail else []
    return [*([("equal", 0, head, 0, head)] if head else []), *moved, *ends]


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
