"""Outputs and changes of the context as they are on record, for a run that is played again."""

from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from toolroll.errors import OutputMissing
from toolroll.journal.records import Answered, Compacted, Ended, Record, Trimmed
from toolroll.kernel.data.messages import OutputRef, Part
from toolroll.outputs.kept import KeptOutput
from toolroll.outputs.store import OutputStore

Changes: TypeAlias = dict[int, list[Trimmed | Compacted]]
"""What was done to the context, by how many turns the model had taken before."""


def changes_on_record(records: Iterable[Record]) -> Changes:
    """All of them."""
    found: Changes = {}
    turns = 0
    for record in records:
        if isinstance(record, Answered):
            turns += 1
        elif isinstance(record, (Trimmed, Compacted)):
            found.setdefault(turns, []).append(record)
    return found


class RecordedOutputs(OutputStore):
    """Keeps outputs in a folder of its own under the references they had then; what is not there is read from before.

    Results must come out the same, and the references are a part of them.
    """

    def __init__(self, folder: Path, *, run_id: str, records: Iterable[Record], before: OutputStore) -> None:
        super().__init__(folder, run_id=run_id)
        self._before = before
        self._refs = {one.result.call_id: one.result.output_ref for one in records if isinstance(one, Ended)}

    def keep(self, call_id: str, tool: str, content: str | bytes | tuple[Part, ...]) -> OutputRef | None:
        """Keep it under the reference of then; not at all if it was not."""
        ref = self._refs.get(call_id)
        if ref is None:
            return None
        self._make_id = lambda: ref.id
        return super().keep(call_id, tool, content)

    def open(self, ref_id: str) -> KeptOutput:
        """The output as it is now; that of then for a call that was not run again."""
        try:
            return super().open(ref_id)
        except OutputMissing:
            return self._before.open(ref_id)
