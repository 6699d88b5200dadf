"""The log of an idea's explorations: `exploration-log.json` beside the document, one entry appended a run (R22)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from toolroll.agent.result import ToolCallLog
from toolroll.errors import JsonRefused
from toolroll.kernel.arguments.parse import parse_json
from toolroll.packs.research.source import DOCUMENT, LOG


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One run in facts and figures. `tool_calls` only where they were asked for, `notes` of a run in two phases.

    `error` is why a run in two phases has notes and no document.
    """

    job_id: str
    idea: str
    mode: str
    model: str
    context: str
    is_update: bool
    continue_from: str | None
    started_at: str
    completed_at: str
    duration_ms: int
    steps: int
    requests: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    stop_reason: str
    output_path: str | None
    runs: tuple[str, ...]
    sources: tuple[Mapping[str, object], ...] = ()
    failed_searches: tuple[Mapping[str, object], ...] = ()
    tool_calls: tuple[ToolCallLog, ...] | None = None
    notes: str | None = None
    error: str | None = None

    @property
    def fields(self) -> dict[str, object]:
        """Return the entry as JSON, without optional fields that this run does not have."""
        optional = ("tool_calls", "notes", "error")
        return {name: value for name, value in asdict(self).items() if name not in optional or value is not None}


def log_path(document: str) -> str:
    """Return the path of the log that belongs to a document."""
    return f"{document.removesuffix(DOCUMENT)}{LOG}"


def add_entry(before: str | None, entry: LogEntry) -> str:
    """Return the log with one more entry, which replaces an earlier one of the same job.

    A log that cannot be read is kept as it is, inside the new one.
    """
    # Not our own writer: this is for people, indented.
    others = [one for one in parse_log(before) if not _belongs_to(one, entry.job_id)]
    return json.dumps([*others, entry.fields], ensure_ascii=False, indent=2) + "\n"


def _belongs_to(entry: object, job_id: str) -> bool:
    return isinstance(entry, dict) and entry.get("job_id") == job_id


def parse_log(text: str | None) -> Sequence[object]:
    """Return the entries of a log, the oldest first."""
    if text is None or not text.strip():
        return []
    try:
        found = parse_json(text)
    except JsonRefused:
        found = None
    return found if isinstance(found, list) else [{"unreadable": text}]
