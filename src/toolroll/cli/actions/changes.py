"""What `toolroll changes`, `undo` and `redo` do: list changes, and revert them after a person's yes (C31).

What would happen is listed and shown first. At a terminal the person then says yes; elsewhere `--yes` must.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Final

from toolroll.cli.render.prose import notify
from toolroll.cli.render.rows import Row, preview_rows
from toolroll.cli.session import DONE, FAILED, Session
from toolroll.cli.terminal.surface import ask_consent
from toolroll.errors import UsageError
from toolroll.kernel.approval.request import Preview
from toolroll.safe.paths.names import quote_path
from toolroll.safe.text import one_line
from toolroll.workspace.changes.history import History
from toolroll.workspace.changes.records import Record
from toolroll.workspace.changes.recovery import describe_recovery, open_history
from toolroll.workspace.changes.undo import UndoPlan, UndoStep, plan_redo, plan_undo
from toolroll.workspace.changes.undo import undo as carry_out
from toolroll.workspace.workspace import Workspace

MIN_ID_CHARACTERS: Final = 4
"""Of the beginning of an id, as in `toolroll runs`."""
MAX_CANDIDATES: Final = 5
"""Ids that are named where several begin alike: with one character more there are hardly ever as many."""
_SIDE: Final = 60  # characters of each side of a conflict: enough to find it
_RUN_CHARACTERS: Final = 12
_UNFINISHED: Final = {
    "failed": "it could not be made, or broke off; nothing of it is left in the files.",
    "partial": "it broke off, and later work in its files was left as it is.",
}
BY_HAND: Final = "terminal"
"""The run that an undo from here belongs to."""


def list_changes(session: Session, *, root: Path | None, run_id: str | None, path: str | None, limit: int) -> int:
    """List the changes of a project; return the exit code."""
    # Only read: a list must not change a file. What is left half done is put right by commands that write.
    with _open_workspace(root) as workspace, History(workspace.state) as history:
        found = history.changes(run_id=_run(history, run_id), path=path, limit=limit)
        unfinished = history.unfinished()
    for one in unfinished:
        notify(f"Note: {_describe_unfinished(one)}")
    if session.json:
        session.write_json({"changes": [_fields(one) for one in found]})
    elif found:
        session.show("\n".join(map(_line, found)))
        for told in _unfinished(found):
            notify(told)
    else:
        notify("Nothing was changed here through tools, or it is no longer kept.")
        if run_id is None and path is None:
            notify(_elsewhere(root or Path.cwd()))
    return DONE


def undo_change(
    session: Session,
    change: str | None,
    *,
    root: Path | None,
    run_id: str | None,
    path: str | None,
    merge: bool,
    yes: bool,
) -> int:
    """Revert a change, or a run's changes; return the exit code."""
    with _open(root) as (workspace, history):
        named = _change(history, change)
        plan = plan_undo(workspace, history, change=named, path=path, run_id=_run(history, run_id))
        return _revert(session, workspace, history, plan, merge=merge, yes=yes)


def redo_change(
    session: Session,
    change: str | None,
    *,
    root: Path | None,
    run_id: str | None,
    path: str | None,
    merge: bool,
    yes: bool,
) -> int:
    """Make a change again that was undone; return the exit code."""
    with _open(root) as (workspace, history):
        named = _change(history, change)
        plan = plan_redo(workspace, history, change=named, path=path, run_id=_run(history, run_id))
        return _revert(session, workspace, history, plan, merge=merge, yes=yes)


@contextmanager
def _open(root: Path | None) -> Iterator[tuple[Workspace, History]]:
    with _open_workspace(root) as workspace:
        history, recovered = open_history(workspace)
        for one in recovered:
            notify(f"Note: {describe_recovery(one)}")
        with history:
            yield workspace, history


def _open_workspace(root: Path | None) -> Workspace:
    return Workspace.of_user(root or Path.cwd(), environment=os.environ)


def _describe_unfinished(record: Record) -> str:
    files = ", ".join(f"'{quote_path(entry.path)}'" for entry in record.entries)
    return (
        f"change {record.id} of {files} is not finished: it is being made, or was cut off. What was cut off is put "
        f"right by the next command that writes here, such as 'toolroll runs resume {one_line(record.run_id, 40)}'."
    )


def _run(history: History, given: str | None) -> str | None:
    """The run that is meant: lists show the beginning of its id."""
    return None if given is None else _whole(given, [record.run_id for record in history.changes()], "run")


def _change(history: History, given: str | None) -> str | None:
    """The change that is meant."""
    return None if given is None else _whole(given, [record.id for record in history.changes()], "change")


def _whole(given: str, ids: Sequence[str], what: str) -> str:
    """The id that this is, or the only one that begins so; what nothing fits stays as it is."""
    if given in ids:
        return given
    if len(given) < MIN_ID_CHARACTERS:
        raise UsageError(f"There is no {what} {given!r}. Give at least {MIN_ID_CHARACTERS} characters of the id.")
    fitting = [one for one in dict.fromkeys(ids) if one.casefold().startswith(given.casefold())]
    if len(fitting) > 1:
        raise UsageError(f"{len(fitting)} {what}s begin with {given!r}: {_named(fitting)}. Write more of the id.")
    return fitting[0] if fitting else given


