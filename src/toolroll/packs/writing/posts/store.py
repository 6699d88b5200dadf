"""The store of posts: one Markdown file each, never overwritten, and searched by their words (W14, W15)."""

import os
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from toolroll.errors import FileExists
from toolroll.packs.writing.posts.index import PostIndex, PostMatches
from toolroll.packs.writing.posts.platforms import Platform
from toolroll.packs.writing.posts.post_file import MAX_POST_BYTES, SUFFIX, Draft, file_stem, file_text, is_post_name
from toolroll.packs.writing.posts.sync import OwnSave, Progress, read_post
from toolroll.packs.writing.storage import find_folder, make_folder, open_folder, read_regular_file
from toolroll.safe.paths.files import PRIVATE_FILE_MODE
from toolroll.safe.paths.names import RelativePath
from toolroll.safe.paths.os_errors import exists_error
from toolroll.safe.paths.root import Root

FOLDER: Final = Path("output") / "generated"
INDEX: Final = Path(".index") / "posts.sqlite3"
MAX_SAME_NAME: Final = 10_000
"""Posts of one day, topic and platform: more come from a program that runs wild."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedPost:
    """A post on the disk."""

    file: str
    path: Path


class PostStore:
    """The posts below a data folder, in `output/generated/`. Processes and threads may share it."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self.folder: Final = data / FOLDER
        self._index = PostIndex(data / INDEX, self.folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the index; the next search opens it again."""
        self._index.close()

    def next_path(self, draft: Draft, *, now: datetime) -> Path:
        """Return where `save` would write it now; another process may take that name first."""
        stem = file_stem(draft, now.astimezone(UTC))
        free = (name for name in _names(stem) if not os.path.lexists(self.folder / name))
        return self.folder / next(free, f"{stem}{SUFFIX}")  # which `save` says is taken

    def save(self, draft: Draft, *, now: datetime) -> SavedPost:
        """Write a new file; if its name is taken, also by another process, it gets -2, -3 and so on."""
        moment = now.astimezone(UTC)
        stem, data = file_stem(draft, moment), file_text(draft, moment).encode()
        folder = make_folder(self._data, _relative(FOLDER))
        before = _stamp(folder)
        with closing(Root(folder)) as root:
            name = _create(root, stem, data)
        self._index.note_save(OwnSave(before=before, after=_stamp(folder), file=name))
        return SavedPost(file=name, path=folder / name)

    def search(
        self, keywords: list[str], *, platform: Platform | None = None, limit: int = 5, progress: Progress | None = None
    ) -> PostMatches:
        """Return posts that have at least one of the keywords in topic, text or file name, the best first.

        `progress` is called with how many are read, where many posts have to be read first.
        """
        find_folder(self._data, _relative(INDEX.parent))  # which refuses links
        if find_folder(self._data, _relative(FOLDER)) is None:
            return PostMatches()
        return self._index.search(keywords, platform=platform, limit=limit, progress=progress)

    def names(self) -> tuple[str, ...]:
        """Return the file names of all posts, the newest first."""
        folder = find_folder(self._data, _relative(FOLDER))
        if folder is None:
            return ()
        with open_folder(folder) as fd, os.scandir(fd) as entries:
            return tuple(sorted((one.name for one in entries if is_post_name(one.name)), reverse=True))

    def read(self, name: str) -> str | None:
        """Return a whole post by its file name; None if there is none."""
        folder = find_folder(self._data, _relative(FOLDER)) if name in self.names() else None
        if folder is None:
            return None
        with open_folder(folder) as fd:
            found = read_regular_file(fd, name, limit_bytes=MAX_POST_BYTES)
        return None if found is None else found[0].decode(errors="replace")

    def latest(self, *, platform: Platform | None = None, limit: int = 5) -> PostMatches:
        """Return the newest posts by the dates in their names; `total` counts the posts of all platforms."""
        names = self.names()
        if not names:
            return PostMatches()
        with open_folder(self.folder) as folder:
            found = (post for name in names if (post := read_post(folder, name)) is not None)
            fitting = (post for post in found if platform in (None, post.platform))
            return PostMatches(posts=tuple(islice(fitting, limit)), total=len(names))


def _relative(path: Path) -> RelativePath:
    return RelativePath(parts=path.parts)


def _stamp(folder: Path) -> int:
    """Return when names last changed; 0, which no folder has, where that cannot be read."""
    with suppress(OSError):
        return folder.stat().st_mtime_ns
    return 0


def _names(stem: str) -> Iterator[str]:
    """Yield the names that a post may have, in the order in which they are tried."""
    yield f"{stem}{SUFFIX}"
    yield from (f"{stem}-{number}{SUFFIX}" for number in range(2, MAX_SAME_NAME + 1))


def _create(root: Root, stem: str, data: bytes) -> str:
    for name in _names(stem):
        # Only the system can say that a name is free and take it in one step.
        with suppress(FileExists):
            root.create_file(RelativePath(parts=(name,)), data, mode=PRIVATE_FILE_MODE)
            return name
    raise exists_error(f"{stem}{SUFFIX}")
