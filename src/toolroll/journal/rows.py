"""The records of a run as rows of the run log, with the checksums that link each row to the last.

A torn last record is removed; damage anywhere else ends what can be read, and the run can then be looked at but not
continued.
"""

import sqlite3
from typing import Final, TypeAlias

from toolroll.errors import JournalRefused
from toolroll.journal.codec import decode
from toolroll.journal.journal import Recording
from toolroll.journal.records import Record
from toolroll.journal.tables import chain_hash
from toolroll.kernel.approval.request import content_hash

Tail: TypeAlias = tuple[int, str]
"""The end of a run: the index of its last record, and the hash that the next one stands on."""
_ROWS: Final = "select number, body, chain from records where run_id = ? and number > ? order by number"


def read_rows(db: sqlite3.Connection, run_id: str, after: int = 0) -> Recording:
    """Return the records with an index above `after`, up to the first that is not what was written."""
    found: list[tuple[int, Record]] = []
    chain = _chain_at(db, run_id, after)
    try:
        for number, body, kept in db.execute(_ROWS, (run_id, after)):
            if number != after + len(found) + 1:
                raise JournalRefused("the records before it are missing")
            if chain_hash(chain, body) != kept:
                raise JournalRefused("it does not fit its checksum")
            found.append((number, decode(body, lambda name: _content(db, name))))
            chain = kept
    except JournalRefused as error:
        # Only the end can be torn by a crash, and losing it loses what was being written. Elsewhere it is damage.
        bad = after + len(found) + 1
        return _partial_recording(run_id, found, bad, fault=error.message, is_torn=bad == _last_number(db, run_id))
    except sqlite3.DatabaseError as error:
        return _partial_recording(run_id, found, after + len(found) + 1, fault=str(error), is_torn=False)
    return Recording(run_id=run_id, records=tuple(found))


def repair_tail(db: sqlite3.Connection, run_id: str) -> Tail:
    """Return where the next record goes. Remove a torn end; refuse to write to a run that is damaged elsewhere."""
    recording = read_rows(db, run_id)
    if recording.is_damaged:
        raise JournalRefused(f"Run {run_id} can be looked at, but not continued. {' '.join(recording.notes)}")
    number = len(recording)
    db.execute("delete from records where run_id = ? and number > ?", (run_id, number))
    return number, _chain_at(db, run_id, number)


def _partial_recording(
    run_id: str, found: list[tuple[int, Record]], bad: int, *, fault: str, is_torn: bool
) -> Recording:
    fault = fault.rstrip(".")
    note = f"Record {bad} is damaged ({fault}); it and all after it are left out."
    if is_torn:
        note = f"The last record ({bad}) was torn and is left out: {fault}."
    return Recording(run_id=run_id, records=tuple(found), notes=(note,), is_damaged=not is_torn)


def _last_number(db: sqlite3.Connection, run_id: str) -> int:
    [last] = db.execute("select max(number) from records where run_id = ?", (run_id,)).fetchone()
    return int(last)


def _chain_at(db: sqlite3.Connection, run_id: str, number: int) -> str:
    row = db.execute("select chain from records where run_id = ? and number = ?", (run_id, number)).fetchone()
    return row[0] if row else ""


def _content(db: sqlite3.Connection, name: str) -> bytes:
    row = db.execute("select body from contents where hash = ?", (name,)).fetchone()
    if row is None or content_hash(row[0]) != name:
        raise JournalRefused("a text of it is missing or changed")
    body: bytes = row[0]
    return body
