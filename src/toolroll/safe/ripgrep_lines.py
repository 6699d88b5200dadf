"""The lines that ripgrep prints, in bounded memory.

Its JSON repeats a matching line whole, whatever limit of columns it is given: one hit in a line of 6 MB is 6 MB of
JSON. Of a long line only the beginning is kept, and the places where it says what matched where. Between them stand
separators, which no whole line has in it.
"""

import re
from collections.abc import Iterator
from typing import Final

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
        """The lines that end in this chunk."""
        if self._head is not None:
            passing, found, chunk = chunk.partition(self._separator)
            self._pass(passing)
            if not found:
                return
            yield self._finished()
        *lines, held = (self._held + chunk).split(self._separator)
        for line in lines:
            yield line if len(line) <= MAX_LINE_BYTES else self._shortened(line)
        self._held = held
        if len(held) > MAX_LINE_BYTES:
            self._begin(held)

    def rest(self) -> Iterator[bytes]:
        """What came after the last separator, if anything did."""
        if self._head is not None:
            yield self._finished()
        elif self._held:
            yield self._held

    def _shortened(self, line: bytes) -> bytes:
        self._begin(line)
        return self._finished()

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

    def _finished(self) -> bytes:
        self._take(self._held, len(self._held))
        line = self._separator.join([self._head or b"", *self._pieces])
        self._head, self._held, self._pieces = None, b"", []
        return line if self._separator in line else line + self._separator
