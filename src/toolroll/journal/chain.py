"""The rows of a run, each checked against its checksum. A damaged row hides only itself.

The checksum of a row covers its body and the checksum of the row before it. A row behind a damaged one still proves
itself: by the checksum that is stored in the damaged row or, if that is what was damaged, by the one that belongs
there.
"""

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from typing import Final, NamedTuple, TypeAlias

from toolroll.journal.tables import Tables

MISSING: Final = "it is missing"
MISFIT: Final = "it does not fit its checksum"
WRONG_CHECKSUM: Final = "the record after it proves that it is whole"
_FORWARD: Final = "select number, kind, body, chain from records where run_id = ? and number > ? order by number"
_BACKWARD: Final = f"{_FORWARD} desc"
_Stored: TypeAlias = tuple[int, str, bytes, str]


class Row(NamedTuple):
    """One row of a run, and what is wrong with it. One that is not whole holds nothing."""

    number: int
    kind: str = ""
    body: bytes = b""
    fault: str = ""
    is_whole: bool = True


def chain_hash(before: str, body: bytes) -> str:
    """Return the checksum of a record that stands on the one before it."""
    return hashlib.sha256(before.encode() + body).hexdigest()


def chain_at(db: Tables, run_id: str, number: int) -> str | None:
    """Return the checksum that is stored with a record; None if there is no such record."""
    row = db.execute("select chain from records where run_id = ? and number = ?", (run_id, number)).fetchone()
    return None if row is None else str(row[0])


def walk_rows(db: Tables, run_id: str, after: int = 0) -> Iterator[Row]:
    """Return the rows with a number above `after` in order, those that cannot be read among them.

    Where the file itself is damaged, the rows are read from the end as well, so that only those between are lost.
    """
    walk = _Walk(after, chain_at(db, run_id, after) if after else "")
    try:
        for stored in db.execute(_FORWARD, (run_id, after)):
            yield from walk.take(*stored)
    except sqlite3.DatabaseError as error:
        behind = _read_backwards(db, run_id, walk.last)
        yield from walk.skip_to(behind[0][0] if behind else walk.last + 2, str(error))
        for stored in behind:
            yield from walk.take(*stored)
    yield from walk.end()


def _read_backwards(db: Tables, run_id: str, after: int) -> list[_Stored]:
    """Return the rows from the end back to the damage, in their order."""
    found: list[_Stored] = []
    with suppress(sqlite3.DatabaseError):  # the other side of the damage
        found.extend(db.execute(_BACKWARD, (run_id, after)))
    return found[::-1]


class _Walk:
    """Checks one row after the other. A row that does not fit is held back until the next one tells which part of it.

    `_bases` are the checksums that the next row may stand on; none if nothing is known of the row before it.
    """

    def __init__(self, after: int, base: str | None) -> None:
        self.last = after
        self._bases: tuple[str, ...] = () if base is None else (base,)
        self._held: Row | None = None

    def take(self, number: int, kind: str, body: bytes, stored: str) -> Iterator[Row]:
        """Check a row; return those that are decided by it."""
        yield from self.skip_to(number, MISSING)
        made = [chain_hash(base, body) for base in self._bases]
        self.last = number
        if not made or stored in made:
            if self._held is not None and made[0] != stored:
                self._held = self._held._replace(fault=WRONG_CHECKSUM, is_whole=True)
            yield from self.end()
            self._bases = (stored,)
            yield Row(number, kind, body)
            return
        yield from self.end()
        self._held = Row(number, kind, body, MISFIT, is_whole=False)
        self._bases = (stored, made[0])

    def skip_to(self, number: int, fault: str) -> Iterator[Row]:
        """Return the rows before this one that are not there."""
        if number == self.last + 1:
            return
        yield from self.end()
        yield from (Row(gap, fault=fault, is_whole=False) for gap in range(self.last + 1, number))
        self.last, self._bases = number - 1, ()

    def end(self) -> Iterator[Row]:
        """Return the row that was held back, if one was."""
        if self._held is not None:
            yield self._held
            self._held = None
