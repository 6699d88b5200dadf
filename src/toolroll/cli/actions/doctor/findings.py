"""What a look at one thing has found."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from toolroll.errors import FileProblem
from toolroll.safe.paths.files import can_write
from toolroll.safe.paths.names import quote_path
from toolroll.safe.sqlite import error_name, open_read_only, read_version

Status: TypeAlias = Literal["ok", "missing", "warning", "broken"]
"""`missing` is what somebody may want and has not set up; `broken` is what was set up, and does not work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing: how it is, and what to do about it."""

    area: str
    name: str
    status: Status
    text: str
    fix: str = ""


MAX_CHECKED_BYTES: Final = 64 * 1_048_576
"""Of a file that is read through: a second; a larger one is only opened."""
_DAMAGED: Final = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR")
"""What SQLite says of a file that is no database, is torn, or has other tables than it should."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """One file: what it is called, and what is counted in it."""

    area: str
    name: str
    path: Path
    table: str
    newest: int
    """The latest version of its tables that is known here."""
    made: str
    """When it is made, where it is not there."""

    def look(self) -> Finding:
        """Return the state of the file; looking makes, repairs and upgrades nothing."""
        try:
            if not self.path.exists():
                return self._found(f"{self._place} ({self.made})")
            size = self.path.stat().st_size
            if size == 0:
                text = f"{self._place} is empty: it was cut to nothing, or never written"
                return self._found(text, "warning", self._away)
            version, rows, state = self._read(size)
        except OSError as error:
            return self._found(f"{self._place} cannot be looked at: {error.strerror}", "broken")
        except FileProblem as error:
            return self._found(error.message, "broken")
        except sqlite3.Error as error:
            return self._unusable(error)
        if version > self.newest:
            return self._found(f"{self._place} is of a newer toolroll (tables {version})", "broken", "update toolroll")
        if state != "ok":
            return self._found(f"{self._place} is damaged: {quote_path(state)}", "broken", self._away)
        counted = f"{rows:,} {self.table.removesuffix('s') if rows == 1 else self.table}"
        return self._found(f"{self._place}: {counted}, {size / 1_048_576:.1f} MB, tables {version}")

    @property
    def _place(self) -> str:
        return quote_path(str(self.path))

    @property
    def _away(self) -> str:
        return f"move '{self._place}' away, with '{self._place}-wal' and '{self._place}-shm'"

    def _read(self, size: int) -> tuple[int, int, str]:
        db = open_read_only(self.path)
        try:
            version = read_version(db)
            [rows] = db.execute(f"select count(*) from {self.table}").fetchone()  # noqa: S608 - ours
            [state] = db.execute("pragma quick_check(1)").fetchone() if size <= MAX_CHECKED_BYTES else ("ok",)
        finally:
            db.close()
        return version, int(rows), str(state)

    def _unusable(self, error: sqlite3.Error) -> Finding:
        """Only a damaged file is worth giving up."""
        text = f"{self._place} cannot be used: {error}"
        if error_name(error) in _DAMAGED:
            return self._found(text, "broken", self._away)
        if not can_write(self.path.parent):
            folder = quote_path(str(self.path.parent))
            return self._found(f"{text}: {folder} cannot be written, and commits wait beside it", "broken")
        return self._found(text, "broken", "try again when nobody else uses it")

    def _found(self, text: str, status: Status = "ok", fix: str = "") -> Finding:
        return Finding(area=self.area, name=self.name, status=status, text=text, fix=fix)
