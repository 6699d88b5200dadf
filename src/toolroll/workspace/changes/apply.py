"""Apply a proposal: all of it or none of it, and only to what it was based on (C30, C32).

The order is: locks on all files, in one order for everybody; every file is what the proposal was made from, or nothing
happens; the intent with all contents goes on record; the files are written, each a compare-and-swap of its own; the
record is closed. Where one write fails, those before it are taken back. Where the process is killed, `recovery` does
that when the workspace is next opened.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from toolroll.errors import (
    EditRefused,
    FileExists,
    FileProblem,
    JournalRefused,
    NotAFile,
    OutsideRoot,
    PathRefused,
    StaleFile,
)
from toolroll.messages import CHANGE_DIFFERENCE, CHANGE_STALE, Text
from toolroll.safe.paths.names import RelativePath, parse_path, quote_path
from toolroll.safe.paths.root import WriteReport
from toolroll.workspace.changes.history import History, new_id
from toolroll.workspace.changes.proposal import Change, Proposal
from toolroll.workspace.changes.records import DroppedChanges, Entry, Intent, Kind
from toolroll.workspace.edit.merge import describe_drift
from toolroll.workspace.workspace import Workspace

FileState: TypeAlias = Literal["before", "after", "same", "foreign"]
"""Where a file stands in a change: not yet there, done, both (nothing changes), or where it is not ours to touch."""

ContentReader: TypeAlias = Callable[[str], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedChange:
    """What was done: the id to undo it by, the files, and what a person or a model should know besides."""

    id: str
    paths: tuple[str, ...]
    hard_linked: tuple[str, ...] = ()
    uncompared: tuple[str, ...] = ()
    """Files on a file system that cannot compare and replace in one step."""
    lost: tuple[tuple[str, str], ...] = ()
    """Files that had something beside their content that could not be kept, each with what."""
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
        lost = [f"'{quote_path(path)}' has lost {what} with the old content." for path, what in self.lost]
        gone = len(self.dropped.ids)
        dropped = [f"{gone} of the oldest changes can no longer be undone: the history was full."] if gone else []
        over = ["This change alone is more than the history should hold. It is kept."] if self.dropped.is_over else []
        return (*linked, *uncompared, *lost, *dropped, *over, *self.remarks)


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackResult:
    """What came of taking a change back: the paths that are as before, and those that had to be left."""

    paths: tuple[str, ...]
    left: tuple[str, ...]


def apply(
    workspace: Workspace,
    proposal: Proposal,
    history: History,
    *,
    run_id: str,
    call_id: str | None = None,
    batch: str | None = None,
    kind: Kind = "change",
    undoes: Sequence[tuple[str, str]] = (),
) -> AppliedChange:
    """Write what the proposal says, or raise and leave everything as it was; StaleFile if it is out of date.

    `call_id` is the call that makes the change, by which a resumed run finds out what became of it. Changes
    with the same `batch` are undone together.
    """
    changes = proposal.changes
    workspace = workspace.without_links()  # the paths are resolved: what has become a link since was not approved
    with workspace.locked(*(change.path for change in changes)):
        intent = Intent(
            id=new_id(),
            run_id=run_id,
            description=proposal.description,
            kind=kind,
            entries=tuple(_check_and_record(workspace, change) for change in changes),
            contents=tuple(one for change in changes for one in (change.before, change.after) if one is not None),
            undoes=tuple(undoes),
            call_id=call_id,
            batch=batch,
        )
        history.begin(intent)
        reports = _write_all(workspace, history, intent, changes)
        applied = AppliedChange(
            id=intent.id,
            paths=proposal.paths,
            hard_linked=tuple(path for path, report in reports if report.hard_linked),
            uncompared=tuple(path for path, report in reports if not report.is_compared),
            lost=tuple((path, ", ".join(report.lost)) for path, report in reports if report.lost),
        )
        return _finish(history, applied)


def _check_and_record(workspace: Workspace, change: Change) -> Entry:
    """Return what goes on record of a file, after a look at whether it is what the change was made from."""
    path = change.path
    try:
        is_unchanged = workspace.hash(path) == change.base
    except (NotAFile, OutsideRoot):  # it has become a folder or a link, or is below one
        is_unchanged = False
    if not is_unchanged:
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


def write_change(workspace: Workspace, change: Change) -> WriteReport:
    """Write one change if its file is as it says, and return what is worth knowing about it."""
    if change.does_nothing:
        return WriteReport(resolved=change.path, created=False, hard_linked=False)
    if change.after is not None:
        return workspace.write(change.path, change.after, base=change.base, mode=change.mode)
    return workspace.remove(change.path, base=change.base or "")


def file_state(workspace: Workspace, entry: Entry) -> FileState:
    """Return where the file of an entry stands, by its hash; by its mode where that is all that changes."""
    try:
        path = parse_path(entry.path)
        now = workspace.hash(path)
        mode = None if now is None else file_mode(workspace, path)
    except (FileProblem, PathRefused):
        return "foreign"
    if entry.before == entry.after == now:
        return _state_by_mode(entry, mode)
    return "before" if now == entry.before else "after" if now == entry.after else "foreign"


def _state_by_mode(entry: Entry, mode: int | None) -> FileState:
    if entry.after_mode in (None, entry.before_mode):
        return "same"
    return "after" if mode == entry.after_mode else "before"


def file_mode(workspace: Workspace, path: RelativePath) -> int:
    """Return who may read, write and run a file; set-user-id is not among what is given back."""
    return workspace.status(path).mode & 0o777


def count_missing_folders(workspace: Workspace, path: RelativePath) -> int:
    """Return how many of the folders that a path needs are not there."""
    missing, folder = 0, path.parent
    while folder.parts and not workspace.exists(folder):
        missing, folder = missing + 1, folder.parent
    return missing


def roll_back(workspace: Workspace, entries: Sequence[Entry], content: ContentReader) -> RollbackResult:
    """Take back what was done of a change, the last file first; what somebody else has changed is left."""
    workspace = workspace.without_links()
    done: list[str] = []
    left: list[str] = []
    for entry in reversed(entries):
        (done if _roll_back_file(workspace, entry, content) else left).append(entry.path)
    return RollbackResult(paths=tuple(done), left=tuple(left))


def reverse_change(entry: Entry, content: ContentReader) -> Change:
    """Return the change that leads from after an entry to before it."""
    gives_mode = entry.after_mode is not None or entry.after is None
    return Change(
        path=parse_path(entry.path),
        before=None if entry.after is None else content(entry.after),
        after=None if entry.before is None else content(entry.before),
        mode=entry.before_mode if gives_mode else None,
    )


def remove_created_folders(workspace: Workspace, entry: Entry) -> None:
    """Remove the folders that were made for a file that is gone again, as far as nobody uses them."""
    folder = parse_path(entry.path).parent
    for _ in range(entry.made_folders):
        with suppress(FileProblem):
            workspace.remove_folder(folder)
        folder = folder.parent


def _roll_back_file(workspace: Workspace, entry: Entry, content: ContentReader) -> bool:
    place = file_state(workspace, entry)
    if place == "after":
        try:
            write_change(workspace, reverse_change(entry, content))
        except FileProblem:
            # It may have happened all the same: what fails in its last step, the sync of a folder, has.
            place = file_state(workspace, entry)
    if place != "foreign" and entry.before is None:
        remove_created_folders(workspace, entry)
    return file_state(workspace, entry) in ("before", "same")
