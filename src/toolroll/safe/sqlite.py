"""A SQLite file that is private from its first byte: one opener for the run log, the history and the indexes."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from toolroll.safe.paths.files import PRIVATE_FILE_MODE, private_folder
from toolroll.safe.paths.os_errors import os_errors

if TYPE_CHECKING:
    import sqlite3

BUSY_S: Final = 10.0
"""How long one process waits for another's write, which takes from a millisecond to some hundredths of a second."""

_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FLAGS_TO_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def open_private_database(path: Path, prepare: "Callable[[sqlite3.Connection], None]") -> "sqlite3.Connection":
    """The open file, made where there is none, in a private folder and readable by its owner alone.

    `prepare` looks at the version, makes the tables and calls `use_wal`; what it raises closes the file. A link in the
    place of the file is refused, as it may lead to a database of somebody else's.
    """
    import sqlite3  # noqa: PLC0415 - four interpreter starts, only where there is a database

    private_folder(path.parent)
    with os_errors(str(path)):
        # SQLite gives its other files the mode of this one, which is therefore never made by it.
        fd = os.open(path, _FLAGS, PRIVATE_FILE_MODE)
        try:
            os.fchmod(fd, PRIVATE_FILE_MODE)  # one that was there may have been made under another umask
        finally:
            os.close(fd)
    db = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        prepare(db)
    except BaseException:
        db.close()
        raise
    return db


def open_to_read(path: Path, check: "Callable[[sqlite3.Connection], object] | None" = None) -> "sqlite3.Connection":
    """The file as it is: nothing in it or beside it is made, repaired or upgraded. What `check` raises closes it."""
    import sqlite3  # noqa: PLC0415 - as above

    with os_errors(str(path)):
        os.close(os.open(path, _FLAGS_TO_READ))
    # SQLite needs a file beside a database with a write-ahead log, unless nobody writes it: also for reading alone.
    is_still = not can_write(path.parent) and not _has_log(path)
    address = f"{path.as_uri()}?mode=ro{'&immutable=1' if is_still else ''}"
    db = sqlite3.connect(address, uri=True, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        if check is not None:
            check(db)
    except BaseException:
        db.close()
        raise
    return db


def can_write(folder: Path) -> bool:
    """Whether files can be made in a folder, or in the one where it would have to be made itself."""
    try:
        there = next(one for one in (folder, *folder.parents) if one.exists())
    except OSError:  # below a folder that may not be entered, nobody can even ask
        return False
    return os.access(there, os.W_OK | os.X_OK, effective_ids=True)


def _has_log(path: Path) -> bool:
    """Whether commits wait beside the file, without which it is not whole."""
    log = Path(f"{path}-wal")
    return log.exists() and log.stat().st_size > 0


def use_wal(db: "sqlite3.Connection", synchronous: Literal["off", "normal", "full"]) -> None:
    """Readers and one writer do not wait for each other; `synchronous` says what a power cut may cost.

    Nothing with "full", the last commits with "normal", and with "off" perhaps the file: for what can be made anew.
    """
    db.execute("pragma journal_mode = wal")
    db.execute(f"pragma synchronous = {synchronous}")
