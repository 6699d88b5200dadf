"""The full-text index of past posts: SQLite FTS5 over the files, and never more than what the files say (W14).

Each search first syncs the index, and then checks the files that it is about to return. An index that is damaged or of
another version is built again, and on a disk that takes none it is built in memory.
"""

import threading
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolroll.errors import FileProblem
from toolroll.packs.writing.posts.post_file import PostFile
from toolroll.packs.writing.posts.stems import search_prefix, split_words
from toolroll.packs.writing.posts.sync import (
    POST_INDEX,
    OwnSave,
    Progress,
    SyncState,
    has_changed,
    sync_index,
    update_files,
)
from toolroll.packs.writing.storage import open_folder
from toolroll.safe.sqlite import DatabaseDamaged, remove_database

if TYPE_CHECKING:
    import sqlite3


MAX_KEYWORDS: Final = 32
MAX_KEYWORD_CHARACTERS: Final = 200
"""More or longer ones are not keywords but a text."""


def build_query(keywords: Sequence[str], platform: str | None) -> str | None:
    """Return the query for FTS5, in which keywords are nothing but words; None where there are none.

    Any of them matches, each also as the beginning of a word and in most of its forms.
    """
    phrases = list(dict.fromkeys(_phrases(keywords)))
    if not phrases:
        return None
    wanted = f"{{topic body file}} : ({' OR '.join(phrases)})"
    return wanted if platform is None else f'(platform : "{_escape(platform)}") AND ({wanted})'


def _phrases(keywords: Iterable[str]) -> Iterator[str]:
    for keyword in list(keywords)[:MAX_KEYWORDS]:
        text = unicodedata.normalize("NFC", keyword[:MAX_KEYWORD_CHARACTERS])
        words = [word.text for word in split_words(text)]
        if words:
            # A star after the last word: it may go on. The longer phrase counts for more where it is there.
            yield f'"{_escape(" ".join(words))}" *'
            yield f'"{_escape(" ".join([*words[:-1], search_prefix(words[-1])]))}" *'


def _escape(text: str) -> str:
    return text.replace('"', '""').replace("\0", " ")


RANKED: Final = 2_000
"""Matches that are ranked; of more, the newest ones. Ranking 100,000 takes ten times longer."""

_HITS: Final = """
select file, size, mtime_ns, posts.platform, posts.topic, created, profile_used, posts.body
from (select rowid as hit, rank as score from words where words match ? and rowid >= ? order by rank limit ?)
join posts on posts.id = hit order by score, created desc
"""
_OLDEST_RANKED: Final = "select rowid from words where words match ? order by rowid desc limit 1 offset ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class PostMatches:
    """The best posts for some keywords, the best first, and how many there are in all.

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
        self._step = SyncState()

    def close(self) -> None:
        """Close the file; the next search opens it again."""
        with self._lock:
            db, self._db = self._db, None
            if db is not None:
                db.close()
            self._step = SyncState()  # another process may have built it again meanwhile

    def note_save(self, save: OwnSave) -> None:
        """Note a post that was saved through the same store."""
        with self._lock:
            self._step.saves.append(save)

    def search(
        self, keywords: Sequence[str], *, platform: str | None, limit: int, progress: Progress | None = None
    ) -> PostMatches:
        """Return the posts that have at least one of the keywords in topic, text or file name.

        `progress` is called with how many are read, where many posts have to be read first.
        """
        query = build_query(keywords, platform)
        if query is None or not self._folder.is_dir():
            return PostMatches()
        with self._lock, open_folder(self._folder) as folder:
            return self._search(folder, _Query(query=query, limit=limit, progress=progress))

    def _search(self, folder: int, asked: "_Query") -> PostMatches:
        with suppress(DatabaseDamaged, FileProblem):
            return self._attempt(folder, asked)
        self.close()
        with suppress(DatabaseDamaged, FileProblem):
            remove_database(self.path)
            return self._attempt(folder, asked)
        self.close()
        self._db = POST_INDEX.open_in_memory()
        return self._attempt(folder, asked)

    def _attempt(self, folder: int, asked: "_Query") -> PostMatches:
        with POST_INDEX.errors(self.path):
            if self._db is None:
                self._db = POST_INDEX.open(self.path)
            is_whole = sync_index(self._db, folder, self._step, asked.progress)
            hits = _hits(self._db, asked.query, asked.limit)
            changed = [hit.file for hit in hits if self._is_stale(folder, hit)]
            if changed:
                update_files(self._db, folder, self._step, changed)
                hits = _hits(self._db, asked.query, asked.limit)
            [total] = self._db.execute("select count(*) from words where words match ?", (asked.query,)).fetchone()
        return PostMatches(posts=hits, total=total, is_whole=is_whole)

    def _is_stale(self, folder: int, hit: PostFile) -> bool:
        return hit.file not in self._step.fresh and has_changed(folder, hit.file, hit.size, hit.mtime_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Query:
    query: str
    limit: int
    progress: Progress | None


def _hits(db: "sqlite3.Connection", query: str, limit: int) -> tuple[PostFile, ...]:
    [oldest] = db.execute(_OLDEST_RANKED, (query, RANKED - 1)).fetchone() or (0,)
    rows = db.execute(_HITS, (query, oldest, limit)).fetchall()
    names = ("file", "size", "mtime_ns", "platform", "topic", "created", "profile_used", "body")
    return tuple(PostFile(**dict(zip(names, row, strict=True))) for row in rows)
