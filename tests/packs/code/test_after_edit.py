"""Test-driven changes: the check runs after edits, and its failures go back to the model."""

import sys
from pathlib import Path

import pytest

from toolroll import MemoryJournal
from toolroll.agent.agent import Agent
from toolroll.apps.code import check_after_edit
from toolroll.apps.surface import Note, Surface
from toolroll.home.settings_schema import CodeSettings
from toolroll.kernel.approval.request import Approve, Reject
from toolroll.models.scripted import Call, ScriptedModel
from toolroll.packs.code.after_edit import CheckAfterEdit
from toolroll.packs.code.agent import code_agent
from toolroll.packs.code.check_tool import command_tool
from toolroll.packs.code.tools import TOOLS
from toolroll.testing.run import RecordingApprover

CHECK = """
import sys
good = open('a.txt').read() == 'good\\n'
print('fine' if good else 'a.txt is bad')
sys.exit(not good)
"""


def edit(old: str, new: str) -> Call:
    return Call("edit", {"path": "a.txt", "old_string": old, "new_string": new})


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOOLROLL_HOME", str(tmp_path / "home"))
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.txt").write_text("old\n")
    return tmp_path / "project"


def agent_with(root: Path, turns: list[object], approver: RecordingApprover) -> Agent[None]:
    tests = command_tool("tests", [sys.executable, "-c", CHECK], seconds=20)
    model = ScriptedModel(turns)  # type: ignore[arg-type]  # turns of any kind
    tools = [*TOOLS, tests]
    hooks = [CheckAfterEdit("run_tests")]
    return code_agent(root, model=model, tools=tools, approver=approver, hooks=hooks, journal=MemoryJournal())


async def test_S13_a_failure_goes_back_to_the_model_until_the_check_passes(root: Path) -> None:
    approver = RecordingApprover()
    turns = [Call("read_file", {"path": "a.txt"}), edit("old", "bad"), "Done.", edit("bad", "good"), "Done now.", "Ok."]
    result = await agent_with(root, turns, approver).run("Make it good.")
    names = [log.name for step in result.steps for log in step.calls]
    assert names == ["read_file", "edit", "run_tests", "edit", "run_tests"]
    assert [request.tool for request in approver.requests] == ["edit", "run_tests", "edit", "run_tests"]
    told = str(result.messages)
    assert "failed with exit code 1.\\na.txt is bad" in told
    assert "passed.\\nfine" in told
    assert result.text == "Ok."


async def test_S13_the_check_is_asked_about_once_and_not_without_a_change(root: Path) -> None:
    approver = RecordingApprover(lambda request: Reject() if request.tool == "run_tests" else Approve())
    turns = [Call("read_file", {"path": "a.txt"}), edit("old", "bad"), "Done.", "Not checked."]
    result = await agent_with(root, turns, approver).run("Make it good.")
    assert [request.tool for request in approver.requests] == ["edit", "run_tests"]
    assert result.text == "Not checked."
    refusing = RecordingApprover([Reject()])
    result = await agent_with(root, [Call("read_file", {"path": "a.txt"}), edit("bad", "x"), "Well."], refusing).run(
        "x"
    )
    assert [request.tool for request in refusing.requests] == ["edit"]
    assert result.text == "Well."


def test_S13_a_command_that_is_not_there_is_told() -> None:
    notes: list[Note] = []
    surface = Surface(environment={}, notify=notes.append)
    assert check_after_edit(CodeSettings(after_edit="tests"), TOOLS, surface) == []
    assert notes[0].text == "code.after_edit is 'tests', and there is no such command here. Nothing is checked."
    assert check_after_edit(CodeSettings(), TOOLS, surface) == []
