"""S31: well-known servers work with our agents: filesystem, git, fetch, memory and everything (where installed)."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, cast

import pytest

from toolroll import Agent, Approve, ImagePart, ScriptedModel
from toolroll.kernel.approval.request import ApprovalRequest
from toolroll.kernel.data.messages import Part, ToolResults
from toolroll.mcp_client import MCPServer
from toolroll.models import Call
from toolroll.testing import RecordingApprover

PROGRAMS = Path(__file__).parents[2] / "build" / "npm" / "node_modules" / ".bin"


def node_server(name: str, *args: str, **options: Any) -> MCPServer:
    """A server of npm: `make counterparts` installs it."""
    program = PROGRAMS / f"mcp-server-{name}"
    if not program.exists():
        pytest.skip("needs the servers of npm: make counterparts")
    environment = {"PATH": f"{PROGRAMS}:{os.environ['PATH']}"}
    return MCPServer(name, command=str(program), args=args, environment=environment, connect_seconds=120, **options)


def python_server(name: str, *args: str) -> MCPServer:
    """A server of PyPI."""
    program = shutil.which(f"mcp-server-{name}")
    if program is None:
        pytest.skip(f"needs pip install mcp-server-{name}")
    return MCPServer(name, command=program, args=args, connect_seconds=120)


async def results(server: MCPServer, *calls: Call) -> list[Any]:
    """Let an agent make the calls, a turn each, and return what it read."""
    agent = Agent(model=ScriptedModel([*calls, "Done."]), tools=[server], approver=RecordingApprover())
    result = await agent.run("Go.")
    return [one.results[0].content for one in result.messages if isinstance(one, ToolResults)]


async def test_S31_filesystem(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("buy tea\n")
    async with node_server("filesystem", str(tmp_path)) as server:
        read, outside, wrote = await results(
            server,
            Call("filesystem__read_text_file", {"path": str(tmp_path / "list.txt")}),
            Call("filesystem__read_text_file", {"path": "/etc/passwd"}),
            Call("filesystem__write_file", {"path": str(tmp_path / "new.txt"), "content": "milk"}),
        )
    assert read == "buy tea\n"
    assert "Access denied" in outside
    assert "Success" in wrote
    assert (tmp_path / "new.txt").read_text() == "milk"


async def test_S31_memory(tmp_path: Path) -> None:
    store = tmp_path / "memory.jsonl"
    tea = {"name": "tea", "entityType": "drink", "observations": ["green"]}
    async with node_server("memory", variables={"MEMORY_FILE_PATH": str(store)}) as server:
        _, found = await results(
            server,
            Call("memory__create_entities", {"entities": [tea]}),
            Call("memory__search_nodes", {"query": "green"}),
        )
    assert json.loads(found)["entities"] == [tea]
    assert "drink" in store.read_text()


async def test_S31_everything_with_its_question_to_the_person() -> None:
    """XM23: it sees no variable but those that every program needs."""
    async with node_server("everything") as server:
        image, seen, total = await results(
            server,
            Call("everything__get-tiny-image", {}),
            Call("everything__get-env", {}),
            Call("everything__get-sum", {"a": 2, "b": 3}),
        )
        assert any(isinstance(part, ImagePart) for part in cast("tuple[Part, ...]", image))
        assert set(json.loads(seen)) <= {
            "PATH",
            "HOME",
            "LANG",
            "LC_ALL",
            "LC_CTYPE",
            "TZ",
            "TMPDIR",
            "TOOLROLL_PROGRAM",
        }
        assert "5" in total
        person = RecordingApprover(_answer_form)
        agent = Agent(
            model=ScriptedModel([Call("everything__trigger-elicitation-request", {}), "Done."]),
            tools=[server],
            approver=person,
        )
        result = await agent.run("Ask me.")
    [answer] = [one.results[0] for one in result.messages if isinstance(one, ToolResults)]
    assert [request.is_question for request in person.requests] == [False, True]
    assert "Ada" in str(answer.content)


def _answer_form(request: ApprovalRequest) -> Approve:
    if not request.is_question:
        return Approve()
    values = json.loads(request.preview.editable or "{}")
    return Approve(edited=json.dumps(values | {"name": "Ada"}))


async def test_S31_git(tmp_path: Path) -> None:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), *identity, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    async with python_server("git", "--repository", str(tmp_path)) as server:
        [log] = await results(server, Call("git__git_log", {"repo_path": str(tmp_path)}))
    assert "Message: first" in log


async def test_S31_fetch() -> None:
    async with python_server("fetch") as server:
        [refused] = await results(server, Call("fetch__fetch", {"url": "http://127.0.0.1:9/"}))
    assert "127.0.0.1" in refused
