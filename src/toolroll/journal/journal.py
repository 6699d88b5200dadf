"""Where records go, and come from again. The store that needs nothing keeps them in memory."""

from collections.abc import Sequence
from typing import Protocol

from toolroll.journal.records import Record


class Journal(Protocol):
    """An append-only log of runs."""

    async def append(self, run_id: str, record: Record, /) -> int:
        """Add a record to a run and return its index: 1, 2, 3, ... It is kept when this returns."""
        ...

    async def read(self, run_id: str, /, *, after: int = 0) -> Sequence[tuple[int, Record]]:
        """The records of a run with an index above `after`, in order."""
        ...


class MemoryJournal:
    """Runs that last as long as the process."""

    def __init__(self) -> None:
        self._runs: dict[str, list[Record]] = {}

    async def append(self, run_id: str, record: Record, /) -> int:
        """Add a record to a run and return its index."""
        records = self._runs.setdefault(run_id, [])
        records.append(record)
        return len(records)

    async def read(self, run_id: str, /, *, after: int = 0) -> Sequence[tuple[int, Record]]:
        """The records of a run with an index above `after`, in order."""
        records = self._runs.get(run_id, [])
        return list(enumerate(records, start=1))[after:]
