"""The full-text index of past posts: SQLite FTS5 over the files, and never more than what the files say (W14).

Each search first brings it in step. Files that came or went show in the time stamp of their folder, so that a folder
nobody touched is not listed. A file that was rewritten in place shows only in its own stamp: of those, so many are
looked at in turn, and all that are about to be shown. An index that is damaged, of another version or on a disk that
takes none is made anew, the last of them in memory.
"""

import os
import stat
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolroll.errors import FileProblem
from toolroll.packs.writing.post_file import MAX_POST_BYTES, PostFile, is_post_name, read_post
from toolroll.packs.writing.post_query import match_of
from toolroll.packs.writing.post_tables import Damaged, connect, connect_memory, remove, told, transaction
from toolroll.safe.files import sweep_temporary
from toolroll.safe.refusals import refusals

if TYPE_CHECKING:
    import sqlite3

LOOKED_AT_IN_TURN: Final = 1_000
"""Files whose stamps are compared with each search: some 3 ms. A folder of up to so many posts is always in step."""
RANKED: Final = 2_000
"""Of words that are in more posts than that, the newest so many are ranked: ranking 100,000 takes ten times longer."""
BATCH: Final = 1_000
"""Posts in one transaction while an index is built: a kill costs a tenth of a second of work."""
SETTLED_NS: Final = 2_000_000_000
"""A time stamp younger than that may hide a second change: FAT keeps time in steps of two seconds."""

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# A pipe must not make us wait for a writer; a link may lead anywhere.
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_TEMPORARY: Final = ".toolroll-"
_INSERT: Final = """
insert into posts (file, size, mtime_ns, platform, topic, created, profile_used, body) values (?, ?, ?, ?, ?, ?, ?, ?)
"""
_HITS: Final = """
select file, size, mtime_ns, posts.platform, posts.topic, created, profile_used, posts.body
from (select rowid as hit, rank as score from words where words match ? and rowid >= ? order by rank limit ?)
join posts on posts.id = hit order by score, created desc
"""
_OLDEST_RANKED: Final = "select rowid from words where words match ? order by rowid desc limit 1 offset ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The best posts for some words, the best first, and how many there are in all."""

    posts: tuple[PostFile, ...] = ()
    total: int = 0


