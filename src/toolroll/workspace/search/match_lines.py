"""Read the line of a match, or as much of it around the match as fits, through the workspace.

What is shown is therefore guarded like any other reading, whatever became of the file since it was searched (XP5).
"""

import codecs
import os
from dataclasses import dataclass
from typing import Final

from toolroll.safe.paths.open_file import OpenFile
from toolroll.safe.programs.ripgrep_output import RipgrepMatch
from toolroll.workspace.text import declared_encoding, decode, split_lines

UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_HEAD_BYTES: Final = 1_024
_CHARACTER_BYTES: Final = 4  # the longest in UTF-8
_CONTINUATION: Final = range(0x80, 0xC0)  # bytes that begin no character of UTF-8
_BEFORE: Final = 3  # a third of the window is for what comes before the match


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchLine:
    """A line with a match; `start` and `end` say where in `text`, `cut` on which sides there is more of the line."""

    number: int
    text: str
    start: int
    end: int
    cut_before: bool = False
    cut_after: bool = False


def read_match_line(file: OpenFile, match: RipgrepMatch, *, characters: int, limit_bytes: int) -> MatchLine:
    """Return the line of a match with at most that many characters; only files in UTF-16 are read whole for it."""
    head = os.pread(file.fd, _HEAD_BYTES, 0)
    if head.startswith(UTF16_MARKS):
        before, after = _split_utf16(file, match, limit_bytes)
        matched = _decoded_length(after.encode("utf-8", "surrogatepass"), match.end - match.start, None)
        return _fit(match.line, before, after, matched, characters, cut_before=False)
    span = characters * _CHARACTER_BYTES
    begin = match.offset + (len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0)
    place = begin + match.start
    low = max(begin, place - span)
    raw = os.pread(file.fd, place - low + min(match.end - match.start, span) + span, low)
    declared = declared_encoding(head)
    earlier, later = raw[: place - low], raw[place - low :].partition(b"\n")[0]
    before = _decode(earlier, declared).rpartition("\n")[2]
    after = _decode(later, declared)
    matched = _decoded_length(later, match.end - match.start, declared)
    return _fit(match.line, before, after, matched, characters, cut_before=low > begin)


def _fit(number: int, before: str, after: str, matched: int, most: int, *, cut_before: bool) -> MatchLine:
    after = after.removesuffix("\r")
    if len(before) + len(after) <= most and not cut_before:
        return MatchLine(number=number, text=before + after, start=len(before), end=len(before) + matched)
    # What the one side does not need, the other gets.
    room = max(most // _BEFORE, most - len(after))
    kept = before[max(0, len(before) - room) :]
    rest = after[: most - len(kept)]
    return MatchLine(
        number=number,
        text=kept + rest,
        start=len(kept),
        end=len(kept) + min(matched, len(rest)),
        cut_before=cut_before or len(kept) < len(before),
        cut_after=len(rest) < len(after),
    )


def _split_utf16(file: OpenFile, match: RipgrepMatch, limit_bytes: int) -> tuple[str, str]:
    """Return the line before and after the match began; places are counted as if the file were in UTF-8."""
    lines = split_lines(decode(file.read(limit_bytes), path=str(file.resolved)).text)
    line = lines[match.line - 1] if match.line <= len(lines) else ""
    encoded = line.encode("utf-8", "surrogatepass")
    return _decode(encoded[: match.start], None), _decode(encoded[match.start :], None)


def _decode(data: bytes, declared: str | None) -> str:
    """Return the text of a part of a line: a character that was cut at either end is left out."""
    start = next((at for at, byte in enumerate(data[:_CHARACTER_BYTES]) if byte not in _CONTINUATION), 0)
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        return decoder.decode(data[start:])
    except UnicodeDecodeError:
        return data.decode(declared or "latin-1", "replace")


def _decoded_length(data: bytes, size: int, declared: str | None) -> int:
    return len(_decode(data[:size], declared))
