"""A run as lines of JSON: first what it is, then each record, then those of its parts.

    {"format": "toolroll-run", "version": 1, "run_id": ..., "parts": [...], "is_damaged": false, "notes": [], ...}
    {"run_id": ..., "index": 1, "time": 1772366400.0, "kind": "run_began", ...}

Long texts stand in the records, whole. Bytes (pictures, documents) are base64 with the letters of URLs (`-` and `_`),
under `data`. What tools answered beyond what the model was shown is not here: `output_ref` leads to it.
"""

import json
from collections.abc import Iterator
from typing import Final

from pydantic_core import to_jsonable_python

from toolroll._version import __version__
from toolroll.cli.export.run_tree import RunTree
from toolroll.journal.codec import FORMAT_VERSION

FORMAT: Final = "toolroll-run"
VERSION: Final = 1
"""Raised with every change that a program which reads the lines could misread."""


def format_json_lines(run: RunTree) -> Iterator[str]:
    """The lines, each with its end."""
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
        "notes": run.notes,
    }


def _line(fields: dict[str, object]) -> str:
    # Only ASCII: no reader takes U+2028 for the end of a line, and no terminal obeys what stands in it.
    return json.dumps(fields, separators=(",", ":")) + "\n"
