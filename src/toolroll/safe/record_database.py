"""Open SQLite files with what is stored nowhere else, and say so if they have lost it.

A new file gets its tables before it gets its name. So one without tables is never new: what it held is lost, and it is
refused instead of being filled again. The same goes for a file whose log was cut off or stands alone.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolroll.errors import FileExists, JournalRefused, RecordsLost
from toolroll.messages import Template
from toolroll.safe.paths.files import can_write, create_file, private_folder
from toolroll.safe.paths.os_errors import os_errors
from toolroll.safe.paths.temporary import FOLDER, sweep_temporary
from toolroll.safe.sqlite import DAMAGED, Database, connect, error_name, open_read_only, read_version
from toolroll.safe.sqlite_log import find_cut_log, has_log, index_path, log_path

if TYPE_CHECKING:
    import sqlite3

TOO_NEW: Final = Template(
    "database_too_new",
    "The {name} '{path}' belongs to a newer version of toolroll (tables {version}, this one knows up to {known}).",
    "Update toolroll to use it.",
)
UNUSABLE: Final = Template("database_unusable", "The {name} '{path}' cannot be used: {reason}.")
TORN: Final = Template(
    "database_damaged",
    "The {name} '{path}' cannot be used: {reason}.",
    "Move that file away, with those beside it whose names go on with -wal and -shm, to begin a new one. {loss}",
)
_MOVE_AWAY: Final = (
    "Nothing was overwritten. Put back a copy, or move that file away, with those beside it whose names go on with "
    "-wal and -shm, to begin a new one. {loss}"
)
EMPTIED: Final = Template("database_emptied", "The {name} '{path}' is there, but all that it held is lost.", _MOVE_AWAY)
ONLY_LOG: Final = Template(
    "database_only_log", "The {name} '{path}' is lost; only its latest part is left, in '{log}'.", _MOVE_AWAY
)
LOG_CUT: Final = Template(
    "database_log_cut",
    "The {name} '{path}' has lost its latest records: '{log}' had {expected} bytes, and has {size} now.",
    "Nothing was overwritten. Put back a copy of that file, or remove '{index}' to go on with what is left.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordDatabase(Database):
    """A file with what is stored nowhere else: never replaced, and still read where it cannot be written.

    `loss` is the sentence that says what is lost with the file. All errors are `JournalRefused`.
    """

    loss: str

    def open(self, path: Path) -> "sqlite3.Connection":
        """Open the file, and create it with its tables if there is none; read-only in a folder that is read-only."""
        self._check_log(path)
        if path.exists() and not can_write(path.parent):
            with self.errors(path):
                return open_read_only(path, lambda db: self._check_tables(db, path))
        if not path.exists():
            self._create(path)
        return self._create_or_open(path)

    def _create(self, path: Path) -> None:
        """Put a file with all its tables there in one step: one without any is never new, but has lost them."""
        made = connect(":memory:", self._make_tables)
        image = made.serialize()
        made.close()
        private_folder(path.parent)
        with os_errors(str(path)):
            folder = os.open(path.parent, FOLDER)
        try:
            sweep_temporary(folder)
            with suppress(FileExists):  # another process was faster
                create_file(folder, path.name, image, path=str(path))
        finally:
            os.close(folder)

    def _make_tables(self, db: "sqlite3.Connection") -> None:
        self._set_first_pragma(db)
        self._set_up(db)

    def _check_log(self, path: Path) -> None:
        cut = find_cut_log(path)
        if cut is not None:
            sizes = {"size": cut.byte_size, "expected": cut.expected_bytes}
            names = {"log": log_path(path).name, "index": index_path(path).name}
            raise RecordsLost(LOG_CUT(name=self.name, path=path, **sizes, **names))
        if has_log(path) and not path.exists():
            raise RecordsLost(ONLY_LOG(name=self.name, path=path, log=log_path(path).name, loss=self.loss))

    def _prepare(self, db: "sqlite3.Connection", path: Path | None) -> None:
        self._check_tables(db, path)
        super(RecordDatabase, self)._prepare(db, path)

    def _check_tables(self, db: "sqlite3.Connection", path: Path | None) -> None:
        self.check_version(read_version(db), path)
        if db.execute("select 1 from sqlite_schema limit 1").fetchone() is None:
            raise RecordsLost(EMPTIED(name=self.name, path=path, loss=self.loss))

    def check_version(self, version: int, path: Path | None) -> None:
        """Refuse a file of a newer version."""
        if version > self.version:
            raise JournalRefused(TOO_NEW(name=self.name, path=path, version=version, known=self.version))

    def translate(self, error: "sqlite3.Error", path: Path | None) -> Exception:
        """Return a `JournalRefused`, with advice if the file is damaged."""
        if error_name(error) in DAMAGED:
            return JournalRefused(TORN(name=self.name, path=path, reason=error, loss=self.loss))
        return JournalRefused(UNUSABLE(name=self.name, path=path, reason=error))
