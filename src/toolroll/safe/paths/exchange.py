"""Replace or remove a file only if it still has the content that is expected: compare and swap.

A check before a write always leaves a moment in which somebody else can save the file. Linux can exchange two names in
one step. So the new file takes the place of the old one first, and the old one is examined under a name that nobody
else knows. If it is not what was expected, the names are exchanged again, and the other writer's work is back in its
place.
"""

import errno
import fcntl
import hashlib
import os
import signal
import stat
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Final, TypeAlias

from toolroll.errors import StaleFile
from toolroll.messages import FILE_CHANGED, FILE_GONE
from toolroll.safe.paths.names import quote_path

RENAME_NOREPLACE: Final = 1  # linux/fs.h
RENAME_EXCHANGE: Final = 2

_CHUNK_BYTES: Final = 1 << 20
_WRITER_S: Final = 0.2  # how long a program that is just writing the file is waited for: a save takes milliseconds
_POLL_S: Final = 0.005
_UNSUPPORTED: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM})

_NO_FILE: Final = frozenset({errno.ENOENT, errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.ENODEV})
"""What opening says of a name that is gone, a link, or a socket."""

RawRename: TypeAlias = Callable[[int, bytes, int, bytes, int], int]
"""Takes folder and name, twice, and flags; returns 0, or an error number below zero."""
FileIdentity: TypeAlias = tuple[int, int, int, int]
"""Device, inode, size and time of the last write: changes whenever the file or its content does."""


class ExchangeUnsupported(OSError):
    """Raised where the system or the file system cannot exchange two names; nothing has happened."""


def swap_names(dir_fd: int, temporary: str, name: str, *, expected: str, path: str) -> None:
    """Put the temporary file in the place of `name` if that has the expected hash; else raise `StaleFile`.

    Afterwards `temporary` names the file that is not needed: the old one, or the new one if nothing was changed.
    """
    ours = _identify(dir_fd, temporary)
    _move(dir_fd, temporary, name, RENAME_EXCHANGE, path)
    try:
        check_content(dir_fd, temporary, expected, path)
    except BaseException:
        _put_back(dir_fd, temporary, name, ours)
        raise


def take_name(dir_fd: int, name: str, temporary: str, *, expected: str, path: str) -> None:
    """Move a file to a free temporary name if it has the expected hash; else raise `StaleFile`, with it in place."""
    _move(dir_fd, name, temporary, RENAME_NOREPLACE, path)
    try:
        check_content(dir_fd, temporary, expected, path)
    except BaseException:
        give_name(dir_fd, temporary, name)
        raise


def give_name(dir_fd: int, temporary: str, name: str) -> None:
    """Give a file back its name, unless somebody has saved another one there meanwhile: that is the newer work."""
    try:
        _rename(dir_fd, temporary, name, RENAME_NOREPLACE)
    except FileExistsError:
        os.unlink(temporary, dir_fd=dir_fd)


def check_content(dir_fd: int, name: str, expected: str, path: str) -> None:
    """Raise `StaleFile` unless a file has the expected SHA-256; `path` is what the error calls it."""
    if not has_content(dir_fd, name, expected):
        raise StaleFile(FILE_CHANGED(path=quote_path(path)), path=quote_path(path))


def has_content(dir_fd: int, name: str, *expected: str) -> bool:
    """Return whether the SHA-256 of a regular file begins with one of these, once nobody is writing to it any more."""
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=dir_fd)
    except OSError as error:
        if error.errno in _NO_FILE:
            return False
        raise  # a lack of descriptors says nothing about the content
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return False
        _wait_for_writers(fd)
        digest, offset = hashlib.sha256(), 0
        while piece := os.pread(fd, _CHUNK_BYTES, offset):
            digest.update(piece)
            offset += len(piece)
        return digest.hexdigest().startswith(expected)
    finally:
        os.close(fd)


def _move(dir_fd: int, source: str, target: str, flags: int, path: str) -> None:
    try:
        _rename(dir_fd, source, target, flags)
    except FileNotFoundError:
        raise StaleFile(FILE_GONE(path=quote_path(path)), path=quote_path(path)) from None


def _put_back(dir_fd: int, temporary: str, name: str, ours: FileIdentity) -> None:
    """Exchange the names again until the newest work of others is in place.

    What comes out should be the file that we know to be there. If it is not, somebody has saved another one since,
    which is newer than the one that we have just put in.
    """
    known = ours
    while True:
        put_in = _identify(dir_fd, temporary)
        _rename(dir_fd, temporary, name, RENAME_EXCHANGE)
        if _identify(dir_fd, temporary) == known:
            return
        known = put_in


def _identify(dir_fd: int, name: str) -> FileIdentity:
    found = os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _wait_for_writers(fd: int) -> None:
    """Wait, for a moment, until no program has the file open for writing: an editor may be in the middle of a save.

    The system grants a read lease only then. It needs the owner's rights; where it is refused for another reason,
    nobody can tell, and the content decides.
    """
    end = time.monotonic() + _WRITER_S
    while _has_writers(fd) and time.monotonic() < end:
        time.sleep(_POLL_S)


def _has_writers(fd: int) -> bool:
    try:
        # Whoever opens the file while we hold the lease makes the system send a signal; SIGIO would end the process.
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    return False


def _rename(dir_fd: int, source: str, target: str, flags: int) -> None:
    result = _raw_rename()(dir_fd, os.fsencode(source), dir_fd, os.fsencode(target), flags)
    if -result in _UNSUPPORTED:
        raise ExchangeUnsupported(-result, os.strerror(-result), target)
    if result < 0:
        raise OSError(-result, os.strerror(-result), target)


@cache
def _raw_rename() -> RawRename:
    import ctypes  # noqa: PLC0415 - a tenth of an interpreter start, and most commands write no file

    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if sys.platform == "linux" else None
    if renameat2 is None:
        return lambda *_: -errno.ENOSYS
    renameat2.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    renameat2.restype = ctypes.c_int

    def raw_rename(source_fd: int, source: bytes, target_fd: int, target: bytes, flags: int) -> int:
        return 0 if renameat2(source_fd, source, target_fd, target, flags) == 0 else -ctypes.get_errno()

    return raw_rename