class PostIndex:
    """The index of one folder of posts. Threads and processes may share it."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path: Final = path
        self._folder = folder
        self._db: sqlite3.Connection | None = None
        self._lock = threading.RLock()

    def close(self) -> None:
        """Close the file; the next search opens it again."""
        with self._lock:
            db, self._db = self._db, None
            if db is not None:
                db.close()

    def search(self, keywords: Sequence[str], *, platform: str | None, limit: int) -> Found:
        """The posts that have at least one of the keywords in topic, text or file name."""
        query = match_of(keywords, platform)
        if query is None or not self._folder.is_dir():
            return Found()
        with self._lock, _opened(self._folder) as folder:
            return self._search(folder, query, limit)

    def _search(self, folder: int, query: str, limit: int) -> Found:
        with suppress(Damaged, FileProblem):
            return self._attempt(folder, query, limit)
        self.close()
        with suppress(Damaged, FileProblem):
            remove(self.path)
            return self._attempt(folder, query, limit)
        self.close()
        self._db = connect_memory()
        return self._attempt(folder, query, limit)

    def _attempt(self, folder: int, query: str, limit: int) -> Found:
        with told(self.path):
            if self._db is None:
                self._db = connect(self.path)
            _bring_in_step(self._db, folder)
            hits = _hits(self._db, query, limit)
            changed = [hit.file for hit in hits if _has_changed(folder, hit.file, hit.size, hit.mtime_ns)]
            if changed:
                _put(self._db, folder, changed)
                hits = _hits(self._db, query, limit)
            [total] = self._db.execute("select count(*) from words where words match ?", (query,)).fetchone()
        return Found(posts=hits, total=total)


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    with refusals(str(folder)):
        fd = os.open(folder, _FOLDER)
    try:
        yield fd
    finally:
        os.close(fd)


def _bring_in_step(db: "sqlite3.Connection", folder: int) -> None:
    # Taken before the folder is listed: what comes in between is then seen with the next search.
    stamp = os.fstat(folder).st_mtime_ns
    if stamp != _fact(db, "folder"):
        _compare_names(db, folder)
        _set_fact(db, "folder", stamp if _is_settled(stamp) else 0)
    _look_in_turn(db, folder)


def _compare_names(db: "sqlite3.Connection", folder: int) -> None:
    names = os.listdir(folder)
    if any(name.startswith(_TEMPORARY) for name in names):
        sweep_temporary(folder)
    there = {name for name in names if is_post_name(name)}
    known = {file for (file,) in db.execute("select file from posts")}
    with transaction(db):
        db.executemany("delete from posts where file = ?", ((file,) for file in known - there))
    new = iter(sorted(there - known))
    while batch := list(islice(new, BATCH)):
        _put(db, folder, batch)


def _look_in_turn(db: "sqlite3.Connection", folder: int) -> None:
    after = _fact(db, "looked_at")
    query = "select id, file, size, mtime_ns from posts where id > ? order by id limit ?"
    rows = db.execute(query, (after, LOOKED_AT_IN_TURN)).fetchall()
    is_end = len(rows) < LOOKED_AT_IN_TURN
    if is_end and after:
        rows += db.execute(query, (0, LOOKED_AT_IN_TURN - len(rows))).fetchall()
    _put(db, folder, [file for _, file, size, mtime_ns in rows if _has_changed(folder, file, size, mtime_ns)])
    if not is_end or after:
        _set_fact(db, "looked_at", rows[-1][0] if rows else 0)


def _has_changed(folder: int, file: str, size: int, mtime_ns: int) -> bool:
    try:
        found = os.stat(file, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return True
    return (found.st_size, found.st_mtime_ns) != (size, mtime_ns)


def _put(db: "sqlite3.Connection", folder: int, files: Iterable[str]) -> None:
    """Make the index say of these files what they say now; those that are gone are forgotten."""
    posts = [(file, _read(folder, file)) for file in files]
    if not posts:
        return
    with transaction(db):
        db.executemany("delete from posts where file = ?", ((file,) for file, _ in posts))
        db.executemany(_INSERT, (_row(post) for _, post in posts if post is not None))


def _row(post: PostFile) -> tuple[str | int, ...]:
    stamp = post.mtime_ns if _is_settled(post.mtime_ns) else 0
    return (post.file, post.size, stamp, post.platform, post.topic, post.created, post.profile_used, post.body)


def _read(folder: int, file: str) -> PostFile | None:
    try:
        fd = os.open(file, _FILE, dir_fd=folder)
    except OSError:  # gone, a link, or not for us to read: none of them is a post
        return None
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            return None
        data = os.pread(fd, MAX_POST_BYTES, 0)
    except OSError:
        return None
    finally:
        os.close(fd)
    return read_post(file, data, size=found.st_size, mtime_ns=found.st_mtime_ns)


def _hits(db: "sqlite3.Connection", query: str, limit: int) -> tuple[PostFile, ...]:
    [oldest] = db.execute(_OLDEST_RANKED, (query, RANKED - 1)).fetchone() or (0,)
    rows = db.execute(_HITS, (query, oldest, limit)).fetchall()
    names = ("file", "size", "mtime_ns", "platform", "topic", "created", "profile_used", "body")
    return tuple(PostFile(**dict(zip(names, row, strict=True))) for row in rows)


def _is_settled(stamp_ns: int) -> bool:
    return time.time_ns() - stamp_ns > SETTLED_NS


def _fact(db: "sqlite3.Connection", name: str) -> int:
    row = db.execute("select value from facts where name = ?", (name,)).fetchone()
    return int(row[0]) if row else 0


def _set_fact(db: "sqlite3.Connection", name: str, value: int) -> None:
    with transaction(db):
        db.execute("insert or replace into facts values (?, ?)", (name, value))
