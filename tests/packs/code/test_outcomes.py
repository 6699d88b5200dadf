"""The file, the history and the run log of one change are compared when a run that was cut off is resumed."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.agent.desk import Person
from tests.agent.tape import Tape

from toolroll import Agent, Reject, RunResult
from toolroll.agent.events import CallFinished
from toolroll.agent.history.unknown_calls import UNRECORDED
from toolroll.journal.records import ApprovalAnswer, CallIntended
from toolroll.kernel.data.messages import ToolResults
from toolroll.models.scripted import Call, Line, ScriptedModel
from toolroll.packs.code.agent import code_agent
from toolroll.workspace.changes.history import History
from toolroll.workspace.changes.undo import plan_undo, undo
from toolroll.workspace.workspace import Workspace

RUN = "run"
A, B = "one\n" + "x\n" * 9, "two\n"
NEW_A, NEW_B = A.replace("one", "1"), "2\n"
EDIT = Call("edit", {"path": "a", "old_string": "one", "new_string": "1"}, id="edit")
SET = Call(
    "apply_changes",
    {
        "changes": [
            {"path": "a", "old_string": "one", "new_string": "1"},
            {"path": "b", "old_string": "two", "new_string": "2"},
        ],
        "description": "Digits.",
    },
    id="set",
)
READ = [Call("read_file", {"path": "a"}, id="r1"), Call("read_file", {"path": "b"}, id="r2")]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOOLROLL_HOME", str(tmp_path / "home"))
    root = tmp_path / "app"
    root.mkdir()
    (root / "a").write_text(A)
    (root / "b").write_text(B)
    return root


def make(root: Path, tape: Tape, call: Call, **options: Any) -> Agent[Any]:
    lines: list[Line] = [READ, call, "Done."]
    script = lines[tape.paid(RUN) :]
    return code_agent(root, model=ScriptedModel(script), journal=tape, make_id=lambda: RUN, **options)


async def cut_off(root: Path, call: Call, kind: type = CallIntended) -> Tape:
    """What is left in the run log of a run that was killed while it made a change."""
    tape = Tape()
    await make(root, tape, call, approver=Person()).run("Go.")
    last = next(n for n, (_, records) in enumerate(tape.writes, 1) if isinstance(records[-1], kind))
    return await tape.cut(last)


def reopen(root: Path) -> None:
    """Make the history say that the change has begun, and not that it has ended: the kill came before that."""
    with workspace_of(root) as workspace, sqlite3.connect(workspace.state / "history.sqlite3") as db:
        db.execute("update changes set state = 'intended'")
    db.close()


def workspace_of(root: Path) -> Workspace:
    return Workspace.of_user(root, environment={"TOOLROLL_HOME": str(root.parent / "home")})


def answer_to(result: RunResult[Any], call_id: str) -> tuple[str, bool]:
    [found] = [
        one
        for message in result.messages
        if isinstance(message, ToolResults)
        for one in message.results
        if one.call_id == call_id
    ]
    assert isinstance(found.content, str)
    return found.content, found.is_error


async def test_XD10_an_edit_that_the_history_has_is_done_whoever_changed_the_file_since(root: Path) -> None:
    left = await cut_off(root, EDIT)
    (root / "a").write_text("somebody else\n")
    person = Person()
    result = await make(root, left, EDIT, approver=person).resume(RUN)
    assert (person.asked, (root / "a").read_text()) == ([], "somebody else\n")
    text, is_error = answer_to(result, "edit")
    assert (text.startswith("[done: a was written before the run was cut off; change id "), is_error) == (True, False)


async def test_XD10_an_edit_that_the_history_has_not_did_not_begin(root: Path) -> None:
    """Also where the file is neither as before nor as after: it is judged like any file that has changed."""
    left = await cut_off(root, EDIT)
    with workspace_of(root) as workspace, sqlite3.connect(workspace.state / "history.sqlite3") as db:
        for table in ("changes", "entries", "calls"):
            db.execute(f"delete from {table}")
    db.close()
    (root / "a").write_text(f"{A}theirs\n")
    person = Person()
    result = await make(root, left, EDIT, approver=person).resume(RUN)
    assert (person.asked, (root / "a").read_text()) == ([], f"{A}theirs\n")
    assert "'a' has changed since you read it" in answer_to(result, "edit")[0]


@pytest.mark.parametrize("written", [(), ("a",)])
async def test_XD10_a_change_that_was_cut_off_is_taken_back_and_made_by_the_same_leave(
    root: Path, written: tuple[str, ...]
) -> None:
    left = await cut_off(root, SET)
    reopen(root)
    for name, text in (("a", A), ("b", B)):
        if name not in written:
            (root / name).write_text(text)
    person = Person()
    result = await make(root, left, SET, approver=person).resume(RUN)
    assert (person.asked, (root / "a").read_text(), (root / "b").read_text()) == ([], NEW_A, NEW_B)
    assert answer_to(result, "set")[0].startswith("Written: a (+1 -1), b (+1 -1).")
    with workspace_of(root) as workspace, History(workspace.state) as history:
        assert [one.state for one in history.changes()] == ["applied", "failed"]


async def test_XD10_a_change_that_was_written_whole_is_done(root: Path) -> None:
    left = await cut_off(root, SET)
    reopen(root)
    person = Person()
    result = await make(root, left, SET, approver=person).resume(RUN)
    text, is_error = answer_to(result, "set")
    assert (person.asked, is_error) == ([], False)
    assert text.startswith("[done: a, b was written before the run was cut off")


async def test_XD10_a_change_that_is_there_in_part_names_the_files(root: Path) -> None:
    left = await cut_off(root, SET)
    reopen(root)
    (root / "b").write_text("mine\n")
    person, codes = Person(), []
    agent = make(root, left, SET, approver=person)
    run = agent.start(
        resume=RUN, listener=lambda event: codes.append(event.result.code) if isinstance(event, CallFinished) else None
    )
    text, is_error = answer_to(await run.wait(), "set")
    assert (person.asked, (root / "a").read_text(), (root / "b").read_text()) == ([], A, "mine\n")
    assert (is_error, codes) == (True, ["partly_done"])
    assert "Taken back, as before the change: a." in text
    assert "because somebody else has changed them since: b." in text


async def test_XD10_what_a_person_has_undone_meanwhile_is_not_made_again(root: Path) -> None:
    left = await cut_off(root, EDIT)
    with workspace_of(root) as workspace, History(workspace.state) as history:
        undo(workspace, history, plan_undo(workspace, history), run_id="terminal")
    result = await make(root, left, EDIT, approver=Person()).resume(RUN)
    text, is_error = answer_to(result, "edit")
    assert ((root / "a").read_text(), is_error) == (A, False)
    assert "[since then a person has undone it in a:" in text


async def test_XD10_with_a_new_prompt_the_model_reads_what_became_of_the_change(root: Path) -> None:
    left = await cut_off(root, SET)
    result = await make(root, left, SET, approver=Person()).start("Go on.", resume=RUN).wait()
    assert answer_to(result, "set")[0].startswith("[done: a, b was written before the run was cut off")


async def test_XD10_a_change_that_the_run_log_does_not_know_is_asked_about(root: Path) -> None:
    """A power cut can take the end of the run log; the history is on the disk before the file is."""
    left = await cut_off(root, EDIT, ApprovalAnswer)
    (root / "a").write_text(A)
    person = Person(Reject("it is there"))
    result = await make(root, left, EDIT, approver=person).resume(RUN)
    assert [(one.is_repeat, UNRECORDED in one.why) for one in person.asked] == [(True, True)]
    assert (root / "a").read_text() == A
    assert "It was not run again: User rejected changes: it is there" in answer_to(result, "edit")[0]


async def test_XD10_a_history_of_an_old_version_has_no_calls_and_nothing_is_repeated(root: Path) -> None:
    left = await cut_off(root, EDIT)
    with workspace_of(root) as workspace, sqlite3.connect(workspace.state / "history.sqlite3") as db:
        db.execute("drop table calls")
        db.execute("pragma user_version = 1")
    db.close()
    person = Person()
    result = await make(root, left, EDIT, approver=person).resume(RUN)
    assert (person.asked, (root / "a").read_text()) == ([], NEW_A)
    assert "It was not run again" in answer_to(result, "edit")[0]
