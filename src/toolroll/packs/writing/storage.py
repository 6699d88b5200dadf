"""What the stores of profiles, feedback and posts share: folders, quick reads from them, and a fair lock for writers.

Names come straight from the listing of the folder, so none of them can lead outside it. Lists and searches read
thousands of files; `safe.root.Root` would take five times as long for each.

The lock is made of two. A plain file lock is polled every 20 ms, while a process that writes in a loop takes it again
within microseconds: with eight of them at work, others waited for more than 30 s. So a writer holds the queue lock
while it waits for the store lock, and whoever has just written has to queue again. As only one process waits for the
store lock, it can poll often.
"""

import os
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from toolroll.errors import FileMissing, OutsideRoot
from toolroll.messages import Template
from toolroll.safe.locks import FileLock
from toolroll.safe.paths.files import PRIVATE_FOLDER_MODE, private_folder
from toolroll.safe.paths.names import RelativePath
from toolroll.safe.paths.os_errors import os_errors
from toolroll.safe.paths.root import Root

FOLDER_LINKED: Final = Template(
    "data_folder_linked",
    "'{path}' in the data folder is a link or lies behind one, and nothing is read or kept there.",
    "Put the folder itself in its place, or name another data folder with --data.",
)

_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# A pipe must not make us wait for a writer; a link may lead anywhere.
_FILE_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def is_folder(path: Path) -> bool:
    """Return whether there is a folder; what the system refuses to say is an error."""
    with os_errors(str(path)):
        return path.is_dir()


def find_folder(data: Path, path: RelativePath) -> Path | None:
    """Return a folder below the data folder, or None if it is missing; refuse links, which lead where nobody looked."""
    if not is_folder(data):
        return None
    try:
        with closing(Root(data)) as root:
            kind = root.without_links().stat(path).kind
    except FileMissing:
        return None
    except OutsideRoot:
        kind = "link"
    if kind == "link":
        raise OutsideRoot(FOLDER_LINKED(path=path), path=str(path))
    return data / str(path) if kind == "folder" else None


def make_folder(data: Path, path: RelativePath) -> Path:
    """Return a folder below the data folder, made for its owner alone if it is missing; refuse links, as above."""
    if (found := find_folder(data, path)) is not None:
        return found
    with closing(Root(data if is_folder(data) else private_folder(data))) as root:
        root.make_folders(path, PRIVATE_FOLDER_MODE)
    return data / str(path)


@contextmanager
def open_folder(folder: Path) -> Iterator[int]:
    """Open a folder and give its descriptor, which is closed at the end."""
    with os_errors(str(folder)):
        fd = os.open(folder, _FOLDER_FLAGS)
    try:
        yield fd
    finally:
        os.close(fd)


def read_regular_file(folder: int, name: str, *, limit_bytes: int) -> tuple[bytes, os.stat_result] | None:
    """Return the first bytes of a regular file and its status; None where it is gone, another kind, or not readable."""
    try:
        fd = os.open(name, _FILE_FLAGS, dir_fd=folder)
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


SETTLED_NS: Final = 2_000_000_000
"""A time stamp younger than that may hide a second change: FAT keeps time in steps of two seconds."""


def is_settled(stamp_ns: int) -> bool:
    """Return whether a second change would have left another time stamp."""
    return time.time_ns() - stamp_ns > SETTLED_NS


LOCK_WAIT_S: Final = 30.0
"""A change takes some 10 ms, and the next in line gets its turn within 2: time for a thousand others."""

LOCK_POLL_S: Final = 0.002
"""Between two looks of the one who is next: 500 a second cost 1 % of a core."""


@contextmanager
def store_lock(folder: Path, name: str) -> Iterator[None]:
    """Keep out other processes and threads that lock the same folder and name; `LockTimeout` after half a minute."""
    lock = FileLock(folder / f".{name}.lock", timeout_s=LOCK_WAIT_S, poll_s=LOCK_POLL_S)
    with FileLock(folder / f".{name}.queue.lock", timeout_s=LOCK_WAIT_S):
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
