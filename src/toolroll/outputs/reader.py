"""Reading a stored output: all of it, or page by page.

A page is a range of bytes that holds whole lines, within a limit of lines and bytes, and names the call that reads the
next one. All pages joined are the output, byte for byte. A line that is longer than a page is read in windows that end
between two characters.
"""

import os
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from toolroll.errors import FileMissing, ToolFailure
from toolroll.kernel.data.messages import DocumentPart, ImagePart, OutputRef, Part, TextPart
from toolroll.outputs.cut import CONTEXT_BYTES, NextPage, whole_characters
from toolroll.outputs.format import (
    BLOCK_BYTES,
    DATA,
    ID,
    INDEX,
    META,
    PACK,
    PART,
    Meta,
    PackedOutput,
    Piece,
    damaged_output,
    decode_meta,
    find_line,
    find_packed,
    has_lost_pack,
    index_size,
    lost_output,
    missing_output,
)
from toolroll.safe.paths.os_errors import os_errors

MAX_META_BYTES: Final = 1 << 24
"""Of the file about an output: thousands of parts and a call id of a megabyte fit."""
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
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
class OpenOutput:
    """The data of an output, open; in its file it begins at `base`.

    Each block is compared with its checksum when it is first read; one that differs raises `OutputDamaged`.
    """

    ref_id: str
    fd: int
    index_fd: int | None
    byte_size: int
    line_count: int
    checksums: tuple[int, ...] = ()
    base: int = 0
    _verified: set[int] = field(default_factory=set)

    def line_start(self, line: int) -> int:
        """Return where a line begins, counted from 0; the end for what lies behind the last."""
        if line >= self.line_count:
            return self.byte_size
        start = find_line(self.fd, self.index_fd, line, base=self.base)
        self.verify(0 if self.index_fd is None else max(start - 1, 0), start + 1)
        return start

    def read(self, start: int, size: int) -> bytes:
        """Return that many bytes from there, or fewer at the end."""
        self.verify(start, start + size)
        return os.pread(self.fd, min(size, self.byte_size - start), self.base + start)

    def verify(self, start: int, end: int) -> None:
        """Compare the blocks between two bytes with what was kept."""
        wanted = range(start // BLOCK_BYTES, -(-end // BLOCK_BYTES))
        for number in wanted[: max(len(self.checksums) - wanted.start, 0)]:
            if number in self._verified:
                continue
            offset = number * BLOCK_BYTES
            block = os.pread(self.fd, min(BLOCK_BYTES, self.byte_size - offset), self.base + offset)
            if zlib.crc32(block) != self.checksums[number]:
                raise damaged_output(self.ref_id)
            self._verified.add(number)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOutput:
    """An output as it was kept. `path` is its folder, `meta` what is known of it.

    A short one is in a file with others, from byte `packed_at` on; then `path` is that file.
    """

    path: Path
    meta: Meta
    packed_at: int | None = None

    @property
    def ref(self) -> OutputRef:
        """Return the reference that leads here."""
        return OutputRef(id=self.meta.id, byte_size=self.meta.byte_size, line_count=self.meta.line_count)

    @property
    def data_path(self) -> Path:
        """Return the file with what can be paged and searched; raw."""
        return self.path if self.packed_at is not None else self.path / DATA

    @contextmanager
    def open_data(self) -> Iterator[OpenOutput]:
        """Open its data for reading inside."""
        with _typed_errors(self.meta.id), ExitStack() as stack:
            fd = _open(self.data_path, stack)
            index_fd = None if self.packed_at is not None else self._index(stack)
            yield OpenOutput(
                ref_id=self.meta.id,
                fd=fd,
                index_fd=index_fd,
                byte_size=self.meta.text_bytes,
                line_count=self.meta.line_count,
                checksums=self.meta.checksums,
                base=self.packed_at or 0,
            )

    def _index(self, stack: ExitStack) -> int | None:
        """The index, if it is there and whole: a short output needs none, a power cut or an older program left none.

        Every line is found without it as well, by reading all lines before it.
        """
        try:
            fd = _open(self.path / INDEX, stack)
        except FileNotFoundError:
            return None
        size = os.fstat(fd).st_size
        if size != index_size(self.meta.text_bytes):
            return None
        known = self.meta.index_checksum
        return fd if known is None or zlib.crc32(os.pread(fd, size, 0)) == known else None

    @contextmanager
    def as_input(self) -> Iterator[tuple[str, int | None]]:
        """Yield the name of a file with its data and nothing else, and what a program must get as its stdin."""
        if self.packed_at is None:
            with self.open_data() as data:
                data.verify(0, data.byte_size)
            yield str(self.data_path), None
            return
        read_fd, write_fd = os.pipe()
        try:
            with os.fdopen(write_fd, "wb") as pipe, self.open_data() as data:
                pipe.write(data.read(0, data.byte_size))  # which is less than what a pipe holds
            yield "-", read_fd
        finally:
            os.close(read_fd)

    def content(self) -> str | bytes | tuple[Part, ...]:
        """Return all of it, as it was given: text, bytes or parts. The whole is in memory then."""
        if self.meta.kind == "parts":
            return tuple(self.part(number) for number in range(len(self.meta.pieces)))
        with self.open_data() as opened:
            data = opened.read(0, opened.byte_size)
        return data if self.meta.kind == "bytes" else data.decode("utf-8", "surrogatepass")

    def part(self, number: int) -> Part:
        """Return one part, whole."""
        piece = self.meta.pieces[number]
        if piece.type == "text":
            with self.open_data() as data:
                return TextPart(text=data.read(piece.start, piece.end - piece.start).decode("utf-8", "surrogatepass"))
        with _typed_errors(self.meta.id):
            data_of_part = (self.path / f"{PART}{number}").read_bytes()
        if piece.checksum is not None and zlib.crc32(data_of_part) != piece.checksum:
            raise damaged_output(self.meta.id)
        return _binary(piece, data_of_part)


def load_output(folder: Path, ref_id: str) -> StoredOutput:
    """Return the output of that id in the folder of a run, whole; OutputMissing for anything else."""
    if not ID.fullmatch(ref_id):
        raise missing_output(ref_id)
    path = folder / ref_id
    if not path.exists():
        return _find_and_load_packed(folder, ref_id)
    try:
        with (path / META).open("rb") as file:
            # Python makes room for all that it is asked to read: 16 MiB for a line of JSON.
            size = min(os.fstat(file.fileno()).st_size, MAX_META_BYTES)
            meta = decode_meta(file.read(size), ref_id)
        # What a power cut took the end of is not there.
        is_whole = (path / DATA).stat().st_size == meta.text_bytes
    except OSError:
        raise missing_output(ref_id) from None
    if not is_whole:
        raise missing_output(ref_id)
    return StoredOutput(path=path, meta=meta)


def load_packed(folder: Path, packed: PackedOutput) -> StoredOutput:
    """Return a short output, found in the file of those of its run."""
    meta = decode_meta(packed.about, packed.id)
    if meta.text_bytes != packed.end - packed.start:
        raise missing_output(packed.id)
    return StoredOutput(path=folder / PACK, meta=meta, packed_at=packed.start)


def _find_and_load_packed(folder: Path, ref_id: str) -> StoredOutput:
    try:
        packed = find_packed(folder, ref_id)
    except OSError:
        packed = None
    if packed is None:
        raise lost_output(ref_id) if has_lost_pack(folder) else missing_output(ref_id)
    return load_packed(folder, packed)


@contextmanager
def _typed_errors(ref_id: str) -> Iterator[None]:
    """Raise `OutputMissing` for what was collected since it was loaded, and typed errors for the disk's."""
    try:
        with os_errors(ref_id):
            yield
    except FileMissing:
        raise missing_output(ref_id) from None


def _open(path: Path, stack: ExitStack) -> int:
    fd = os.open(path, _READ)
    stack.callback(os.close, fd)
    return fd


def _binary(piece: Piece, data: bytes) -> Part:
    media_type = piece.media_type or "application/octet-stream"
    if piece.type == "image":
        return ImagePart(data=data, media_type=media_type)
    return DocumentPart(data=data, media_type=media_type, title=piece.title)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Lines from `offset` on: `data` is what lies between the bytes `start` and `end`. `next` is None at the end."""

    offset: int
    lines: tuple[str, ...]
    start: int
    end: int
    data: bytes
    next: NextPage | None


def read_page(kept: StoredOutput, *, offset: int = 0, limit: int | None = None, column: int = 0) -> Page:
    """Return the page that begins after `offset` lines, and after `column` bytes of the line that is there."""
    with kept.open_data() as output:
        line_start, start = _begin(output, offset, column)
        window = output.read(start, PAGE_BYTES)
    at_end = start + len(window) == output.byte_size
    lines, size = _take_fitting(_raw_lines(window, min(limit or PAGE_LINES, PAGE_LINES), at_end=at_end))
    onward = NextPage(ref_id=kept.meta.id, offset=offset + len(lines), limit=limit)
    if window and not lines:
        lines, size = _clip(window.partition(b"\n")[0])
        onward = NextPage(ref_id=kept.meta.id, offset=offset, limit=limit, column=start + size - line_start)
    return Page(
        offset=offset,
        lines=tuple(lines),
        start=start,
        end=start + size,
        data=window[:size],
        next=onward if start + size < output.byte_size else None,
    )


def page_content(kept: StoredOutput, page: Page) -> str | tuple[Part, ...]:
    """Return the page as a model reads it; with the images and documents whose lines are on it, if there are any."""
    text = number_lines(kept, page)
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


def number_lines(kept: StoredOutput, page: Page) -> str:
    """Return the lines with their numbers, then what of the whole they are, and the call that reads on."""
    first, last, meta = page.offset + 1, page.offset + len(page.lines), kept.meta
    rows = [f"{number:>{_NUMBER_COLUMNS}}\t{line}\n" for number, line in enumerate(page.lines, first)]
    if not rows:
        return "[The output is empty.]"
    onward = f" Next: {page.next}" if page.next else " This is the end."
    of_bytes = f"bytes {page.start:,}-{page.end:,} of {meta.text_bytes:,}"
    return "".join(rows) + f"[lines {first:,}-{last:,} of {meta.line_count:,}, {of_bytes}.{onward}]"


def decode_for_display(data: bytes) -> str:
    """Return bytes as text: what is no UTF-8 is spelled out, never dropped."""
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


def _take_fitting(raw_lines: Iterator[bytes]) -> tuple[list[str], int]:
    """As many lines as a page holds, and how many bytes these were."""
    lines: list[str] = []
    size = used = 0
    for raw in raw_lines:
        line = decode_for_display(raw.removesuffix(b"\n"))
        used += len(line.encode()) + _NUMBER_BYTES
        if used > PAGE_BYTES:
            break
        lines.append(line)
        size += len(raw)
    return lines, size


def _clip(line: bytes) -> tuple[list[str], int]:
    """The beginning of a line that is longer than a page."""
    room = PAGE_BYTES - _NUMBER_BYTES
    size = whole_characters(line, min(len(line), room))
    if len(decode_for_display(line[:size]).encode()) > room:
        size = whole_characters(line, room // _ESCAPED_BYTES)
    return [decode_for_display(line[:size])], size
