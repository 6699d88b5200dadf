"""Look into folders by handle: what is there, by kind and without following a name, and marks that tell a change.

A mark is what the system knows of a folder or file: device, inode, time of the last change, size. A folder whose mark
stays the same had no name added, removed, exchanged or replaced meanwhile. The clock of a file system ticks every few
milliseconds, so that this is certain only of a change that is older than a tick when the mark is taken: see `is_fresh`.
"""

import os
import stat
from contextlib import suppress
from typing import Final, NamedTuple

FRESH_NS: Final = 20_000_000  # the clock of a file system ticks each 4 ms, of some each 10
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC


class Mark(NamedTuple):
    """What tells one state of a folder or file from another."""

    device: int
    inode: int
    ctime_ns: int
    size: int

    def is_fresh(self, now_ns: int) -> bool:
        """Return whether the last change is so recent that one more may have the same time."""
        return abs(now_ns - self.ctime_ns) < FRESH_NS


class Names(NamedTuple):
    """The names in one folder, by kind; `is_cut` says that there are more."""

    folders: list[str]
    files: list[str]
    others: list[str]
    is_cut: bool


def mark_status(status: os.stat_result) -> Mark:
    """Return the mark of what was looked at."""
    return Mark(status.st_dev, status.st_ino, status.st_ctime_ns, status.st_size)


def mark_name(folder_fd: int, name: str) -> Mark | None:
    """Return the mark of what has that name, or None; a link has its own."""
    try:
        return mark_status(os.stat(name, dir_fd=folder_fd, follow_symlinks=False))
    except (OSError, ValueError):
        return None


def open_folder(folder_fd: int, name: str) -> int:
    """Return a handle of a folder in one that is open, or OSError: also for a link."""
    return os.open(name, _FOLDER, dir_fd=folder_fd)


def scan_names(fd: int, most: int) -> Names:
    """Return at most so many names of an open folder; nothing in it is opened."""
    names = Names([], [], [], is_cut=False)
    with os.scandir(fd) as entries:
        for count, entry in enumerate(entries):
            if count == most:
                return names._replace(is_cut=True)
            with suppress(OSError):  # where the kind has to be asked for, and the name is gone
                _kind_of(names, entry).append(entry.name)
    return names


def _kind_of(names: Names, entry: "os.DirEntry[str]") -> list[str]:
    if entry.is_file(follow_symlinks=False):
        return names.files
    return names.folders if entry.is_dir(follow_symlinks=False) else names.others


def read_regular(folder_fd: int, name: str, limit_bytes: int) -> tuple[bytes | None, Mark] | None:
    """Return a file's content with its mark; None where there is no such name.

    There is no content where it is no regular file, too large, or may not be read. A pipe or a device is not opened.
    """
    try:
        found = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
    except OSError:
        return None
    data: bytes | None = None
    if stat.S_ISREG(found.st_mode):
        with suppress(OSError):
            data = _read(folder_fd, name, limit_bytes)
    return data, mark_status(found)


def _read(folder_fd: int, name: str, limit_bytes: int) -> bytes | None:
    fd = os.open(name, _FILE, dir_fd=folder_fd)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        data = os.pread(fd, limit_bytes + 1, 0)
    finally:
        os.close(fd)
    return data if len(data) <= limit_bytes else None


def is_pseudo(fd: int) -> bool:
    """Return whether a folder is in a file system without storage, such as /proc: what is there may never end."""
    return os.fstatvfs(fd).f_blocks == 0
