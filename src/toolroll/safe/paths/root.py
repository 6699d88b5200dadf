"""A folder that everything is relative to, and all operations on what is in it.

Each operation is about what is there at the moment of use, reached from a descriptor of the folder: see `walk`.
Reading, listing, and writing to a file that exists follow links that stay inside. What makes, moves or removes a name
follows none.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self

from toolroll.errors import OutsideRoot, RootGone
from toolroll.messages import A_FILE, A_FOLDER, LINK_TO_NEW_FILE, ROOT_GONE
from toolroll.safe.paths import files, temporary, walk
from toolroll.safe.paths.attributes import lost_attributes, read_attributes
from toolroll.safe.paths.listing import Entry, Kind, kind_of_mode, list_entries, look_up_entries
from toolroll.safe.paths.names import RelativePath, check_new_part, quote_path
from toolroll.safe.paths.open_file import OpenFile, open_regular
from toolroll.safe.paths.os_errors import exists_error, kind_error, os_errors
from toolroll.safe.paths.walk import Spot

Use = Literal["read", "write"]
Guard = Callable[[RelativePath, Use], None]
"""Raises to refuse a path. It is asked about the path as given and as it is without links, at the moment of use."""

_ROOT_PATH: Final = RelativePath(parts=())


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStatus:
    """What is at a path, links followed: `resolved` is its path without them."""

    kind: Kind
    size: int
    mtime_ns: int
    mode: int
    resolved: RelativePath


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteReport:
    """What a write did: `hard_linked` says that other names keep the old content, also outside of the root.

    `is_compared` says that what was replaced had the expected content; False where the file system cannot tell. `lost`
    is what the file had beside its content, and has no more: attributes, set-user-id.
    """

    resolved: RelativePath
    created: bool
    hard_linked: bool
    is_compared: bool = True
    lost: tuple[str, ...] = ()


class Root:
    """A folder held open: what is below it can be used, and nothing else can be reached.

    Threads may share it. It is closed after the last use.
    """

    def __init__(self, path: Path | str, *, guard: Guard | None = None) -> None:
        self.path: Path = Path(path).absolute()
        self._guard = guard
        self._follows = True
        with os_errors(str(path)):
            self._handle = [os.open(path, walk.FOLDER_FLAGS & ~os.O_NOFOLLOW)]  # shared with `without_links`

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the descriptor back; a second time does nothing, and every use after it is an error."""
        fd, self._handle[0] = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def without_links(self) -> Self:
        """Return the same folder, in which no operation follows a link: for paths that were resolved before."""
        twin = copy(self)
        twin._follows = False  # noqa: SLF001 - a copy of this object
        return twin

    def with_guard(self, guard: Guard) -> Self:
        """Return the same folder with another guard."""
        twin = copy(self)
        twin._guard = guard  # noqa: SLF001 - a copy of this object
        return twin

    @property
    def _fd(self) -> int:
        return self._handle[0]

    @contextmanager
    def handle(self) -> Iterator[int]:
        """Yield the descriptor of the folder, to look around below it; raise `RootGone` where it is not there."""
        self._check_there()
        yield self._fd

    def _check_there(self) -> None:
        """Refuse to work in a folder that was moved or removed: what is there now by its name is another one."""
        with os_errors("."):
            held = os.fstat(self._fd)
        with os_errors("."), suppress(FileNotFoundError, NotADirectoryError):
            try:
                there = self.path.stat()
            except PermissionError:  # the name cannot be looked at: the handle is all that is known
                return
            if os.path.samestat(there, held):
                return
        name = quote_path(self.path.name or "/")
        raise RootGone(ROOT_GONE(path=name), path=name)

    def open_file(self, path: RelativePath) -> OpenFile:
        """Open a regular file for reading; refuse anything else at once."""
        with self._at(path, "read", follow=True) as spot:
            return open_regular(spot, path)

    def read_bytes(self, path: RelativePath, *, limit_bytes: int) -> bytes:
        """Return all bytes of a file, or raise `FileTooLarge` once more than the limit came."""
        with self.open_file(path) as file:
            return file.read(limit_bytes)

    def list_folder(self, path: RelativePath | None = None, names: Iterable[str] | None = None) -> tuple[Entry, ...]:
        """Return what is in a folder (None: the root), by name, or these names of it; links are not followed."""
        path = path or _ROOT_PATH
        with self._at(path, "read", follow=True) as spot:
            found = walk.stat_existing(spot, path)
            if not stat.S_ISDIR(found.st_mode):
                raise kind_error(found.st_mode, str(path), needed=A_FOLDER)
            if names is not None:
                return look_up_entries(spot.folder_fd, spot.name, names)
            return list_entries(spot.folder_fd, spot.name)

    def stat(self, path: RelativePath) -> FileStatus:
        """Return what is at a path, or raise `FileMissing`."""
        with self._at(path, "read", follow=True) as spot:
            found = walk.stat_existing(spot, path)
            return FileStatus(
                kind=kind_of_mode(found.st_mode),
                size=found.st_size,
                mtime_ns=found.st_mtime_ns,
                mode=stat.S_IMODE(found.st_mode),
                resolved=spot.resolved,
            )

    def make_folders(self, path: RelativePath, mode: int = 0o777) -> tuple[RelativePath, ...]:
        """Make a folder and what is missing above it, following no link; tells which ones were made."""
        self._ask_guard(path, "write")
        self._check_there()
        return walk.make_folders(self._fd, path, mode)

    def write_file(
        self, path: RelativePath, data: bytes, *, mode: int | None = None, expected: str | None = None
    ) -> WriteReport:
        """Replace a file's content at once, or make the file; its mode and (if we may) its owner stay as they are.

        So do its extended attributes; what could not be kept is in the report.
        With `expected`, only a file with that SHA-256 is replaced; any other content raises `StaleFile`. Through a link
        that stays inside, the file that it leads to is replaced, and the link stays.
        """
        with self._at(path, "write", follow=True) as spot:
            found = spot.found
            if found is None:
                _check_free(spot, path)
            elif not stat.S_ISREG(found.st_mode):
                raise kind_error(found.st_mode, str(path), needed=A_FILE)
            elif mode is None:
                mode = stat.S_IMODE(found.st_mode) & 0o777  # set-user-id ends with the content it was given to
            place = spot.folder_fd, spot.name
            made: files.Making = {"mode": mode, "owner": None, "attributes": None, "path": str(path)}
            if found is not None:
                made["owner"], made["attributes"] = (found.st_uid, found.st_gid), read_attributes(*place)
            is_compared = True
            if expected is None:
                files.replace_file(*place, data, **made)
            else:
                is_compared = files.replace_expected(*place, data, expected=expected, **made)
            return WriteReport(
                resolved=spot.resolved,
                created=found is None,
                hard_linked=found is not None and found.st_nlink > 1,
                is_compared=is_compared,
                lost=tuple(lost_attributes(*place, made["attributes"] or {}, old=found, mode=mode)),
            )

    def create_file(self, path: RelativePath, data: bytes, *, mode: int | None = None) -> WriteReport:
        """Make a file under a name that is free, or FileExists; its folder must exist."""
        with self._at(path, "write", follow=False) as spot:
            if spot.found is not None:
                raise exists_error(str(path))
            check_new_part(spot.name, path)
            files.create_file(spot.folder_fd, spot.name, data, mode=mode, path=str(path))
            return WriteReport(resolved=spot.resolved, created=True, hard_linked=False)

    def remove_file(self, path: RelativePath, *, expected: str | None = None) -> WriteReport:
        """Remove a file's name; links and folders are refused. `expected` is as in `write_file`."""
        with self._at(path, "write", follow=False) as spot:
            found = walk.stat_existing(spot, path)
            if not stat.S_ISREG(found.st_mode):
                raise kind_error(found.st_mode, str(path), needed=A_FILE)
            is_compared = files.remove_file(spot.folder_fd, spot.name, expected=expected, path=str(path))
            return WriteReport(
                resolved=spot.resolved, created=False, hard_linked=found.st_nlink > 1, is_compared=is_compared
            )

    def remove_folder(self, path: RelativePath) -> None:
        """Remove an empty folder; one with something in it is refused."""
        with self._at(path, "write", follow=False) as spot:
            os.rmdir(spot.name, dir_fd=spot.folder_fd)
            files.sync_folder(spot.folder_fd)

    def sweep_temporary(self, path: RelativePath | None = None) -> int:
        """Remove from one folder what writers that were killed left there; tells how many files."""
        path = path or _ROOT_PATH
        with self._at(path, "write", follow=False) as spot:
            walk.stat_existing(spot, path)
            return temporary.sweep_temporary(spot.folder_fd, spot.name)

    @contextmanager
    def _at(self, path: RelativePath, use: Use, *, follow: bool) -> Iterator[Spot]:
        # Asked before the file system is: whether something that is denied exists is nobody's business.
        self._ask_guard(path, use)
        self._check_there()
        with walk.locate(self._fd, path, follow=follow and self._follows) as spot:
            if spot.resolved != path:
                self._ask_guard(spot.resolved, use)
            yield spot

    def _ask_guard(self, path: RelativePath, use: Use) -> None:
        if self._guard is not None:
            self._guard(path, use)


def _check_free(spot: Spot, path: RelativePath) -> None:
    """Refuse to make a file through a linked folder, or under a name that nobody should make."""
    if spot.resolved != path:
        name = quote_path(str(path))
        raise OutsideRoot(LINK_TO_NEW_FILE(path=name, other=quote_path(str(spot.resolved))), path=name)
    check_new_part(spot.name, path)
