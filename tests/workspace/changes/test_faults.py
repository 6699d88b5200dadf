"""XE6, XF8, C32: a change set, an undo or a redo that is killed at any system call, or in which any of them fails,
leaves all of the old or all of the new.

Every file is whole at every moment, and `recover` then makes them agree. Only calls that change something count: to be
killed at any other is to be killed at the next of those.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.safe.faults import ERRORS, SOURCE, Call, FaultLoop, Outcome

from toolroll.kernel.approval.request import content_hash
from toolroll.workspace.changes.apply import apply
from toolroll.workspace.changes.history import History
from toolroll.workspace.changes.proposal import Change, Proposal
from toolroll.workspace.changes.records import Entry, Intent
from toolroll.workspace.changes.recovery import open_history
from toolroll.workspace.changes.undo import plan_redo, plan_undo, undo
from toolroll.workspace.workspace import Workspace

ROUNDS = int(os.environ.get("TOOLROLL_ROUNDS", "0"))
SOME = 3
"""Calls that are tried in CI, evenly spread; all of them with TOOLROLL_ROUNDS."""
CHANGING = {
    "fchmod", "fchown", "fdatasync", "fsync", "ftruncate", "link", "linkat", "mkdir", "mkdirat", "openat", "pwrite64",
    "rename", "renameat", "renameat2", "rmdir", "unlink", "unlinkat", "write",
}  # fmt: skip
CHILD = """
import os, sys
sys.path.insert(0, {source!r})
from pathlib import Path
from toolroll.errors import ToolrollError
from toolroll.workspace.changes.apply import apply
from toolroll.workspace.changes.history import History
from toolroll.workspace.changes.recovery import recover
from toolroll.workspace.changes.undo import plan_redo, plan_undo, undo
from toolroll.workspace.changes.proposal import Change, Proposal
from toolroll.workspace.workspace import Workspace
import toolroll.workspace.changes.records, hashlib
place = Path(sys.argv[1])
def warm_up():  # what is imported only when it is needed is none of the operation's own
    (place / "warm").mkdir()
    with Workspace(place / "warm", state=place / "warm-state") as workspace, History(place / "warm-state") as history:
        change = Change(path=workspace.path("a/b"), before=None, after=b"x")
        apply(workspace, Proposal(changes=(change,)), history, run_id="r")
        undo(workspace, history, plan_undo(workspace, history), run_id="r")
warm_up()
workspace = Workspace(place / "app", state=place / "state")
history = History(workspace.state)
history.changes()
p = workspace.path
plan = {plan}
def first_free():  # by no call that could be the one that fails
    fd = os.dup(1)
    os.close(fd)
    return fd
end, before = "done", first_free()
os.getppid()
try:
    {operation}
except ToolrollError as error:
    end = error.code
