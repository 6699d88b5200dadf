"""Open SQLite files: private from the first byte, never through a link, with checked tables and errors of our own.

Each kind of file is described once, as a `CacheDatabase` or a `RecordDatabase` (in `record_database`). Both open files
in the same way; they differ in what happens to a file that cannot be used, and in the errors that they raise.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from toolroll.errors import FileSystemRefused
from toolroll.messages import Template
from toolroll.safe.paths.files import PRIVATE_FILE_MODE, can_write, private_folder
from toolroll.safe.paths.os_errors import os_errors
from toolroll.safe.sqlite_log import has_log

if TYPE_CHECKING:
    import sqlite3

BUSY_S: Final = 10.0
"""How long one process waits for another's write, which takes from a millisecond to some hundredths of a second."""

REFUSED: Final = Template(
    "database_refused", "The {name} '{path}' cannot be used: {reason}.", "Check the disk and who else uses it."
)
REMOVE_IT: Final = Template("database_remove_it", "The {name} '{path}' cannot be used: {reason}.", "Remove that file.")

_CREATE_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_READ_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
DAMAGED: Final = frozenset({"SQLITE_CORRUPT", "SQLITE_NOTADB"})
_UNUSABLE: Final = DAMAGED | {"SQLITE_ERROR", "SQLITE_MISMATCH", "SQLITE_FORMAT", ""}
"""What SQLite says of a file that is damaged or has other tables than it should."""


class DatabaseDamaged(Exception):
    """The file is no database, is torn, or has other tables than it should: a cache has to be made anew."""


