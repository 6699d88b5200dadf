"""S31: servers of the settings and of a trusted project are tools of every agent; a broken one delays nothing."""

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.apps.coding import spec_for
from tests.mcp_client.scripted import SCRIPT, calls, entries

from toolroll import Agent, Approve, MemoryJournal, ScriptedModel
from toolroll.apps.code import build_code_agent
from toolroll.apps.mcp_servers import ServerPool, find_servers, read_mcp_json
from toolroll.apps.permissions import RuleMemory
from toolroll.apps.project import Project
from toolroll.apps.surface import Note, Surface
from toolroll.home.mcp_listings import ListingBook
from toolroll.home.mcp_servers import MCP_JSON
from toolroll.home.settings_file import add_server
from toolroll.home.trust import TrustBook
from toolroll.kernel.approval.request import ApprovalRequest, Approver, Decision
from toolroll.kernel.data.messages import ToolResults
from toolroll.models import Call


class Place:
    """A project and a home, the scripted server, and a person who says yes."""

    def __init__(self, folder: Path) -> None:
        self.root, self.state = folder / "project", folder / "state"
        self.root.mkdir()
        self.environment = {"TOOLROLL_HOME": str(folder / "home"), "PATH": "/usr/bin:/bin"}
        self.notes: list[Note] = []
        self.requests: list[ApprovalRequest] = []
        self.memory: RuleMemory | None = None
        self.on_ask: Callable[[ApprovalRequest], None] = lambda _request: None

    def command(self, *behave: str) -> dict[str, Any]:
        words = [word for one in behave for word in ("--behave", one)]
        args = ["-S", str(SCRIPT), "--state", str(self.state), *words]
        return {"command": sys.executable, "args": args}

    def add(self, *behave: str, name: str = "s", **more: object) -> None:
        add_server(self.environment, name, {**self.command(*behave), "connect_seconds": 60.0, **more})

    @property
    def surface(self) -> Surface:
        place = self

        class Person:
            def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
                place.requests += requests
                for request in requests:
                    place.on_ask(request)
                return [Approve() for _ in requests]

        def make_approver(memory: RuleMemory | None, _seconds: float) -> Approver:
            self.memory = memory
            return Person()

        return Surface(environment=self.environment, notify=self.notes.append, make_approver=make_approver)

    def open(self) -> Project:
        return Project.open(self.root, self.environment)

    async def agent(self, project: Project, *script: Any, read_only: bool = False) -> Agent[None]:
        await project.learn_servers(self.surface)
        spec = spec_for(self.root, read_only=read_only)
        model = ScriptedModel([*script])
        return build_code_agent(spec, project=project, surface=self.surface, journal=MemoryJournal(), model=model)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def names(agent: Agent[None]) -> set[str]:
    return {tool.name for tool in agent.setup.tools if "__" in tool.name}


async def test_S31_tools_of_a_server_are_known_from_the_last_time_and_it_is_started_when_needed(place: Place) -> None:
    place.add(tools=["echo", "fail"])
    with place.open() as project:
        assert names(await place.agent(project)) == {"s__echo", "s__fail"}
    started = len(entries(place.state))
    with place.open() as project:
        agent = await place.agent(project, Call("s__echo", {"text": "hello"}), "Done.")
        assert names(agent) == {"s__echo", "s__fail"}
        assert len(entries(place.state)) == started
        result = await agent.run("Say hello.")
        [answer] = [one for one in result.messages if isinstance(one, ToolResults)]
        assert answer.results[0].content == "hello"
        [request] = place.requests
        assert "Nobody has accepted this tool so far" in request.preview.text
        assert names(await place.agent(project, read_only=True)) == set()


async def test_S31_a_broken_server_is_waited_for_once_and_then_never(place: Place) -> None:
    add_server(place.environment, "gone", {"command": "/nowhere/at-all"})
    add_server(place.environment, "slow", {"command": "sleep", "args": ["60"]})
    with place.open() as project:
        named = find_servers(place.root, project.settings, place.surface)
    for one, seconds in zip(named, (60, 0.1), strict=True):
        pool = ServerPool(place.environment)
        pool.update([one])
        await pool.learn(place.surface, seconds=seconds)
        pool.close()
    problem = ListingBook.from_environment(place.environment)
    assert any("gone" in note.text for note in place.notes)
    with place.open() as project:
        begun = time.monotonic()
        await project.learn_servers(place.surface)
        assert time.monotonic() - begun < 1
        place.notes.clear()
        assert project.server_tools(place.surface) == []
        assert sorted(note.text.split()[6] for note in place.notes) == ["gone", "slow"]
        assert project.servers is not None
        assert all(problem.find(one.spec.identity) for one in project.servers.named)


async def test_S31_always_is_remembered_for_one_tool_of_one_server_as_it_is_defined(place: Place) -> None:
    """XM2: a rule does not count for a definition that has changed."""
    place.add(local=True)

    def always(request: ApprovalRequest) -> None:
        assert place.memory is not None
        assert place.memory.can_remember(request)
        place.memory.add(request, None)

    place.on_ask = always
    with place.open() as project:
        agent = await place.agent(project, Call("s__echo", {"text": "1"}), Call("s__echo", {"text": "2"}), "Done.")
        await agent.run("Twice.")
    assert [request.tool for request in place.requests] == ["s__echo"]
    with place.open() as project:
        await (await place.agent(project, Call("s__echo", {"text": "3"}), "Done.")).run("Again.")
        assert len(place.requests) == 1
        assert len(calls(place.state)) == 3
        assert place.memory is not None
        assert not place.memory.covers(place.requests[0])  # what is asked about is shown


async def test_S31_no_always_where_private_text_could_go_to_the_server(place: Place) -> None:
    place.add()
    with place.open() as project:
        await (await place.agent(project, Call("s__echo", {"text": "1"}), "Done.")).run("Once.")
    [request] = place.requests
    assert request.is_exposed
    assert place.memory is not None
    assert not place.memory.can_remember(request)


async def test_S31_XA9_servers_of_a_project_are_started_only_after_trust(place: Place) -> None:
    content = json.dumps({"mcpServers": {"s": place.command()}}).encode()
    (place.root / MCP_JSON).write_bytes(content)
    with place.open() as project:
        assert names(await place.agent(project)) == set()
        assert "Nobody has trusted it" in place.notes[0].text
        assert not place.state.exists()
        TrustBook.from_environment(place.environment).add(str(place.root.resolve()), MCP_JSON, content)
        assert "s__echo" in names(await place.agent(project))
        assert [one.spec.cwd for one in project.servers.named] == [str(place.root.resolve())]  # type: ignore[union-attr]  # named
        (place.root / MCP_JSON).write_bytes(content + b"\n")
        assert names(await place.agent(project)) == set()


def test_S31_the_users_own_server_counts_before_one_of_a_project(place: Place) -> None:
    add_server(place.environment, "s", {"url": "https://own.example/mcp"})
    content = json.dumps({"mcpServers": {"s": {"command": "evil"}, "a b": {"command": "x"}}}).encode()
    (place.root / MCP_JSON).write_bytes(content)
    TrustBook.from_environment(place.environment).add(str(place.root.resolve()), MCP_JSON, content)
    with place.open() as project:
        found = find_servers(place.root, project.settings, place.surface)
    assert [(one.spec.place, one.origin) for one in found] == [("https://own.example/mcp", "settings")]
    assert ["Your own MCP server 's' is used" in place.notes[0].text, place.notes[1].kind] == [True, "warning"]
    (place.root / MCP_JSON).write_bytes(b"\xff")
    assert read_mcp_json(place.root, place.surface) == {}
