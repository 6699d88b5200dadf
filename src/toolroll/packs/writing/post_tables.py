"""The SQLite file of the index of posts: private, with its tables, and nothing in it that the files do not have."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolroll.safe.files import PRIVATE_FILE_MODE, private_folder
from toolroll.safe.refusals import refusals
from toolroll.workspace.symbols.opening import BUSY_S, Damaged, remove, told

if TYPE_CHECKING:
    import sqlite3

__all__ = ["VERSION", "Damaged", "connect", "connect_memory", "remove", "told", "transaction"]

VERSION: Final = 1
"""Of the tables and of what is made of a file: raised with each change, as an index of another is not used."""

# The words of external content are kept in step by triggers, as SQLite's own pages on FTS5 have it. U+02BC is a letter
# to Unicode and an apostrophe to Ukrainian: as a separator it is treated like the other apostrophes.
_TABLES: Final = (
    """create table posts (
        id integer primary key, file text not null unique, size integer not null, mtime_ns integer not null,
        platform text not null, topic text not null, created text not null, profile_used text not null,
        body text not null
    ) strict""",
    "create table facts (name text primary key, value integer not null) strict, without rowid",
    """create virtual table words using fts5 (
        topic, body, file, platform, content = 'posts', content_rowid = 'id', prefix = '3 4',
        tokenize = "unicode61 remove_diacritics 2 separators 'ʼ'"
    )""",
    "insert into words (words, rank) values ('rank', 'bm25(10.0, 1.0, 5.0, 0.0)')",
    """create trigger posts_in after insert on posts begin
        insert into words (rowid, topic, body, file, platform)
        values (new.id, new.topic, new.body, new.file, new.platform);
    end""",
    """create trigger posts_out after delete on posts begin
        insert into words (words, rowid, topic, body, file, platform)
        values ('delete', old.id, old.topic, old.body, old.file, old.platform);
    end""",
    f"pragma user_version = {VERSION}",
)


def connect(path: Path) -> "sqlite3.Connection":
    """The open index, with tables in it; `Damaged` where it is no index, or one of another version."""
    import sqlite3  # noqa: PLC0415 - four interpreter starts, only where posts are searched

    private_folder(path.parent)
    with refusals(str(path)):
        # SQLite gives its other files the mode of this one, which is therefore never made by it.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE_FILE_MODE))
    return _prepared(sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False), path)


def connect_memory() -> "sqlite3.Connection":
    """An index that lives as long as its connection."""
    import sqlite3  # noqa: PLC0415 - as above

    return _prepared(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False), Path(":memory:"))


@contextmanager
def transaction(db: "sqlite3.Connection") -> Iterator[None]:
    """Inside, all is written or nothing."""
    db.execute("begin immediate")
    try:
        yield
    except BaseException:
        if db.in_transaction:  # a full disk has ended it already
            db.execute("rollback")
        raise
    db.execute("commit")


def _prepared(db: "sqlite3.Connection", path: Path) -> "sqlite3.Connection":
    try:
        with told(path):
            _prepare(db)
    except BaseException:
        db.close()
        raise
    return db


def _prepare(db: "sqlite3.Connection") -> None:
    db.execute("pragma journal_mode = wal")
    # A power cut may cost the last batches: the next look at the files finds what is missing.
    db.execute("pragma synchronous = off")
    [version] = db.execute("pragma user_version").fetchone()
    if version == VERSION:
        return
    if version:
        raise Damaged(f"version {version}")
    with transaction(db):
        [version] = db.execute("pragma user_version").fetchone()
        for statement in () if version else _TABLES:  # unless somebody else has made them since we looked
            db.execute(statement)
