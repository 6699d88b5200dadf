"""Which files of a workspace are new, changed or gone: a look at sizes and times, then at hashes where they differ."""

import os
import re
import stat
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Literal

from toolroll.errors import ToolrollError
from toolroll.safe.names import RelativePath
from toolroll.safe.ripgrep import iterate_ripgrep
from toolroll.workspace.search.tree import (
    FileStamp,
    as_argument,
    path_from,
    text_of,
    tracked_files,
    tracked_paths,
    walk_arguments,
)
from toolroll.workspace.symbols.languages import is_installed, language_of
from toolroll.workspace.symbols.store import OTHER, PARSED, FileRow, Stamp, Store
from toolroll.workspace.symbols.workers import Task
from toolroll.workspace.workspace import Workspace

RACY_NS: Final = 100_000_000  # the clock of a file system ticks each 4 ms, of some each 10: a second write may not show
UNKNOWN_TIME: Final = 0
"""The time of a file that was written so shortly before it was read that it may be written again within one tick."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A file whose size or time is not what the index knows."""

    stamp: FileStamp
    known: Stamp | None

    @property
    def path(self) -> str:
        """From the root, with `/`."""
        return str(self.stamp.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """What a look at the files found."""

    changed: tuple[Changed, ...]
    gone: dict[str, Stamp]
    unchanged: int

    @property
    def added(self) -> list[str]:
        """The paths that the index does not know yet."""
        return [one.path for one in self.changed if one.known is None]


def sweep_all(workspace: Workspace, store: Store) -> Sweep:
    """Look at every file that counts."""
    return _compare(tracked_files(workspace), store.stamps())


def sweep_some(workspace: Workspace, store: Store, paths: Collection[RelativePath]) -> Sweep:
    """Look at these files; one that the index does not know is asked for among those that count."""
    known = {str(path): stamp for path in paths if (stamp := store.stamp(str(path))) is not None}
    unknown = {str(path) for path in paths} - known.keys()
    counting = {path for path in tracked_paths(workspace) if str(path) in unknown} if unknown else set()
    seen = [path for path in paths if str(path) in known or path in counting]
    return _compare(_stamps(workspace, seen), known)


def is_current(workspace: Workspace, path: str, known: Stamp | None) -> bool:
    """Whether a file still looks as it did when it was parsed."""
    found = next(_stamps(workspace, [RelativePath(parts=tuple(path.split("/")))]), None)
    return found is not None and known is not None and (found.size, found.mtime_ns) == (known.size, known.mtime_ns)


def _stamps(workspace: Workspace, paths: Iterable[RelativePath]) -> Iterator[FileStamp]:
    for path in paths:
        with suppress(OSError):
            found = os.lstat(workspace.root.joinpath(*path.parts))
            if stat.S_ISREG(found.st_mode) and not workspace.is_denied(path):
                yield FileStamp(path=path, size=found.st_size, mtime_ns=found.st_mtime_ns)


def _compare(found: Iterable[FileStamp], known: dict[str, Stamp]) -> Sweep:
    changed, unchanged, gone = [], 0, dict(known)
    for stamp in found:
        path = str(stamp.path)
        before = gone.pop(path, None)
        if before is not None and (before.size, before.mtime_ns) == (stamp.size, stamp.mtime_ns):
            unchanged += 1
        elif can_be_kept(path):
            changed.append(Changed(stamp=stamp, known=before))
    return Sweep(changed=tuple(changed), gone=gone, unchanged=unchanged)


def can_be_kept(path: str) -> bool:
    """A name that is no text cannot be asked for either."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(slots=True, kw_only=True)
class Reading:
    """Reads changed files for the parsers; what needs no parsing is settled on the way."""

    workspace: Workspace
    settled: list[FileRow] = field(default_factory=list)
    restamped: list[tuple[int, int, int]] = field(default_factory=list)

    def tasks(self, changed: Iterable[Changed]) -> Iterator[tuple[FileRow, Task]]:
        """The files that have to be parsed, each with the row that it will be."""
        for one in changed:
            language = language_of(one.path)
            if language is None:
                self._settle(one, None, OTHER)
            elif not is_installed(language):
                self._settle(one, language.name, "language not installed")
            elif one.stamp.size > self.workspace.limits.file_bytes:
                self._settle(one, language.name, "too large")
            else:
                yield from self._read(one, language.name)

    def _read(self, one: Changed, language: str) -> Iterator[tuple[FileRow, Task]]:
        try:
            content = self.workspace.read(one.stamp.path)
        except ToolrollError:
            self._settle(one, language, "unreadable")
            return
        mtime_ns = one.stamp.mtime_ns
        if time.time_ns() - mtime_ns < RACY_NS:
            mtime_ns = UNKNOWN_TIME
        known = one.known
        if known is not None and known.hash == content.hash:
            self.restamped.append((known.id, len(content.data), mtime_ns))
            return
        reason, exact = why_skipped(content.data), language_of(one.path, content.data)
        row = FileRow(
            path=one.path,
            language=exact.name if exact else language,
            size=len(content.data),
            mtime_ns=mtime_ns,
            hash=content.hash,
            state=reason or PARSED,
        )
        if reason is not None or row.language is None:
            self.settled.append(row)
            return
        yield row, Task(operation="extract", language=row.language, data=content.data)

    def _settle(self, one: Changed, language: str | None, state: Reason | str) -> None:
        stamp = one.stamp
        self.settled.append(
            FileRow(path=one.path, language=language, size=stamp.size, mtime_ns=stamp.mtime_ns, hash=None, state=state)
        )


# MERGED skipping: Files that are not worth parsing: too large, minified, generated, binary. Each is counted by its reason (C22).


Reason = Literal["too large", "minified", "generated", "binary", "unreadable", "language not installed", "not parsed"]
"""Why a file of a known language is not in the index."""

_HEAD_BYTES: Final = 2_048  # a marker stands in the first comment
_SMALL_BYTES: Final = 5_000  # one long line in a small file is a table, not a bundle
_MINIFIED_MEAN_BYTES: Final = 500  # of all lines: people write 30 to 50, bundlers everything on one
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_MARKER: Final = re.compile(
    rb"^[ \t]*(?://+|#+|/?\*+|--|<!--)?[ \t]*(?:@generated\b|<auto-generated)|"
    rb"^(?://|#|/\*|\*)?[ \t]*(?:Code|File|Auto)[- ]?generated\b.*\bdo not (?:edit|modify)\b",
    re.MULTILINE | re.IGNORECASE,
)


def why_skipped(data: bytes) -> Reason | None:
    """Why this content is not parsed; None where it is."""
    if b"\0" in data and not data.startswith(_UTF_16):
        return "binary"
    if len(data) > _SMALL_BYTES and len(data) // (data.count(b"\n") + 1) > _MINIFIED_MEAN_BYTES:
        return "minified"
    if _MARKER.search(data, 0, _HEAD_BYTES):
        return "generated"
    return None


# MERGED candidates: Files that may hold a name: found by ripgrep, before anything is parsed.


def files_with(workspace: Workspace, pattern: Sequence[str], most: int) -> list[RelativePath]:
    """The files in which one of the patterns (arguments of ripgrep) fits, at most so many; denied ones are left out."""
    return list(islice(_found(workspace, pattern), most))


def _found(workspace: Workspace, pattern: Sequence[str]) -> Iterator[RelativePath]:
    size = f"--max-filesize={workspace.limits.file_bytes}"
    arguments = ["--files-with-matches", "--null", size, *walk_arguments(workspace), *pattern, "--", as_argument(_ROOT)]
    for printed in iterate_ripgrep(arguments, cwd=workspace.root, separator=b"\0"):
        path = path_from(text_of(printed))
        if can_be_kept(str(path)) and not workspace.is_denied(path):
            yield path


_ROOT = RelativePath(parts=())
