"""Apply a proposal: all of it or none of it, and only to what it was based on (C30, C32).

The order is: locks on all files, in one order for everybody; every file is what the proposal was made from, or nothing
happens; the intent with all contents goes on record; the files are written, each a compare-and-swap of its own; the
record is closed. Where one write fails, those before it are taken back. Where the process is killed, `recovery` does
that when the workspace is next opened.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from toolroll.errors import EditRefused, FileExists, FileProblem, JournalRefused, StaleFile
from toolroll.messages import CHANGE_DIFFERENCE, CHANGE_STALE, Text
from toolroll.safe.paths.names import quote_path
from toolroll.safe.paths.root import WriteReport
from toolroll.workspace.changes.history import History, new_id
from toolroll.workspace.changes.proposal import Change, Proposal
from toolroll.workspace.changes.records import DroppedChanges, Entry, Intent, Kind
from toolroll.workspace.changes.write import count_missing_folders, file_mode, roll_back, write_change
from toolroll.workspace.edit.merge import describe_drift
from toolroll.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedChange:
    """What was done: the id to undo it by, the files, and what a person or a model should know besides."""

    id: str
    paths: tuple[str, ...]
    hard_linked: tuple[str, ...] = ()
    uncompared: tuple[str, ...] = ()
    """Files on a file system that cannot compare and replace in one step."""
    dropped: DroppedChanges = field(default_factory=DroppedChanges)
    remarks: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Return all that is worth telling, a sentence each."""
        linked = [
            f"'{quote_path(path)}' had other names (hard links): they keep the old content, this name has the new one."
            for path in self.hard_linked
        ]
        uncompared = [
            f"The file system of '{quote_path(path)}' cannot exchange two files in one step: if another program saved "
            "it at the same moment, that save is lost."
            for path in self.uncompared
        ]
        gone = len(self.dropped.ids)
        dropped = [f"{gone} of the oldest changes can no longer be undone: the history was full."] if gone else []
        over = ["This change alone is more than the history should hold. It is kept."] if self.dropped.is_over else []
        return (*linked, *uncompared, *dropped, *over, *self.remarks)


def apply(
    workspace: Workspace,
    proposal: Proposal,
    history: History,
    *,
    run_id: str,
    kind: Kind = "change",
    undoes: Sequence[tuple[str, str]] = (),
) -> AppliedChange:
    """Write what the proposal says, or raise and leave everything as it was; StaleFile if it is out of date."""
    changes = proposal.changes
    with workspace.locked(*(change.path for change in changes)):
        intent = Intent(
            id=new_id(),
            run_id=run_id,
            description=proposal.description,
            kind=kind,
            entries=tuple(_check_and_record(workspace, change) for change in changes),
            contents=tuple(one for change in changes for one in (change.before, change.after) if one is not None),
            undoes=tuple(undoes),
        )
        history.begin(intent)
        reports = _write_all(workspace, history, intent, changes)
        applied = AppliedChange(
            id=intent.id,
            paths=proposal.paths,
            hard_linked=tuple(path for path, report in reports if report.hard_linked),
            uncompared=tuple(path for path, report in reports if not report.is_compared),
        )
        return _finish(history, applied)


def _check_and_record(workspace: Workspace, change: Change) -> Entry:
    """Return what goes on record of a file, after a look at whether it is what the change was made from."""
    path = change.path
    if workspace.hash(path) != change.base:
        raise _stale_error(workspace, change)
    return Entry(
        path=str(path),
        before=change.base,
        after=change.target,
        before_mode=None if change.before is None else file_mode(workspace, path),
        after_mode=change.mode,
        made_folders=count_missing_folders(workspace, path) if change.before is None else 0,
    )


def _stale_error(workspace: Workspace, change: Change) -> FileProblem:
    name = quote_path(str(change.path))
    if change.before is None:
        message = f"'{name}' exists by now. Nothing was written: read it, and propose a change of what is there."
        return FileExists(message, path=name)
    difference: Text | str = ""
    with suppress(FileProblem):  # gone, binary or too large by now: then there are no lines to show
        diff = describe_drift(change.path, change.before, workspace.read(change.path).data)
        difference = CHANGE_DIFFERENCE(diff=diff)
    return StaleFile(CHANGE_STALE(path=name, difference=difference), path=name)


def _write_all(
    workspace: Workspace, history: History, intent: Intent, changes: Sequence[Change]
) -> list[tuple[str, WriteReport]]:
    reports: list[tuple[str, WriteReport]] = []
    tried: list[Entry] = []
    try:
        for entry, change in zip(intent.entries, changes, strict=True):
            tried.append(entry)
            reports.append((entry.path, write_change(workspace, change)))
    except BaseException as error:
        _take_back(workspace, history, intent, changes, tried, error)
        raise
    return reports


def _take_back(
    workspace: Workspace,
    history: History,
    intent: Intent,
    changes: Sequence[Change],
    tried: Sequence[Entry],
    error: BaseException,
) -> None:
    contents = {hash_: data for one in changes for hash_, data in ((one.base, one.before), (one.target, one.after))}
    back = roll_back(workspace, tried, lambda hash_: contents[hash_] or b"")
    untried = [entry.path for entry in intent.entries[len(tried) :]]
    history.finish(intent.id, "partial" if back.left else "failed", rolled_back=[*back.paths, *untried])
    if back.left:
        names = ", ".join(f"'{quote_path(path)}'" for path in back.left)
        message = f"{error} What was written before could not all be taken back: look at {names}."
        raise EditRefused(message, path=quote_path(back.left[0]), rule="partial") from error


def _finish(history: History, applied: AppliedChange) -> AppliedChange:
    try:
        history.finish(applied.id, "applied", hard_linked=applied.hard_linked)
        return replace(applied, dropped=history.drop_oldest())
    except JournalRefused as error:
        # All is written, and the intent tells so: the next one who opens the workspace closes the record.
        remark = f"The change was made, but its record could not be closed yet: {error.message}"
        return replace(applied, remarks=(remark,))
