"""Summaries of recorded runs for a list. They come from the raw rows: a list needs neither pydantic nor an agent.

Checksums are verified as when a run is opened, so a list shows which runs are damaged.
"""

import hashlib
import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from toolroll.errors import JournalRefused
from toolroll.journal.chain import Row, walk_rows
from toolroll.journal.places import RunLogPlace, open_tables
from toolroll.journal.tables import JOB_PREFIX, LIST_RUNS, Tables, check_format

Fields: TypeAlias = Mapping[str, Any]
_NUL: Final = "\0"
_INPUT: Final = ("input_tokens", "cache_read_tokens", "cache_write_5m_tokens", "cache_write_1h_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """One run of a list; times are seconds since 1970."""

    run_id: str
    began: float
    updated: float
    parent: str | None = None
    stop_reason: str | None = None
    """Why it ended; None if it has not."""
    steps: int = 0
    model: str = ""
    forked_from: str | None = None
    at: int | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    prompt: str = ""
    messages: int = 0
    """How many messages of a person it answered; those of an earlier conversation are not counted."""
    cost: float | None = 0.0
    """What it cost in US dollars, sub-agents included; None where a part of it is not known."""
    input_tokens: int = 0
    """All that was sent, from the cache or not, sub-agents included; `output_tokens` is what came back."""
    output_tokens: int = 0
    is_damaged: bool = False


def read_summaries(
    place: RunLogPlace, *, limit: int, only: Collection[str] | None = None
) -> tuple[list[RunSummary], int]:
    """Return the latest runs in that run log, at most `limit`, and how many there are; with `only`, of those runs."""
    with open_tables(place) as db:
        return ([], 0) if db is None else summarize(db, limit=limit, only=only)


def summarize(db: Tables, *, limit: int, only: Collection[str] | None = None) -> tuple[list[RunSummary], int]:
    """Return the latest runs in these tables, as `read_summaries` does."""
    rows = [row for row in db.execute(LIST_RUNS) if is_listed(row[0], only)]
    return [summarize_run(db, row) for row in rows[:limit]], len(rows)


def is_listed(run_id: str, only: Collection[str] | None = None) -> bool:
    """Return whether a run stands in a list of runs: jobs do not."""
    return not run_id.startswith(JOB_PREFIX) if only is None else run_id in only


def summarize_run(db: Tables, row: tuple[Any, ...]) -> RunSummary:
    """Return the summary of a run, from its row of `LIST_RUNS`."""
    run_id, began, parent, _, updated, _ = row
    check_format(db, run_id)
    reader = _RunReader(db, run_id)
    start, end = reader.read()
    return RunSummary(
        run_id=run_id,
        began=began,
        updated=updated,
        parent=parent,
        stop_reason=None if end is None else end.get("stop_reason"),
        steps=reader.steps,
        model=start.get("model", ""),
        forked_from=start.get("forked_from"),
        at=start.get("at"),
        settings=start.get("settings", {}),
        prompt=reader.prompt,
        messages=reader.messages,
        cost=reader.cost,
        input_tokens=reader.input_tokens,
        output_tokens=reader.output_tokens,
        is_damaged=reader.is_damaged,
    )


class _RunReader:
    """Reads the rows of one run; those that are not what was written are left out."""

    def __init__(self, db: Tables, run_id: str) -> None:
        self._db = db
        self._run_id = run_id
        self.steps = 0
        self.messages = 0
        self.cost: float | None = 0.0
        self.input_tokens = self.output_tokens = 0
        self.is_damaged = False
        self._earlier = 0
        self._said = ""
        self._said_by_user: str | None = None

    @property
    def prompt(self) -> str:
        """Return what began the run: the last thing a person said before the model first answered.

        In a chat, everything before it is older.
        """
        return self._said if self._said_by_user is None else self._said_by_user

    def read(self) -> tuple[Fields, Fields | None]:
        """Return the record of its beginning and that of its end, None if it goes on."""
        start: Fields = {}
        end: Fields | None = None
        for kind, record in self._records():
            match kind:
                case "run_began":
                    start = start or record
                    self._earlier = start.get("earlier", 0)
                case "said":
                    self._note_said(record)
                case "answered":
                    self.steps += 1
                    self._add_cost(record)
                case "spent":
                    self._add_cost(record)
            if kind != "kept":  # what is stored with a run that is over does not begin it anew
                end = record if kind == "finished" else None
        return start, end

    def _records(self) -> Iterator[tuple[str, Fields]]:
        damaged, row = [], None
        for row in walk_rows(self._db, self._run_id):
            record = self._decode(row)
            if record is None:
                damaged.append(row.number)
            else:
                yield row.kind, record
        # Only the end can be torn by a crash: elsewhere it is damage.
        self.is_damaged = bool(damaged) and not (row is not None and row.kind and damaged == [row.number])

    def _decode(self, row: Row) -> Fields | None:
        if not row.is_whole:
            return None
        try:
            record: Fields = json.loads(row.body)
            return self._with_texts(record) if b"\\u0000" in row.body else record
        except (JournalRefused, ValueError, sqlite3.DatabaseError):
            return None

    def _with_texts(self, value: Any) -> Any:
        """Return the value with the long texts that are stored beside it: see `codec`."""
        if isinstance(value, dict):
            return {key: self._with_texts(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._with_texts(item) for item in value]
        if not isinstance(value, str) or not value.startswith(_NUL):
            return value
        return value[1:] if value.startswith(_NUL * 2) else self._text(value[1:])

    def _text(self, name: str) -> str:
        row = self._db.execute("select body from contents where hash = ?", (name,)).fetchone()
        if row is None or hashlib.sha256(row[0]).hexdigest() != name:
            raise JournalRefused("a text of it is missing or changed")
        return str(row[0], "utf-8")

    def _note_said(self, record: Fields) -> None:
        if record.get("about") is not None:
            return
        if not self.steps:
            self._note_message(record["message"])
        if self._earlier:
            self._earlier -= 1
        else:
            self.messages += record["message"]["role"] == "user"

    def _add_cost(self, record: Fields) -> None:
        cost = record.get("cost")
        self.cost = None if cost is None or self.cost is None else self.cost + cost
        usage = record.get("usage") or {}
        self.input_tokens += sum(usage.get(name) or 0 for name in _INPUT)
        self.output_tokens += usage.get("output_tokens") or 0

    def _note_message(self, message: Fields) -> None:
        match message["role"]:
            case "user":
                parts = message["content"]
                self._said_by_user = "".join(
                    part["text"] if part["type"] == "text" else f"[{part['type']}]" for part in parts
                )
            case "assistant":
                self._said = "".join(block["text"] for block in message["blocks"] if block["type"] == "text")
            case _:
                self._said = f"[{len(message['results'])} results]"
