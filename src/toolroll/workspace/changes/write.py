"""Write one file of a change, or take it back: always compare-and-swap, so that nobody's work is overwritten."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypeAlias

from toolroll.errors import FileProblem, PathRefused
from toolroll.safe.paths.names import RelativePath, parse_path
from toolroll.safe.paths.root import WriteReport
from toolroll.workspace.changes.proposal import Change
from toolroll.workspace.changes.records import Entry
from toolroll.workspace.workspace import Workspace

FileState: TypeAlias = Literal["before", "after", "same", "foreign"]
"""Where a file stands in a change: not yet there, done, both (nothing changes), or where it is not ours to touch."""
ContentReader: TypeAlias = Callable[[str], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackResult:
    """What came of taking a change back: the paths that are as before, and those that had to be left."""

    paths: tuple[str, ...]
    left: tuple[str, ...]


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
