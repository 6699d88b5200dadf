"""The tables of the index of posts, and how they are kept in sync with the files.

New and deleted files change the time stamp of their folder, so a folder that nobody touched is not listed. A post that
was saved through the same store is added by its name; the folder is still listed once its stamp is old enough to show
every change, so that nothing another program did is missed. A file that was rewritten in place changes only its own
stamp: of those, some are checked with each search, in turn.

Listing 100,000 names takes some 60 ms, nearly all of it in the system, and reading as many from the index takes as long
again. So the names are kept in memory for as long as no other process writes to the index.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import filterfalse
from typing import TYPE_CHECKING, Final, TypeAlias

from toolroll.packs.writing.posts.post_file import MAX_POST_BYTES, PostFile, is_post_name, parse_post
from toolroll.packs.writing.storage import is_settled, read_regular_file
from toolroll.safe.paths.temporary import sweep_temporary
from toolroll.safe.sqlite import CacheDatabase, transaction

if TYPE_CHECKING:
    import sqlite3


VERSION: Final = 2
"""Of the tables and of how files are read: an index of another version is not used."""

# The words of external content are kept in step by `put_rows` and `drop_rows`, and not by triggers, as SQLite's own
# pages on FTS5 have it: in a trigger each row opens a savepoint, for which FTS5 writes all it has gathered to the disk.
# Of 100,000 posts each then became a segment of its own, to be merged with all others: 2.6 times the work. `hashsize`
# is how many bytes of words it gathers: a thousand posts have some 8 MB, and 1 MB is the default. U+02BC is a letter to
# Unicode and an apostrophe to Ukrainian: as a separator it is treated like the other apostrophes.
_TABLES: Final = """
create table posts (
    id integer primary key, file text not null unique, size integer not null, mtime_ns integer not null,
    platform text not null, topic text not null, created text not null, profile_used text not null,
    body text not null
) strict;
create table facts (name text primary key, value integer not null) strict, without rowid;
create virtual table words using fts5 (
    topic, body, file, platform, content = 'posts', content_rowid = 'id', prefix = '3 4',
    tokenize = "unicode61 remove_diacritics 2 separators 'ʼ'"
);
insert into words (words, rank) values ('rank', 'bm25(10.0, 1.0, 5.0, 0.0)');
insert into words (words, rank) values ('hashsize', 16777216);
"""

POST_INDEX: Final = CacheDatabase(
    name="index",
    version=VERSION,
    tables=_TABLES,
    synchronous="off",  # a power cut may cost the last batches: the next look at the files finds what is missing
)

_FIRST_ID: Final = 1 << 40  # older posts go below the ones that are there, newer ones above
_INSERT: Final = """
insert into posts (id, file, size, mtime_ns, platform, topic, created, profile_used, body)
values (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_WORDS_IN: Final = """
insert into words (rowid, topic, body, file, platform)
select id, topic, body, file, platform from posts where id between ? and ?
"""
_WORDS_OUT: Final = """
insert into words (words, rowid, topic, body, file, platform)
select 'delete', id, topic, body, file, platform from posts where file = ?
"""


CHECKED_PER_SEARCH: Final = 1_000
"""Files whose stamps are compared with each search: some 3 ms. A folder with no more posts is always in sync."""
BATCH: Final = 1_000
"""Posts in one transaction while an index is built: a kill costs a few tenths of a second of work."""
PROGRESS_AFTER_S: Final = 2.0
"""How long the index is built before progress is reported."""
MAX_BUILD_S: Final = 60.0
"""How long one search builds the index; then it answers with the newest posts, and the next one continues."""

TICK_NS: Final = 50_000_000
"""Changes so far apart have different stamps on every file system but FAT; Linux stamps in steps of 1 to 10 ms."""
MAX_SAVES: Final = 1_000
"""Own saves that are added by name; after more of them, the folder is listed."""

Progress: TypeAlias = Callable[[int, int], None]
"""Is called with how many new posts are in the index, and how many there are."""

_TEMPORARY: Final = ".toolroll-"
_DATE_CHARACTERS: Final = len("2026-02-08")
_BETWEEN: Final = "/"  # the one character that no name has, beside NUL, at which SQLite would end a text


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSave:
    """A post that was saved through this store: the stamps of the folder before and after, and the name."""

    before: int
    after: int
    file: str


@dataclass(slots=True)
class SyncState:
    """What one index knows about the folder: the stamp it was last in step with, and what was saved since.

    `is_sure` says that the stamp was older then than the clock of a file system is coarse.
    """

    stamp: int = 0
    is_sure: bool = False
    fresh: frozenset[str] = frozenset()
    """Files that the last search added by name: they need not be checked again."""
    saves: deque[OwnSave] = field(default_factory=lambda: deque(maxlen=MAX_SAVES))
    known: set[str] | None = None
    """The names that the index has: some 15 MB for 100,000."""
    written: int = 0
    """By other connections, as SQLite counts it, when these names were read."""

    def names_in(self, db: "sqlite3.Connection") -> set[str]:
        """Return the names in the index; they are read only if they are not known, or somebody else has written."""
        [written] = db.execute("pragma data_version").fetchone()
        if self.known is None or written != self.written:
            # As one text: a hundred thousand rows take as long as listing the folder.
            [joined] = db.execute("select group_concat(file, ?) from posts", (_BETWEEN,)).fetchone()
            self.known, self.written = set(joined.split(_BETWEEN)) if joined else set(), written
        return self.known

    def names_up_to(self, stamp: int) -> list[str] | None:
        """Return the own saves that explain this stamp; None where somebody else has changed the folder."""
        at, names = self.stamp, list[str]()
        for one in self.saves:
            if one.before == at:
                at = one.after
                names.append(one.file)
        return names if at == stamp and (names or self.is_sure) else None


def sync_index(db: "sqlite3.Connection", folder: int, step: SyncState, progress: Progress | None = None) -> bool:
    """Make the index match the files; return False where there was not time for all of them."""
    # Taken before the folder is listed: what comes in between is then seen with the next search.
    stamp = os.fstat(folder).st_mtime_ns
    is_whole = True
    if stamp != get_fact(db, "folder"):
        names = None if is_settled(stamp) else step.names_up_to(stamp)
        is_whole = (
            _compare_names(db, folder, step, progress) if names is None else update_files(db, folder, step, names)
        )
        step.fresh = frozenset(names or ())
        set_fact(db, "folder", stamp if is_whole and names is None and is_settled(stamp) else 0)
    if is_whole:
        step.stamp, step.is_sure = stamp, time.time_ns() - stamp > TICK_NS
        step.saves.clear()
    _check_some(db, folder, step)
    return is_whole


def _compare_names(db: "sqlite3.Connection", folder: int, step: SyncState, progress: Progress | None) -> bool:
    there, known = os.listdir(folder), step.names_in(db)
    unknown = list(filterfalse(known.__contains__, there))  # a sixth of what the difference of two sets takes
    if len(there) - len(unknown) < len(known):
        update_files(db, folder, step, known.difference(there))
    if any(name.startswith(_TEMPORARY) for name in unknown):
        sweep_temporary(folder)
    new = sorted(filter(is_post_name, unknown), reverse=True)
    return _add_new(db, folder, step, new, progress)


def _add_new(
    db: "sqlite3.Connection", folder: int, step: SyncState, names: Sequence[str], progress: Progress | None
) -> bool:
    """Add posts, by name the newest first, as long as there is time."""
    began, newest = time.monotonic(), db.execute("select max(file) from posts").fetchone()[0] or ""
    for at in range(0, len(names), BATCH):
        took = time.monotonic() - began
        if took > MAX_BUILD_S:
            return False
        if progress is not None and took > PROGRESS_AFTER_S:
            progress(at, len(names))
        is_older = at > 0 or names[0][:_DATE_CHARACTERS] < newest[:_DATE_CHARACTERS]
        update_files(db, folder, step, names[at : at + BATCH][::-1], below=is_older)
    return True


def _check_some(db: "sqlite3.Connection", folder: int, step: SyncState) -> None:
    after = get_fact(db, "looked_at")
    query = "select id, file, size, mtime_ns from posts where id > ? order by id limit ?"
    rows = db.execute(query, (after, CHECKED_PER_SEARCH)).fetchall()
    is_end = len(rows) < CHECKED_PER_SEARCH
    if is_end and after:
        rows += db.execute(query, (0, CHECKED_PER_SEARCH - len(rows))).fetchall()
    update_files(
        db, folder, step, [file for _, file, size, mtime_ns in rows if has_changed(folder, file, size, mtime_ns)]
    )
    if not is_end or after:
        set_fact(db, "looked_at", rows[-1][0] if rows else 0)


def has_changed(folder: int, file: str, size: int, mtime_ns: int) -> bool:
    """Return whether a file has changed since it was indexed."""
    try:
        found = os.stat(file, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return True
    return (found.st_size, found.st_mtime_ns) != (size, mtime_ns)


def update_files(
    db: "sqlite3.Connection", folder: int, step: SyncState, files: Iterable[str], *, below: bool = False
) -> bool:
    """Index these files as they are now; those that are gone are removed. Always returns True."""
    posts = [(file, read_post(folder, file)) for file in files]
    rows = [_row(post) for _, post in posts if post is not None]
    known = set[str]() if step.known is None else step.known
    if posts:
        # Forgotten before and known after: whatever comes in between, a name is looked at twice rather than missed.
        known.difference_update(file for file, _ in posts)
        with transaction(db):
            drop_rows(db, (file for file, _ in posts))
            put_rows(db, rows, below=below)
        known.update(post.file for _, post in posts if post is not None)
    return True


def _row(post: PostFile) -> tuple[str | int, ...]:
    stamp = post.mtime_ns if is_settled(post.mtime_ns) else 0
    return (post.file, post.size, stamp, post.platform, post.topic, post.created, post.profile_used, post.body)


def read_post(folder: int, file: str) -> PostFile | None:
    """Return the post in a file of an open folder; None if it is none."""
    found = read_regular_file(folder, file, limit_bytes=MAX_POST_BYTES)
    if found is None:  # gone, a link, or not for us to read: none of them is a post
        return None
    data, status = found
    return parse_post(file, data, size=status.st_size, mtime_ns=status.st_mtime_ns)


def get_fact(db: "sqlite3.Connection", name: str) -> int:
    """Return a number that the index keeps; 0 where there is none."""
    row = db.execute("select value from facts where name = ?", (name,)).fetchone()
    return int(row[0]) if row else 0


def set_fact(db: "sqlite3.Connection", name: str, value: int) -> None:
    """Store a number in the index."""
    with transaction(db):
        db.execute("insert or replace into facts values (?, ?)", (name, value))


def put_rows(db: "sqlite3.Connection", rows: Sequence[tuple[str | int, ...]], *, below: bool = False) -> None:
    """Add posts that are not there, and their words; inside a transaction.

    They count as newer than all others, or with `below` as older: of many hits, the newest are ranked.
    """
    [low, high] = db.execute("select min(id), max(id) from posts").fetchone()
    first = _FIRST_ID if low is None else low - len(rows) if below else high + 1
    db.executemany(_INSERT, ((first + at, *row) for at, row in enumerate(rows)))
    db.execute(_WORDS_IN, (first, first + len(rows) - 1))


def drop_rows(db: "sqlite3.Connection", files: Iterable[str]) -> None:
    """Remove the posts of these files, and their words; inside a transaction."""
    names = [(file,) for file in files]
    db.executemany(_WORDS_OUT, names)
    db.executemany("delete from posts where file = ?", names)
