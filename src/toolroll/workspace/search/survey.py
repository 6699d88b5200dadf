"""Walk through a workspace: the one place that decides what exists and what is ignored (C2).

Every folder is opened from the handle of the one above it and no name is followed, so that a folder that becomes a link
leads nowhere. Ignore files are read the same way: regular files only, of bounded size. What a walk found is kept, and
used again as long as the marks of all folders and ignore files say that nothing has changed.
"""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolroll.safe.paths.names import MAX_COMPONENTS
from toolroll.safe.paths.os_errors import os_errors
from toolroll.safe.paths.scan import (
    FRESH_NS,
    Mark,
    Names,
    is_pseudo,
    mark_name,
    mark_status,
    open_folder,
    read_regular,
    scan_names,
)
from toolroll.workspace.search.ignore_rules import MAX_IGNORE_BYTES, IgnoreRules, parse_rules

if TYPE_CHECKING:
    from toolroll.workspace.workspace import Workspace

DEFAULT_IGNORES: Final = Path(__file__).with_name("ignored.gitignore")
IGNORE_NAMES: Final = (".rgignore", ".ignore", ".gitignore")
"""The first counts most; after them, what `.git/info/exclude` says, then the built-in list."""

MAX_KEPT_FILES: Final = 100_000  # of a walk that is kept for the next question: some 15 MB
_MAX_KEPT_WALKS: Final = 8
_NAMES_BETWEEN_LOOKS: Final = 4_096  # at the clock, in one folder
_EXCLUDE: Final = ".git/info/exclude"