os.getppid()
print(end, first_free() - before, None, sep="\\n")
"""
OLD = {"a": b"old a\r\n" * 9, "b": b"old b", "gone": b"x"}
NEW = {"a": b"new a\r\n" * 9, "b": b"new b", "sub/made": b"y"}
OPERATIONS = {
    "apply": (
        "apply(workspace, Proposal(changes=("
        + ", ".join(
            f"Change(path=p({name!r}), before={OLD.get(name)!r}, after={NEW.get(name)!r})" for name in OLD | NEW
        )
        + ")), history, run_id='r')"
    ),
    "undo": "undo(workspace, history, plan, run_id='r')",
    "redo": "undo(workspace, history, plan, run_id='r')",
}
PLANS = {"apply": "None", "undo": "plan_undo(workspace, history)", "redo": "plan_redo(workspace, history)"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeLoop(FaultLoop):
    """The fault loop around a change in a workspace; it needs the libraries that the kernel stands on.

    What an undo plans comes before: it lists what cannot be reached, and a person sees that.
    """

    plan: str

    def _run(self, folder: Path, around: list[str]) -> Outcome:
        script = CHILD.format(source=str(SOURCE), operation=self.operation, plan=self.plan)
        python = [sys.executable, "-I", "-c", script, str(folder)]
        done = subprocess.run([*around, *python], capture_output=True, text=True, check=False, timeout=200)
        if done.returncode == -9:
            return Outcome(end="killed", leaked=0, seen="")
        assert (done.returncode, done.stderr) == (0, ""), f"{around} {done.stderr}"
        end, leaked, _ = done.stdout.splitlines()
        return Outcome(end=end, leaked=int(leaked), seen="")


def lay_out(place: Path, operation: str) -> Path:
    """A workspace in the state before the operation."""
    app = place / "app"
    app.mkdir(parents=True)
    for name, data in OLD.items():
        (app / name).write_bytes(data)
    if operation != "apply":
        with Workspace(app, state=place / "state") as workspace, History(place / "state") as history:
            changes = [Change(path=workspace.path(n), before=OLD.get(n), after=NEW.get(n)) for n in OLD | NEW]
            apply(workspace, Proposal(changes=tuple(changes)), history, run_id="r")
            if operation == "redo":
                undo(workspace, history, plan_undo(workspace, history), run_id="r")
    return place


def state_of(place: Path) -> dict[str, bytes]:
    app = place / "app"
    return {
        path.relative_to(app).as_posix(): path.read_bytes()
        for path in app.rglob("*")
        if path.is_file() and not path.name.startswith(".toolroll-")
    }


def check_killed(place: Path, operation: str) -> str:
    """Every file is old or new; after recovery all are, and the history knows which; then it works on."""
    assert all(data in (OLD.get(name), NEW.get(name)) for name, data in state_of(place).items())
    with Workspace(place / "app", state=place / "state") as workspace:
        history, _ = open_history(workspace)
        with history:
            end = state_of(place)
            assert end in (OLD, NEW)
            assert not list((place / "app").rglob(".toolroll-*"))
            assert history.unfinished() == ()
            if end == NEW:
                undo(workspace, history, plan_undo(workspace, history), run_id="r")
            elif operation != "apply":
                undo(workspace, history, plan_redo(workspace, history), run_id="r")
            assert state_of(place) == (OLD if end == NEW or operation == "apply" else NEW)
    return "new" if end == NEW else "old"


def chosen(calls: list[Call]) -> list[Call]:
    changing = [call for call in calls if call.name in CHANGING]
    return changing if ROUNDS else changing[:: max(1, len(changing) // SOME)] + changing[-1:]


@pytest.mark.strace
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_XE6_C32_C31_killed_at_any_system_call(tmp_path: Path, operation: str) -> None:
    loop = ChangeLoop(operation=OPERATIONS[operation], plan=PLANS[operation], logs=tmp_path / "logs")
    (tmp_path / "logs").mkdir()
    lay_out(tmp_path / "warm-up", operation)
    calls = chosen(loop.calls(lay_out(tmp_path / "dry", operation)))
    assert state_of(tmp_path / "dry") == (OLD if operation == "undo" else NEW)
    places = [lay_out(tmp_path / f"{number}", operation) for number in range(len(calls))]
    with ThreadPoolExecutor(max_workers=2) as pool:
        outcomes = list(pool.map(lambda call, place: loop.run(place, call, "signal=KILL"), calls, places))
    ends = []
    for call, place, outcome in zip(calls, places, outcomes, strict=True):
        assert outcome.end == "killed", call
        ends.append(check_killed(place, operation))
    # It was killed before it had all happened, and after.
    assert {"old", "new"} == set(ends)


def leave_half_done(place: Path) -> Path:
    """A workspace in which a change was killed: some files are written, and two temporary files are left."""
    app = place / "app"
    app.mkdir(parents=True)
    (app / "sub").mkdir()
    for name, data in (OLD | {"a": NEW["a"], "sub/made": NEW["sub/made"]}).items():
        (app / name).write_bytes(data)
    for folder in (app, app / "sub"):
        (folder / f".toolroll-{'0' * 32}.tmp").write_bytes(b"half")
    hashes = {data: content_hash(data) for data in (*OLD.values(), *NEW.values())}
    entries = [
        Entry(
            path=name,
            before=hashes.get(OLD.get(name, b"-")),
            after=hashes.get(NEW.get(name, b"-")),
            before_mode=0o644 if name in OLD else None,
            made_folders=int(name not in OLD),
        )
        for name in OLD | NEW
    ]
    with History(place / "state") as history:
        history.begin(
            Intent(
                id="half",
                run_id="r",
                description="",
                kind="change",
                entries=tuple(entries),
                contents=(*OLD.values(), *NEW.values()),
            )
        )
    return place


@pytest.mark.strace
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_XE10_a_recovery_killed_at_any_system_call_leaves_no_temporary_file(tmp_path: Path) -> None:
    """Whatever the killed recovery has left, the next one finishes: the files are as before, with nothing beside."""
    loop = ChangeLoop(operation="recover(workspace, history)", plan="None", logs=tmp_path / "logs")
    (tmp_path / "logs").mkdir()
    leave_half_done(tmp_path / "warm-up")
    calls = chosen(loop.calls(leave_half_done(tmp_path / "dry")))
    assert state_of(tmp_path / "dry") == OLD
    places = [leave_half_done(tmp_path / f"{number}") for number in range(len(calls))]
    with ThreadPoolExecutor(max_workers=2) as pool:
        outcomes = list(pool.map(lambda call, place: loop.run(place, call, "signal=KILL"), calls, places))
    for call, place, outcome in zip(calls, places, outcomes, strict=True):
        assert outcome.end == "killed", call
        with Workspace(place / "app", state=place / "state") as workspace:
            history, _ = open_history(workspace)
            with history:
                assert history.unfinished() == ()
        assert state_of(place) == OLD, call
        assert not list((place / "app").rglob(".toolroll-*")), call
        assert not (place / "app" / "sub").exists(), call


@pytest.mark.strace
@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_XF8_C32_C31_any_system_call_fails(tmp_path: Path, operation: str) -> None:
    """A typed error or none; all of the old or all of the new, at the latest when the workspace is opened again."""
    loop = ChangeLoop(operation=OPERATIONS[operation], plan=PLANS[operation], logs=tmp_path / "logs")
    (tmp_path / "logs").mkdir()
    lay_out(tmp_path / "warm-up", operation)
    calls = chosen(loop.calls(lay_out(tmp_path / "dry", operation)))
    usual = loop.run(lay_out(tmp_path / "usual", operation))  # the database opens its log with the first change
    jobs = [
        (call, error) for number, call in enumerate(calls) for error in (ERRORS if ROUNDS else [ERRORS[number % 5]])
    ]
    places = [lay_out(tmp_path / f"{number}", operation) for number in range(len(jobs))]
    with ThreadPoolExecutor(max_workers=2) as pool:
        outcomes = list(pool.map(lambda job, place: loop.run(place, job[0], f"error={job[1]}"), jobs, places))
    for job, place, outcome in zip(jobs, places, outcomes, strict=True):
        assert outcome.end in {"done", "file_system", "journal", "stale_edit", "edit_refused", "file_exists"}, (
            job,
            outcome,
        )
        assert outcome.leaked <= usual.leaked, (job, outcome)
        try:
            end = check_killed(place, operation)
        except AssertionError as error:
            raise AssertionError(f"{job} ended as {outcome}: {state_of(place)}") from error
        assert outcome.end != "done" or end == ("old" if operation == "undo" else "new"), (job, outcome)
