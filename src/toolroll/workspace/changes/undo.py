"""Undo and redo changes: first a plan of what would happen, then exactly that, as a change of its own (C31).

An undo leads each file from what a change made of it to what was there before. Where somebody has worked on the file
since, that work stays: the undo is merged with it if the two do not touch, and only when that is accepted; otherwise
the file is left alone, and both sides are shown. A redo is the undo of an undo.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from toolroll.errors import FileProblem, PathRefused, UsageError
from toolroll.safe.paths.names import quote_path
from toolroll.workspace.changes.apply import AppliedChange, apply, file_mode, remove_created_folders, reverse_change
from toolroll.workspace.changes.history import History
from toolroll.workspace.changes.proposal import Change, Proposal
from toolroll.workspace.changes.records import Entry, Kind, Record
from toolroll.workspace.edit.merge import Conflict, merge
from toolroll.workspace.workspace import Workspace

UndoAction: TypeAlias = Literal["restore", "remove", "recreate", "nothing", "merge", "conflict", "unreachable"]

_DESCRIPTIONS: Final[dict[UndoAction, str]] = {
    "restore": "gets back the content it had",
    "remove": "is removed: this change created it",
    "recreate": "is created again: this change removed it",
    "nothing": "is already as it was before",
    "merge": "has changed since; the later work does not touch this change and can be kept (needs a yes)",
    "conflict": "has changed since, in the same place; it is left as it is",
    "unreachable": "cannot be reached; it is left as it is",
}
_REDO_DESCRIPTIONS: Final[dict[UndoAction, str]] = _DESCRIPTIONS | {
    "restore": "gets the change again",
    "remove": "is removed again",
    "recreate": "is created again",
    "nothing": "has the change already",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoStep:
    """What would happen to one file; `targets` are the changes that it takes back."""

    path: str
    action: UndoAction
    targets: tuple[str, ...]
    change: Change | None = None
    conflicts: tuple[Conflict, ...] = ()
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoPlan:
    """What an undo or redo would do, file by file.

    `more` says, where the latest change of a file was asked for, how many earlier ones of it could follow.
    """

    kind: Kind
    description: str
    steps: tuple[UndoStep, ...]
    more: int = 0

    def describe(self, step: UndoStep) -> str:
        """Return a sentence about what would happen to a file."""
        descriptions = _REDO_DESCRIPTIONS if self.kind == "redo" else _DESCRIPTIONS
        return f"'{quote_path(step.path)}' {descriptions[step.action]}."

    def taken(self, *, merges: bool) -> tuple[UndoStep, ...]:
        """Return the steps that can be done; those that merge only if that is accepted."""
        return tuple(step for step in self.steps if step.change and (merges or step.action != "merge"))

    def proposal(self, *, merges: bool) -> Proposal | None:
        """Return the same as a proposal, to be shown and approved; None where nothing can be done."""
        changes = tuple(step.change for step in self.taken(merges=merges) if step.change)
        return Proposal(changes=changes, description=self.description) if changes else None


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoResult:
    """What was done of a plan, and what was left."""

    applied: AppliedChange | None
    done: tuple[UndoStep, ...]
    left: tuple[UndoStep, ...]


def plan_undo(
    workspace: Workspace,
    history: History,
    *,
    change: str | None = None,
    path: str | None = None,
    run_id: str | None = None,
) -> UndoPlan:
    """Plan an undo of a change, of all of a run, or of what was done last, to a file or at all.

    That is the latest change, with those that were allowed together with it, or the latest redo with all that it
    brought back: whichever came later.
    """
    listed = history.changes(run_id=run_id, path=path)
    records = [one for one in listed if _is_active(one, "change", path)]
    if change is not None:
        records = [one for one in records if one.id == change]
    if not records:
        raise UsageError(_nothing_message(history, "undo", change))
    is_named = change is not None or run_id is not None
    chosen = records if is_named else _latest_parts(records, [one.id for one in listed], history.redone(), path)
    if not is_named and path is None and len(chosen) == 1:
        together = history.allowed_with(chosen[0].id)
        chosen = [one for one in records if one.id in together] if chosen[0] in records else chosen
    plan = _build_plan(workspace, history, chosen, kind="undo", path=path)
    return replace(plan, more=0 if path is None else len(records) - len(chosen))


def plan_redo(
    workspace: Workspace,
    history: History,
    *,
    change: str | None = None,
    path: str | None = None,
    run_id: str | None = None,
) -> UndoPlan:
    """Plan a redo of what was undone: of a change, of all of a run, or by the latest undo, of a file or at all.

    Of a run it is the last of its undos that is turned back first: each finds the file as it had left it.
    """
    undos = history.changes(path=path) if change is None else history.undos_of(change)
    if run_id is not None:
        of_run = {one.id for one in history.undos_of_run(run_id)}
        undos = tuple(one for one in undos if one.id in of_run)
    records = [one for one in (_to_redo(history, undo) for undo in undos) if _is_active(one, "undo", path)]
    if not records:
        raise UsageError(_nothing_message(history, "redo", change))
    chosen = records if run_id is not None and change is None else records[:1]
    plan = _build_plan(workspace, history, chosen, kind="redo", path=path)
    return replace(plan, more=0 if path is None else len(records) - len(chosen))


def undo(workspace: Workspace, history: History, plan: UndoPlan, *, run_id: str, merges: bool = False) -> UndoResult:
    """Do what a plan says, all of its files or none; StaleFile where one has changed since it was made."""
    done = plan.taken(merges=merges)
    left = tuple(step for step in plan.steps if step not in done)
    proposal = plan.proposal(merges=merges)
    if proposal is None:
        return UndoResult(applied=None, done=(), left=left)
    undoes = [(step.path, target) for step in done for target in step.targets]
    applied = apply(workspace, proposal, history, run_id=run_id, kind=plan.kind, undoes=undoes)
    for entry in (entry for step in done if step.action == "remove" for entry in step.entries):
        remove_created_folders(workspace, entry)
    return UndoResult(applied=applied, done=done, left=left)


def _is_active(record: Record, kind: Kind, path: str | None) -> bool:
    is_there = record.state in ("applied", "partial")
    return record.kind == kind and is_there and bool(_active_entries(record, path))


def _active_entries(record: Record, path: str | None) -> list[Entry]:
    """Return what of it nobody has taken back, in one file or in all."""
    return [entry for entry in record.entries if entry.undone_by is None and path in (None, entry.path)]


def _latest_parts(
    records: Sequence[Record], listed: Sequence[str], redone: Mapping[tuple[str, str], str], path: str | None
) -> list[Record]:
    """Return the parts of the changes in force that came by what was done last; `listed` has the latest first."""
    order = {id_: number for number, id_ in enumerate(listed)}
    came_by: dict[str, list[Record]] = {}
    for record in records:
        by_id: dict[str, list[Entry]] = {}
        for entry in _active_entries(record, path):
            redo = redone.get((record.id, entry.path), "")
            by_id.setdefault(redo if redo in order else record.id, []).append(entry)
        for id_, entries in by_id.items():
            came_by.setdefault(id_, []).append(replace(record, entries=tuple(entries)))
    return came_by[min(came_by, key=order.__getitem__)]


def _to_redo(history: History, record: Record) -> Record:
    """Return an undo with what a redo has to turn back."""
    entries = [_entry_to_redo(history, record.id, entry) for entry in record.entries]
    return replace(record, entries=tuple(entry for entry in entries if entry is not None))


def _entry_to_redo(history: History, undo: str, entry: Entry) -> Entry | None:
    """Return the entry of an undo; None where what it took back is neither in it nor kept elsewhere.

    Where a file was back already, by hand, the undo found nothing to do and its entry leads nowhere: then the redo
    goes by what the changes themselves had made of the file.
    """
    if entry.before != entry.after or entry.after_mode is not None:
        return entry
    taken = [one for record in history.taken_back_by(undo, entry.path) for one in record.entries]
    found = [one for one in taken if one.path == entry.path]
    if not found:
        return None
    given = next((one.after_mode for one in found if one.after_mode is not None), None)
    had = None if given is None else found[-1].before_mode
    return replace(entry, before=found[0].after, after=found[-1].before, before_mode=given, after_mode=had)


def _nothing_message(history: History, what: str, change: str | None) -> str:
    if change is None:
        return f"There is nothing to {what}."
    known = history.get(change)
    why = "No change on record has that id" if known is None else f"It is {_describe_state(known)}"
    return f"There is nothing to {what} of '{quote_path(change)}'. {why}. List the changes to see what there is."


def _describe_state(record: Record) -> str:
    if record.kind != "change":
        return f"{'an' if record.kind == 'undo' else 'a'} {record.kind} itself"
    return "undone already" if record.is_undone else f"'{record.state}', and not undone"


def _build_plan(
    workspace: Workspace, history: History, records: Sequence[Record], *, kind: Kind, path: str | None
) -> UndoPlan:
    """Return the steps of all files, each through its entries from the latest to the first."""
    found: dict[str, list[tuple[str, Entry]]] = {}
    for record in records:
        for entry in _active_entries(record, path):
            found.setdefault(entry.path, []).append((record.id, entry))
    steps = tuple(_build_step(workspace, history, name, entries) for name, entries in found.items())
    return UndoPlan(kind=kind, description=f"{kind}: {_describe(history, records)}", steps=steps)


def _describe(history: History, records: Iterable[Record]) -> str:
    """Say what an undo or redo is about: the change itself, also where it is an undo that is undone."""
    changes = {change.id: change for record in records for change in _original_changes(history, record)}
    if len(changes) > 1:
        return f"{len(changes)} changes"
    return "".join(change.description or f"change {change.id}" for change in changes.values())


def _original_changes(history: History, record: Record) -> Iterable[Record]:
    """Return the changes that an undo took back, as far as they are kept; any other record is one itself."""
    if record.kind != "undo":
        return [record]
    found = [one for entry in record.entries for one in history.taken_back_by(record.id, entry.path)]
    return found or [record]


def _build_step(workspace: Workspace, history: History, path: str, found: Sequence[tuple[str, Entry]]) -> UndoStep:
    targets = tuple(change for change, _ in found)
    entries = tuple(entry for _, entry in found)
    try:
        now, mode = _read_current(workspace, path)
    except (FileProblem, PathRefused):
        return UndoStep(path=path, action="unreachable", targets=targets)
    state, is_merged = now, False
    for entry in entries:
        back = reverse_change(entry, history.content)
        if state in (back.before, back.after):
            state = back.after
            continue
        merged = _merge(back, state)
        if isinstance(merged, tuple):
            return UndoStep(path=path, action="conflict", targets=targets, conflicts=merged)
        state, is_merged = merged, True
    # A file that a run made and removed again has a mode on record, and is not there to be given it.
    given = None if state is None else _mode_to_give(entries, now, mode)
    change = Change(path=workspace.path(path), before=now, after=state, mode=given)
    action: UndoAction = "merge" if is_merged else _choose_action(change)
    return UndoStep(path=path, action=action, targets=targets, change=change, entries=entries)


def _read_current(workspace: Workspace, path: str) -> tuple[bytes | None, int | None]:
    relative, workspace = workspace.path(path), workspace.without_links()
    if not workspace.exists(relative):  # asked for first: no walk for what may have been meant, once a file
        return None, None
    return workspace.read(relative).data, file_mode(workspace, relative)


def _merge(back: Change, now: bytes | None) -> bytes | tuple[Conflict, ...]:
    """Return the later work with the change taken out of it, or where the two touch."""
    if now is None or back.before is None or back.after is None:
        sides = Conflict(line=1, base=back.before or b"", ours=now or b"", theirs=back.after or b"")
        return (sides,)
    merged = merge(back.before, now, back.after)
    return merged.conflicts if merged.data is None else merged.data


def _mode_to_give(entries: Sequence[Entry], now: bytes | None, mode: int | None) -> int | None:
    """Return the mode to give: of a file that comes back, and where the mode is still the one that the change gave."""
    given: int | None = None
    for entry in entries:
        comes_back = entry.after is None and now is None
        if comes_back or (entry.after_mode is not None and mode == entry.after_mode):
            given = mode = entry.before_mode
    return given


def _choose_action(change: Change) -> UndoAction:
    if change.before is None and change.after is not None:
        return "recreate"
    if change.after is None and change.before is not None:
        return "remove"
    return "nothing" if change.does_nothing else "restore"
