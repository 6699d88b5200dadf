"""A folder that tools work in: the only way to a file there (C1).

Every use goes through a `Root`, which walks from a descriptor and trusts no name twice, and through one guard, which
is asked about each path as it was given and as it is without links. Writing is compare-and-swap: the hash of what is
there must be the one that the change was made from, under a lock that all processes share.
"""

import hashlib
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from toolroll.errors import (
    FileMissing,
    FileProblem,
    FileTooLarge,
    NotAFile,
    OutsideRoot,
    PathRefused,
    RootGone,
    StaleFile,
    UsageError,
)
from toolroll.home.folders import find_folders
from toolroll.kernel.approval.request import content_hash
from toolroll.messages import FILE_CHANGED, FILE_GONE
from toolroll.safe.locks import FileLock
from toolroll.safe.paths.files import can_write, private_folder
from toolroll.safe.paths.listing import Entry
from toolroll.safe.paths.names import RelativePath, parse_path, quote_path
from toolroll.safe.paths.open_file import OpenFile
from toolroll.safe.paths.os_errors import os_errors
from toolroll.safe.paths.protected import PROTECTED_NAMES, fold_name
from toolroll.safe.paths.root import FileStatus, Root, Use, WriteReport
from toolroll.workspace.denials import Denials
from toolroll.workspace.limits import DEFAULT_LIMITS, Limits
from toolroll.workspace.search.lookalikes import find_twins, spell_name
from toolroll.workspace.search.survey import WalkCache
from toolroll.workspace.suggestions import describe_nearest, suggest_paths

_ROOT: Final = RelativePath(parts=())
_HASHED_AT_ONCE_BYTES: Final = 1 << 20
WORKSPACES: Final = "workspaces"
"""The folder among the user's data with the state of each project."""
_KEY_CHARACTERS: Final = 32  # 128 bits of a hash: no two paths share a lock, nor two roots a folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A file as it was read: all its bytes and their hash, by which a later write knows that nothing changed."""

    path: RelativePath
    data: bytes
    hash: str