@dataclass(slots=True, kw_only=True)
class Deadline:
    """The time that is left for one request, however many programs it takes; none once it is cancelled."""

    seconds: float
    started: float = field(default_factory=time.monotonic)
    is_cancelled: bool = False

    @property
    def left_s(self) -> float:
        """Return the seconds that are left; never below zero."""
        return 0.0 if self.is_cancelled else max(0.0, self.seconds - (time.monotonic() - self.started))


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A folder that was walked through, with the files in it that count; "" is the workspace."""

    path: str
    mark: Mark
    is_settled: bool
    files: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Survey:
    """What a walk found below a folder, as paths from the workspace; nothing denied is named."""

    folders: list[Folder] = field(default_factory=list)
    """Those above the start too, without files: the way to it."""
    special: list[str] = field(default_factory=list)
    """Links, pipes, sockets, devices and empty folders."""
    ignored_files: list[str] = field(default_factory=list)
    ignored_folders: list[str] = field(default_factory=list)
    denied: int = 0
    unreadable: list[str] = field(default_factory=list)
    too_deep: int = 0
    unread_ignores: int = 0
    """Ignore files that are no regular files, or too large: they exclude nothing."""
    is_complete: bool = True
    watched: dict[str, Mark | None] = field(default_factory=dict)
    above: tuple[bytes | None, ...] = ()
    large: tuple[float, frozenset[str]] | None = None
    """The larger files of all that count, and when somebody looked: most searches need to look at these alone."""

    @property
    def names(self) -> list[str]:
        """Return the files that count."""
        return [name for folder in self.folders for name in folder.files]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    """The rules of one ignore file: its folder is the part of a path before `base`, or above the workspace."""

    rules: IgnoreRules
    base: int = 0
    above: str = ""

    def verdict(self, path: str, name: str, *, is_folder: bool) -> bool | None:
        return self.rules.verdict(self.above + path[self.base :], name, is_folder=is_folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layers:
    """The ignore files that hold in one folder, by kind, the deepest first."""

    kinds: tuple[tuple[_Layer, ...], ...] = ((), (), (), ())

    def ignores(self, path: str, name: str, *, is_folder: bool) -> bool:
        for layers in self.kinds:
            for layer in layers:
                found = layer.verdict(path, name, is_folder=is_folder)
                if found is not None:
                    return found
        return default_rules().verdict(path, name, is_folder=is_folder) or False

    def without_git(self) -> "_Layers":
        """Return what holds in a repository of its own: what git reads above it does not."""
        return _Layers(kinds=(*self.kinds[:2], (), ()))

    def with_layer(self, kind: int, layer: _Layer) -> "_Layers":
        kinds = list(self.kinds)
        kinds[kind] = (layer, *kinds[kind])
        return _Layers(kinds=tuple(kinds))


@cache
def default_rules() -> IgnoreRules:
    """Return the built-in list, which any other ignore file overrides."""
    return parse_rules(DEFAULT_IGNORES.read_bytes()) or IgnoreRules([])


class WalkCache:
    """The last walks of a workspace; threads may share it."""

    def __init__(self) -> None:
        self._kept: dict[str, Survey] = {}

    def get(self, start: str) -> Survey | None:
        """Return what was found at that start."""
        return self._kept.get(start)

    def keep(self, start: str, found: Survey) -> None:
        """Keep a walk, if all that it saw was settled: anything else may have changed within a tick of the clock."""
        settled = all(folder.is_settled for folder in found.folders)
        files = sum(len(folder.files) for folder in found.folders) + len(found.ignored_files) + len(found.special)
        if found.is_complete and settled and files <= MAX_KEPT_FILES:
            kept = {key: value for key, value in self._kept.items() if key != start}
            self._kept = dict([*kept.items(), (start, found)][-_MAX_KEPT_WALKS:])


def survey(workspace: "Workspace", start: str, clock: Deadline, *, ignoring: bool = True) -> Survey:
    """Walk below a folder, without links in its path; for threads, as it waits. `RootGone` where that is so.

    Without `ignoring`, ignore files and the built-in list exclude nothing. A folder that cannot be opened any more is
    an empty one.
    """
    with workspace.handle() as root_fd:
        layers, above = _layers_above(workspace.root) if ignoring else (_Layers(), ())
        kept = workspace.walks.get(start) if ignoring else None
        if kept is not None and kept.above == above and is_unchanged(root_fd, kept):
            return kept
        walk = _Walk(workspace, start, clock, ignoring=ignoring)
        walk.found.above = above
        # A start that is gone by now is empty; a lack of descriptors is no answer.
        with os_errors(start or "."), ExitStack() as stack, suppress(FileNotFoundError, NotADirectoryError):
            walk.go(root_fd, layers, stack)
        if ignoring:
            workspace.walks.keep(start, walk.found)
        return walk.found


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderNames:
    """The names in one folder, without what is denied; `is_cut` says that there are more than a walk may look at."""

    folders: list[str]
    others: list[str]
    ignored: frozenset[str]
    denied: int
    is_cut: bool
    unread_ignores: int


def list_names(workspace: "Workspace", start: str) -> FolderNames:
    """Return what is in one folder, whatever it is, and what of it is ignored; only names are looked at."""
    walk = _Walk(workspace, start, Deadline(seconds=workspace.limits.search_seconds), ignoring=True)
    with workspace.handle() as root_fd, ExitStack() as stack, os_errors(start or "."):
        fd, layers = walk.descend(root_fd, _layers_above(workspace.root)[0], stack)
        stack.callback(os.close, fd)
        return walk.look_into(fd, layers)


def settled_survey(workspace: "Workspace", start: str, clock: Deadline) -> Survey:
    """Walk again after a moment where something changed just now, so that later changes can be told by the marks."""
    found = survey(workspace, start, clock)
    if all(folder.is_settled for folder in found.folders):
        return found
    time.sleep(FRESH_NS / 1e9)
    return survey(workspace, start, clock)


def changed_folders(root_fd: int, found: Survey) -> set[str]:
    """Return the folders in which a name may not be what the walk saw: changed since, or shortly before.

    A folder is in its place as long as the one above it, or the folder itself, has not changed: to move it changes
    both. If the one above is not in its place, nothing below it is.
    """
    changed, moved = set[str](), set[str]()
    for folder in found.folders:
        above = folder.path.rpartition("/")[0]
        is_same = folder.is_settled and mark_name(root_fd, folder.path or ".") == folder.mark
        if folder.path and (above in moved or (above in changed and not is_same)):
            moved.add(folder.path)
        if not is_same or folder.path in moved:
            changed.add(folder.path)
    return changed


def is_current(workspace: "Workspace", root_fd: int, kept: Survey) -> bool:
    """Return whether a walk would find the same now: no folder has changed, and no ignore file, above it either."""
    return is_unchanged(root_fd, kept) and _layers_above(workspace.root)[1] == kept.above


def is_unchanged(root_fd: int, kept: Survey) -> bool:
    """Return whether all folders and ignore files of a walk are what they were."""
    for folder in kept.folders:
        if mark_name(root_fd, folder.path or ".") != folder.mark:
            return False
    return all(mark_name(root_fd, path) == mark for path, mark in kept.watched.items())


def _layers_above(root: Path) -> tuple[_Layers, tuple[bytes | None, ...]]:
    """Return the rules of folders above the workspace that git would read, and their bytes."""
    layers, read = _Layers(), list[bytes | None]()
    inside = [root, *root.parents]
    top = next((at for at, folder in enumerate(inside) if os.path.lexists(folder / ".git")), 0)
    for folder in reversed(inside[1 : top + 1]):
        above = root.relative_to(folder).as_posix() + "/"
        with _opened(folder) as fd:
            for kind, name in enumerate((*IGNORE_NAMES, _EXCLUDE)):
                found = read_regular(fd, name, MAX_IGNORE_BYTES) if fd is not None else None
                data = found[0] if found else None
                read.append(data)
                rules = parse_rules(data) if data else None
                if rules:
                    layers = layers.with_layer(kind, _Layer(rules=rules, above=above))
    return layers, tuple(read)


@contextmanager
def _opened(folder: Path) -> Iterator[int | None]:
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        yield None
        return
    try:
        yield fd
    finally:
        os.close(fd)


def _check_descriptors(error: OSError, fd: int | None = None) -> None:
    """Raise where no descriptor is left: that says nothing about a folder. One that is open is closed."""
    if error.errno in {errno.EMFILE, errno.ENFILE}:
        if fd is not None:
            os.close(fd)
        raise error


@dataclass(slots=True, kw_only=True)
class _Level:
    """An open folder on the way down, and the folders in it that are still to be walked through."""

    fd: int
    path: str
    layers: _Layers
    is_denied: bool
    device: int
    inner: list[str]


class _Walk:
    def __init__(self, workspace: "Workspace", start: str, clock: Deadline, *, ignoring: bool) -> None:
        self.found = Survey()
        self._start = start
        self._denials = workspace.denials
        self._clock, self._ignoring = clock, ignoring
        self._left = workspace.limits.walk_files

    def go(self, root_fd: int, layers: _Layers, stack: ExitStack) -> None:
        """Walk from the start; the handles on the way down, 128 at most, are held in a stack and not by recursion."""
        if self._clock.left_s <= 0:
            self.found.is_complete = False
            return
        fd, layers = self.descend(root_fd, layers, stack)
        levels = [self._level(fd, self._start, layers, is_denied=False)]
        try:
            while levels:
                level = levels[-1]
                self.found.is_complete = self.found.is_complete and self._clock.left_s > 0
                if not level.inner or not self.found.is_complete:
                    os.close(levels.pop().fd)
                elif (below := self._enter(level, level.inner.pop())) is not None:
                    levels.append(below)
        finally:
            for level in levels:
                os.close(level.fd)

    def descend(self, root_fd: int, layers: _Layers, stack: ExitStack) -> tuple[int, _Layers]:
        """Go down to the start, and read the ignore files on the way."""
        fd, path = open_folder(root_fd, "."), ""
        for part in filter(None, self._start.split("/")):
            stack.callback(os.close, fd)
            mark = mark_status(os.fstat(fd))
            self.found.folders.append(Folder(path=path, mark=mark, is_settled=not mark.is_fresh(time.time_ns())))
            if self._ignoring:
                layers = self._read_ignores(fd, path, scan_names(fd, self._left), layers)
            fd, path = open_folder(fd, part), f"{path}/{part}" if path else part
        return fd, layers

    def look_into(self, fd: int, layers: _Layers) -> FolderNames:
        """Return the names in one open folder."""
        names = scan_names(fd, self._left)
        layers = self._read_ignores(fd, self._start, names, layers)
        prefix = f"{self._start}/" if self._start else ""
        folders, others = [prefix + one for one in names.folders], [prefix + one for one in names.files + names.others]
        ignored = list[str]()
        self._counting(prefix, names.folders, layers, ignored, is_folder=True)
        self._counting(prefix, names.files + names.others, layers, ignored, is_folder=False)
        seen = [[one[len(prefix) :] for one in self._denials.visible(some)] for some in (folders, others)]
        return FolderNames(
            folders=seen[0],
            others=seen[1],
            ignored=frozenset(one[len(prefix) :] for one in ignored),
            denied=len(folders) + len(others) - len(seen[0]) - len(seen[1]),
            is_cut=names.is_cut,
            unread_ignores=self.found.unread_ignores,
        )

    def _enter(self, level: _Level, name: str) -> _Level | None:
        path = f"{level.path}/{name}" if level.path else name
        if path.count("/") + 1 >= MAX_COMPONENTS:
            self.found.too_deep += 1
            return None
        is_denied = level.is_denied or self._denials.hides(path)
        try:
            fd = open_folder(level.fd, name)
        except OSError as error:
            _check_descriptors(error)
            self.found.unreadable += [] if is_denied else [path]
            return None
        if os.fstat(fd).st_dev != level.device and is_pseudo(fd):
            os.close(fd)
            self.found.unreadable.append(path)
            return None
        return self._level(fd, path, level.layers, is_denied=is_denied)

    def _level(self, fd: int, path: str, layers: _Layers, *, is_denied: bool) -> _Level:
        mark = mark_status(os.fstat(fd))  # before the names are read: a later change shows
        is_settled = not mark.is_fresh(time.time_ns())
        try:
            names = scan_names(fd, self._left)
        except OSError as error:
            _check_descriptors(error, fd)
            names = Names([], [], [], is_cut=False)
            self.found.unreadable += [] if is_denied else [path]
        self._left -= len(names.files) + len(names.folders) + len(names.others)
        self.found.is_complete = self.found.is_complete and not names.is_cut
        if self._ignoring:
            layers = self._read_ignores(fd, path, names, layers)
        files, inner = self._sort(path, names, layers, is_denied=is_denied)
        self.found.folders.append(Folder(path=path, mark=mark, is_settled=is_settled, files=files))
        return _Level(fd=fd, path=path, layers=layers, is_denied=is_denied, device=mark.device, inner=inner)

    def _sort(self, path: str, names: Names, layers: _Layers, *, is_denied: bool) -> tuple[tuple[str, ...], list[str]]:
        """Return the files that count and the folders to walk through; the rest is written down."""
        prefix, found = f"{path}/" if path else "", self.found
        files = self._counting(prefix, names.files, layers, found.ignored_files, is_folder=False)
        others = self._counting(prefix, names.others, layers, [], is_folder=False)
        inner = self._counting(prefix, names.folders, layers, found.ignored_folders, is_folder=True)
        if is_denied:
            found.denied += len(files)
            return (), [name[len(prefix) :] for name in inner]
        visible = self._denials.visible(files)
        found.denied += len(files) - len(visible)
        found.special += self._denials.visible(others)
        if not any(names[:3]) and path != self._start and path not in found.unreadable:
            found.special.append(path)
        return tuple(visible), [name[len(prefix) :] for name in inner]

    def _counting(
        self, prefix: str, names: list[str], layers: _Layers, ignored: list[str], *, is_folder: bool
    ) -> list[str]:
        """Return the paths that are not ignored; the others are added to a list."""
        paths = [prefix + name for name in names]
        if not self._ignoring:
            return paths
        kept = list[str]()
        for at, (path, name) in enumerate(zip(paths, names, strict=True)):
            if at % _NAMES_BETWEEN_LOOKS == _NAMES_BETWEEN_LOOKS - 1 and self._clock.left_s <= 0:
                self.found.is_complete = False
                break
            (ignored if layers.ignores(path, name, is_folder=is_folder) else kept).append(path)
        return kept

    def _read_ignores(self, fd: int, path: str, names: Names, layers: _Layers) -> _Layers:
        prefix = f"{path}/" if path else ""
        files, others = set(names.files), set(names.others)
        if ".git" in files or ".git" in others or ".git" in names.folders:
            layers = self._read_ignore(fd, prefix, _EXCLUDE, 3, layers.without_git())
        for kind, name in enumerate(IGNORE_NAMES):
            if name in files:
                layers = self._read_ignore(fd, prefix, name, kind, layers)
            elif name in others:
                self.found.unread_ignores += 1
        return layers

    def _read_ignore(self, fd: int, prefix: str, name: str, kind: int, layers: _Layers) -> _Layers:
        found = self._read_exclude(fd) if name == _EXCLUDE else read_regular(fd, name, MAX_IGNORE_BYTES)
        self.found.watched[prefix + name] = found[1] if found else None
        data = found[0] if found else b""
        rules = parse_rules(data) if data is not None else None
        if rules is None:
            self.found.unread_ignores += 1
            return layers
        return layers.with_layer(kind, _Layer(rules=rules, base=len(prefix))) if rules else layers

    def _read_exclude(self, fd: int) -> tuple[bytes | None, Mark] | None:
        """Read git's own list step by step; where `.git` is a file that names a folder elsewhere, there is none."""
        handles = list[int]()
        try:
            for name in (".git", "info"):
                handles.append(open_folder(handles[-1] if handles else fd, name))
            return read_regular(handles[-1], "exclude", MAX_IGNORE_BYTES)
        except OSError:
            return None
        finally:
            for handle in handles:
                os.close(handle)
