"""Write files that are there whole or not at all: written beside their place, synced, then put there by name.

All names are relative to an open folder. A crash leaves the old content or the new. What it may leave beside is a
temporary file, which `sweep_temporary` knows for ownerless: its lock died with its writer.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final, TypedDict

from toolroll.errors import FileSystemRefused
from toolroll.messages import A_FOLDER, FOLDER_NOT_PRIVATE
from toolroll.safe.paths.exchange import ExchangeUnsupported, check_content, give_name, swap_names, take_name
from toolroll.safe.paths.names import quote_path
from toolroll.safe.paths.os_errors import kind_error, os_errors
from toolroll.safe.paths.temporary import (
    FOLDER,
    NEW_FILE,
    UNSUPPORTED,
    temporary_file,
    temporary_name,
    where_supported,
)

PRIVATE_FILE_MODE: Final = 0o600
PRIVATE_FOLDER_MODE: Final = 0o700


class Making(TypedDict):
    """What a file is made with. Whatever the system lets us give, it gets."""

    mode: int | None
    owner: tuple[int, int] | None
    attributes: Mapping[str, bytes] | None
    path: str


def replace_file(
    dir_fd: int,
    name: str,
    data: bytes,
    *,
    mode: int | None = PRIVATE_FILE_MODE,
    owner: tuple[int, int] | None = None,
    attributes: Mapping[str, bytes] | None = None,
    path: str | None = None,
) -> None:
    """Put the data under that name, whatever was there: at any moment the name has all of the old or all of the new.

    `mode=None` leaves the mode to the umask. `owner` (user, group) and extended `attributes` are given where we have
    the right to. `path` is what errors call the file. After an error the old content is there, unless the very last
    step failed, which makes the new one survive a power cut.
    """
    with (
        os_errors(path or name),
        _synced(dir_fd),
        temporary_file(dir_fd, data, mode=mode, owner=owner, attributes=attributes) as temporary,
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
    attributes: Mapping[str, bytes] | None = None,
    path: str,
) -> bool:
    """Put the data under that name if the content there has the expected SHA-256, or raise `StaleFile`.

    Returns whether the comparison was part of the replacement. Where two names cannot be exchanged in one step it can
    only be made before, and a save in between is lost.
    """
    with os_errors(path), _synced(dir_fd):
        made = temporary_file(dir_fd, data, mode=mode, owner=owner, attributes=attributes, replaces=expected)
        with made as temporary:
            try:
                swap_names(dir_fd, temporary, name, expected=expected, path=path)
            except ExchangeUnsupported:
                check_content(dir_fd, name, expected, path)
                os.replace(temporary, name, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
                return False
        return True


def remove_file(dir_fd: int, name: str, *, expected: str | None, path: str) -> bool:
    """Remove a file, with `expected` only one of that SHA-256, or raise `StaleFile`; returns what the above does."""
    with os_errors(path), _synced(dir_fd):
        if expected is None:
            os.unlink(name, dir_fd=dir_fd)
            return True
        temporary = temporary_name(expected, expected)
        try:
            take_name(dir_fd, name, temporary, expected=expected, path=path)
        except ExchangeUnsupported:
            check_content(dir_fd, name, expected, path)
            os.unlink(name, dir_fd=dir_fd)
            return False
        _remove_taken(dir_fd, name, temporary)
        return True


def _remove_taken(dir_fd: int, name: str, temporary: str) -> None:
    try:
        os.unlink(temporary, dir_fd=dir_fd)
    except OSError:
        give_name(dir_fd, temporary, name)
        raise


def create_file(
    dir_fd: int, name: str, data: bytes, *, mode: int | None = PRIVATE_FILE_MODE, path: str | None = None
) -> None:
    """Put the data under a free name, or raise `FileExists`; the name never shows a part of the data."""
    with (
        os_errors(path or name),
        _synced(dir_fd),
        temporary_file(dir_fd, data, mode=mode, owner=None) as temporary,
    ):
        _move_to_free_name(dir_fd, temporary, name)


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
    fd = os.open(".", FOLDER, dir_fd=dir_fd)
    try:
        yield
        with where_supported():
            os.fsync(fd)
    finally:
        os.close(fd)


def _move_to_free_name(dir_fd: int, source: str, target: str) -> None:
    if _link(dir_fd, source, target):
        finish = partial(os.unlink, source, dir_fd=dir_fd)
    else:
        # Without hard links the free name is first taken by an empty file, which a crash right here leaves behind.
        os.close(os.open(target, NEW_FILE, PRIVATE_FILE_MODE, dir_fd=dir_fd))
        finish = partial(os.replace, source, target, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
    try:
        finish()
    except OSError:
        with suppress(OSError):
            os.unlink(target, dir_fd=dir_fd)
        raise


def _link(dir_fd: int, source: str, target: str) -> bool:
    """Return whether a second name was given; a link that somebody put in the file's place is not followed."""
    try:
        os.link(source, target, src_dir_fd=dir_fd, dst_dir_fd=dir_fd, follow_symlinks=False)
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
        return False
    return True
