"""List a folder: every name with its kind, and nothing opened but the folder."""

import errno
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

from toolroll.safe.paths.names import quote_path

Kind = Literal["file", "folder", "link", "other"]
Special = Literal["pipe", "socket", "device"]

MAX_ENTRIES: Final = 200_000  # about 60 MB of entries; the largest folder of a usual project has some thousands

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One name in a folder; `problem` is the system's word when there is more to know that it would not tell.

    `special` says of what kind the others are, where that is known.
    """

    name: str
    kind: Kind
    size: int = 0
    mtime_ns: int = 0
    problem: str | None = None
    special: Special | None = None

    @property
    def shown(self) -> str:
        """Return the name with every character visible: invisible, reordering and undecodable ones are escaped."""
        return quote_path(self.name)


def list_entries(folder_fd: int, name: str) -> tuple[Entry, ...]:
    """Return the entries of one folder by name; names that are not UTF-8 carry their bytes as surrogates."""
    fd = os.open(name, _FOLDER, dir_fd=folder_fd)
    try:
        with os.scandir(fd) as scan:
            entries = [entry for found in islice(scan, MAX_ENTRIES + 1) if (entry := _entry(found))]
    finally:
        os.close(fd)
    if len(entries) > MAX_ENTRIES:
        raise OSError(errno.EOVERFLOW, f"more than {MAX_ENTRIES:,} names in one folder")
    return tuple(sorted(entries, key=lambda entry: entry.name))


def look_up_entries(folder_fd: int, name: str, names: Iterable[str]) -> tuple[Entry, ...]:
    """Return the entries of these names in one folder, in their order; those that are gone are left out."""
    fd = os.open(name, _FOLDER, dir_fd=folder_fd)
    try:
        return tuple(entry for one in names if (entry := _look_up(fd, one)))
    finally:
        os.close(fd)


def _look_up(fd: int, name: str) -> Entry | None:
    try:
        return _to_entry(name, os.stat(name, dir_fd=fd, follow_symlinks=False))
    except FileNotFoundError:
        return None


def kind_of_mode(mode: int) -> Kind:
    """Return which of the four kinds a mode of `stat` stands for."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"


def _special(mode: int) -> Special | None:
    if stat.S_ISFIFO(mode):
        return "pipe"
    if stat.S_ISSOCK(mode):
        return "socket"
    return "device" if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) else None


def _entry(found: "os.DirEntry[str]") -> Entry | None:
    """Return the entry; None if it was removed meanwhile, and one of kind other if the system hides its kind."""
    try:
        status = found.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        return Entry(name=found.name, kind="other", problem=errno.errorcode.get(error.errno or 0, "EUNKNOWN"))
    return _to_entry(found.name, status)


def _to_entry(name: str, status: os.stat_result) -> Entry:
    return Entry(
        name=name,
        kind=kind_of_mode(status.st_mode),
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        special=_special(status.st_mode),
    )
