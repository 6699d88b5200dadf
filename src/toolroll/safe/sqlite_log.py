"""Notice that the write-ahead log of a SQLite file was cut or removed, which SQLite itself takes for a short log.

Beside a database stand its log (`-wal`, commits that are not in the file yet) and the index of that log (`-shm`), which
counts its frames. Both go when the last process closes the database. After a kill both stay, and the index still says
how long the log was. The layout is in https://www.sqlite.org/walformat.html.
"""

import os
import struct
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_HEADER_BYTES: Final = 48  # written twice; if the two differ, somebody writes it now
_BACKFILL_OFFSET: Final = 2 * _HEADER_BYTES
_INDEX_BYTES: Final = _BACKFILL_OFFSET + 4
_FIELDS: Final = struct.Struct("=4x4x4xBxHI")
_LOG_HEADER_BYTES: Final = 32
_FRAME_HEADER_BYTES: Final = 24
_LARGEST_PAGE_BYTES: Final = 65_536  # which does not fit 16 bits, and is written as 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CutLog:
    """A log that is shorter than its index says, in bytes."""

    byte_size: int
    expected_bytes: int


def log_path(path: Path) -> Path:
    """Return where the log of a database is."""
    return Path(f"{path}-wal")


def index_path(path: Path) -> Path:
    """Return where the index of that log is."""
    return Path(f"{path}-shm")


def has_log(path: Path) -> bool:
    """Return whether commits wait beside the file, without which it is not whole."""
    return _size(log_path(path)) > 0


def find_cut_log(path: Path) -> CutLog | None:
    """Return what is missing from the log of a database; None if nothing is, or nobody can tell."""
    index = _read_index(path)
    expected = _expected_bytes(index)
    size = _size(log_path(path))
    # A process that empties its log writes the index first: one that has changed meanwhile proves nothing.
    if size >= expected or _read_index(path) != index:
        return None
    return CutLog(byte_size=size, expected_bytes=expected)


def _read_index(path: Path) -> bytes:
    with suppress(OSError):
        fd = os.open(index_path(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            return os.pread(fd, _INDEX_BYTES, 0)
        finally:
            os.close(fd)
    return b""


def _expected_bytes(index: bytes) -> int:
    """Return how long the log must be at least, by its index."""
    first, second = index[:_HEADER_BYTES], index[_HEADER_BYTES:_BACKFILL_OFFSET]
    if len(index) < _INDEX_BYTES or first != second:
        return 0
    is_set_up, page_bytes, frames = _FIELDS.unpack_from(first)
    stored = int.from_bytes(index[_BACKFILL_OFFSET:], sys.byteorder)
    if not is_set_up or stored >= frames:  # all of it is in the database already
        return 0
    page_bytes = _LARGEST_PAGE_BYTES if page_bytes == 1 else page_bytes
    return int(_LOG_HEADER_BYTES + frames * (_FRAME_HEADER_BYTES + page_bytes))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
