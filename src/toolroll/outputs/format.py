"""What a stored output looks like on the disk.

A large output has a folder of its own with its bytes (`data`), what is known of it (`meta.json`) and an index of its
lines. Short outputs stand one after another in `short.pack`: a line `id size meta`, the bytes, a line end. One `write`
adds one, so a `kill -9` leaves it whole or not at all; an end that a power cut tore is cut off before more is added.

The index holds, for each block of bytes, how many lines end before it, so finding a line reads a few numbers and one
block whatever the size of the file. An index by line numbers would be as small, but a thousand lines can be a gigabyte.
"""

import os
import re
import sys
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

from pydantic import TypeAdapter

from toolroll.errors import OutputDamaged, OutputMissing
from toolroll.safe.paths.files import PRIVATE_FILE_MODE
from toolroll.safe.text import one_line

Kind = Literal["text", "bytes", "parts"]
FORMAT: Final = 1
"""Raised when an older program could not read what a newer one keeps."""
ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What a reference is made of. A name with no dot and no slash in it leads nowhere else."""
_SHOWN_CHARACTERS: Final = 64
PACK: Final = "short.pack"
"""The file in the folder of a run. No reference has a dot in it."""
PACK_LOST: Final = "short.lost"
"""Beside it, once it was found empty: it is never made without an output in it."""
SHORT_CHARACTERS: Final = 4_096
"""Of an output that is packed: it takes 50 microseconds then, and a folder of its own 300."""
_MAX_LINE_BYTES: Final = 1 << 21  # the call id of a model may have a megabyte
_APPEND: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
BLOCK_BYTES: Final = 262_144
"""A line in a block takes 100 microseconds to find, and the block's number 8 bytes: a 30,000th of the file. A piece of
this size, as a file gives it, is counted in 65 microseconds, and in four slices in 80. The name of an index tells this
number: an index of other blocks is not taken for one of these."""
DATA: Final = "data"
INDEX: Final = f"lines-{BLOCK_BYTES}"
META: Final = "meta.json"
PART: Final = "part-"
"""The files in the folder of an output; an image or a document has its number behind the last one."""

_NUMBER_BYTES: Final = 8
_STEP_BYTES: Final = 8_192  # of a block at a time: on average half of it need not be read
_LONG_LINE_BYTES: Final = 20
"""From here on finding line ends one by one (`memchr`, which `bytes.replace` does) is faster than looking at each byte,
as `bytes.count` does, or nearly so: at 60 bytes a line 3.3 GB/s against 2.2 in Python 3.11.7 to 3.13, 1.0 in Debian's
3.11.2. At 30 it is a fifth slower in the former, and 1.7 times as fast in the latter. With short lines it is slower
everywhere, at worst thirty times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One part: a text from byte `start` to `end` of the data, or a file of its own and a line there that names it."""

    type: Literal["text", "image", "document"]
    start: int
    end: int
    line: int
    byte_size: int
    media_type: str | None = None
    title: str | None = None
    checksum: int | None = None
    """Of its file, if it has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """One output. `runs` are the runs that may read it: the one that made it last, its callers before it.

    `text_bytes` is the size of what can be paged and searched, `byte_size` that and the parts that cannot. `checksums`
    has a CRC-32 for each block of that, and `index_checksum` one of the index; what was kept before 0.2.0 has none.
    """

    id: str
    runs: tuple[str, ...]
    call_id: str
    tool: str
    made: float
    kind: Kind
    byte_size: int
    text_bytes: int
    line_count: int
    pieces: tuple[Piece, ...] = ()
    checksums: tuple[int, ...] = ()
    index_checksum: int | None = None
    format: int = FORMAT


def encode_meta(meta: Meta) -> bytes:
    """Return the file's content."""
    return _adapter().dump_json(meta)


def decode_meta(data: bytes, ref_id: str) -> Meta:
    """Return what the file says, or OutputMissing where it is damaged, newer, or about another output."""
    try:
        meta = _adapter().validate_json(data)
    except ValueError:
        raise missing_output(ref_id) from None
    if meta.format != FORMAT or meta.id != ref_id or not meta.runs:
        raise missing_output(ref_id)
    return meta


@cache
def _adapter() -> "TypeAdapter[Meta]":
    return TypeAdapter(Meta)


def missing_output(ref_id: str) -> OutputMissing:
    """Return the error for an unknown reference: the same whether it was guessed, foreign, damaged or collected."""
    shown = one_line(ref_id, _SHOWN_CHARACTERS)
    return OutputMissing(f"There is no output '{shown}' in this run. Use a ref that stands in a tool result, as it is.")


def damaged_output(ref_id: str) -> OutputDamaged:
    """Return the error for an output that is there, and not as it was kept."""
    return OutputDamaged(
        f"The output '{ref_id}' is damaged: what is on the disk is not what the tool gave. Call the tool again."
    )


