"""Write files that are there whole or not at all: written beside their place, synced, then put there by name.

All names are relative to an open folder. A crash leaves the old content or the new. What it may leave beside is a
temporary file, which `sweep_temporary` knows for ownerless: its lock died with its writer.
"""

import errno
import fcntl
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from toolroll.errors import FileSystemRefused, StaleFile
from toolroll.messages import A_FOLDER, FILE_CHANGED, FOLDER_NOT_PRIVATE
from toolroll.safe.paths.exchange import ExchangeUnsupported, has_content, swap_names, take_name
from toolroll.safe.paths.names import quote_path
from toolroll.safe.paths.os_errors import kind_error, os_errors

PRIVATE_FILE_MODE: Final = 0o600
PRIVATE_FOLDER_MODE: Final = 0o700

_TEMPORARY: Final = re.compile(r"\.toolroll-(?:[0-9a-f]{32}|([0-9a-f]{16})-([0-9a-f]{16})-[0-9a-f]{16})\.tmp")
"""The second form names the contents that may be removed with it: a killed writer may have left another one there."""
_HASH_CHARACTERS: Final = 16
_RANDOM_BYTES: Final = 16  # 128 bits: no name is met twice; half of them where contents are part of the name
_CLAIM_ATTEMPTS: Final = 8  # each is lost only to a sweep in the microseconds between two system calls
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# How FAT, FUSE and network file systems say that they have no locks, owners, modes, hard links or synced folders.
_UNSUPPORTED: Final = frozenset(
    {errno.EPERM, errno.EINVAL, errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP}
)


def replace_file(
    dir_fd: int,
    name: str,
    data: bytes,
    *,
    mode: int | None = PRIVATE_FILE_MODE,
    owner: tuple[int, int] | None = None,
    path: str | None = None,
) -> None:
    """Put the data under that name, whatever was there: at any moment the name has all of the old or all of the new.

    `mode=None` leaves the mode to the umask. `owner` (user, group) is given where we have the right to. `path` is what
    errors call the file. After an error the old content is there, unless the very last step failed, which makes the new
    one survive a power cut.
    """
    with (
        os_errors(path or name),
        _synced(dir_fd),
        _temporary(dir_fd, data, mode=mode, owner=owner) as temporary,
    ):
        os.replace(temporary, name, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)


