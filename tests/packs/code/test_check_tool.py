"""The check: one fixed command, run only after a yes."""

import asyncio
import json
import shlex
import sys
from pathlib import Path

import pytest
from tests.support.clock import time_passes

from toolroll.errors import UsageError
from toolroll.kernel.approval.request import Reject
from toolroll.kernel.call.context import Run
from toolroll.kernel.call.result import ToolResult
from toolroll.packs.code.check_tool import check_tool, command_tool
from toolroll.testing.run import RecordingApprover


async def checked(
    root: Path, *command: str, seconds: float = 20, approver: RecordingApprover | None = None
) -> ToolResult:
    async with Run(deps={"root": root}, approver=approver or RecordingApprover()) as run:
        return await check_tool(command, seconds=seconds).execute_raw('{"description": "Does it pass?"}', run.context())


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLROLL_HOME", str(tmp_path / "home"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


async def test_C34_the_command_runs_in_the_project_after_a_yes(root: Path) -> None:
    approver = RecordingApprover()
    result = await checked(root, sys.executable, "-c", "import os; print(os.getcwd())", approver=approver)
    assert not result.is_error
    assert result.text.endswith(f"passed.\n{root}")
    [request] = approver.requests
    assert (request.effect, request.why) == ("writes", "Does it pass?")
    assert f"run in {root}\nfor at most 20 seconds:" in request.preview.text


async def test_C34_a_failing_check_is_told_with_what_it_printed(root: Path) -> None:
    code = "import sys; print('one failed'); print('why', file=sys.stderr); sys.exit(3)"
    result = await checked(root, sys.executable, "-c", code)
    assert not result.is_error, "the check ran: that it failed is its answer"
    assert result.text.endswith("failed with exit code 3.\none failed\nwhy")


async def test_C34_without_a_yes_nothing_runs(root: Path) -> None:
    code = "open('made', 'w').close()"
    result = await checked(root, sys.executable, "-c", code, approver=RecordingApprover([Reject()]))
    assert (result.code, result.text) == ("rejected", '{"error":true,"message":"User rejected changes"}')
    assert list(root.iterdir()) == []


async def test_C34_a_check_is_ended_in_time(root: Path) -> None:
    code = "import time; print('begun', flush=True); open('begun', 'w').close(); time.sleep(60)"
    checking = asyncio.create_task(checked(root, sys.executable, "-c", code, seconds=3_600))
    while not (root / "begun").exists():
        await asyncio.sleep(0.01)
    time_passes(3_600)
    result = await checking
    assert result.code == "timeout"
    assert "begun" in result.text


async def test_C34_a_check_that_floods_is_ended(root: Path) -> None:
    result = await checked(root, sys.executable, "-c", "while True: print('x' * 1000)")
    assert result.code == "output"


async def test_C34_a_command_that_is_not_there_is_said_so(root: Path) -> None:
    result = await checked(root, "/no/such/program")
    assert result.is_error
    assert '"error":true' in result.text


async def test_C34_nothing_of_the_model_becomes_part_of_the_command(root: Path) -> None:
    tool = check_tool([sys.executable, "-c", "import sys; print(sys.argv[1:])"], seconds=20)
    assert set(tool.parameters["properties"]) == {"description"}  # type: ignore[call-overload]
    result = await checked(root, sys.executable, "-c", "import sys; print(sys.argv[1:])")
    assert result.text.endswith("[]")


@pytest.mark.parametrize("command", [(), ("npm", "")])
def test_C34_an_empty_command_is_refused(command: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="A check is a command"):
        check_tool(command, seconds=1)


async def test_XA26_a_check_ends_when_the_run_is_stopped(root: Path) -> None:
    code = "import time; open('begun', 'w').close(); time.sleep(600)"
    async with Run(deps={"root": root}, approver=RecordingApprover()) as run:
        tool = check_tool((sys.executable, "-c", code), seconds=600)
        call = asyncio.ensure_future(tool.execute_raw("{}", run.context()))
        while not (root / "begun").exists():
            await asyncio.sleep(0.01)
        run.stopping = True
        result = await call
    assert (result.is_error, result.code) == (True, "stopped")


@pytest.mark.parametrize(
    ("arguments", "is_fine"),
    [
        (["tests/a.py", "b"], True),
        ([], True),
        (["tests/a.py; rm"], False),
        (["a\n"], False),
        (["-x"], False),
        ([""], False),
        (["a"] * 101, False),
    ],
)
async def test_S13_only_arguments_that_fit_are_added(root: Path, arguments: list[str], *, is_fine: bool) -> None:
    command = [sys.executable, "-c", "import sys; print(sys.argv[1:])"]
    approver = RecordingApprover()
    tool = command_tool("tests", command, seconds=20, pattern="[-a-z/.]*|x; y")
    async with Run(deps={"root": root}, approver=approver) as run:
        result = await tool.execute_raw(json.dumps({"arguments": arguments}), run.context())
    assert result.is_error != is_fine
    assert tool.name == "run_tests"
    if is_fine:
        assert result.text.endswith(str(arguments))
        assert approver.requests[0].preview.text.endswith(shlex.join(arguments))
    else:
        assert approver.requests == [], "nobody is asked about what cannot run"
