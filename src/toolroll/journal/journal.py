"""Where records go, and come from again. The store that needs nothing keeps them in memory."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import time
from typing import Protocol, runtime_checkable

from toolroll.journal.records import Record, RunBegan
from toolroll.journal.tables import no_such_run
from toolroll.kernel.data.messages import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What can be read of a run: records with their index, and what had to be left out.

    `damaged` are the records that cannot be read, by their index, each with why. Such a run can be looked at, and not
    be continued: nobody knows what they said.
    """

    run_id: str
    records: tuple[tuple[int, Record], ...]
    notes: tuple[str, ...] = ()
    is_damaged: bool = False
    damaged: tuple[tuple[int, str], ...] = ()

    def before_damage(self) -> "Recording":
        """Return the records before the first that cannot be read: what follows may depend on it."""
        if not self.damaged:
            return self
        first, _ = self.damaged[0]
        return replace(self, records=tuple(one for one in self.records if one[0] < first))

    def __iter__(self) -> Iterator[tuple[int, Record]]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A run in the list of runs; times are seconds since 1970."""

    run_id: str
    began: float
    updated: float
    records: int
    last_kind: str
    parent: str | None = None


class Journal(Protocol):
    """An append-only log of runs, each driven by one holder at a time."""

    async def append(self, run_id: str, /, *records: Record) -> int:
        """Add records to a run, all or none, and return the index of the last: 1, 2, 3, ... Kept when this returns.

        A run that nobody holds is taken first; one that somebody else holds is refused.
        """
        ...

    async def read(self, run_id: str, /, *, after: int = 0) -> Recording:
        """Return the records of a run above the index `after`, in order; raise `JournalRefused` for an unknown run."""
        ...

    async def runs(self) -> Sequence[RunRow]:
        """Return all runs, the latest first."""
        ...

    async def acquire(self, run_id: str, /) -> bool:
        """Hold the run, if nobody else does; it may be a new one. Refused where the record is damaged."""
        ...

    async def release(self, run_id: str, /) -> None:
        """Let somebody else go on with the run."""
        ...


@runtime_checkable
class SupportsIsHeld(Protocol):
    """A journal that tells who is at work, without a hand on the run."""

    async def is_held(self, run_id: str, /) -> bool:
        """Return whether somebody drives the run now: another process, or another task of this one."""
        ...


@runtime_checkable
class SupportsSealing(Protocol):
    """A journal that takes secrets out of what it stores, and keeps apart what a waiting call needs to run."""

    async def seal(self, run_id: str, /, *calls: ToolCall) -> None:
        """Keep the arguments of those calls whose record has lost a secret, until they have their result."""
        ...

    async def unseal(self, run_id: str, /, *calls: ToolCall) -> Mapping[str, str]:
        """Return the arguments that were sealed for these recorded calls, by call id; drop all others of the run."""
        ...


def as_sealing(journal: object) -> SupportsSealing | None:
    """Return the journal as one that seals, None if it does not: what it stores is then whole."""
    return journal if isinstance(journal, SupportsSealing) else None


class MemoryJournal:
    """Runs that last as long as the process."""

    def __init__(self, *, clock: Callable[[], float] = time) -> None:
        self._runs: dict[str, list[tuple[float, Record]]] = {}
        self._held: set[str] = set()
        self._clock = clock

    async def append(self, run_id: str, /, *records: Record) -> int:
        """Add records to a run and return the index of the last."""
        self._held.add(run_id)
        kept = self._runs.setdefault(run_id, [])
        kept += ((self._clock(), record) for record in records)
        return len(kept)

    async def read(self, run_id: str, /, *, after: int = 0) -> Recording:
        """Return the records of a run with an index above `after`, in order."""
        if run_id not in self._runs:
            raise no_such_run(run_id)
        numbered = enumerate((record for _, record in self._runs[run_id]), start=1)
        return Recording(run_id=run_id, records=tuple(numbered)[after:])

    async def runs(self) -> Sequence[RunRow]:
        """Return all runs, the latest first."""
        return [_row(run_id, records) for run_id, records in reversed(self._runs.items()) if records]

    async def acquire(self, run_id: str, /) -> bool:
        """Hold the run, if nobody else does."""
        if run_id in self._held:
            return False
        self._held.add(run_id)
        return True

    async def release(self, run_id: str, /) -> None:
        """Let somebody else go on with the run."""
        self._held.discard(run_id)

    async def is_held(self, run_id: str, /) -> bool:
        """Return whether somebody drives the run now."""
        return run_id in self._held


def _row(run_id: str, records: Sequence[tuple[float, Record]]) -> RunRow:
    (began, first), (updated, last) = records[0], records[-1]
    return RunRow(
        run_id=run_id,
        began=began,
        updated=updated,
        records=len(records),
        last_kind=last.kind,
        parent=first.parent if isinstance(first, RunBegan) else None,
    )


def ancestors(rows: Sequence[RunRow], run_id: str) -> tuple[str, ...]:
    """Return the runs that a run is a part of, the nearest first. Links that lead in a circle end where it closes."""
    parents = {row.run_id: row.parent for row in rows}
    found: list[str] = []
    parent = parents.get(run_id)
    while parent is not None and parent != run_id and parent not in found:
        found.append(parent)
        parent = parents.get(parent)
    return tuple(found)
