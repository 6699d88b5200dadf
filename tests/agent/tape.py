"""A journal that can be cut off after any write, as a crash would: what is left is all that the next process knows."""

from toolroll.agent.history.attempts import ATTEMPTS_KEY
from toolroll.journal.journal import MemoryJournal
from toolroll.journal.records import ModelTurn, Record, StateSet


class Tape(MemoryJournal):
    """Keeps all writes of all runs in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[tuple[str, tuple[Record, ...]]] = []

    async def append(self, run_id: str, /, *records: Record) -> int:
        """Add records, and keep when that was."""
        self.writes.append((run_id, records))
        return await super().append(run_id, *records)

    async def cut(self, count: int) -> "Tape":
        """What a crash after that many writes leaves behind; nobody holds anything any more."""
        left = Tape()
        for run_id, records in self.writes[:count]:
            await left.append(run_id, *records)
        for run_id in {run_id for run_id, _ in left.writes}:
            await left.release(run_id)
        return left

    def records(self, run_id: str) -> list[Record]:
        """All records of one run."""
        return [record for found, records in self.writes if found == run_id for record in records]

    def kinds(self, run_id: str) -> list[str]:
        """What kinds of records they are; attempts to resume the run are left out."""
        return [record.kind for record in self.records(run_id) if not _is_attempt(record)]

    def paid(self, run_id: str) -> int:
        """How many turns of the model are on record."""
        return sum(isinstance(record, ModelTurn) for record in self.records(run_id))


def _is_attempt(record: Record) -> bool:
    return isinstance(record, StateSet) and record.name == ATTEMPTS_KEY
