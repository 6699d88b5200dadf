"""Read what ripgrep prints: cut its output into lines in bounded memory, and read a match from a line of JSON.

The JSON repeats a matching line whole, whatever limit of columns ripgrep is given: one hit in a line of 6 MB is 6 MB of
JSON. Of a long line only the beginning is kept, and the places that say what matched where. Between them stand
separators, which no whole line contains.
"""

import json
import re
from binascii import a2b_base64
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

_MATCH: Final = b'{"type":"match",'
_PATH: Final = re.compile(rb'"path":\{(?:"text":("(?:[^"\\]|\\.)*+")|"bytes":"([A-Za-z0-9+/=]*)")\}')
_LINE: Final = re.compile(rb'\},"line_number":([0-9]+),"absolute_offset":([0-9]+),')
_SPAN: Final = re.compile(rb'\},"start":([0-9]+),"end":([0-9]+)\}')


@dataclass(frozen=True, slots=True, kw_only=True)
class RipgrepMatch:
    """A line that matches: its number, and where in the file's bytes it begins; `start` and `end` count from there.

    A byte order mark in front does not count, and a file in UTF-16 is counted as if it were in UTF-8.
    """

    path: bytes
    line: int
    offset: int
    start: int
    end: int


def parse_match(line: bytes) -> RipgrepMatch | None:
    """Return the match that a line of output describes, with its first place; None for every other line."""
    path, place, span = _PATH.search(line), _LINE.search(line), _SPAN.search(line)
    if not line.startswith(_MATCH) or not path or not place:
        return None
    start, end = (int(span[1]), int(span[2])) if span else (0, 0)
    with suppress(ValueError):
        return RipgrepMatch(path=_bytes_of(path), line=int(place[1]), offset=int(place[2]), start=start, end=end)
    return None


def _bytes_of(path: re.Match[bytes]) -> bytes:
    if path[1] is not None:
        return str(json.loads(path[1])).encode()
    return a2b_base64(path[2])


MAX_LINE_BYTES: Final = 65_536  # of a line that is given on whole: far over the longest line of usual source code
PIECE_BYTES: Final = 256  # after a mark: the numbers that follow it are under 100 bytes
MAX_PIECES: Final = 4  # one with the line's number, then one for each of the first matches in it

# In a JSON string every quote has a backslash before it, so that these cannot come from the text of a file.
_MARK: Final = re.compile(rb'\},"(?:line_number|start)":')


class Lines:
    """Cuts a stream into lines; what it holds of a long one is bounded."""

    def __init__(self, separator: bytes = b"\n") -> None:
        self._separator = separator
        self._held = b""
        self._head: bytes | None = None  # of a long line, while its rest goes by
        self._pieces: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the lines that end in this chunk."""
        if self._head is not None:
            passing, found, chunk = chunk.partition(self._separator)
            self._pass(passing)
            if not found:
                return
            yield self._finish()
        *lines, held = (self._held + chunk).split(self._separator)
        for line in lines:
            yield line if len(line) <= MAX_LINE_BYTES else self._shorten(line)
        self._held = held
        if len(held) > MAX_LINE_BYTES:
            self._begin(held)

    def rest(self) -> Iterator[bytes]:
        """Yield what came after the last separator, if anything did."""
        if self._head is not None:
            yield self._finish()
        elif self._held:
            yield self._held

    def _shorten(self, line: bytes) -> bytes:
        self._begin(line)
        return self._finish()

    def _begin(self, line: bytes) -> None:
        self._head, self._held, self._pieces = line[:MAX_LINE_BYTES], b"", []
        self._pass(line[MAX_LINE_BYTES - PIECE_BYTES :])

    def _pass(self, passing: bytes) -> None:
        """Take what is marked; the last bytes are kept, as a mark there goes on in the next chunk."""
        passing = self._held + passing
        self._take(passing, len(passing) - PIECE_BYTES)
        self._held = passing[-PIECE_BYTES:]

    def _take(self, passing: bytes, end: int) -> None:
        for match in _MARK.finditer(passing):
            if match.start() >= end or len(self._pieces) == MAX_PIECES:
                return
            self._pieces.append(passing[match.start() : match.start() + PIECE_BYTES])

    def _finish(self) -> bytes:
        self._take(self._held, len(self._held))
        line = self._separator.join([self._head or b"", *self._pieces])
        self._head, self._held, self._pieces = None, b"", []
        return line if self._separator in line else line + self._separator
