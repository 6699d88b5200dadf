"""A run with its parts, as it is on record, and as lines of JSON: first what it is, then the records of each.

    {"format": "toolroll-run", "version": 1, "run_id": ..., "parts": [...], "is_damaged": false, "notes": [], ...}
    {"run_id": ..., "index": 1, "time": 1772366400.0, "kind": "run_began", ...}

Long texts stand in the records, whole. Bytes (pictures, documents) are base64 with the letters of URLs (`-` and `_`),
under `data`. What tools answered beyond what the model was shown is not here: `output_ref` leads to it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pydantic_core import to_jsonable_python

from toolroll._version import __version__
from toolroll.journal.codec import decode, encode
from toolroll.journal.journal import Recording, RunRow

if TYPE_CHECKING:
    from toolroll.apps.run_log import RunLog
    from toolroll.journal.records import Record
from toolroll.journal.tables import FORMAT_VERSION

FORMAT: Final = "toolroll-run"

VERSION: Final = 1
"""Raised with every change that a program which reads the lines could misread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTree:
    """One run: its records, when each was written, and the runs that it delegated to."""

    row: RunRow
    recording: Recording
    times: Mapping[int, float]
    parts: "tuple[RunTree, ...]" = ()

    def __iter__(self) -> "Iterator[RunTree]":
        """The run, then its parts, each followed by its own."""
        yield self
        for part in self.parts:
            yield from part

    @property
    def notes(self) -> list[str]:
        """Return notes on what is missing, here and in the parts."""
        return [f"Run {one.row.run_id}: {note}" for one in self for note in one.recording.notes]

    @property
    def is_damaged(self) -> bool:
        """Return whether something of it could not be read."""
        return any(one.recording.is_damaged for one in self)

    @property
    def records(self) -> int:
        """Return how many there are in all."""
        return sum(len(one.recording) for one in self)


async def read_run_tree(journal: "RunLog", run_id: str, *, secrets: Sequence[str]) -> RunTree:
    """Return the run with all its parts, without what is a secret now, even if it was none when it was written."""
    rows = {row.run_id: row for row in await journal.runs()}
    return await _read_tree(journal, rows, rows[run_id], secrets, seen=set())


async def _read_tree(
    journal: "RunLog", rows: Mapping[str, RunRow], row: RunRow, secrets: Sequence[str], *, seen: set[str]
) -> RunTree:
    seen.add(row.run_id)
    recording = await journal.read(row.run_id)
    if secrets:
        cleaned = tuple((number, _redact(record, secrets)) for number, record in recording)
        recording = replace(recording, records=cleaned)
    parts = [one for one in reversed(list(rows.values())) if one.parent == row.run_id and one.run_id not in seen]
    return RunTree(
        row=row,
        recording=recording,
        times=await journal.times(row.run_id),
        parts=tuple([await _read_tree(journal, rows, one, secrets, seen=seen) for one in parts]),
    )


def _redact(record: "Record", secrets: Sequence[str]) -> "Record":
    encoded = encode(record, secrets=secrets)
    return decode(encoded.body, encoded.contents.__getitem__)


def format_json_lines(run: RunTree) -> Iterator[str]:
    """Yield the lines, each with its end."""
    yield _line(_header(run))
    for one in run:
        for number, record in one.recording:
            fields = to_jsonable_python(record, bytes_mode="base64", fallback=str)
            yield _line({"run_id": one.row.run_id, "index": number, "time": one.times.get(number), **fields})


def _header(run: RunTree) -> dict[str, object]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "toolroll": __version__,
        "records_format": FORMAT_VERSION,
        "run_id": run.row.run_id,
        "parent": run.row.parent,
        "began": run.row.began,
        "updated": run.row.updated,
        "parts": [one.row.run_id for one in run][1:],
        "records": run.records,
        "is_damaged": run.is_damaged,
        "damaged": [
            {"run_id": one.row.run_id, "index": number, "why": why}
            for one in run
            for number, why in one.recording.damaged
        ],
        "notes": run.notes,
    }


def _line(fields: dict[str, object]) -> str:
    # Only ASCII: no reader takes U+2028 for the end of a line, and no terminal obeys what stands in it.
    return json.dumps(fields, separators=(",", ":")) + "\n"
