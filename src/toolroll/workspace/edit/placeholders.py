"""Find text that stands for code that was left out: writing it would delete that code.

Only what is new counts: a file that has had such a line before may keep it. And only lines that are a comment, or a
remark in brackets or between dots, and say nothing else: a comment may speak of "the rest of the arguments".
"""

import re
from dataclasses import dataclass
from typing import Final

_OPENING: Final = re.compile(r"\s*(?:\{/\*+|/\*+|<!--|//+|#+|--+|;+|%+|\(\*|REM\b|(?=[.…\[(<]))\s*", re.IGNORECASE)
_CLOSING: Final = re.compile(r"\s*(?:\*/\}?|-->|\*\))?\s*$")
_DOTS: Final = re.compile(r"\.{3,}|…")
_EDGES: Final = " \t.…:[]()<>{}-*=,"

_WHAT: Final = (
    r"(?:(?:code|contents?|files?|functions?|class(?:es)?|methods?|implementation|imports?|lines?|logic|text|sections?|"
    r"body|module|document|definitions?|fields|properties|tests?|styles|rules|config(?:uration)?|script|component)\b)"
)
_SAME: Final = (
    r"(?:(?:(?:remains?|stays?|is|are|kept|continues?)\s+)?(?:(?:exactly\s+)?the\s+same|unchanged|untouched|as\s+is|"
    r"omitted(?:\s+for\s+\w+)?|not\s+shown|(?:the\s+)?same\s+as\s+(?:before|above)|as\s+before|as\s+above|intact)|"
    r"continues?|goes?\s+here|follows|here)"
)
_REST: Final = r"(?:the\s+)?(?:rest|remainder|remaining)\b"
_WORDS: Final = r"(?:[\w'’/.-]+\s+){0,6}?"
_SURE: Final = re.compile(
    rf"{_REST}(?:\s+{_WORDS}{_SAME})|"
    rf"(?:(?:all|the|your|my|any)\s+){{0,2}}(?:existing|previous|original|other|same|unchanged|current)\s+{_WORDS}{_WHAT}\s+{_SAME}|"
    rf"(?:(?:all|the|your|my|any)\s+){{0,2}}(?:existing|previous|original|unchanged)\s+(?:code|contents?|implementation|logic)|"
    rf"(?:keep|leave|insert|copy)\s+(?:the\s+)?(?:existing|rest|remaining|original)\b.{{0,60}}|"
    rf"{_WORDS}{_WHAT}\s+(?:unchanged|omitted(?:\s+for\s+\w+)?|remains?\s+(?:the\s+same|unchanged)|(?:same\s+)?as\s+before)|"
    rf"unchanged|unmodified|omitted(?:\s+for\s+\w+)?|no\s+changes?(?:\s+(?:here|below|needed))?|same\s+as\s+before|snip(?:ped)?",
    re.IGNORECASE,
)
# With dots around it, less has to be said.
_LIKELY: Final = re.compile(
    rf"\b(?:rest|remainder|remaining|existing|unchanged|omitted|previous|original|same|other\s+{_WHAT}|more\s+{_WHAT})\b",
    re.IGNORECASE,
)
MAX_LINE_CHARACTERS: Final = 160
"""A longer line says something; nobody leaves code out at such length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placeholder:
    """A line that seems to stand for others: its number in the new text, and what it says."""

    line: int
    text: str


def find_placeholders(old: str, new: str) -> tuple[Placeholder, ...]:
    """Return the lines of the new text that stand for something left out, and were not there before."""
    lines, were = new.split("\n"), set(old.split("\n"))
    is_shorter = len(lines) <= old.count("\n")
    found = [
        Placeholder(line=number, text=line.strip())
        for number, line in enumerate(lines, 1)
        if line not in were and _is_placeholder(line, is_shorter=is_shorter)
    ]
    known = {line.strip() for line in were} if found else set()
    return tuple(one for one in found if one.text not in known)


def _is_placeholder(line: str, *, is_shorter: bool) -> bool:
    opening = _OPENING.match(line) if len(line) <= MAX_LINE_CHARACTERS else None
    if opening is None:
        return False
    said = _CLOSING.sub("", line[opening.end() :])
    words = said.strip(_EDGES)
    if not words:
        # Dots alone are code in Python, and an ellipsis in an example: in a comment of a file that lost lines, neither.
        return is_shorter and bool(opening[0].strip()) and _DOTS.fullmatch(said.strip()) is not None
    dotted = _DOTS.match(said) or _DOTS.search(said[-4:])
    return bool(_SURE.fullmatch(words) or (dotted and _LIKELY.search(words)))
