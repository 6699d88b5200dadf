"""A folder held open, and files read from it by their names: for lists and searches that look at thousands.

A name is one part of a path, straight from the listing of the folder, so that none of it can lead anywhere else. What
`Root` does for a path costs five times as much as what is left here.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from toolroll.safe.refusals import refusals

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# A pipe must not make us wait for a writer; a link may lead anywhere.
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@contextmanager
def opened(folder: Path) -> Iterator[int]:
    """The descriptor of a folder, as long as it is needed."""
    with refusals(str(folder)):
        fd = os.open(folder, _FOLDER)
    try:
        yield fd
    finally:
        os.close(fd)


def read_plain(folder: int, name: str, *, limit_bytes: int) -> tuple[bytes, os.stat_result] | None:
    """The first so many bytes of a regular file, and what it is; None where it is gone, none, or not ours to read."""
    try:
        fd = os.open(name, _FILE, dir_fd=folder)
    except OSError:
        return None
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            return None
        # No more than there is: a buffer is taken whole for each read.
        return os.pread(fd, min(found.st_size, limit_bytes), 0), found
    except OSError:
        return None
    finally:
        os.close(fd)
