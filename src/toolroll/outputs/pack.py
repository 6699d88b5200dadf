"""The short outputs of a run, one after another in one file: most are a few lines, and a folder each would take more.

Each is a line, `id size about`, then its bytes as they are, and a line end. One `write` at the end of the file adds
one: a `kill -9` leaves it whole or not at all. What a power cut tore is cut off when the run is held again, before
anything is added behind it.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from toolroll.outputs.meta import Meta, encode_meta
from toolroll.safe.paths.files import PRIVATE_FILE_MODE

PACK: Final = "short.pack"
"""The file in the folder of a run. No reference has a dot in it."""
SHORT_CHARACTERS: Final = 4_096
"""Of an output that is packed: it takes 50 microseconds then, and a folder of its own 300."""

_MAX_LINE_BYTES: Final = 1 << 21  # the call id of a model may have a megabyte
_APPEND: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """One output in the file: where its bytes are, and what is known of it, as `decode_meta` reads it."""

    id: str
    start: int
    end: int
    about: bytes


def append(folder: Path, meta: Meta, data: bytes) -> None:
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


def packed_in(folder: Path) -> Iterator[Packed]:
    """The short outputs of the run, the oldest first, as far as they are whole."""
    with suppress(FileNotFoundError), (folder / PACK).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        while True:
            found = _read(file.readline(_MAX_LINE_BYTES), file.tell(), size)
            if found is None:
                return
            yield found
            file.seek(found.end + 1)


def find_packed(folder: Path, ref_id: str) -> Packed | None:
    """The short output of that id, if there is one."""
    return next((one for one in packed_in(folder) if one.id == ref_id), None)


def mend(folder: Path) -> None:
    """Cut off what is not whole at the end. Only for who holds the folder alone."""
    with suppress(FileNotFoundError):
        size = (folder / PACK).stat().st_size
        end = max((one.end + 1 for one in packed_in(folder)), default=0)
        if end < size:
            os.truncate(folder / PACK, end)


def _read(line: bytes, start: int, file_size: int) -> Packed | None:
    """What the line tells of; None where it is none of ours, or its bytes are not all there."""
    ref_id, _, rest = line.partition(b" ")
    size, _, about = rest.partition(b" ")
    if not line.endswith(b"\n") or not size.isdigit() or start + int(size) >= file_size:
        return None
    return Packed(id=ref_id.decode("ascii", "replace"), start=start, end=start + int(size), about=about)
