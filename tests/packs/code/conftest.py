"""What the tests of the code tools stand on: a folder, and somebody who calls the tools there as a model would."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

import toolroll.packs.code as pack
from toolroll.kernel.approval.request import ApprovalRequest
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.call.step import execute_step
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.data.serialize import dump_json
from toolroll.kernel.define.tool import Tool, Toolset
from toolroll.packs.code.tools import TOOLS
from toolroll.testing import RecordedRun, RecordingApprover, make_run
from toolroll.testing.run import Answers

BY_NAME: Final[dict[str, Tool]] = {tool.name: tool for tool in TOOLS}
SAMPLE: Final = Path(pack.__file__).parent / "sample"
FORMAT: Final = "src/services/format.js"
MAIN: Final = "src/main.js"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ignored files are counted to the end, however busy the machine is."""
    monkeypatch.setattr("toolroll.workspace.search.walk.MAX_COUNTING_SECONDS", 60.0)


class Coder:
    """Calls the tools in one run, and remembers what a person was asked."""

    def __init__(self, folder: Path, run: RecordedRun, approver: RecordingApprover) -> None:
        self.folder = folder
        self.run = run
        self._approver = approver

    @property
    def asked(self) -> list[ApprovalRequest]:
        return self._approver.requests

    async def __call__(self, name: str, **arguments: object) -> ToolResult:
        return await BY_NAME[name].execute_raw(dump_json(arguments), self.run.context())

    async def ok(self, name: str, **arguments: object) -> str:
        """The answer of a call that must not fail."""
        result = await self(name, **arguments)
        assert not result.is_error, result.text
        return result.text

    async def refused(self, name: str, **arguments: object) -> tuple[str | None, str]:
        """Code and message of a call that must fail, in the one form that failures have (C42)."""
        result = await self(name, **arguments)
        assert result.is_error, result.text
        assert isinstance(result.value, dict), result.text
        assert (set(result.value), result.value["error"]) == ({"error", "message"}, True)
        return result.code, result.value["message"]

    async def step(self, *calls: tuple[str, dict[str, object]]) -> list[ToolResult]:
        """Several calls of one turn."""
        made = [
            ToolCall(id=f"call_{number}", name=name, arguments=dump_json(arguments))
            for number, (name, arguments) in enumerate(calls)
        ]
        return await execute_step(Toolset(TOOLS), made, self.run)

    def text(self, path: str) -> str:
        return (self.folder / path).read_text()


@asynccontextmanager
async def coding(folder: Path, decisions: Answers | None = None, **deps: object) -> AsyncIterator[Coder]:
    """Somebody at work in a folder; whoever is asked says yes, unless there are other decisions."""
    approver = RecordingApprover() if decisions is None else RecordingApprover(decisions)
    run = make_run(deps={"root": folder, **deps}, approver=approver)
    async with run:
        yield Coder(folder, run, approver)


def files_of(folder: Path) -> dict[str, bytes]:
    """All regular files below a folder with their content: what must not change."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLROLL_HOME", str(tmp_path / "home"))


def refuse_data(tmp_path: Path) -> None:
    """Whatever is kept in the data folder is refused by the system, for whichever user: its name is too long."""
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home/data").symlink_to("n" * 300)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder to work in."""
    folder = tmp_path / "app"
    folder.mkdir()
    return folder


@pytest.fixture
def project(folder: Path) -> Path:
    """The same folder with the sample project in it."""
    shutil.copytree(SAMPLE, folder, dirs_exist_ok=True)
    return folder


@pytest.fixture
async def coder(folder: Path) -> AsyncIterator[Coder]:
    """Somebody at work in that folder, every change of whom is approved."""
    async with coding(folder) as one:
        yield one
