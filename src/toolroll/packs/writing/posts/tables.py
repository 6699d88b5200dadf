"""The tables of the index of posts, and how its rows are written: nothing in it that the files do not have."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from toolroll.safe.sqlite import CacheDatabase

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
