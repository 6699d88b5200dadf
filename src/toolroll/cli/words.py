"""Which words of two lines differ: the marks inside a changed line."""

import re
from difflib import SequenceMatcher
from typing import Final, TypeAlias

Spans: TypeAlias = list[tuple[int, int]]

MAX_TOKENS: Final = 400
"""Words compared at most: the comparison is quadratic, and nobody reads marks in a line of several screens."""

MIN_SHARE: Final = 0.35
"""How much of the two lines must be the same: below that, marks are confetti on two different lines."""

# A character that `safe.text` has spelled out (`‹U+202E›`) is one token.
_TOKEN: Final = re.compile(r"‹[^‹›]{1,24}›|\w+|\s+|.", re.DOTALL)


def changed_spans(old: str, new: str) -> tuple[Spans, Spans]:
    """Where the old and the new line differ, as character ranges; nothing where most of both is different."""
    before, after = _tokens(old), _tokens(new)
    if max(len(before), len(after)) > MAX_TOKENS:
        return [], []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    same = sum(
        len(token) for block in matcher.get_matching_blocks() for token in before[block.a : block.a + block.size]
    )
    if same * 2 < MIN_SHARE * (len(old) + len(new)):
        return [], []
    changes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return (
        _spans(before, [(start, end) for _, start, end, _, _ in changes]),
        _spans(after, [(start, end) for _, _, _, start, end in changes]),
    )


def _tokens(line: str) -> list[str]:
    return _TOKEN.findall(line)


def _spans(tokens: list[str], ranges: Spans) -> Spans:
    starts = [0]
    for token in tokens:
        starts.append(starts[-1] + len(token))
    return [(starts[start], starts[end]) for start, end in ranges if start < end]
