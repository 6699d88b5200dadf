"""Finish or take back changes that a kill or a power cut left half done, before anything is written in a workspace.

Where all files are as after the change, it is done. Else what was written is taken back. A file with a content that is
neither the one before nor the one after is somebody's work: it stays, and is named.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from toolroll.errors import FileProblem, LockTimeout, PathRefused
from toolroll.safe.paths.names import RelativePath, parse_path, quote_path
from toolroll.workspace.changes.apply import file_state, roll_back
from toolroll.workspace.changes.history import History
from toolroll.workspace.changes.records import Record
from toolroll.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveredChange:
    """What became of one change: it is all there, none of it is, or some files had to be left as they are."""

    id: str
    description: str
    outcome: Literal["finished", "taken back", "partial"]
    left: tuple[str, ...] = ()


def describe_recovery(one: RecoveredChange) -> str:
    """Return a sentence about what became of a change, for a person."""
    if one.left:
        files = ", ".join(f"'{quote_path(path)}'" for path in one.left)
        return f"change {one.id} was left half done. It was taken back, but for later work in {files}, which stays."
    return f"change {one.id} was left half done, and is {one.outcome} now."


def open_history(workspace: Workspace) -> tuple[History, tuple[RecoveredChange, ...]]:
    """Return the history of a workspace, with everything that was left half done put right."""
    history = History(workspace.state)
    return history, recover(workspace, history)


def recover(workspace: Workspace, history: History) -> tuple[RecoveredChange, ...]:
    """Finish or take back what was left half done; what another process is at work on is left alone."""
    return tuple(found for record in history.unfinished() for found in _recover_change(workspace, history, record))


def _recover_change(workspace: Workspace, history: History, record: Record) -> Iterator[RecoveredChange]:
    paths = [parse_path(entry.path) for entry in record.entries]
    try:
        # Who made the record holds these locks until it is closed: once they are ours, it is closed or nobody's.
        with suppress(LockTimeout), workspace.locked(*paths):
            current = history.get(record.id)
            if current is not None and current.state == "intended":
                yield _settle(workspace, history, current, paths)
    except PathRefused:
        # Denied by now, so that nobody may even look: the intent stays, for when it is allowed again.
        left = tuple(entry.path for entry in record.entries)
        yield RecoveredChange(id=record.id, description=record.description, outcome="partial", left=left)


def _settle(workspace: Workspace, history: History, record: Record, paths: Sequence[RelativePath]) -> RecoveredChange:
    _sweep(workspace, paths)  # first: what is left in a folder that the change made would keep it from being removed
    places = [file_state(workspace, entry) for entry in record.entries]
    if all(place in ("after", "same") for place in places):
        history.finish(record.id, "applied")
        return RecoveredChange(id=record.id, description=record.description, outcome="finished")
    back = roll_back(workspace, record.entries, history.content)
    _sweep(workspace, paths)  # before the record is closed: after a kill here, nobody would look again
    history.finish(record.id, "partial" if back.left else "failed", rolled_back=back.paths)
    outcome: Literal["partial", "taken back"] = "partial" if back.left else "taken back"
    return RecoveredChange(id=record.id, description=record.description, outcome=outcome, left=back.left)


def _sweep(workspace: Workspace, paths: Sequence[RelativePath]) -> None:
    for folder in {path.parent for path in paths}:
        with suppress(FileProblem):
            workspace.remove_leftovers(folder)
