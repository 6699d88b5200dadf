"""Research in a folder of this machine, or in a git checkout: the source that needs nothing (R5).

Every use goes through a `Workspace`: links that lead out, protected names and races are its business. The folder need
not exist before something is written.
"""

import asyncio
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from toolroll.errors import (
    FileExists,
    FileMissing,
    FileProblem,
    FileTooLarge,
    NotAFile,
    OutsideRoot,
    StaleFile,
    ToolrollError,
)
from toolroll.kernel.approval.request import content_hash
from toolroll.kernel.data.serialize import replace_surrogates
from toolroll.packs.research.paths import parse_research_path
from toolroll.packs.research.source import (
    DOCUMENT,
    MAX_LISTED_FILES,
    MAX_READ_BYTES,
    MAX_STORED_BYTES,
    Change,
    IdeaEntry,
    ResearchFile,
    decode_exact,
    decode_file,
    make_entries,
    missing_error,
    not_a_file_error,
    select_research,
    too_large_error,
)
from toolroll.safe.paths.names import RelativePath, parse_path
from toolroll.safe.paths.os_errors import os_errors
from toolroll.workspace.workspace import Workspace

_MAX_DEPTH: Final = 8
"""Of folders below `ideas/`."""

MAX_ATTEMPTS: Final = 5
"""At a file that another program changes each time between our look and our write: an editor does so once."""


class LocalSource:
    """The research below one folder, which stands for `ideas/`. `state` is for locks; the user's own by default."""

    def __init__(self, folder: Path | str, *, state: Path | None = None, follows_links: bool = True) -> None:
        self.folder: Final = Path(folder).absolute()
        self._state = state
        self._follows_links = follows_links

    def without_links(self) -> "LocalSource":
        """Return the same source, in which no link is followed."""
        return LocalSource(self.folder, state=self._state, follows_links=False)

    async def locate(self, path: str) -> str:
        """Return where a path leads without links; one that leads nowhere is returned as it is."""
        return await asyncio.to_thread(self._locate, parse_research_path(path))

    async def read(self, path: str, *, limit_bytes: int = MAX_READ_BYTES) -> ResearchFile:
        """Return a whole file; raise FileTooLarge above the limit."""
        path = parse_research_path(path)
        data = await asyncio.to_thread(self._read, path, limit_bytes)
        return decode_file(path, data, size=len(data))

    async def list_ideas(self) -> tuple[IdeaEntry, ...]:
        """Return the ideas that have a document, the newest first; none where there is no folder yet."""
        return await asyncio.to_thread(self._list)

    async def list_files(self) -> tuple[str, ...]:
        """Return the paths of all texts below the folder, sorted."""
        return await asyncio.to_thread(self._list_files)

    async def write(self, path: str, content: str, *, message: str) -> None:
        """Make or replace a file; whoever reads it meanwhile sees all of the old or all of the new."""
        await self.update(path, lambda _: content, message=message)

    async def update(self, path: str, change: Change, *, message: str) -> None:  # noqa: ARG002 - a folder keeps no history
        """Change a file under a lock; `change` is asked again if a program without the lock was faster."""
        await asyncio.to_thread(self._update, parse_research_path(path), change)

    def where(self, path: str) -> str:
        """Return the file's path on this machine."""
        return str(self.folder / parse_research_path(path))

    def _locate(self, path: str) -> str:
        try:
            with self._open() as workspace:
                return str(workspace.resolve(parse_path(path)))
        except FileMissing:  # there is no folder yet
            return path

    def _open(self) -> Workspace:
        return Workspace(self.folder, state=self._state)

    def _read(self, path: str, limit_bytes: int) -> bytes:
        place = parse_path(path)
        try:
            with self._open() as workspace:
                seen = workspace if self._follows_links else workspace.without_links()
                return _bytes(seen, place, path, limit_bytes)
        except FileMissing:
            raise missing_error(path) from None

    def _list(self) -> tuple[IdeaEntry, ...]:
        try:
            with self._open() as workspace:
                entries, _ = workspace.entries()
                return make_entries(entry.name for entry in entries if _has_document(workspace, entry.name))
        except FileMissing:
            return ()

    def _list_files(self) -> tuple[str, ...]:
        try:
            with self._open() as workspace:
                return select_research(islice(_walk(workspace), MAX_LISTED_FILES))
        except FileMissing:
            return ()

    def _update(self, path: str, change: Change) -> None:
        with os_errors(str(self.folder)):
            self.folder.mkdir(parents=True, exist_ok=True)
        place = parse_path(path)
        with self._open() as workspace, workspace.locked(place):
            for _ in range(MAX_ATTEMPTS - 1):
                try:
                    return _change(workspace, place, path, change)
                except (StaleFile, FileExists):
                    continue
            return _change(workspace, place, path, change)


def _bytes(workspace: Workspace, place: RelativePath, path: str, limit_bytes: int) -> bytes:
    try:
        with workspace.open(place) as file:
            return file.read(limit_bytes)
    except FileTooLarge:
        raise too_large_error(path, limit_bytes=limit_bytes) from None
    except OutsideRoot:
        raise not_a_file_error(path) from None
    except NotAFile:
        raise _other_kind(workspace, place, path) from None


def _other_kind(workspace: Workspace, place: RelativePath, path: str) -> FileProblem:
    try:
        if workspace.status(place).kind != "folder":
            return not_a_file_error(path)
    except NotAFile:  # below a file, as in `a.md/b.md`: there can be nothing
        return missing_error(path)
    entries, _ = workspace.entries(place)
    return not_a_file_error(path, (f"{entry.name}/" if entry.kind == "folder" else entry.name for entry in entries))


def _walk(workspace: Workspace) -> Iterator[str]:
    """Yield the paths of all files, those of each folder before those below it; links are not followed."""
    folders: deque[RelativePath | None] = deque([None])
    while folders:
        folder = folders.popleft()
        above = () if folder is None else folder.parts
        try:
            entries, _ = workspace.entries(folder)
        except FileProblem:  # gone meanwhile, or not ours to read
            continue
        for entry in entries:
            place = RelativePath(parts=(*above, entry.name))
            if entry.kind == "file":
                yield str(place)
            elif entry.kind == "folder" and len(above) < _MAX_DEPTH:
                folders.append(place)


def _has_document(workspace: Workspace, folder: str) -> bool:
    try:
        with workspace.open(RelativePath(parts=(folder, DOCUMENT))):
            return True
    except ToolrollError:  # nothing there, or not a file, or a link that leads out
        return False


def _change(workspace: Workspace, place: RelativePath, path: str, change: Change) -> None:
    try:
        before = _bytes(workspace, place, path, MAX_STORED_BYTES)
    except FileMissing:
        workspace.write(place, replace_surrogates(change(None)).encode(), base=None)
    else:
        workspace.write(
            place, replace_surrogates(change(decode_exact(path, before))).encode(), base=content_hash(before)
        )
