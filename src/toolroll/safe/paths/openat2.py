"""Call Linux's `openat2`, which opens a path below a folder without following any link, in one step.

Python does not offer it, so it is called by number. Where it is missing (other systems, kernels before 5.6, sandboxes
that forbid it) `available()` says so, and `walk` does the same one component at a time.
"""

import errno
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Final

_SYSCALL_NUMBER: Final = 437  # the same on every architecture: all calls since Linux 5.1 are
_RESOLVE_NO_MAGICLINKS: Final = 0x02  # linux/openat2.h
_RESOLVE_NO_SYMLINKS: Final = 0x04
_RESOLVE_BENEATH: Final = 0x08
_RESOLVE: Final = _RESOLVE_BENEATH | _RESOLVE_NO_SYMLINKS | _RESOLVE_NO_MAGICLINKS
_MAX_ATTEMPTS: Final = 16  # a signal or a rename elsewhere interrupts it at most a few times in a row
_INTERRUPTED: Final = frozenset({errno.EINTR, errno.EAGAIN})

RawOpen = Callable[[int, bytes, int, int], int]
"""Takes folder descriptor, path, flags and mode; gives a descriptor, or an error number below zero."""


@cache
def is_available() -> bool:
    """Return whether this system has `openat2` and lets us call it; asked once, at first use."""
    if sys.platform != "linux":
        return False
    root = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.close(open_beneath(root, ".", os.O_RDONLY | os.O_DIRECTORY))
    except OSError:
        return False
    finally:
        os.close(root)
    return True


def open_beneath(dir_fd: int, path: str, flags: int, mode: int = 0) -> int:
    """Return a descriptor for a path below a folder; `OSError` if anything on the way is a link or leads out."""
    result = -errno.EINTR
    for _ in range(_MAX_ATTEMPTS):
        result = _raw_open()(dir_fd, os.fsencode(path), flags | os.O_CLOEXEC, mode)
        if -result not in _INTERRUPTED:
            break
    if result < 0:
        raise OSError(-result, os.strerror(-result), path)
    return result


@cache
def _raw_open() -> RawOpen:
    import ctypes  # noqa: PLC0415 - a tenth of an interpreter start, and most commands open no file

    class OpenHow(ctypes.Structure):
        _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))

    syscall = ctypes.CDLL(None, use_errno=True).syscall
    # All as wide as a register: the C function is variadic and takes them as they come.
    syscall.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_char_p, ctypes.POINTER(OpenHow), ctypes.c_size_t]
    syscall.restype = ctypes.c_long

    def raw_open(dir_fd: int, path: bytes, flags: int, mode: int) -> int:
        how = OpenHow(flags, mode, _RESOLVE)
        fd: int = syscall(_SYSCALL_NUMBER, dir_fd, path, how, ctypes.sizeof(how))
        return fd if fd >= 0 else -ctypes.get_errno()

    return raw_open
