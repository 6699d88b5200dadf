"""Make temporary files beside the files they will replace, and sweep those whose writer died.

A temporary file is locked from before anybody could sweep it; its lock dies with its writer.
"""

import errno
import fcntl
import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from toolroll.safe.paths.attributes import give_attributes
from toolroll.safe.paths.exchange import has_content
from toolroll.safe.paths.os_errors import os_errors

_TEMPORARY: Final = re.compile(r"\.toolroll-(?:[0-9a-f]{32}|([0-9a-f]{16})-([0-9a-f]{16})-[0-9a-f]{16})\.tmp")
"""The second form names the contents that may be removed with it: a killed writer may have left another one there."""
_UNFINISHED_MODE: Final = 0o600  # nobody else reads a file before it has its own mode
_HASH_CHARACTERS: Final = 16
_RANDOM_BYTES: Final = 16  # 128 bits: no name is met twice; half of them where contents are part of the name
_CLAIM_ATTEMPTS: Final = 8  # each is lost only to a sweep in the microseconds between two system calls
NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# How FAT, FUSE and network file systems say that they have no locks, owners, modes, hard links or synced folders.
UNSUPPORTED: Final = frozenset({errno.EPERM, errno.EINVAL, errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP})


def sweep_temporary(dir_fd: int, folder: str = ".") -> int:
    """Remove the temporary files of writers that are dead, never of those at work; tells how many."""
    with os_errors(folder):
        fd = os.open(folder, FOLDER, dir_fd=dir_fd)
        try:
            names = os.listdir(fd)  # noqa: PTH208 -- of a descriptor, which pathlib cannot take
            return sum(_sweep(fd, name, found.groups()) for name in names if (found := _TEMPORARY.fullmatch(name)))
        finally:
            os.close(fd)


def _sweep(dir_fd: int, name: str, contents: Sequence[str | None]) -> bool:
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=dir_fd)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if any(contents) and not has_content(dir_fd, name, *filter(None, contents)):
            return False  # somebody's work: its writer died between taking it out and putting it back
        os.unlink(name, dir_fd=dir_fd)
    except OSError:
        return False
    finally:
        os.close(fd)
    return True


@contextmanager
def temporary_file(
    dir_fd: int,
    data: bytes,
    *,
    mode: int | None,
    owner: tuple[int, int] | None,
    attributes: Mapping[str, bytes] | None = None,
    replaces: str | None = None,
) -> Iterator[str]:
    """Yield the name of a finished, synced file; whatever has that name at the end is removed."""
    fd, name = _claim_temporary(dir_fd, mode)
    try:
        _fill(fd, data, mode=mode, owner=owner, attributes=attributes)
        if replaces is not None:
            # Only now: a half-written file has neither content, and would be taken for somebody's work for ever.
            finished = temporary_name(replaces, hashlib.sha256(data).hexdigest())
            os.rename(name, finished, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
            name = finished
        yield name
    finally:
        _discard(dir_fd, name, fd)


def temporary_name(*contents: str) -> str:
    """Return a free name; with contents, one that only these may be removed from."""
    prefixes = [content[:_HASH_CHARACTERS] for content in contents]
    return ".toolroll-" + "-".join([*prefixes, os.urandom(_RANDOM_BYTES // (2 if contents else 1)).hex()]) + ".tmp"


def _claim_temporary(dir_fd: int, mode: int | None) -> tuple[int, str]:
    """Create a new file that is locked from before anybody could sweep it."""
    for _ in range(_CLAIM_ATTEMPTS):
        name = temporary_name()
        # Only the kernel knows the umask without changing it for all threads; a file that gets its mode from there ends
        # with that mode anyway.
        fd = os.open(name, NEW_FILE, 0o666 if mode is None else _UNFINISHED_MODE, dir_fd=dir_fd)
        claimed = False
        try:
            claimed = _lock_unswept(fd)
        finally:
            if not claimed:
                _discard(dir_fd, name, fd)
        if claimed:
            return fd, name
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))


def _lock_unswept(fd: int) -> bool:
    try:
        with where_supported():
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return os.fstat(fd).st_nlink > 0


def _fill(
    fd: int,
    data: bytes,
    *,
    mode: int | None,
    owner: tuple[int, int] | None,
    attributes: Mapping[str, bytes] | None,
) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
    with where_supported():
        if owner is not None:
            os.fchown(fd, *owner)
    with where_supported():
        if mode is not None:
            os.fchmod(fd, mode)
    if attributes is not None:
        give_attributes(fd, attributes)  # after the mode, which would change an access control list
    os.fsync(fd)


def _discard(dir_fd: int, name: str, fd: int) -> None:
    # After success the name is gone, or has the old content; after a failure that is worth reporting, this one is not.
    # Twice: what a passing error leaves would be seen in the project until somebody recovers there. What stays even so
    # is swept then. The data is synced, so closing has nothing left to lose.
    for _ in range(2):
        with suppress(OSError):
            os.unlink(name, dir_fd=dir_fd)
            break
    with suppress(OSError):
        os.close(fd)


@contextmanager
def where_supported() -> Iterator[None]:
    """Ignore the errors of file systems that do not support what was asked for."""
    try:
        yield
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
