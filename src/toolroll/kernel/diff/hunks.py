"""Read a unified diff: its hunks, and the text that results when only some of them are taken.

What a person keeps of a change is computed from the proposed text itself, hunk by hunk, and every line of it is checked
against the diff on the way. A diff that does not describe that text gives nothing, instead of something near it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

Sign: TypeAlias = Literal[" ", "-", "+"]

# Nine digits: no file has more lines, and `int` takes quadratic time on long ones.
_HEADING: Final = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@.*")
EDITED: Final = "--- edited/"
"""Begins the diff of a file, among those of others, that a person has written and not only chosen from."""
_NO_NEWLINE: Final = "\\ No newline at end of file"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """One line of a hunk, with its line end where it has one."""

    sign: Sign
    text: str

    @property
    def body(self) -> str:
        """Return the line without its line end."""
        return self.text.removesuffix("\n")

    @property
    def is_ended(self) -> bool:
        """Return False for the last line of a file that does not end in a newline."""
        return self.text.endswith("\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """Changes that stand together, with the lines around them. The starts count lines from 0."""

    heading: str
    old_start: int
    new_start: int
    lines: tuple[DiffLine, ...]

    @property
    def text(self) -> str:
        """Return the hunk as it stands in its diff."""
        return "".join([f"{self.heading}\n", *(_write_line(line) for line in self.lines)])

    @property
    def old(self) -> list[str]:
        """Return the lines that were there before."""
        return [line.text for line in self.lines if line.sign != "+"]

    @property
    def new(self) -> list[str]:
        """Return the lines that would be there after."""
        return [line.text for line in self.lines if line.sign != "-"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """The changes of one file; without hunks where something else than its lines changes."""

    name: str
    hunks: tuple[Hunk, ...]
    headings: tuple[str, str]

    @property
    def text(self) -> str:
        """Return the diff as it was read."""
        return "".join([*(f"{heading}\n" for heading in self.headings), *(hunk.text for hunk in self.hunks)])

    def count(self, sign: Sign) -> int:
        """Return how many lines carry that sign: counted here, not believed."""
        return sum(line.sign == sign for hunk in self.hunks for line in hunk.lines)


def parse_diff(text: str) -> Diff | None:
    """Return the diff of one file if the text is one down to its last line; None otherwise."""
    diffs = parse_diffs(text)
    return diffs[0] if diffs is not None and len(diffs) == 1 else None


def parse_diffs(text: str) -> tuple[Diff, ...] | None:
    """Return the diffs, one after another, if the text is nothing else down to its last line; None otherwise."""
    lines = text.split("\n")
    if lines.pop() or not lines:
        return None
    found: list[Diff] = []
    at = 0
    while at < len(lines):
        diff, at = _read_diff(lines, at)
        if diff is None:
            return None
        found.append(diff)
    return tuple(found)


def _read_diff(lines: list[str], at: int) -> tuple[Diff | None, int]:
    """Return the diff that begins at this line, and where the next one begins."""
    headings = lines[at : at + 2]
    if len(headings) < 2 or not headings[0].startswith("--- ") or not headings[1].startswith("+++ "):  # noqa: PLR2004
        return None, at
    hunks: list[Hunk] = []
    at += 2
    while at < len(lines) and not lines[at].startswith("--- "):
        hunk, at = _read_hunk(lines, at)
        if hunk is None:
            return None, at
        hunks.append(hunk)
    name = headings[1].removeprefix("+++ ").removeprefix("b/")
    return Diff(name=name, hunks=tuple(hunks), headings=(headings[0], headings[1])), at


def _write_line(line: DiffLine) -> str:
    return f"{line.sign}{line.text}" if line.is_ended else f"{line.sign}{line.text}\n{_NO_NEWLINE}\n"


def apply_hunks(proposed: str, diff: Diff, taken: Sequence[bool]) -> str | None:
    """Return the proposed text with the hunks that were not taken put back; None if the diff does not fit."""
    lines = proposed.split("\n")
    lines = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    kept: list[str] = []
    at = 0
    for hunk, take in zip(diff.hunks, taken, strict=True):
        end = hunk.new_start + len(hunk.new)
        if hunk.new_start < at or lines[hunk.new_start : end] != hunk.new:
            return None
        kept += [*lines[at : hunk.new_start], *(hunk.new if take else hunk.old)]
        at = end
    return "".join([*kept, *lines[at:]])


def apply_diff(original: str, diff: Diff) -> str | None:
    """Return the text after the change; None if the diff does not fit."""
    signs: dict[Sign, Sign] = {" ": " ", "-": "+", "+": "-"}
    backwards = tuple(
        replace(
            hunk,
            old_start=hunk.new_start,
            new_start=hunk.old_start,
            lines=tuple(replace(line, sign=signs[line.sign]) for line in hunk.lines),
        )
        for hunk in diff.hunks
    )
    return restore_original(original, replace(diff, hunks=backwards))


def restore_original(proposed: str, diff: Diff) -> str | None:
    """Return the text before the change."""
    return apply_hunks(proposed, diff, [False] * len(diff.hunks))


def _read_hunk(lines: list[str], at: int) -> tuple[Hunk | None, int]:
    """Return the hunk that begins at this line, by its own counts, and where the next one begins."""
    heading = _HEADING.fullmatch(lines[at])
    if heading is None:
        return None, at
    old_start, old_left, new_start, new_left = (1 if digits is None else int(digits) for digits in heading.groups())
    starts = (_index(old_start, old_left), _index(new_start, new_left))
    found: list[DiffLine] = []
    at += 1
    while (old_left or new_left) and at < len(lines):
        line, at = _read_line(lines, at)
        if line is None:
            return None, at
        old_left -= line.sign != "+"
        new_left -= line.sign != "-"
        found.append(line)
    if old_left or new_left:
        return None, at
    return Hunk(heading=heading[0], old_start=starts[0], new_start=starts[1], lines=tuple(found)), at


def _index(start: int, count: int) -> int:
    return start - 1 if count else start  # an empty range is named by the line before it


def _read_line(lines: list[str], at: int) -> tuple[DiffLine | None, int]:
    sign, body = lines[at][:1], lines[at][1:]
    if sign not in (" ", "-", "+"):
        return None, at
    is_ended = at + 1 >= len(lines) or lines[at + 1] != _NO_NEWLINE
    text = body + "\n" if is_ended else body
    return DiffLine(sign=sign, text=text), at + (1 if is_ended else 2)  # type: ignore[arg-type]  # one of the three
