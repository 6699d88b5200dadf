"""Walk from a path to a name in an open folder, without trusting any name twice.

To check a path and then open it by name lets anybody who can write there swap a folder for a link in between
(CVE-2026-34452, GHSA-p9cv-8g75-4xcg and many more). Here every step is taken from a descriptor that is held open,
and no step follows a link. A link is read, and its target is walked by the same steps: it can lead anywhere below the
root and nowhere else.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final, Self

from toolroll.errors import OutsideRoot
from toolroll.messages import (
    LINK_ABSOLUTE,
    LINK_DANGLING,
    LINK_LOOP,
    LINK_ON_PATH,
    LINK_OUTSIDE,
    LINK_TOO_DEEP,
    Template,
)
from toolroll.safe.paths import openat2
from toolroll.safe.paths.files import sync_folder
from toolroll.safe.paths.names import MAX_COMPONENTS, RelativePath, check_new_part, quote_path
from toolroll.safe.paths.os_errors import missing_error, os_errors

MAX_LINKS: Final = 40  # what Linux itself follows: path_resolution(7)

# O_PATH needs no right to read the folder. Where it does not exist, folders without that right cannot be entered.
FOLDER_FLAGS: Final[int] = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A name in a folder that is held open: what is there (None: nothing), and its path without links."""

    folder_fd: int
    name: str
    found: os.stat_result | None
    resolved: RelativePath


@contextmanager
def locate(root_fd: int, path: RelativePath, *, follow: bool) -> Iterator[Spot]:
    """Yield the spot of a path, and raise typed errors for whatever goes wrong there.

    With `follow`, links that stay below the root are followed. Without it no folder on the way may be a link, and the
    last name is taken as it is.
    """
    with os_errors(str(path)), _Folders(root_fd, path) as folders:
        yield _at_once(folders, follow=follow) or _step_by_step(folders, follow=follow)


def stat_existing(spot: Spot, path: RelativePath) -> os.stat_result:
    """Return what is at the spot, or raise `FileMissing` about the path that led there."""
    if spot.found is None:
        raise missing_error(str(path))
    return spot.found


def make_folders(root_fd: int, path: RelativePath, mode: int) -> tuple[RelativePath, ...]:
    """Make what is missing of a folder, one name at a time and following nothing; tells what was made."""
    made = []
    with os_errors(str(path)), _Folders(root_fd, path) as folders:
        for part in path.parts:
            found = _look(folders.top, part)
            if found is None:
                check_new_part(part, path)
                _make_folder(folders.top, part, mode)
                made.append(folders.path_of(part))
            elif stat.S_ISLNK(found.st_mode):
                raise folders.refused(LINK_ON_PATH, link=quote_path(part))
            folders.enter(part)
    return tuple(made)


class _Folders:
    """The folders from the root down to where a walk stands, held open; the root is borrowed."""

    def __init__(self, root_fd: int, path: RelativePath) -> None:
        self.path = path
        self._root_fd = root_fd
        self._fds: list[int] = []
        self._names: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Go back to the root."""
        while self._fds:
            # Nothing was written through it, so there is nothing that a failing close could lose.
            with suppress(OSError):
                os.close(self._fds.pop())
        self._names.clear()

    @property
    def top(self) -> int:
        return self._fds[-1] if self._fds else self._root_fd

    def spot(self, name: str, found: os.stat_result | None) -> Spot:
        return Spot(folder_fd=self.top, name=name, found=found, resolved=self.path_of(name))

    def path_of(self, name: str) -> RelativePath:
        """Return the path of a name here; `.` is the folder itself."""
        return RelativePath(parts=(*self._names, *(() if name == "." else (name,))))

    def adopt(self, fd: int, names: Iterable[str]) -> None:
        self._fds.append(fd)
        self._names.extend(names)

    def enter(self, name: str) -> None:
        if len(self._names) == MAX_COMPONENTS:
            raise self.refused(LINK_TOO_DEEP)
        self.adopt(os.open(name, FOLDER_FLAGS, dir_fd=self.top), (name,))

    def leave(self) -> None:
        """Go up by what was entered here, not by what `..` means on disk by now: the folder may have been moved."""
        if not self._fds:
            raise self.refused(LINK_OUTSIDE)
        os.close(self._fds.pop())
        self._names.pop()

    def refused(self, message: Template, **values: str) -> OutsideRoot:
        path = quote_path(str(self.path))
        return OutsideRoot(message(path=path, **values), path=path)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    name: str
    from_link: bool


def _at_once(folders: _Folders, *, follow: bool) -> Spot | None:
    """Return the spot if there is no link on the way; None where the walk has to find out more."""
    *above, name = folders.path.parts or (".",)
    if above:
        if not openat2.is_available():
            return None
        try:
            fd = openat2.open_beneath(folders.top, "/".join(above), FOLDER_FLAGS)
        except OSError:
            return None  # the walk meets the same trouble, and says the same about it as where there is no openat2
        folders.adopt(fd, above)
    found = _look(folders.top, name)
    if follow and found and stat.S_ISLNK(found.st_mode):
        folders.close()
        return None
    return folders.spot(name, found)


def _step_by_step(folders: _Folders, *, follow: bool) -> Spot:
    steps = _steps(folders.path.parts, from_link=False)
    links = 0
    while steps:
        step = steps.pop()
        if step.name == "..":
            folders.leave()
            continue
        found = _look(folders.top, step.name)
        if found is None and step.from_link:
            raise folders.refused(LINK_DANGLING)
        if found and stat.S_ISLNK(found.st_mode) and (follow or steps):
            links += 1
            steps += _steps(_target(folders, step.name, links, follow=follow), from_link=True)
        elif steps:
            folders.enter(step.name)
        else:
            return folders.spot(step.name, found)
    return folders.spot(".", _look(folders.top, "."))


def _steps(names: Iterable[str], *, from_link: bool) -> list[_Step]:
    """Return the last step first: they are taken from the end."""
    return [_Step(name=name, from_link=from_link) for name in names][::-1]


def _target(folders: _Folders, name: str, links: int, *, follow: bool) -> list[str]:
    if not follow:
        raise folders.refused(LINK_ON_PATH, link=quote_path(name))
    if links > MAX_LINKS:
        raise folders.refused(LINK_LOOP)
    target = os.readlink(name, dir_fd=folders.top)
    if target.startswith("/"):
        raise folders.refused(LINK_ABSOLUTE)
    return [part for part in target.split("/") if part not in {"", "."}]


def _look(folder_fd: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _make_folder(folder_fd: int, name: str, mode: int) -> None:
    # Somebody else may make it at this moment: then it is entered, or refused if it is a link, like any other.
    with suppress(FileExistsError):
        os.mkdir(name, mode, dir_fd=folder_fd)
        sync_folder(folder_fd)
