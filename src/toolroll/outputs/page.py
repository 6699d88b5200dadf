"""Reading an output by pages: whole lines within a limit of lines and of bytes, each page with the call for the next.

A page is a range of bytes, and the next one begins where it ends: all of them joined are the output, byte for byte. A
line that is longer than a page is read in windows, which end between two characters.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from toolroll.errors import ToolFailure
from toolroll.kernel.data.messages import Part, TextPart
from toolroll.outputs.cut import CONTEXT_BYTES, whole_characters
from toolroll.outputs.kept import KeptOutput, OpenOutput
from toolroll.outputs.names import NextPage

PAGE_LINES: Final = 2_000
"""Lines of a page at most, and when nothing else is said: what reading a file gives as well."""
PAGE_BYTES: Final = CONTEXT_BYTES
"""Of the numbered lines of a page. They are not cut again, so they keep to the same limit themselves."""
PART_BYTES: Final = 8 << 20
"""Of images and documents in one answer; the first one is there whatever its size."""

_NUMBER_COLUMNS: Final = 6  # as `cat -n` has it
_NUMBER_BYTES: Final = 16  # a number, a tab and a line end, with room for 100 billion lines
_SNAP_BYTES: Final = 3  # a character of UTF-8 has at most that many bytes before its last one
_ESCAPED_BYTES: Final = 4  # what a byte that is no text is written as: \xff


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Lines from `offset` on: `data` is what lies between the bytes `start` and `end`. `next` is None at the end."""

    offset: int
    lines: tuple[str, ...]
    start: int
    end: int
    data: bytes
    next: NextPage | None


def read_page(kept: KeptOutput, *, offset: int = 0, limit: int | None = None, column: int = 0) -> Page:
    """The page that begins after `offset` lines, and after `column` bytes of the line that is there."""
    with kept.opened() as output:
        line_start, start = _begin(output, offset, column)
        window = output.read(start, PAGE_BYTES)
    at_end = start + len(window) == output.byte_size
    lines, size = _fitting(_raw_lines(window, min(limit or PAGE_LINES, PAGE_LINES), at_end=at_end))
    onward = NextPage(ref_id=kept.meta.id, offset=offset + len(lines), limit=limit)
    if window and not lines:
        lines, size = _clipped(window.partition(b"\n")[0])
        onward = NextPage(ref_id=kept.meta.id, offset=offset, limit=limit, column=start + size - line_start)
    return Page(
        offset=offset,
        lines=tuple(lines),
        start=start,
        end=start + size,
        data=window[:size],
        next=onward if start + size < output.byte_size else None,
    )


def answer(kept: KeptOutput, page: Page) -> str | tuple[Part, ...]:
    """The page as a model reads it; with the images and documents whose lines are on it, if there are any."""
    text = numbered(kept, page)
    shown = range(page.offset, page.offset + len(page.lines))
    numbers = [n for n, piece in enumerate(kept.meta.pieces) if piece.type != "text" and piece.line in shown]
    if not numbers:
        return text
    parts: list[Part] = []
    left = PART_BYTES
    for number in numbers:
        piece = kept.meta.pieces[number]
        left -= piece.byte_size
        if parts and left < 0:
            onward = NextPage(ref_id=kept.meta.id, offset=piece.line, limit=1)
            text += f"\n[The {piece.type} of line {piece.line + 1} is too much for this answer. Next: {onward}]"
            break
        parts.append(kept.part(number))
    return (TextPart(text=text), *parts)


def numbered(kept: KeptOutput, page: Page) -> str:
    """The lines with their numbers, then what of the whole they are, and the call that reads on."""
    first, last, meta = page.offset + 1, page.offset + len(page.lines), kept.meta
    rows = [f"{number:>{_NUMBER_COLUMNS}}\t{line}\n" for number, line in enumerate(page.lines, first)]
    if not rows:
        return "[The output is empty.]"
    onward = f" Next: {page.next}" if page.next else " This is the end."
    of_bytes = f"bytes {page.start:,}-{page.end:,} of {meta.text_bytes:,}"
    return "".join(rows) + f"[lines {first:,}-{last:,} of {meta.line_count:,}, {of_bytes}.{onward}]"


def shown_text(data: bytes) -> str:
    """Bytes as text: what is no UTF-8 is spelled out, never dropped."""
    return data.decode("utf-8", "backslashreplace")


def _begin(output: OpenOutput, offset: int, column: int) -> tuple[int, int]:
    """Where the line begins, and where to read from: never inside a character."""
    if offset and offset >= output.line_count:
        lines = f"{output.line_count:,} line{'' if output.line_count == 1 else 's'}"
        text = f"The output has {lines}: offset {offset:,} is past its end. Use a smaller one."
        raise ToolFailure(text, code="out_of_range")
    line_start = output.line_start(offset)
    start = line_start + column
    if column and start >= (end := output.line_start(offset + 1)):
        text = f"Line {offset + 1:,} has {end - line_start:,} bytes: column {column:,} is past its end."
        raise ToolFailure(f"{text} Go on with offset {offset + 1}.", code="out_of_range")
    before = min(column, _SNAP_BYTES)
    return line_start, start - before + whole_characters(output.read(start - before, before + 1), before)


def _raw_lines(window: bytes, limit: int, *, at_end: bool) -> Iterator[bytes]:
    """The lines that are whole in the window, at most `limit`, each with its end."""
    *pieces, rest = window.split(b"\n", limit)
    yield from (piece + b"\n" for piece in pieces)
    if rest and at_end and len(pieces) < limit:
        yield rest


def _fitting(raw_lines: Iterator[bytes]) -> tuple[list[str], int]:
    """As many lines as a page holds, and how many bytes these were."""
    lines: list[str] = []
    size = used = 0
    for raw in raw_lines:
        line = shown_text(raw.removesuffix(b"\n"))
        used += len(line.encode()) + _NUMBER_BYTES
        if used > PAGE_BYTES:
            break
        lines.append(line)
        size += len(raw)
    return lines, size


def _clipped(line: bytes) -> tuple[list[str], int]:
    """The beginning of a line that is longer than a page."""
    room = PAGE_BYTES - _NUMBER_BYTES
    size = whole_characters(line, min(len(line), room))
    if len(shown_text(line[:size]).encode()) > room:
        size = whole_characters(line, room // _ESCAPED_BYTES)
    return [shown_text(line[:size])], size
