"""`toolroll changes`, `undo` and `redo`: what tools changed in a project, and taking it back (C31).

What would happen is listed and shown first. At a terminal somebody then says yes; elsewhere `--yes` must.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from toolroll.cli.session import DONE, FAILED, NEEDS_APPROVAL, Session, output_options

if TYPE_CHECKING:
    from toolroll.workspace.history.history import History
    from toolroll.workspace.history.records import Record
    from toolroll.workspace.history.undo import Plan
    from toolroll.workspace.workspace import Workspace

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_LISTED: Final = 20
BY_HAND: Final = "terminal"
"""The run that an undo from here belongs to."""


def root_option(command: F) -> F:
    """Adds `--root`: the project that is meant."""
    told = "The project's folder; the working folder if not given."
    return click.option(
        "--root", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR", help=told
    )(command)


def _taking_options(command: F) -> F:
    file = click.option("--file", "path", metavar="PATH", help="Only what was done to this file.")
    merge = click.option("--merge", is_flag=True, help="Keep later work in the same files, where the two do not touch.")
    yes = click.option("--yes", is_flag=True, help="Do it without asking.")
    return root_option(file(merge(yes(output_options(command)))))


@click.command()
@root_option
@click.option("--run", "run_id", metavar="ID", help="Only the changes of this run.")
@click.option("--file", "path", metavar="PATH", help="Only the changes of this file.")
@click.option("--limit", default=DEFAULT_LISTED, type=click.IntRange(min=1), metavar="N", help="How many at most.")
@output_options
@click.pass_obj
def changes(session: Session, *, root: Path | None, run_id: str | None, path: str | None, limit: int) -> int:
    """List what was changed in a project through its tools, the latest first.

    \b
    Examples:
      toolroll changes
      toolroll changes --file src/main.js --json
    """
    with _opened(root) as (_, history):
        found = history.changes(run_id=run_id, path=path, limit=limit)
    if session.json:
        session.write_json({"changes": [_fields(one) for one in found]})
    elif found:
        session.write("\n".join(map(_line, found)))
    else:
        click.echo("Nothing was changed here through tools, or it is no longer kept.", err=True)
    return DONE


@click.command()
@click.argument("change", required=False)
@click.option("--run", "run_id", metavar="ID", help="Everything that this run changed.")
@_taking_options
@click.pass_obj
def undo(
    session: Session,
    change: str | None,
    *,
    root: Path | None,
    run_id: str | None,
    path: str | None,
    merge: bool,
    yes: bool,
) -> int:
    """Take back CHANGE, the latest one if none is named. Later work is never overwritten.

    Lists what would happen, shows the difference, and asks. 'toolroll changes' lists what there is to undo.

    \b
    Examples:
      toolroll undo
      toolroll undo 34a873204eb0
      toolroll undo --run 4cb9e3ac803b --yes
    """
    from toolroll.workspace.history.undo import plan_undo  # noqa: PLC0415 - sqlite3 and pydantic: not for --help

    with _opened(root) as (workspace, history):
        plan = plan_undo(workspace, history, change=change, path=path, run_id=run_id)
        return _take_back(session, workspace, history, plan, merge=merge, yes=yes)


@click.command()
@click.argument("change", required=False)
@_taking_options
@click.pass_obj
def redo(session: Session, change: str | None, *, root: Path | None, path: str | None, merge: bool, yes: bool) -> int:
    """Make CHANGE again after it was undone, the latest one if none is named.

    \b
    Examples:
      toolroll redo
      toolroll redo 34a873204eb0 --yes
    """
    from toolroll.workspace.history.undo import plan_redo  # noqa: PLC0415 - as above

    with _opened(root) as (workspace, history):
        plan = plan_redo(workspace, history, change=change, path=path)
        return _take_back(session, workspace, history, plan, merge=merge, yes=yes)


@contextmanager
def _opened(root: Path | None) -> "Iterator[tuple[Workspace, History]]":
    from toolroll.workspace.history.recovery import open_history  # noqa: PLC0415 - as above
    from toolroll.workspace.workspace import Workspace  # noqa: PLC0415 - as above

    with Workspace.of_user(root or Path.cwd(), environment=os.environ) as workspace:
        history, recovered = open_history(workspace)
        for one in recovered:
            click.echo(f"Note: change {one.id} was left half done, and is {one.outcome} now.", err=True)
        with history:
            yield workspace, history


def _take_back(
    session: Session, workspace: "Workspace", history: "History", plan: "Plan", *, merge: bool, yes: bool
) -> int:
    from toolroll.workspace.history.undo import undo as carry_out  # noqa: PLC0415 - as above

    if not session.json:
        _tell_plan(plan, merge=merge)
    proposal = plan.proposal(merges=merge)
    if proposal is None:
        session.fail("nothing_done", "Nothing of it can be done. Everything is as it was.")
        return FAILED
    if not yes and (refusal := _not_agreed(session, proposal.diff)) is not None:
        return refusal
    done = carry_out(workspace, history, plan, run_id=BY_HAND, merges=merge)
    told = {
        "change": None if done.applied is None else done.applied.id,
        "done": [_step_fields(step) for step in done.done],
        "left": [_step_fields(step) for step in done.left],
    }
    if session.json:
        session.write_json(told)
    else:
        session.write(f"{plan.kind.capitalize()}: {', '.join(step.path for step in done.done)}.")
    return FAILED if done.left else DONE


def _tell_plan(plan: "Plan", *, merge: bool) -> None:
    taken = plan.taken(merges=merge)
    for step in plan.steps:
        click.echo(f"{'·' if step in taken else '!'} {step}", err=True)
    if any(step.action == "merge" and step not in taken for step in plan.steps):
        click.echo("! Add --merge to keep the later work and take this out of it.", err=True)


def _not_agreed(session: Session, diff: str) -> int | None:
    """None once somebody has said yes; else the exit code."""
    from toolroll.cli.approve import confirmed, seen_in_full  # noqa: PLC0415 - rich: only when somebody is asked
    from toolroll.cli.rows import Row, preview_rows  # noqa: PLC0415 - as above
    from toolroll.cli.terminal import open_terminal  # noqa: PLC0415 - as above
    from toolroll.kernel.approval import Preview  # noqa: PLC0415 - as above

    terminal = open_terminal(os.environ)
    if terminal is None:
        session.fail("needs_approval", "Nobody could be asked, so nothing was done. Add --yes to do it.")
        return NEEDS_APPROVAL
    rows = [Row(), *preview_rows(Preview(kind="diff", text=diff))]
    if seen_in_full(terminal, rows) and confirmed(terminal, "Do this?"):
        return None
    session.fail("rejected", "Nothing was done.")
    return FAILED


def _fields(record: "Record") -> dict[str, object]:
    return {
        "id": record.id,
        "at": record.at,
        "run_id": record.run_id,
        "kind": record.kind,
        "state": "undone" if record.is_undone and record.state == "applied" else record.state,
        "description": record.description,
        "files": [
            {"path": entry.path, "before": entry.before, "after": entry.after, "undone_by": entry.undone_by}
            for entry in record.entries
        ],
    }


def _step_fields(step: Any) -> dict[str, object]:
    return {"path": step.path, "action": step.action}


def _line(record: "Record") -> str:
    from datetime import datetime  # noqa: PLC0415 - as above

    from toolroll.safe.names import shown  # noqa: PLC0415 - as above
    from toolroll.safe.text import one_line  # noqa: PLC0415 - as above

    told = _fields(record)
    when = datetime.fromtimestamp(record.at).astimezone().strftime("%Y-%m-%d %H:%M")
    files = ", ".join(shown(entry.path) for entry in record.entries)
    why = f"  {one_line(record.description, 60)}" if record.description else ""
    return f"{record.id}  {when}  {record.kind:<6}  {told['state']:<8}  {one_line(files, 80)}{why}"
