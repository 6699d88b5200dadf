"""The full-text index of past posts: SQLite FTS5 over the files, and never more than what the files say (W14).

Each search first brings it in step, and then looks at the files that are about to be shown. An index that is damaged,
of another version or on a disk that takes none is made anew, the last of them in memory.
"""

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolroll.errors import FileProblem
from toolroll.packs.writing.folders import opened
from toolroll.packs.writing.post_file import PostFile
from toolroll.packs.writing.post_query import match_of
from toolroll.packs.writing.post_step import OwnSave, Step, Tell, bring_in_step, has_changed, put
from toolroll.packs.writing.post_tables import Damaged, connect, connect_memory, remove, sqlite_errors

if TYPE_CHECKING:
    import sqlite3

RANKED: Final = 2_000
"""Of words that are in more posts than that, the newest so many are ranked: ranking 100,000 takes ten times longer."""

_HITS: Final = """
select file, size, mtime_ns, posts.platform, posts.topic, created, profile_used, posts.body
from (select rowid as hit, rank as score from words where words match ? and rowid >= ? order by rank limit ?)
join posts on posts.id = hit order by score, created desc
"""
_OLDEST_RANKED: Final = "select rowid from words where words match ? order by rowid desc limit 1 offset ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The best posts for some words, the best first, and how many there are in all.

    `is_whole` is False while an index is so new that not all posts are in it yet.
    """

    posts: tuple[PostFile, ...] = ()
    total: int = 0
    is_whole: bool = True


class PostIndex:
    """The index of one folder of posts. Threads and processes may share it."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path: Final = path
        self._folder = folder
        self._db: sqlite3.Connection | None = None
        self._lock = threading.RLock()
        self._step = Step()

    def close(self) -> None:
        """Close the file; the next search opens it again."""
        with self._lock:
            db, self._db = self._db, None
            if db is not None:
                db.close()
            self._step = Step()  # another process may have it made anew meanwhile

    def saved(self, save: OwnSave) -> None:
        """Take note of a post that was saved through the same store."""
        with self._lock:
            self._step.saves.append(save)

    def search(self, keywords: Sequence[str], *, platform: str | None, limit: int, tell: Tell | None = None) -> Found:
        """The posts that have at least one of the keywords in topic, text or file name.

        `tell` hears how far it is where many posts have to be read first.
        """
        query = match_of(keywords, platform)
        if query is None or not self._folder.is_dir():
            return Found()
        with self._lock, opened(self._folder) as folder:
            return self._search(folder, _Question(query=query, limit=limit, tell=tell))

    def _search(self, folder: int, asked: "_Question") -> Found:
        with suppress(Damaged, FileProblem):
            return self._attempt(folder, asked)
        self.close()
        with suppress(Damaged, FileProblem):
            remove(self.path)
            return self._attempt(folder, asked)
        self.close()
        self._db = connect_memory()
        return self._attempt(folder, asked)

    def _attempt(self, folder: int, asked: "_Question") -> Found:
        with sqlite_errors(self.path):
            if self._db is None:
                self._db = connect(self.path)
            is_whole = bring_in_step(self._db, folder, self._step, asked.tell)
            hits = _hits(self._db, asked.query, asked.limit)
            changed = [hit.file for hit in hits if self._is_stale(folder, hit)]
            if changed:
                put(self._db, folder, self._step, changed)
                hits = _hits(self._db, asked.query, asked.limit)
            [total] = self._db.execute("select count(*) from words where words match ?", (asked.query,)).fetchone()
        return Found(posts=hits, total=total, is_whole=is_whole)

    def _is_stale(self, folder: int, hit: PostFile) -> bool:
        return hit.file not in self._step.fresh and has_changed(folder, hit.file, hit.size, hit.mtime_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    query: str
    limit: int
    tell: Tell | None


def _hits(db: "sqlite3.Connection", query: str, limit: int) -> tuple[PostFile, ...]:
    [oldest] = db.execute(_OLDEST_RANKED, (query, RANKED - 1)).fetchone() or (0,)
    rows = db.execute(_HITS, (query, oldest, limit)).fetchall()
    names = ("file", "size", "mtime_ns", "platform", "topic", "created", "profile_used", "body")
    return tuple(PostFile(**dict(zip(names, row, strict=True))) for row in rows)
