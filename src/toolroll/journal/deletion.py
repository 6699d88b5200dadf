"""Taking runs out of the run log for good, with the texts that no other run uses.

Nothing counts who uses a text: what is said twice is stored once, and looking is cheap, because only records with a
long text in them hold the mark. It happens in the same transaction, so that nobody can begin to use a text meanwhile.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from toolroll.errors import JournalRefused
from toolroll.journal.tables import Tables

_USED: Final = re.compile(rb"\\u0000([0-9a-f]{64})")
"""A text by its hash, as `codec` writes it. A text of NULs may look so, too: then one text too many is kept."""
_MARK: Final = b"\\u0000"
_SLICE: Final = 500
"""Names in one statement: SQLite takes 999 in the oldest builds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """What goes, or went: runs with their parts, their records, and texts that only they used."""

    runs: tuple[str, ...]
    records: int
    texts: int
    byte_size: int


def with_parts(db: Tables, run_ids: Sequence[str]) -> list[str]:
    """Return those of these runs that exist, each followed by its parts. Links in a circle end where it closes."""
    parts: dict[str | None, list[str]] = {}
    there: set[str] = set()
    for run_id, parent in db.execute("select run_id, parent from runs order by rowid desc"):
        there.add(run_id)
        parts.setdefault(parent, []).append(run_id)
    found: dict[str, None] = {}
    waiting = list(reversed(run_ids))
    while waiting:
        run_id = waiting.pop()
        if run_id in there and run_id not in found:
            found[run_id] = None
            waiting += parts.get(run_id, ())
    return list(found)


def measure_deletion(db: Tables, run_ids: Sequence[str]) -> Deletion:
    """Return what deleting these runs would delete."""
    runs = with_parts(db, run_ids)
    return _measure(db, runs, _find_unshared(db, runs))


def delete(db: Tables, run_ids: Sequence[str], is_alive: Callable[[str], bool]) -> Deletion:
    """Delete them, inside of a transaction; refused, and nothing is gone, while one of them is going on."""
    runs = with_parts(db, run_ids)
    for run_id in runs:
        [holder] = db.execute("select holder from runs where run_id = ?", (run_id,)).fetchone()
        if holder is not None and is_alive(holder):
            raise JournalRefused(f"Run {run_id} is going on. Wait until it ends, or stop it, and delete it then.")
    texts = _find_unshared(db, runs)
    gone = _measure(db, runs, texts)
    for run_id in runs:
        db.execute("delete from records where run_id = ?", (run_id,))
        db.execute("delete from runs where run_id = ?", (run_id,))
    db.executemany("delete from contents where hash = ?", ((name,) for name in texts))
    return gone


def _measure(db: Tables, runs: Sequence[str], texts: Sequence[str]) -> Deletion:
    counted = [db.execute(_SIZES, (run_id,)).fetchone() for run_id in runs]
    bodies = sum(_each(db, "select length(body) from contents where hash in", texts))
    return Deletion(
        runs=tuple(runs),
        records=sum(records for records, _ in counted),
        texts=len(texts),
        byte_size=sum(size for _, size in counted) + bodies,
    )


_SIZES: Final = "select count(*), coalesce(sum(length(body)), 0) from records where run_id = ?"
_BODIES: Final = "select run_id, body from records where instr(body, ?)"


def _find_unshared(db: Tables, runs: Sequence[str]) -> list[str]:
    """The texts that these runs use, and no other."""
    own = set(runs)
    used: set[str] = set()
    for run_id in own:
        for [body] in db.execute("select body from records where run_id = ? and instr(body, ?)", (run_id, _MARK)):
            used.update(_names(body))
    if not used:
        return []
    for run_id, body in db.execute(_BODIES, (_MARK,)):
        if run_id not in own:
            used.difference_update(_names(body))
    return sorted(used)


def _names(body: bytes) -> Iterator[str]:
    return (name.decode("ascii") for name in _USED.findall(body))


def _each(db: Tables, question: str, names: Sequence[str]) -> Iterator[int]:
    for start in range(0, len(names), _SLICE):
        some = names[start : start + _SLICE]
        marks = ", ".join("?" * len(some))
        yield from (number for [number] in db.execute(f"{question} ({marks})", some))
