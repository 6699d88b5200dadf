"""Read a file as numbered lines: as many as fit, each as long as fits, and how to get the rest (C10)."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolroll.errors import ArgumentsRefused
from toolroll.safe.paths.names import RelativePath, quote_path
from toolroll.workspace.text import LineEnds, decode

if TYPE_CHECKING:
    from toolroll.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line: `text` are its characters from `start` on, as many as fit; `end` is what ends it in the file."""

    number: int
    text: str
    characters: int
    start: int = 0
    end: str = "\n"

    @property
    def is_cut(self) -> bool:
        """Return whether the line has more than is in `text`."""
        return len(self.text) < self.characters


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """A part of a file; `next_offset` is the first line after it, None at the end, and `hash` that of the whole."""

    path: RelativePath
    lines: tuple[Line, ...]
    total_lines: int
    next_offset: int | None
    hash: str
    size: int
    encoding: str
    line_ends: LineEnds
    note: str | None = None
    data: bytes = field(default=b"", repr=False)
    """All of the file, as it was read."""

    @property
    def is_whole(self) -> bool:
        """Return whether every character of the file is in it."""
        return len(self.lines) == self.total_lines and not any(line.is_cut for line in self.lines)


def read_lines(
    workspace: "Workspace", path: RelativePath, *, offset: int = 1, limit: int | None = None, column: int = 0
) -> FilePart:
    """Return the lines of a file from number `offset` on; of lines that are too long, the characters from `column` on.

    An empty file has no lines, which is no error. ArgumentsRefused for a place that the file does not have.
    """
    most = workspace.limits.read_lines
    limit = most if limit is None else min(limit, most)
    _check(offset, limit, column)
    content = workspace.read(path)
    text = decode(content.data, path=str(path))
    lines = text.lines
    if offset > max(len(lines), 1):
        name = quote_path(str(path))
        raise ArgumentsRefused(f"'{name}' has {len(lines)} lines, so none from {offset} on. Begin with 1.")
    chosen = lines[offset - 1 : offset - 1 + limit]
    after = offset + len(chosen)
    unended = 0 if text.text.endswith("\n") else len(lines)
    return FilePart(
        path=path,
        lines=tuple(
            _line(number, line, column, workspace.limits.line_characters, ended=number != unended)
            for number, line in enumerate(chosen, offset)
        ),
        total_lines=len(lines),
        next_offset=after if after <= len(lines) else None,
        hash=content.hash,
        size=len(content.data),
        encoding=text.encoding,
        line_ends=text.line_ends,
        note=text.note,
        data=content.data,
    )


def _check(offset: int, limit: int, column: int) -> None:
    if offset < 1 or limit < 1 or column < 0:
        what = f"offset {offset}, limit {limit}, column {column}"
        raise ArgumentsRefused(f"Lines count from 1 and columns from 0, and a limit is at least 1: not {what}.")


def _line(number: int, text: str, column: int, most: int, *, ended: bool) -> Line:
    end = "\n" if ended else ""
    if ended and text.endswith("\r"):
        text, end = text[:-1], "\r\n"
    # Only lines that do not fit are moved: the others would lose their beginning for nothing.
    start = min(column, len(text)) if len(text) > most else 0
    return Line(number=number, text=text[start : start + most], characters=len(text), start=start, end=end)
