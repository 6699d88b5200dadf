"""The one place where the system's errors become ours: what happened, to which path, what to try."""

import errno
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from toolroll.errors import (
    FileExists,
    FileMissing,
    FileProblem,
    FileSystemRefused,
    NotAFile,
    OutsideRoot,
)
from toolroll.safe.paths.names import quote_path

_ADVICE: Final = {
    errno.EACCES: "Check the permissions of it and of the folders above it.",
    errno.EDQUOT: "The quota is used up: free some space, then try again.",
    errno.EINVAL: "It changed meanwhile, or this file system cannot do that: try again.",
    errno.EIO: "The disk or the network behind it may be failing: check it before you try again.",
    errno.EMFILE: "This process has too many files open: close some, or raise the limit (ulimit -n).",
    errno.ENAMETOOLONG: "Use a shorter name.",
    errno.ENFILE: "The system has too many files open: try again later.",
    errno.ENOSPC: "The disk is full: free some space, then try again.",
    errno.ENOTEMPTY: "The folder is not empty.",
    errno.EOVERFLOW: "Name one of its files, or a folder in it.",
    errno.EPERM: "Check its owner and its flags.",
    errno.EROFS: "It is mounted read-only.",
    errno.EXDEV: "Both names must be on the same file system: copy it instead.",
}
# A socket or a device without a driver cannot be opened at all, which the system says with ENXIO or ENODEV.
_NOT_A_FILE: Final = frozenset({errno.EISDIR, errno.ENOTDIR, errno.ENXIO, errno.ENODEV})
_KINDS: Final = (
    (stat.S_ISREG, "a file"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISLNK, "a link"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)


def file_error(error: OSError, path: str) -> FileProblem:
    """The typed error for what the system said about one path."""
    name = quote_path(path)
    if error.errno == errno.ENOENT:
        return missing_error(path)
    if error.errno == errno.EEXIST:
        return exists_error(path)
    if error.errno == errno.ELOOP:
        return OutsideRoot(f"'{name}' is or became a link. Name the file it leads to.", path=name)
    if error.errno in _NOT_A_FILE:
        return NotAFile(f"'{name}' is, or goes through, something of the wrong kind. List its folder.", path=name)
    return _by_number(error, name)


@contextmanager
def os_errors(path: str) -> Iterator[None]:
    """Inside, every error of the system becomes a typed one about this path."""
    try:
        yield
    except OSError as error:
        raise file_error(error, path) from error


def missing_error(path: str) -> FileMissing:
    """The error for a name that nothing has."""
    name = quote_path(path)
    return FileMissing(f"There is no '{name}'. List its folder to see what there is.", path=name)


def exists_error(path: str) -> FileExists:
    """The error for a name that is not free."""
    name = quote_path(path)
    return FileExists(f"'{name}' exists already. Choose another name, or change what is there.", path=name)


def kind_error(mode: int, path: str, *, needed: str) -> NotAFile:
    """The error for a folder where a file is needed, and the like; `mode` is what was found there."""
    name = quote_path(path)
    return NotAFile(f"'{name}' is {_kind_of(mode)}, and {needed} is needed.", path=name)


def _kind_of(mode: int) -> str:
    return next((words for test, words in _KINDS if test(mode)), "a device")


def _by_number(error: OSError, name: str) -> FileSystemRefused:
    code = errno.errorcode.get(error.errno or 0, "EUNKNOWN")
    advice = _ADVICE.get(error.errno or 0, "Try again, or look at the system's log.")
    message = f"The system refused '{name}': {error.strerror} ({code}). {advice}"
    return FileSystemRefused(message, path=name, errno_name=code)
