"""Split a text into lines and what ends them, so that each line keeps its own end.

`\\n` and `\\r\\n` end a line, mixed as they may be. A bare `\\r` ends one only where nothing else does (files of the
old Macintosh): beside other ends it is data, such as in the log of a progress bar, and stays what it is.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from toolroll.kernel.diff.unified import opcodes

_ENDS: Final = re.compile(r"(\r?\n)")
_ALL_ENDS: Final = re.compile(r"(\r\n|\n|\r)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """What is in each line, and the ends between them: always one end fewer, for the last line has none.

    A text that ends with a newline has an empty last line.
    """

    contents: tuple[str, ...]
    ends: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the text again."""
        if len(kinds := set(self.ends)) <= 1:  # nearly always, and five times as fast
            return "".join(kinds).join(self.contents)
        return "".join([part for pair in zip(self.contents, (*self.ends, ""), strict=True) for part in pair])

    @property
    def starts(self) -> list[int]:
        """Return where each line begins in the text."""
        starts = [0]
        for content, end in zip(self.contents, self.ends, strict=False):
            starts.append(starts[-1] + len(content) + len(end))
        return starts

    @property
    def last_end(self) -> str:
        """Return the end that one more line would get: that of the line before it, or a plain newline."""
        return self.ends[-1] if self.ends else "\n"

    def part(self, first: int, last: int) -> "Lines":
        """Return some of the lines, the last one included, without the end that follows it."""
        return Lines(contents=self.contents[first : last + 1], ends=self.ends[first:last])


def has_bare_ends(text: str) -> bool:
    """Return whether lines end in a bare carriage return here."""
    return "\r" in text and "\n" not in text


def split_lines(text: str, *, bare_ends: bool) -> Lines:
    """Return the lines of a text; `bare_ends` says whether a bare carriage return ends one (see `has_bare_ends`)."""
    if "\r" not in text:  # nearly always, and ten times as fast
        contents = tuple(text.split("\n"))
        return Lines(contents=contents, ends=("\n",) * (len(contents) - 1))
    pieces = (_ALL_ENDS if bare_ends else _ENDS).split(text)
    return Lines(contents=tuple(pieces[::2]), ends=tuple(pieces[1::2]))


def line_number(text: str, position: int) -> int:
    """Return the number of the line that a position is in, counted as everywhere: by newlines, from 1 (XF4)."""
    return text.count("\n", 0, position) + 1


def align_lines(
    old: Lines, new: Sequence[str], *, last_end: str, key: Callable[[str], str] | None = None
) -> tuple[Lines, tuple[int, ...]]:
    """Return the new lines: those that were there before unchanged, others with the ends of their neighbours.

    `key` says when a line is the same (None: when it is equal). `last_end` is the end of the last of the old lines,
    which is not among theirs. Also tells which of the new lines were not there before.
    """
    sides = (old.contents, new) if key is None else (list(map(key, old.contents)), list(map(key, new)))
    origins, shades = _origins(*sides)
    contents = [content if at is None else old.contents[at] for content, at in zip(new, origins, strict=True)]
    ends = [old.ends[shade] if shade < len(old.ends) else last_end for shade in shades[:-1]]
    added = tuple(number for number, at in enumerate(origins) if at is None)
    return Lines(contents=tuple(contents), ends=tuple(ends)), added


def _origins(old: Sequence[str], new: Sequence[str]) -> tuple[list[int | None], list[int]]:
    """Return for each new line which old one it is, if any, and which old one's end it takes."""
    origins: list[int | None] = []
    shades: list[int] = []
    for tag, i1, i2, j1, j2 in opcodes(old, new):
        if tag == "equal":
            origins.extend(range(i1, i2))
            shades.extend(range(i1, i2))
            continue
        origins.extend([None] * (j2 - j1))
        # What is put in between takes after the line before it, or else the one that follows.
        shades.extend(min(i1 + offset, i2 - 1) if i2 > i1 else max(i1 - 1, 0) for offset in range(j2 - j1))
    return origins, shades