class Workspace:
    """A guarded folder: reading, listing and writing below it, and nowhere else. Threads may share it.

    `state` is a private folder outside of it, for locks, the index and the history; by default one of the user's own.
    `deny` are rules such as `secrets/**` (`kernel.policy.Rule`); what they fit is neither shown nor counted as found.
    `own` are folders in it that belong to toolroll itself.
    """

    def __init__(
        self,
        root: Path | str,
        *,
        state: Path | None = None,
        deny: Sequence[str] = (),
        limits: Limits = DEFAULT_LIMITS,
        protected: Iterable[str] = PROTECTED_NAMES,
        own: Iterable[str] = (),
    ) -> None:
        self.root: Final = Path(root).resolve()
        self.limits: Final = limits
        self.denials: Denials = Denials(deny, protected=protected, own=own)
        self._state = state
        self._held = threading.local()
        self._files = Root(self.root, guard=self.denials.check)
        self.walks: WalkCache = WalkCache()

    @classmethod
    def of_user(
        cls,
        root: Path | str,
        *,
        environment: Mapping[str, str],
        deny: Sequence[str] = (),
        limits: Limits = DEFAULT_LIMITS,
    ) -> Self:
        """Return the workspace with its state among the user's own files."""
        state, own = state_folder(Path(root), environment), own_folders(Path(root), environment)
        return cls(root, state=state, deny=deny, limits=limits, own=own)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the folder's descriptor; every use after it is an error."""
        self._files.close()

    def handle(self) -> AbstractContextManager[int]:
        """Yield the descriptor of the folder, for walks; RootGone where it was moved, removed or replaced."""
        return self._files.handle()

    @cached_property
    def state(self) -> Path:
        """Return a folder for its owner alone, outside of the workspace: made when it is first asked for."""
        folder = (self._state or state_folder(self.root, os.environ)).resolve()
        if folder.is_relative_to(self.root):
            raise UsageError(f"The folder for private data, '{folder}', is inside of the workspace. Set another one.")
        # Who only reads needs none; whoever wants to keep something there is told by the system why that cannot be.
        with os_errors(str(folder)):
            return private_folder(folder) if folder.exists() or can_write(folder) else folder

    # --- Names -----------------------------------------------------------------------------------------

    def path(self, text: str) -> RelativePath:
        """Return the path that a text names, or PathRefused with the rule that it breaks. Nothing is touched."""
        try:
            return parse_path(text)
        except PathRefused as error:
            if error.rule == "absolute" and (inside := self._inside(text)):
                hint = f"{error.message} Here that is '{quote_path(inside)}'."
                raise PathRefused(hint, path=error.path, rule=error.rule) from None
            raise

    def folder(self, text: str) -> RelativePath | None:
        """Return the folder that a text names, with or without a `/` at its end; None, for `.`, is the workspace."""
        name = text.strip()
        # One at most, and never all there is: `a//` and `/` are refused as they are for files (XP1).
        plain = name[:-1] if name.endswith("/") and not name.endswith("//") and name != "/" else name
        return None if plain in {"", "."} else self.path(plain)

    def why_denied(self, path: RelativePath, use: Use = "read") -> str | None:
        """Return why a path may not be used, as the end of a sentence about it; None where it may."""
        return self.denials.reason(path, use)

    def is_denied(self, path: RelativePath) -> bool:
        """Return whether a path may not be seen."""
        return self.denials.reason(path) is not None

    def resolve(self, path: RelativePath | None) -> RelativePath:
        """Return where a path (None: the workspace) leads without links; what is absent is below what is there.

        A path that leads nowhere, or to what may not be seen, is returned as it is: whoever uses it is refused.
        """
        there = path or _ROOT
        missing: tuple[str, ...] = ()
        while there.parts:
            try:
                return RelativePath(parts=(*self._files.stat(there).resolved.parts, *missing))
            except (FileMissing, NotAFile):
                there, missing = there.parent, (there.name, *missing)
            except (OutsideRoot, PathRefused):
                break
        return path or _ROOT

    def without_links(self) -> Self:
        """Return the same workspace, in which no link is followed.

        A path that was resolved is used through it, so that what was judged is what is used: whatever has become a
        link since then is refused.
        """
        twin = copy(self)
        twin._files = self._files.without_links()  # noqa: SLF001 - a copy of this object
        return twin

    def hiding(self, deny: Sequence[str]) -> Self:
        """Return the same workspace with more deny rules; it is closed with this one."""
        twin = copy(self)
        twin.denials, twin.walks = self.denials.plus(deny), WalkCache()
        twin._files = self._files.with_guard(twin.denials.check)  # noqa: SLF001 - a copy of this object
        return twin

    def _inside(self, text: str) -> str | None:
        path = Path(text.strip())
        return str(path.relative_to(self.root)) if path != self.root and path.is_relative_to(self.root) else None

    # --- Reading ---------------------------------------------------------------------------------------

    def read(self, path: RelativePath) -> Content:
        """Return all of a file; FileMissing names what may have been meant, FileTooLarge what to do instead."""
        try:
            data = self._files.read_bytes(path, limit_bytes=self.limits.file_bytes)
        except FileMissing as error:
            raise self._missing(error, path) from None
        except FileTooLarge as error:
            raise self._too_large(error, path) from None
        return Content(path=path, data=data, hash=content_hash(data))

    def open(self, path: RelativePath) -> OpenFile:
        """Return a regular file held open, for reading parts of what is too large to read whole."""
        return self._files.open_file(path)

    def status(self, path: RelativePath | None) -> FileStatus:
        """Return what is at a path (None: the workspace), following links inside; FileMissing with suggestions."""
        try:
            return self._files.stat(path or _ROOT)
        except FileMissing as error:
            raise self._missing(error, path or _ROOT) from None

    def find_status(self, path: RelativePath) -> FileStatus | None:
        """Return what is at a path that a walk has found; None where nothing is there any more that may be seen."""
        try:
            return self._files.stat(path)
        except RootGone:
            raise
        except (FileProblem, PathRefused):
            return None

    def exists(self, path: RelativePath) -> bool:
        """Return whether anything is at a path. Nobody is told what else may have been meant: that takes a walk."""
        try:
            self._files.stat(path)
        except FileMissing:
            return False
        return True

    def entries(self, folder: RelativePath | None = None) -> tuple[tuple[Entry, ...], int]:
        """Return what is in one folder by name, without what is denied; and how many of those there are."""
        try:
            entries = self._files.list_folder(folder)
        except FileMissing as error:
            raise self._missing(error, folder or _ROOT) from None
        parts = (self._files.stat(folder).resolved if folder else _ROOT).parts
        seen = tuple(entry for entry in entries if not self.is_denied(RelativePath(parts=(*parts, entry.name))))
        return seen, len(entries) - len(seen)

    def look_up(self, folder: RelativePath | None, names: Iterable[str]) -> tuple[Entry, ...]:
        """Return what these names in one folder stand for now; those that are gone or denied are left out."""
        parts = (self._files.stat(folder).resolved if folder else _ROOT).parts
        seen = [name for name in names if not self.is_denied(RelativePath(parts=(*parts, name)))]
        return self._files.list_folder(folder, seen)

    def hash(self, path: RelativePath) -> str | None:
        """Return the hash of a file's content, however large it is; None where there is no such file."""
        digest, offset = hashlib.sha256(), 0
        try:
            with self._files.open_file(path) as file:
                while piece := os.pread(file.fd, _HASHED_AT_ONCE_BYTES, offset):
                    digest.update(piece)
                    offset += len(piece)
        except FileMissing:
            return None
        return digest.hexdigest()

    def _missing(self, error: FileMissing, path: RelativePath) -> FileMissing:
        names = suggest_paths(self, path)
        if not names:
            there = describe_nearest(self, path)
            return FileMissing(f"There is no '{error.path}'. {there}", path=error.path) if there else error
        suggestions = " or ".join(_spell_twin(name, path) for name in names if _can_be_named(name))
        if suggestions:
            return FileMissing(f"There is no '{error.path}'. Did you mean {suggestions}?", path=error.path)
        message = (
            f"There is no '{error.path}'. There is '{quote_path(names[0])}', which cannot be named here: blanks or a "
            "dot at the end of a name are taken for a mistake. It has to be renamed first."
        )
        return FileMissing(message, path=error.path)

    def _too_large(self, error: FileTooLarge, path: RelativePath) -> FileTooLarge:
        size = self._files.stat(path).size
        message = (
            f"'{error.path}' holds {size:,} bytes, and the limit is {error.limit_bytes:,}. "
            "Search it for what you need (search_files), or raise the limit file_bytes in the settings."
        )
        return FileTooLarge(message, path=error.path, limit_bytes=error.limit_bytes)

    # --- Writing ---------------------------------------------------------------------------------------

    def write(self, path: RelativePath, data: bytes, *, base: str | None, mode: int | None = None) -> WriteReport:
        """Replace a file whose hash is `base`, or StaleFile; with None, make it and its folders, or FileExists.

        The old content or the new is there at every moment. `mode` None keeps the mode, or takes the usual one.
        """
        with self.locked(path):
            if base is None:
                self._files.make_folders(path.parent)
                return self._files.create_file(path, data, mode=mode)
            self._check_base(path, base)
            return self._files.write_file(path, data, mode=mode, expected=base)

    def remove(self, path: RelativePath, *, base: str) -> WriteReport:
        """Remove a file whose hash is `base`, or StaleFile. Links and folders are refused."""
        with self.locked(path):
            self._check_base(path, base)
            return self._files.remove_file(path, expected=base)

    def remove_folder(self, path: RelativePath) -> None:
        """Remove an empty folder; one with something in it is refused."""
        self._files.remove_folder(path)

    def remove_leftovers(self, folder: RelativePath | None = None) -> int:
        """Remove from one folder what killed writers left there, and return how many files that were."""
        return self._files.sweep_temporary(folder)

    @contextmanager
    def locked(self, *paths: RelativePath) -> Iterator[None]:
        """Keep other threads and processes from writing these files; `write` may be called inside."""
        held: set[str] = self._held.__dict__.setdefault("keys", set())
        # Always in the same order: two changes of the same files cannot wait for each other.
        keys = sorted({self._lock_key(path) for path in paths} - held)
        with ExitStack() as stack:
            for key in keys:
                stack.enter_context(FileLock(self._lock_folder / f"{key}.lock"))
            held.update(keys)
            try:
                yield
            finally:
                held.difference_update(keys)

    @cached_property
    def _lock_folder(self) -> Path:
        return private_folder(self.state / "locks")

    def _lock_key(self, path: RelativePath) -> str:
        self.denials.check(path, "write")
        with suppress(FileMissing):
            path = self._files.stat(path).resolved
        # Spellings that are one file on some system share a lock.
        return content_hash("/".join(map(fold_name, path.parts)))[:_KEY_CHARACTERS]

    def _check_base(self, path: RelativePath, base: str) -> None:
        current = self.hash(path)
        if current == base:
            return
        name = quote_path(str(path))
        message = FILE_GONE if current is None else FILE_CHANGED
        raise StaleFile(message(path=name), path=name)


