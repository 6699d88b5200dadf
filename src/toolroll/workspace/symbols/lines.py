"""Which line and column of a text a byte stands in.

The parser's binding gives points too, but those of py-tree-sitter 0.26.0 free numbers above 256 that others still use,
which ends in a crash: nothing here asks for one.
"""

from bisect import bisect_right
from itertools import accumulate


class Lines:
    """The lines of one text, which end at `\\n` and nowhere else; both counts begin at 1."""

    __slots__ = ("_data", "_starts")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._starts = list(accumulate([len(line) + 1 for line in data.split(b"\n")[:-1]], initial=0))

    def line(self, byte: int) -> int:
        """The line that the byte stands in."""
        return bisect_right(self._starts, byte)

    def last_line(self, start: int, end: int) -> int:
        """The line in which what goes from `start` to before `end` ends, without a line end that it takes along."""
        return self.line(max(start, end - 1))

    def column(self, byte: int) -> int:
        """The column of the byte, in characters."""
        start = self._starts[self.line(byte) - 1]
        return len(self._data[start:byte].decode("utf-8", "replace")) + 1

    def text(self, line: int) -> bytes:
        """One line, without its end."""
        end = self._starts[line] - 1 if line < len(self._starts) else len(self._data)
        return self._data[self._starts[line - 1] : end]