def replace_expected(
    dir_fd: int,
    name: str,
    data: bytes,
    *,
    expected: str,
    mode: int | None,
    owner: tuple[int, int] | None,
    path: str,
) -> bool:
    """Put the data under that name if the content there has the expected SHA-256, or raise `StaleFile`.

    Returns whether the comparison was part of the replacement. Where two names cannot be exchanged in one step it can
    only be made before, and a save in between is lost.
    """
    with os_errors(path), _synced(dir_fd):
        with _temporary(dir_fd, data, mode=mode, owner=owner, replaces=expected) as temporary:
            try:
                swap_names(dir_fd, temporary, name, expected=expected, path=path)
            except ExchangeUnsupported:
                _check_content(dir_fd, name, expected, path)
                os.replace(temporary, name, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
                return False
        return True


def remove_file(dir_fd: int, name: str, *, expected: str | None, path: str) -> bool:
    """Remove a file, with `expected` only one of that SHA-256, or raise `StaleFile`; returns what the above does."""
    with os_errors(path), _synced(dir_fd):
        if expected is None:
            os.unlink(name, dir_fd=dir_fd)
            return True
        temporary = _temporary_name(expected, expected)
        try:
            take_name(dir_fd, name, temporary, expected=expected, path=path)
        except ExchangeUnsupported:
            _check_content(dir_fd, name, expected, path)
            os.unlink(name, dir_fd=dir_fd)
            return False
        os.unlink(temporary, dir_fd=dir_fd)
        return True


def _check_content(dir_fd: int, name: str, expected: str, path: str) -> None:
    if not has_content(dir_fd, name, expected):
        raise StaleFile(FILE_CHANGED(path=quote_path(path)), path=quote_path(path))


def create_file(
    dir_fd: int, name: str, data: bytes, *, mode: int | None = PRIVATE_FILE_MODE, path: str | None = None
) -> None:
    """Put the data under a free name, or raise `FileExists`; the name never shows a part of the data."""
    with (
        os_errors(path or name),
        _synced(dir_fd),
        _temporary(dir_fd, data, mode=mode, owner=None) as temporary,
    ):
        _move_to_free_name(dir_fd, temporary, dir_fd, name)


def move_file(
    source_fd: int, source: str, target_fd: int, target: str, *, replace: bool, path: str | None = None
) -> None:
    """Give a file another name; without `replace`, FileExists when that is taken, also at the last moment."""
    with os_errors(path or target), _synced(source_fd), _synced(target_fd):
        if replace:
            os.replace(source, target, src_dir_fd=source_fd, dst_dir_fd=target_fd)
        else:
            _move_to_free_name(source_fd, source, target_fd, target)


def sweep_temporary(dir_fd: int, folder: str = ".") -> int:
    """Remove the temporary files of writers that are dead, never of those at work; tells how many."""
    with os_errors(folder):
        fd = os.open(folder, _FOLDER, dir_fd=dir_fd)
        try:
            names = os.listdir(fd)  # noqa: PTH208 -- of a descriptor, which pathlib cannot take
            return sum(_sweep(fd, name, found.groups()) for name in names if (found := _TEMPORARY.fullmatch(name)))
        finally:
            os.close(fd)


def sync_folder(dir_fd: int) -> None:
    """Make the names in a folder survive a power cut."""
    with _synced(dir_fd):
        pass


def private_folder(path: Path | str) -> Path:
    """Return the folder, made for its owner alone if it is missing; refuse one that others can change."""
    folder = Path(path)
    with os_errors(str(folder)):
        for missing in [one for one in (folder, *folder.parents) if not one.exists()][::-1]:
            with suppress(FileExistsError):
                missing.mkdir(PRIVATE_FOLDER_MODE)
        found = folder.stat()
    if not stat.S_ISDIR(found.st_mode):
        raise kind_error(found.st_mode, str(folder), needed=A_FOLDER)
    if found.st_uid not in {os.geteuid(), 0} or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        name = quote_path(str(folder))
        raise FileSystemRefused(FOLDER_NOT_PRIVATE(path=name), path=name, errno_name="EPERM")
    return folder


def can_write(folder: Path) -> bool:
    """Return whether files can be made in a folder, or in the one where it would have to be made itself."""
    try:
        there = next(one for one in (folder, *folder.parents) if one.exists())
    except OSError:  # below a folder that may not be entered, nobody can even ask
        return False
    return os.access(there, os.W_OK | os.X_OK, effective_ids=True)


@contextmanager
def _synced(dir_fd: int) -> Iterator[None]:
    """Sync the folder after a change; it is opened first, so that a lack of descriptors is met before the change."""
    fd = os.open(".", _FOLDER, dir_fd=dir_fd)
    try:
        yield
        with _where_supported():
            os.fsync(fd)
    finally:
        os.close(fd)


@contextmanager
def _temporary(
    dir_fd: int, data: bytes, *, mode: int | None, owner: tuple[int, int] | None, replaces: str | None = None
) -> Iterator[str]:
    """Yield the name of a finished, synced file; whatever has that name at the end is removed."""
    contents = () if replaces is None else (replaces, hashlib.sha256(data).hexdigest())
    fd, name = _claim_temporary(dir_fd, mode, contents)
    try:
        _fill(fd, data, mode=mode, owner=owner)
        yield name
    finally:
        _discard(dir_fd, name, fd)


def _temporary_name(*contents: str) -> str:
    """Return a free name; with contents, one that only these may be removed from."""
    prefixes = [content[:_HASH_CHARACTERS] for content in contents]
    return ".toolroll-" + "-".join([*prefixes, os.urandom(_RANDOM_BYTES // (2 if contents else 1)).hex()]) + ".tmp"


def _claim_temporary(dir_fd: int, mode: int | None, contents: Sequence[str]) -> tuple[int, str]:
    """Create a new file that is locked from before anybody could sweep it."""
    for _ in range(_CLAIM_ATTEMPTS):
        name = _temporary_name(*contents)
        # Only the kernel knows the umask without changing it for all threads; a file that gets its mode from there ends
        # with that mode anyway.
        fd = os.open(name, _NEW_FILE, 0o666 if mode is None else PRIVATE_FILE_MODE, dir_fd=dir_fd)
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
        with _where_supported():
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return os.fstat(fd).st_nlink > 0


def _fill(fd: int, data: bytes, *, mode: int | None, owner: tuple[int, int] | None) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
    with _where_supported():
        if owner is not None:
            os.fchown(fd, *owner)
    with _where_supported():
        if mode is not None:
            os.fchmod(fd, mode)
    os.fsync(fd)


def _discard(dir_fd: int, name: str, fd: int) -> None:
    # After success the name is gone already; after a failure that is worth reporting, this one is not. What stays is
    # swept later. The data is synced, so closing has nothing left to lose.
    with suppress(OSError):
        os.unlink(name, dir_fd=dir_fd)
    with suppress(OSError):
        os.close(fd)


def _move_to_free_name(source_fd: int, source: str, target_fd: int, target: str) -> None:
    if _link(source_fd, source, target_fd, target):
        finish = partial(os.unlink, source, dir_fd=source_fd)
    else:
        # Without hard links the free name is first taken by an empty file, which a crash right here leaves behind.
        os.close(os.open(target, _NEW_FILE, PRIVATE_FILE_MODE, dir_fd=target_fd))
        finish = partial(os.replace, source, target, src_dir_fd=source_fd, dst_dir_fd=target_fd)
    try:
        finish()
    except OSError:
        with suppress(OSError):
            os.unlink(target, dir_fd=target_fd)
        raise


def _link(source_fd: int, source: str, target_fd: int, target: str) -> bool:
    """Return whether a second name was given; a link that somebody put in the file's place is not followed."""
    try:
        os.link(source, target, src_dir_fd=source_fd, dst_dir_fd=target_fd, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
        return False
    return True


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
def _where_supported() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