def lost_output(ref_id: str) -> OutputDamaged:
    """Return the error for an output that may have been in a file of short outputs that has lost its content."""
    shown = one_line(ref_id, _SHOWN_CHARACTERS)
    return OutputDamaged(
        f"The output '{shown}' cannot be read: the file with the short outputs of its run has lost its content. Call "
        "the tool again."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedOutput:
    """One output in the file: where its bytes are, and what is known of it, as `decode_meta` reads it."""

    id: str
    start: int
    end: int
    about: bytes


def append_packed(folder: Path, meta: Meta, data: bytes) -> None:
    """Add an output to those of the run, all of it or nothing."""
    line = b"%s %d %s\n" % (meta.id.encode(), len(data), encode_meta(meta))
    fd = os.open(folder / PACK, _APPEND, PRIVATE_FILE_MODE)
    try:
        whole = line + data + b"\n"
        written = os.write(fd, whole)
        if written < len(whole):  # the disk is full
            os.ftruncate(fd, os.fstat(fd).st_size - written)
            raise OSError(f"only {written} of {len(whole)} bytes fitted on the disk")
    finally:
        os.close(fd)


def packed_outputs(folder: Path) -> Iterator[PackedOutput]:
    """Yield the short outputs of the run, the oldest first, as far as they are whole."""
    with suppress(FileNotFoundError), (folder / PACK).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        while True:
            found = _parse_packed(file.readline(_MAX_LINE_BYTES), file.tell(), size)
            if found is None:
                return
            yield found
            file.seek(found.end + 1)


def find_packed(folder: Path, ref_id: str) -> PackedOutput | None:
    """Return the short output of that id, if there is one."""
    return next((one for one in packed_outputs(folder) if one.id == ref_id), None)


def has_lost_pack(folder: Path) -> bool:
    """Return whether the short outputs of a run were there, and are gone."""
    with suppress(OSError):
        return (folder / PACK_LOST).exists() or (folder / PACK).stat().st_size == 0
    return False


def cut_torn_end(folder: Path) -> None:
    """Cut off what is not whole at the end. Only for who holds the folder alone."""
    with suppress(FileNotFoundError):
        size = (folder / PACK).stat().st_size
        if size == 0:
            (folder / PACK_LOST).touch(PRIVATE_FILE_MODE)  # the next short output makes it look whole
        end = max((one.end + 1 for one in packed_outputs(folder)), default=0)
        if end < size:
            os.truncate(folder / PACK, end)


def _parse_packed(line: bytes, start: int, file_size: int) -> PackedOutput | None:
    """What the line tells of; None where it is none of ours, or its bytes are not all there."""
    ref_id, _, rest = line.partition(b" ")
    size, _, about = rest.partition(b" ")
    if not line.endswith(b"\n") or not size.isdigit() or start + int(size) >= file_size:
        return None
    return PackedOutput(id=ref_id.decode("ascii", "replace"), start=start, end=start + int(size), about=about)


class LineCounter:
    """Counts lines while a file is written, and keeps the count at the beginning of every block."""

    def __init__(self) -> None:
        self.byte_size: int = 0
        self.ends: int = 0
        self._before = array("Q", [0])
        self._checksums: list[int] = []
        self._checksum = 0
        self._ends_whole = True
        self._has_long = False

    @property
    def line_count(self) -> int:
        """Return the number of lines so far; the last one counts also without an end."""
        return self.ends + (not self._ends_whole)

    @property
    def checksums(self) -> tuple[int, ...]:
        """Return the CRC-32 of each block so far, the last one perhaps not full."""
        is_open = self.byte_size % BLOCK_BYTES
        return (*self._checksums, self._checksum) if is_open else tuple(self._checksums)

    @property
    def index(self) -> bytes:
        """Return what `find_line` reads: 8 bytes for each block, least significant first."""
        # A block that begins where the file ends holds nothing, and is left out.
        blocks = self._before[: index_size(self.byte_size) // _NUMBER_BYTES]
        if sys.byteorder == "big":
            blocks.byteswap()
        return blocks.tobytes()

    def feed(self, data: bytes) -> None:
        """Count what was written."""
        start = 0
        while start < len(data):
            end = min(start + BLOCK_BYTES - self.byte_size % BLOCK_BYTES, len(data))
            block = data[start:end]  # for a piece that is one block that is the piece, not a copy
            self.ends += self._count(block)
            self._checksum = zlib.crc32(block, self._checksum)
            self.byte_size += end - start
            start = end
            if self.byte_size % BLOCK_BYTES == 0:
                self._checksums.append(self._checksum)
                self._checksum = 0
                self._before.append(self.ends)
        if data:
            self._ends_whole = data.endswith(b"\n")

    def _count(self, block: bytes) -> int:
        """Line ends, in the way that was right for the block before: lines tend to stay as long as they are."""
        ends = len(block) - len(block.replace(b"\n", b"")) if self._has_long else block.count(b"\n")
        self._has_long = len(block) >= _LONG_LINE_BYTES * ends
        return ends


def index_size(byte_size: int) -> int:
    """Return how long the index of a file of that size is."""
    return _NUMBER_BYTES * max(-(-byte_size // BLOCK_BYTES), 1)


def find_line(data_fd: int, index_fd: int | None, line: int, *, base: int = 0) -> int:
    """Return the byte at which a line begins, counted from 0; without an index, all of the file up to there is read.

    As a beginning counts also the end of the file, when the last line has ended. `base` is where the output begins in
    its file, and all is counted from there. The file must have the line.
    """
    block, before = (0, 0) if index_fd is None else _block_of(index_fd, line)
    start, left = base + block * BLOCK_BYTES, line - before
    while (piece := os.pread(data_fd, _STEP_BYTES, start)) and (ends := piece.count(b"\n")) < left:
        start, left = start + len(piece), left - ends
    pieces = piece.split(b"\n", left)
    return start - base + sum(len(one) + 1 for one in pieces[:-1])


def _block_of(index_fd: int, line: int) -> tuple[int, int]:
    """The block in which the line before ends, and how many lines ended before that block."""
    blocks = range(os.fstat(index_fd).st_size // _NUMBER_BYTES)
    block = max(bisect_left(blocks, line, key=lambda one: _number(index_fd, one)) - 1, 0)
    return block, _number(index_fd, block)


def _number(index_fd: int, block: int) -> int:
    return int.from_bytes(os.pread(index_fd, _NUMBER_BYTES, block * _NUMBER_BYTES), "little")