class DatabaseRefused(FileSystemRefused):
    """The system refuses the file of a cache: a full disk, or somebody who locks it. The file itself may be fine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Database(ABC):
    """One kind of SQLite file.

    `synchronous` says what a power cut may cost: nothing with "full", the last commits with "normal", and with "off"
    perhaps the file. `tables` are SQL statements that end in semicolons. `first_pragma` is for a new file, which has no
    tables yet.
    """

    name: str
    """As messages call it, such as "run log"."""
    version: int
    """Of the tables, stored in the file: raised when they change."""
    tables: str
    synchronous: Literal["off", "normal", "full"]
    first_pragma: str = ""

    @abstractmethod
    def open(self, path: Path) -> "sqlite3.Connection":
        """Open the file, and create it with its tables if there is none."""

    @abstractmethod
    def check_version(self, version: int, path: Path | None) -> None:
        """Refuse a file with tables of a version that this program cannot use."""

    @abstractmethod
    def translate(self, error: "sqlite3.Error", path: Path | None) -> Exception:
        """Return the error of ours that says what SQLite said."""

    @contextmanager
    def errors(self, path: Path | None) -> Iterator[None]:
        """Raise what SQLite says inside as an error of ours."""
        import sqlite3  # noqa: PLC0415 - half an interpreter start, only for those who open a database

        try:
            yield
        except sqlite3.Error as error:
            raise self.translate(error, path) from error

    def _create_or_open(self, path: Path) -> "sqlite3.Connection":
        private_folder(path.parent)
        with os_errors(str(path)):
            # SQLite gives its other files the mode of this one, which is therefore never made by it. A link in its
            # place is refused: it may lead to somebody else's database.
            fd = os.open(path, _CREATE_FLAGS, PRIVATE_FILE_MODE)
            try:
                os.fchmod(fd, PRIVATE_FILE_MODE)  # one that was there may have been made under another umask
            finally:
                os.close(fd)
        with self.errors(path):
            return connect(str(path), lambda db: self._prepare(db, path))

    def _prepare(self, db: "sqlite3.Connection", path: Path | None) -> None:
        self.check_version(read_version(db), path)
        self._set_first_pragma(db)
        # With a write-ahead log, readers and one writer do not wait for each other.
        db.execute("pragma journal_mode = wal")
        db.execute(f"pragma synchronous = {self.synchronous}")
        self._set_up(db)

    def _set_first_pragma(self, db: "sqlite3.Connection") -> None:
        if self.first_pragma and read_version(db) == 0:
            db.execute(f"pragma {self.first_pragma}")

    def _set_up(self, db: "sqlite3.Connection") -> None:
        """Give a file the tables that it lacks."""
        if read_version(db) == self.version:
            return
        with transaction(db):
            if read_version(db) < self.version:  # unless another process was faster
                for statement in filter(str.strip, self.tables.split(";")):
                    db.execute(statement)
                db.execute(f"pragma user_version = {self.version}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheDatabase(Database):
    """A file that can be made again from others: one of another version counts as damaged.

    Errors are `DatabaseDamaged` if the file should be made anew, and `DatabaseRefused` otherwise.
    """

    def open(self, path: Path) -> "sqlite3.Connection":
        """Open the file, and create it with its tables if there is none; in memory in a folder that is read-only."""
        return self._create_or_open(path) if can_write(path.parent) else self.open_in_memory()

    def open_in_memory(self) -> "sqlite3.Connection":
        """Open a database with the same tables that lives as long as its connection."""
        return connect(":memory:", lambda db: self._prepare(db, None))

    def check_version(self, version: int, path: Path | None) -> None:
        """Refuse a file of any other version."""
        if version not in {0, self.version}:
            raise DatabaseDamaged(f"'{path}' has tables of version {version}, not {self.version}")

    def translate(self, error: "sqlite3.Error", path: Path | None) -> Exception:
        """Return `DatabaseDamaged` where the file is at fault, and `DatabaseRefused` where the system is."""
        name = error_name(error)
        if name in _UNUSABLE:
            return DatabaseDamaged(str(error))
        return DatabaseRefused(REFUSED(name=self.name, path=path, reason=error), path=str(path), errno_name=name)


def open_read_only(
    path: Path, check: "Callable[[sqlite3.Connection], object] | None" = None, *, busy_s: float = BUSY_S
) -> "sqlite3.Connection":
    """Open a file as it is: nothing in it or beside it is made, repaired or upgraded. What `check` raises closes it."""
    with os_errors(str(path)):
        os.close(os.open(path, _READ_FLAGS))
    # SQLite needs a file beside a database with a write-ahead log, unless nobody writes it: also for reading alone.
    is_still = not can_write(path.parent) and not has_log(path)
    address = f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_still else ''}"
    return connect(address, check, busy_s=busy_s)


def connect(
    address: str, prepare: "Callable[[sqlite3.Connection], object] | None", *, busy_s: float = BUSY_S
) -> "sqlite3.Connection":
    """Connect to a database by its path, its address or as ":memory:"; what `prepare` raises closes it."""
    import sqlite3  # noqa: PLC0415 - as above

    is_uri = address.startswith("file:")
    db = sqlite3.connect(address, uri=is_uri, timeout=busy_s, isolation_level=None, check_same_thread=False)
    try:
        if prepare is not None:
            prepare(db)
    except BaseException:
        db.close()
        raise
    return db


def remove_database(path: Path) -> None:
    """Remove a database with the files that SQLite keeps beside it; nothing happens if there is none."""
    for ending in ("", "-wal", "-shm"):
        with os_errors(str(path)), suppress(FileNotFoundError):
            os.unlink(f"{path}{ending}")  # noqa: PTH108 - a name with an ending, not a path


@contextmanager
def transaction(db: "sqlite3.Connection") -> Iterator[None]:
    """Write everything inside, or nothing."""
    db.execute("begin immediate")
    try:
        yield
    except BaseException:
        if db.in_transaction:  # a full disk has ended it already
            db.execute("rollback")
        raise
    db.execute("commit")


def read_version(db: "sqlite3.Connection") -> int:
    """Return the version of the tables that is stored in the file: 0 if it has none yet."""
    [version] = db.execute("pragma user_version").fetchone()
    return int(version)


def error_name(error: "sqlite3.Error") -> str:
    """Return SQLite's name for the kind of an error ("SQLITE_BUSY"), or "" for one that Python raises by itself."""
    name: str = getattr(error, "sqlite_errorname", "")  # such as SQLITE_BUSY_SNAPSHOT
    return "_".join(name.split("_", 2)[:2])