def _spell_twin(name: str, path: RelativePath) -> str:
    """Return a suggestion; one that looks like what was asked for is also spelled out."""
    last = name.rpartition("/")[2]
    is_twin = not last.isascii() or not path.name.isascii()
    spelled = f" (spelled {spell_name(last)})" if is_twin and find_twins(path.name, [last]) else ""
    return f"'{quote_path(name)}'{spelled}"


def _can_be_named(path: str) -> bool:
    try:
        return str(parse_path(path)) == path
    except PathRefused:
        return False


def state_folder(root: Path, environment: Mapping[str, str]) -> Path:
    """Return where a project's locks, index and history are kept, among the user's own files; asking makes nothing."""
    return find_folders(environment).data / WORKSPACES / content_hash(str(root.resolve()))[:_KEY_CHARACTERS]


def own_folders(root: Path, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the user's own folders that lie in this one, also where they are absent: settings, rules and trust (XA9).

    In a folder of dotfiles (`~/.config`) an agent could otherwise write its own leave. To work among the settings
    themselves is refused.
    """
    here, folders = root.resolve(), find_folders(environment)
    if here.is_relative_to(config := folders.config.resolve()):
        raise UsageError(f"'{quote_path(str(config))}' is where toolroll keeps your settings. Work in another folder.")
    places = [folder.resolve() for folder in (folders.config, folders.data, folders.cache)]
    return tuple(place.relative_to(here).as_posix() for place in places if place.is_relative_to(here))
