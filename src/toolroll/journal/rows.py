"""The records of a run, read from the rows of the run log.

A torn last record is removed. A damaged record anywhere else hides only itself; the run can then be looked at, but not
continued.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Final, TypeAlias

from toolroll.errors import JournalRefused
from toolroll.journal.chain import Row, chain_at, walk_rows
from toolroll.journal.codec import decode
from toolroll.journal.journal import Recording
from toolroll.journal.records import Record
from toolroll.journal.tables import Tables
from toolroll.kernel.approval.request import content_hash

Tail: TypeAlias = tuple[int, str]
"""The end of a run: the index of its last record, and the hash that the next one stands on."""
Damage: TypeAlias = tuple[int, str]
"""The index of a record, and what is wrong with it."""
MAX_NOTES: Final = 20
_TIMES: Final = "select number, at from records where run_id = ? order by number"


def read_rows(db: Tables, run_id: str, after: int = 0) -> Recording:
    """Return the records with an index above `after`; those that are not what was written are named."""
    found: list[tuple[int, Record]] = []
    damaged: list[Damage] = []
    doubtful: list[Damage] = []
    row = None
    for row in walk_rows(db, run_id, after):
        record, fault = _decode(db, row)
        if record is None:
            damaged.append((row.number, fault))
        else:
            found.append((row.number, record))
            doubtful += [(row.number, fault)] if fault else []
    notes = list(_notes(doubtful, "has a wrong checksum", "have a wrong checksum"))
    if row is not None and row.kind and [number for number, _ in damaged] == [row.number]:
        # Only the end can be torn by a crash, and losing it loses what was being written. Elsewhere it is damage.
        [(number, fault)] = damaged
        damaged.clear()
        notes.append(f"The last record ({number}) was torn and is left out: {fault}.")
    notes += _notes(damaged, "is damaged", "are damaged")
    return Recording(
        run_id=run_id,
        records=tuple(found),
        notes=tuple(notes),
        is_damaged=bool(damaged),
        damaged=tuple(damaged),
    )


def repair_tail(db: Tables, run_id: str) -> Tail:
    """Return where the next record goes. Remove a torn end; refuse to write to a run that is damaged elsewhere."""
    recording = read_rows(db, run_id)
    if recording.is_damaged:
        raise JournalRefused(
            f"Run {run_id} can be looked at, but not continued. {' '.join(recording.notes)} To go on from a step "
            f"before that, fork it: toolroll runs fork {run_id} --at STEP."
        )
    number = recording.records[-1][0] if recording.records else 0
    db.execute("delete from records where run_id = ? and number > ?", (run_id, number))
    return number, chain_at(db, run_id, number) or ""


def read_times(db: Tables, run_id: str) -> dict[int, float]:
    """Return when each record was written, by its index; from both ends, where the file is damaged between them."""
    found: dict[int, float] = {}
    try:
        found.update(db.execute(_TIMES, (run_id,)))
    except sqlite3.DatabaseError:
        with suppress(sqlite3.DatabaseError):
            found.update(db.execute(f"{_TIMES} desc", (run_id,)))
    return found


def _decode(db: Tables, row: Row) -> tuple[Record | None, str]:
    """Return the record of a row, None if it cannot be read, and what is wrong with it."""
    if not row.is_whole:
        return None, row.fault
    try:
        return decode(row.body, lambda name: _content(db, name)), row.fault
    except (JournalRefused, sqlite3.DatabaseError) as error:
        return None, str(error).rstrip(".")


def _content(db: Tables, name: str) -> bytes:
    row = db.execute("select body from contents where hash = ?", (name,)).fetchone()
    if row is None or content_hash(row[0]) != name:
        raise JournalRefused("a text of it is missing or changed")
    body: bytes = row[0]
    return body


def _notes(faults: Sequence[Damage], one: str, several: str) -> Iterator[str]:
    """Return a sentence for each stretch of records with the same fault."""
    stretches = [
        list(some) for _, some in groupby(enumerate(faults), lambda place: (place[1][0] - place[0], place[1][1]))
    ]
    for stretch in stretches[:MAX_NOTES]:
        (_, (first, fault)), (_, (last, _)) = stretch[0], stretch[-1]
        yield f"{f'Record {first} {one}' if first == last else f'Records {first} to {last} {several}'} ({fault})."
    if len(stretches) > MAX_NOTES:
        yield f"{sum(map(len, stretches[MAX_NOTES:])):,} more {several}."
