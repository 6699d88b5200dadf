"""Turn the system's errors into ours: what happened, to which path, what to try."""

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
from toolroll.messages import (
    A_DEVICE,
    A_FILE,
    A_FOLDER,
    A_LINK,
    A_PIPE,
    A_SOCKET,
    FILE_EXISTS,
    FILE_IS_LINK,
    FILE_MISSING,
    SYSTEM_ADVICE,
    SYSTEM_ADVICE_OTHERWISE,
    SYSTEM_REFUSED,
    WRONG_KIND,
    WRONG_KIND_ON_PATH,
    Text,
)
from toolroll.safe.paths.names import quote_path

# A socket or a device without a driver cannot be opened at all, which the system says with ENXIO or ENODEV.
_NOT_A_FILE: Final = frozenset({errno.EISDIR, errno.ENOTDIR, errno.ENXIO, errno.ENODEV})
_KINDS: Final = (
    (stat.S_ISREG, A_FILE),
    (stat.S_ISDIR, A_FOLDER),
    (stat.S_ISLNK, A_LINK),
    (stat.S_ISFIFO, A_PIPE),
    (stat.S_ISSOCK, A_SOCKET),
)


def file_error(error: OSError, path: str) -> FileProblem:
    """Return the typed error for what the system said about one path."""
    name = quote_path(path)
    if error.errno == errno.ENOENT:
        return missing_error(path)
    if error.errno == errno.EEXIST:
        return exists_error(path)
    if error.errno == errno.ELOOP:
        return OutsideRoot(FILE_IS_LINK(path=name), path=name)
    if error.errno in _NOT_A_FILE:
        return NotAFile(WRONG_KIND_ON_PATH(path=name), path=name)
    return _by_number(error, name)


@contextmanager
def os_errors(path: str) -> Iterator[None]:
    """Raise every error of the system inside as a typed one about this path."""
    try:
        yield
    except OSError as error:
        raise file_error(error, path) from error


def missing_error(path: str) -> FileMissing:
    """Return the error for a name that does not exist."""
    name = quote_path(path)
    return FileMissing(FILE_MISSING(path=name), path=name)


def exists_error(path: str) -> FileExists:
    """Return the error for a name that is taken."""
    name = quote_path(path)
    return FileExists(FILE_EXISTS(path=name), path=name)


def kind_error(mode: int, path: str, *, needed: Text) -> NotAFile:
    """Return the error for a folder where a file is needed, and the like; `mode` is what was found there."""
    name = quote_path(path)
    return NotAFile(WRONG_KIND(path=name, kind=_kind_of(mode), needed=needed), path=name)


def _kind_of(mode: int) -> Text:
    return next((kind for test, kind in _KINDS if test(mode)), A_DEVICE)


def _by_number(error: OSError, name: str) -> FileSystemRefused:
    code = errno.errorcode.get(error.errno or 0, "EUNKNOWN")
    advice = SYSTEM_ADVICE.get(code, SYSTEM_ADVICE_OTHERWISE)
    message = SYSTEM_REFUSED(path=name, reason=error.strerror, code=code, advice=advice)
    return FileSystemRefused(message, path=name, errno_name=code)