def _named(ids: Sequence[str]) -> str:
    more = len(ids) - MAX_CANDIDATES
    return ", ".join(map(quote_path, ids[:MAX_CANDIDATES])) + (f" and {more} more" if more > 0 else "")


def _revert(session: Session, workspace: Workspace, history: History, plan: UndoPlan, *, merge: bool, yes: bool) -> int:
    if not session.json:
        _show_plan(plan, merge=merge)
        _show_more(plan)
    proposal = plan.proposal(merges=merge)
    if proposal is None:
        why = " ".join(map(plan.describe, plan.steps)) if session.json else "See above."
        session.fail("nothing_done", f"Nothing can be done, and nothing was changed. {why}")
        return FAILED
    if not yes and (refusal := _ask(session, proposal.diff)) is not None:
        return refusal
    done = carry_out(workspace, history, plan, run_id=BY_HAND, merges=merge)
    told = {
        "change": None if done.applied is None else done.applied.id,
        "done": [_step_fields(step) for step in done.done],
        "left": [_step_fields(step) for step in done.left],
        "more": plan.more,
    }
    if session.json:
        session.write_json(told)
    else:
        session.show(f"{plan.kind.capitalize()}: {', '.join(step.path for step in done.done)}.")
    return FAILED if done.left else DONE


def _show_plan(plan: UndoPlan, *, merge: bool) -> None:
    taken = plan.taken(merges=merge)
    for step in plan.steps:
        notify(f"{'·' if step in taken else '!'} {plan.describe(step)}")
        for both in step.conflicts:
            ours, theirs = (
                one_line(side.decode("utf-8", "replace").rstrip("\r\n"), _SIDE) for side in (both.ours, both.theirs)
            )
            notify(f"    line {both.line}: now {ours or 'nothing'!r}, before the change {theirs or 'nothing'!r}")
    if any(step.action == "merge" and step not in taken for step in plan.steps):
        notify("! Add --merge to keep the later work and take this out of it.")


def _show_more(plan: UndoPlan) -> None:
    """That a file has earlier changes, which nobody should take for undone."""
    if plan.more:
        what = "undo" if plan.kind == "redo" else "change"
        rest = "1 earlier one stays" if plan.more == 1 else f"{plan.more} earlier ones stay"
        name = quote_path(plan.steps[0].path)
        notify(f"Note: only the latest {what} of '{name}'; {rest}. Repeat it for the next.")


def _ask(session: Session, diff: str) -> int | None:
    return ask_consent(
        session,
        "Do this?",
        rows=[Row(), *preview_rows(Preview(kind="diff", text=diff))],
        nobody="Nobody could be asked, so nothing was done. Add --yes to do it.",
        refused="Nothing was done.",
    )


def _elsewhere(root: Path) -> str:
    """Where the changes may be that somebody misses in a folder."""
    return (
        f"Each folder has a history of its own, by its path; this is the one of '{quote_path(str(root.resolve()))}'. "
        "Where the work was done from a folder above or below, see it with --root DIR. Where the folder was moved or "
        "renamed, its history is still that of the old path: move it back there to undo."
    )


def _unfinished(found: Sequence[Record]) -> Iterator[str]:
    """What it means that a change was not made, and which run was told why."""
    for state, told in _UNFINISHED.items():
        runs = dict.fromkeys(record.run_id for record in found if record.state == state)
        names = ", ".join(one_line(run, _RUN_CHARACTERS) for run in runs)
        if runs:
            yield f"· {state}: {told} Why was told in the run: {names}"


def _fields(record: Record) -> dict[str, object]:
    return {
        "id": record.id,
        "at": record.at,
        "run_id": record.run_id,
        "kind": record.kind,
        "state": _state(record),
        "description": record.description,
        "files": [
            {"path": entry.path, "before": entry.before, "after": entry.after, "undone_by": entry.undone_by}
            for entry in record.entries
        ],
    }


def _state(record: Record) -> str:
    """What has become of a change, with how much of it was taken back since."""
    if record.state != "applied" or not any(entry.undone_by for entry in record.entries):
        return record.state
    return "undone" if record.is_undone else "partly undone"


def _step_fields(step: UndoStep) -> dict[str, object]:
    return {"path": step.path, "action": step.action}


def _line(record: Record) -> str:
    state = _state(record)
    undone = " (undone)" if state == "partly undone" else ""
    when = datetime.fromtimestamp(record.at).astimezone().strftime("%Y-%m-%d %H:%M")
    files = ", ".join(quote_path(entry.path) + (undone if entry.undone_by else "") for entry in record.entries)
    about = one_line(record.description.removeprefix(f"{record.kind}: "), 60)
    why = f"  {about}" if about else ""
    return f"{record.id}  {when}  {record.kind:<6}  {state:<8}  {one_line(files, 80)}{why}"
