"""Merge two changes of one file line by line, and show what changed in a file since it was read.

A change that was made from an older content is not lost where the two do not touch (C19). Where they do, or where lines
are not certain to be lines (UTF-16), nothing is merged.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from toolroll.home.keys import known_secrets
from toolroll.kernel.diff.unified import opcodes, unified_diff
from toolroll.safe.paths.names import RelativePath, quote_path
from toolroll.safe.secrets.redact import redact
from toolroll.safe.text import one_line, visible
from toolroll.workspace.edit.encoding import EncodedText, decode_exactly
from toolroll.workspace.text import decode

MAX_SHOWN_LINES: Final = 60
"""Of a difference: what is more is a reason to read the file again."""
MAX_LINE_CHARACTERS: Final = 300

_WIDE: Final = ("utf-16", "utf-32")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Lines that both sides changed, each in its own way; `line` is where they begin in the base, from 1."""

    line: int
    base: bytes
    ours: bytes
    theirs: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeResult:
    """What came of a merge: the content, or the conflicts for which there is none."""

    data: bytes | None
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chunk:
    line: int
    base: Sequence[str]
    ours: Sequence[str]
    theirs: Sequence[str]

    def agreed_lines(self) -> Sequence[str] | None:
        """Return the lines that all agree on: of the side that changed something, if only one did."""
        if self.ours == self.base:
            return self.theirs
        return self.ours if self.theirs in (self.base, self.ours) else None


def merge(base: bytes, ours: bytes, theirs: bytes) -> MergeResult:
    """Merge both changes of the base if no two of them touch (diff3); otherwise return all places where they do."""
    merged: list[str] = []
    conflicts: list[Conflict] = []
    for chunk in _chunks(_lines(base), _lines(ours), _lines(theirs)):
        lines = chunk.agreed_lines()
        if lines is None:
            sides = (b"".join(map(_bytes, side)) for side in (chunk.base, chunk.ours, chunk.theirs))
            conflicts.append(Conflict(line=chunk.line, **dict(zip(("base", "ours", "theirs"), sides, strict=True))))
        else:
            merged += lines
    return MergeResult(data=None if conflicts else _bytes("".join(merged)), conflicts=tuple(conflicts))


def _chunks(base: list[str], ours: list[str], theirs: list[str]) -> Iterator[_Chunk]:
    """Yield the texts cut at every line that none of them changed; such a line is a chunk of its own."""
    in_ours, in_theirs = _map_unchanged(base, ours), _map_unchanged(base, theirs)
    at = our_at = their_at = 0
    for number in [number for number in range(len(base)) if number in in_ours and number in in_theirs]:
        our_end, their_end = in_ours[number], in_theirs[number]
        yield _Chunk(line=at + 1, base=base[at:number], ours=ours[our_at:our_end], theirs=theirs[their_at:their_end])
        same = base[number : number + 1]
        yield _Chunk(line=number + 1, base=same, ours=same, theirs=same)
        at, our_at, their_at = number + 1, our_end + 1, their_end + 1
    yield _Chunk(line=at + 1, base=base[at:], ours=ours[our_at:], theirs=theirs[their_at:])


def _map_unchanged(base: list[str], side: list[str]) -> dict[int, int]:
    """Return which line of the side each line of the base is, as far as it is still there."""
    equal = [(i1, i2, j1) for tag, i1, i2, j1, _ in opcodes(base, side) if tag == "equal"]
    return {number: j1 + number - i1 for i1, i2, j1 in equal for number in range(i1, i2)}


def _lines(data: bytes) -> list[str]:
    # Latin-1 has a character for every byte, so that no content is beyond it.
    *ended, last = data.decode("latin-1").split("\n")
    return [*(line + "\n" for line in ended), *([last] if last else [])]


def _bytes(text: str) -> bytes:
    return text.encode("latin-1")


def describe_drift(path: RelativePath, before: bytes, now: bytes) -> str:
    """Return the difference as a short diff, without secrets; what is left out is counted."""
    name = str(path)
    old, new = decode(before, path=name).text, decode(now, path=name).text
    lines = [line.rstrip("\n") for line in unified_diff(old, new, path=quote_path(name))]
    rest = len(lines) - MAX_SHOWN_LINES
    # A key may be longer than what is shown of its line: what is cut first would no longer look like one.
    safe = redact("\n".join(lines[:MAX_SHOWN_LINES]), known=known_secrets(os.environ)).split("\n")
    shown_lines = [_shorten(visible(line)) for line in safe] if lines else ["No line: only how it is encoded."]
    return "\n".join([*shown_lines, *([f"[{rest:,} more lines of the difference]"] if rest > 0 else [])])


def _shorten(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARACTERS else one_line(line, MAX_LINE_CHARACTERS)


def try_merge(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Merge both changes of the base; None where they touch, or where the encoding is not the same everywhere."""
    carriers = [decode_exactly(data) for data in (base, ours, theirs)]
    if len({(one.encoding, one.mark, one.is_known) for one in carriers}) > 1 or _is_wide(carriers[0]):
        return None
    return merge(base, ours, theirs).data


def _is_wide(carrier: EncodedText) -> bool:
    return carrier.encoding.startswith(_WIDE)
