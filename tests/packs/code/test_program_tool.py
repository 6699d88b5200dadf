"""`run_program`: exact words, asked about each time, in a sandbox or with a warning."""

import os
import sys
from pathlib import Path
from shutil import which

import pytest

from toolroll.apps.permissions import YesApprover
from toolroll.kernel.approval.policy import Policy, Rule
from toolroll.kernel.approval.request import Reject
from toolroll.kernel.call.context import Run
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.serialize import dump_json
from toolroll.packs.code import program_tool as module
from toolroll.packs.code.program_tool import program_tool
from toolroll.safe.programs.run import DEFAULT_PATH
from toolroll.safe.programs.sandbox import find_sandbox
from toolroll.testing.run import RecordingApprover

SANDBOX = find_sandbox(os.environ)
PYTHON = which("python3", path=DEFAULT_PATH)
needs_sandbox = pytest.mark.skipif(not (SANDBOX and PYTHON), reason="needs bubblewrap and the system's own Python")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOOLROLL_HOME", str(tmp_path / "home"))
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / ".env").write_text("KEY=secret")
    (root / ".vscode").mkdir()
    return root


async def run(
    root: Path, *command: str, sandbox: str | None = None, approver: RecordingApprover | None = None, **more: object
) -> ToolResult:
    tool = program_tool(seconds=20, sandbox=sandbox)
    async with Run(
        deps={"root": root, "deny": ("private/**",)},
        approver=approver or RecordingApprover(),
        policy=Policy((Rule(action="allow"),)),
    ) as one:
        given = dump_json({"command": list(command), "description": "Look.", **more})
        return await tool.execute_raw(given, one.context())


async def test_S13_a_program_is_asked_about_each_time_and_shown_exactly(root: Path) -> None:
    approver = RecordingApprover()
    result = await run(root, sys.executable, "-c", "import sys; print(sys.argv)", "a b; rm x", approver=approver)
    assert "['-c', 'a b; rm x']" in result.text
    [request] = approver.requests
    assert request.preview.text.startswith(f"run in {root}\nfor at most 20 seconds:\n{sys.executable} -c ")
    assert request.preview.text.endswith("'a b; rm x'")
    assert module.NO_SANDBOX in request.preview.doubts
    assert request.effect == "external"


async def test_S13_no_general_yes_runs_a_program(root: Path) -> None:
    tool = program_tool(seconds=20, sandbox=None)
    async with Run(deps={"root": root}, approver=YesApprover()) as one:
        result = await tool.execute_raw(dump_json({"command": ["touch", "made"], "description": ""}), one.context())
    assert result.code == "rejected"
    assert not (root / "made").exists()


@pytest.mark.parametrize("folder", ["..", "private", ".env", "nowhere"])
async def test_S13_a_program_runs_in_a_folder_of_the_project(root: Path, folder: str) -> None:
    (root / "private").mkdir()
    assert (await run(root, "pwd", folder=folder)).is_error
    assert (await run(root, "pwd", folder="src")).text.endswith(f"{root}/src")


@needs_sandbox
async def test_S13_in_the_sandbox_protected_files_cannot_be_read(root: Path) -> None:
    (root / "private").mkdir()
    (root / "private" / "plan.txt").write_text("secret")
    approver = RecordingApprover()
    code = "import os\nprint(os.listdir('private'))\nopen('.vscode/x', 'w')"
    result = await run(root, PYTHON or "", "-c", code, sandbox=SANDBOX, approver=approver, writes=True)
    assert "[]" in result.text
    assert "Read-only file system" in result.text
    assert "no network" in approver.requests[0].preview.text
    assert "can be read and changed" in approver.requests[0].preview.text
    result = await run(root, "cat", ".env", sandbox=SANDBOX)
    assert "secret" not in result.text
    assert result.facts == {"passed": False, "exit_code": 1}


@needs_sandbox
async def test_S13_a_project_too_large_to_guard_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_WALK_ENTRIES", 1)
    result = await run(root, "true", sandbox=SANDBOX)
    assert "too many to find those that must be hidden" in result.text


async def test_S13_what_a_person_sees_names_the_sandbox(root: Path) -> None:
    approver = RecordingApprover([Reject()])
    await run(root, "ls", sandbox="/bin/bwrap", approver=approver)
    assert "the project can be read, not changed" in approver.requests[0].preview.text
    assert approver.requests[0].effect == "writes"
