"""Conversations for a list: the runs of one chat together, and each other run by itself.

In a chat every message may be a run; what they have in common is a setting, the id of the first of them. As in
`summaries`, only raw rows are read.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from toolroll.journal.places import RunLogPlace, open_tables
from toolroll.journal.summaries import RunSummary, is_listed, summarize_run
from toolroll.journal.tables import LIST_RUNS, Tables

CHAT: Final = "chat"
"""The setting by which the runs of one chat are known: the id of the first of them."""
_FIRST: Final = "select body from records where run_id = ? order by number limit 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationSummary:
    """One conversation: its runs, the oldest first."""

    chat_id: str
    runs: tuple[RunSummary, ...]

    @property
    def first(self) -> RunSummary:
        """Return the run that began it."""
        return self.runs[0]

    @property
    def last(self) -> RunSummary:
        """Return the latest run; it begins with all that was said before."""
        return self.runs[-1]

    @property
    def title(self) -> str:
        """Return the first line of the first message; what is attached stands in lines behind it."""
        return next((line for line in self.first.prompt.splitlines() if line.strip()), "")

    @property
    def messages(self) -> int:
        """Return how many messages of the person it has."""
        return sum(run.messages for run in self.runs)

    @property
    def steps(self) -> int:
        """Return how often a model has answered."""
        return sum(run.steps for run in self.runs)

    @property
    def cost(self) -> float | None:
        """Return what it has cost in US dollars; None where a part of it is not known."""
        costs = [run.cost for run in self.runs if run.cost is not None]
        return sum(costs) if len(costs) == len(self.runs) else None

    @property
    def application(self) -> str:
        """Return which command answered: `code`, `explore`, `write` or `run`; nothing where that is not recorded."""
        settings = self.last.settings
        return "code" if settings.get("is_code") is True else str(settings.get("kind") or "")

    @property
    def folder(self) -> str:
        """Return the project that it is about, or the folder it was started in."""
        settings = self.last.settings
        return str(settings.get("root") or settings.get("folder") or "")

    @property
    def is_chat(self) -> bool:
        """Return whether it was held in a chat."""
        return CHAT in self.last.settings


def read_conversations(place: RunLogPlace, *, limit: int) -> tuple[list[ConversationSummary], int]:
    """Return the conversations in that run log with the latest runs, at most `limit`, and how many there are."""
    with open_tables(place) as db:
        if db is None:
            return [], 0
        groups = _group_runs(db)
        return [_summarize(db, *group) for group in islice(groups.items(), limit)], len(groups)


def find_conversations(place: RunLogPlace, *, application: str) -> Iterator[ConversationSummary]:
    """Yield the conversations of one application, the latest first; parts of other runs, and damaged runs, are none."""
    with open_tables(place) as db:
        if db is None:
            return
        for group in _group_runs(db).items():
            found = _summarize(db, *group)
            if found.application == application and found.last.parent is None and not found.last.is_damaged:
                yield found


def _group_runs(db: Tables) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of all runs by chat, both with the latest first."""
    groups: dict[str, list[tuple[Any, ...]]] = {}
    for row in db.execute(LIST_RUNS).fetchall():
        if is_listed(row[0]):
            groups.setdefault(_read_chat(db, row[0]), []).append(row)
    return groups


def _read_chat(db: Tables, run_id: str) -> str:
    """Return the chat that a run belongs to; one that belongs to none is its own."""
    with suppress(ValueError, AttributeError, sqlite3.DatabaseError):  # damaged: then it stands alone
        body = db.execute(_FIRST, (run_id,)).fetchone()[0]
        return str(json.loads(body).get("settings", {}).get(CHAT) or run_id)
    return run_id


def _summarize(db: Tables, chat_id: str, rows: list[tuple[Any, ...]]) -> ConversationSummary:
    return ConversationSummary(chat_id=chat_id, runs=tuple(summarize_run(db, row) for row in reversed(rows)))
