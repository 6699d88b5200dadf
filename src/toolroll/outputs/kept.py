"""One kept output, to be read back: all of it, or from any line on."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from toolroll.errors import FileMissing
from toolroll.kernel.data.messages import DocumentPart, ImagePart, OutputRef, Part, TextPart
from toolroll.outputs.lines import find_line, index_size
from toolroll.outputs.meta import ID, Meta, Piece, decode_meta, missing
from toolroll.outputs.pack import PACK, Packed, find_packed
from toolroll.outputs.write import DATA, INDEX, META, PART
from toolroll.safe.paths.os_errors import os_errors

MAX_META_BYTES: Final = 1 << 24
"""Of the file about an output: thousands of parts and a call id of a megabyte fit."""

_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenOutput:
    """The data of an output, open; in its file it begins at `base`."""

    fd: int
    index_fd: int | None
    byte_size: int
    line_count: int
    base: int = 0

    def line_start(self, line: int) -> int:
        """Where a line begins, counted from 0; the end for what lies behind the last."""
        if line >= self.line_count:
            return self.byte_size
        return find_line(self.fd, self.index_fd, line, base=self.base)

    def read(self, start: int, size: int) -> bytes:
        """That many bytes from there, or fewer at the end."""
        return os.pread(self.fd, min(size, self.byte_size - start), self.base + start)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptOutput:
    """An output as it was kept. `path` is its folder, `meta` what is known of it.

    A short one is in a file with others, from byte `packed_at` on; then `path` is that file.
    """

    path: Path
    meta: Meta
    packed_at: int | None = None

    @property
    def ref(self) -> OutputRef:
        """The reference that leads here."""
        return OutputRef(id=self.meta.id, byte_size=self.meta.byte_size, line_count=self.meta.line_count)

    @property
    def data_path(self) -> Path:
        """The file with what can be paged and searched; raw."""
        return self.path if self.packed_at is not None else self.path / DATA

    @contextmanager
    def opened(self) -> Iterator[OpenOutput]:
        """Inside, its data can be read."""
        with _reading(self.meta.id), ExitStack() as stack:
            fd = _open(self.data_path, stack)
            index_fd = None if self.packed_at is not None else self._index(stack)
            yield OpenOutput(
                fd=fd,
                index_fd=index_fd,
                byte_size=self.meta.text_bytes,
                line_count=self.meta.line_count,
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
        return fd if os.fstat(fd).st_size == index_size(self.meta.text_bytes) else None

    @contextmanager
    def as_input(self) -> Iterator[tuple[str, int | None]]:
        """Inside, the name of a file with its data and nothing else, and what a program must get as its stdin."""
        if self.packed_at is None:
            yield str(self.data_path), None
            return
        read_fd, write_fd = os.pipe()
        try:
            with os.fdopen(write_fd, "wb") as pipe, self.opened() as data:
                pipe.write(data.read(0, data.byte_size))  # which is less than what a pipe holds
            yield "-", read_fd
        finally:
            os.close(read_fd)

    def content(self) -> str | bytes | tuple[Part, ...]:
        """All of it, as it was given: text, bytes or parts. The whole is in memory then."""
        if self.meta.kind == "parts":
            return tuple(self.part(number) for number in range(len(self.meta.pieces)))
        with self.opened() as opened:
            data = opened.read(0, opened.byte_size)
        return data if self.meta.kind == "bytes" else data.decode("utf-8", "surrogatepass")

    def part(self, number: int) -> Part:
        """One part, whole."""
        piece = self.meta.pieces[number]
        if piece.type == "text":
            with self.opened() as data:
                return TextPart(text=data.read(piece.start, piece.end - piece.start).decode("utf-8", "surrogatepass"))
        with _reading(self.meta.id):
            return _binary(piece, (self.path / f"{PART}{number}").read_bytes())


def load(folder: Path, ref_id: str) -> KeptOutput:
    """The output of that id in the folder of a run, whole; OutputMissing for anything else."""
    if not ID.fullmatch(ref_id):
        raise missing(ref_id)
    path = folder / ref_id
    if not path.exists():
        return _load_packed(folder, ref_id)
    try:
        with (path / META).open("rb") as file:
            # Python makes room for all that it is asked to read: 16 MiB for a line of JSON.
            size = min(os.fstat(file.fileno()).st_size, MAX_META_BYTES)
            meta = decode_meta(file.read(size), ref_id)
        # What a power cut took the end of is not there.
        is_whole = (path / DATA).stat().st_size == meta.text_bytes
    except OSError:
        raise missing(ref_id) from None
    if not is_whole:
        raise missing(ref_id)
    return KeptOutput(path=path, meta=meta)


def unpacked(folder: Path, packed: Packed) -> KeptOutput:
    """A short output, found in the file of those of its run."""
    meta = decode_meta(packed.about, packed.id)
    if meta.text_bytes != packed.end - packed.start:
        raise missing(packed.id)
    return KeptOutput(path=folder / PACK, meta=meta, packed_at=packed.start)


def _load_packed(folder: Path, ref_id: str) -> KeptOutput:
    try:
        packed = find_packed(folder, ref_id)
    except OSError:
        packed = None
    if packed is None:
        raise missing(ref_id)
    return unpacked(folder, packed)


@contextmanager
def _reading(ref_id: str) -> Iterator[None]:
    """Inside, what was collected since it was loaded is not there; any other trouble with the disk is typed, too."""
    try:
        with os_errors(ref_id):
            yield
    except FileMissing:
        raise missing(ref_id) from None


def _open(path: Path, stack: ExitStack) -> int:
    fd = os.open(path, _READ)
    stack.callback(os.close, fd)
    return fd


def _binary(piece: Piece, data: bytes) -> Part:
    media_type = piece.media_type or "application/octet-stream"
    if piece.type == "image":
        return ImagePart(data=data, media_type=media_type)
    return DocumentPart(data=data, media_type=media_type, title=piece.title)
