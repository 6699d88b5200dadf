"""A regular file held open for reading, with a limit on what is read, not on the size that it claims."""

import os
import stat
from types import TracebackType
from typing import Final, Self

from toolroll.errors import FileTooLarge
from toolroll.messages import A_FILE, BYTES, FILE_TOO_LARGE, TOO_MUCH_AT_ONCE
from toolroll.safe.paths.names import RelativePath, quote_path
from toolroll.safe.paths.os_errors import kind_error, os_errors
from toolroll.safe.paths.walk import Spot, stat_existing

_MAX_CHUNK_BYTES: Final = 1 << 20  # memory that one read may take beyond the limit
_MIN_CHUNK_BYTES: Final = 1 << 12  # a page: what a file that says it is empty gets

# A pipe must not make us wait for a writer, nor a terminal become ours.
_READ: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC


class OpenFile:
    """A regular file, open: `resolved` is where it is without links, `stat` what it was when it was opened."""

    def __init__(self, *, fd: int, status: os.stat_result, resolved: RelativePath) -> None:
        self.fd: int = fd
        self.stat = status
        self.resolved = resolved

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the descriptor back; a second time does nothing."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)

    def read(self, limit_bytes: int) -> bytes:
        """Return all of it, or raise `FileTooLarge` as soon as one byte more than the limit was read."""
        pieces = []
        size = 0
        with os_errors(str(self.resolved)):
            while piece := os.pread(self.fd, min(limit_bytes + 1 - size, self._next_chunk(size)), size):
                size += len(piece)
                if size > limit_bytes:
                    raise self._too_large(limit_bytes)
                pieces.append(piece)
        return b"".join(pieces)

    def _next_chunk(self, size: int) -> int:
        # A buffer is taken whole for each read: one of the file's size makes small files twice as fast.
        return min(max(self.stat.st_size - size, _MIN_CHUNK_BYTES), _MAX_CHUNK_BYTES)

    def _too_large(self, limit_bytes: int) -> FileTooLarge:
        path = quote_path(str(self.resolved))
        known = self.stat.st_size > limit_bytes
        size = BYTES(count=f"{self.stat.st_size:,}") if known else TOO_MUCH_AT_ONCE()
        message = FILE_TOO_LARGE(path=path, size=size, limit=f"{limit_bytes:,}")
        return FileTooLarge(message, path=path, limit_bytes=limit_bytes)


def open_regular(spot: Spot, path: RelativePath) -> OpenFile:
    """Open the regular file at a spot; refuse anything else without waiting for it."""
    # Asked before it is opened too: opening a pipe would wake whoever waits for its reader.
    _check_regular(stat_existing(spot, path), path)
    fd = os.open(spot.name, _READ, dir_fd=spot.folder_fd)
    try:
        status = os.fstat(fd)
        _check_regular(status, path)
    except BaseException:
        os.close(fd)
        raise
    return OpenFile(fd=fd, status=status, resolved=spot.resolved)


def _check_regular(status: os.stat_result, path: RelativePath) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise kind_error(status.st_mode, str(path), needed=A_FILE)
