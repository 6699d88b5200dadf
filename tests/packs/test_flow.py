"""Every tool of every pack in a run that has read a canary: no byte of it leaves without a person (XL38).

The tools come from the registry, so one that is added is tested too. All services that tools know are at one address,
where a server keeps each byte that it is sent; a connection to any other address is a fault of its own.
"""

import socket
import socketserver
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from toolroll import Agent, Policy, Rule, ScriptedModel, Tool
from toolroll.kernel.approval.consent import Consent
from toolroll.kernel.data.labels import is_outward
from toolroll.kernel.data.messages import UserMessage
from toolroll.models.scripted import Call
from toolroll.packs.registry import PACKS, pack_named
from toolroll.packs.search.tool import make_search_tool

CANARY = "7f3a9c21d4e8b6057f3a9c21d4e8b605"
"""Also the id of a page."""
TOOLS = [(pack.name, tool.name) for pack in PACKS for tool in pack.tools]
ALLOW = Policy((Rule(action="allow"),))


class Recorder(socketserver.ThreadingTCPServer):
    """Takes every byte, and answers nothing."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        self.received: list[bytes] = []
        self.connected: list[object] = []
        recorder = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                recorder.received.append(self.request.recv(65_536))
                self.request.sendall(b"HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")

        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    connect = socket.socket.connect

    def note(own: socket.socket, address: Any, /) -> None:
        server.connected.append(address)
        connect(own, address)

    with Recorder() as server:
        monkeypatch.setattr(socket.socket, "connect", note)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        for name in ("NOTION_BASE_URL", "SEARXNG_URL", "TAVILY_BASE_URL", "GITHUB_API_URL", "BRAVE_BASE_URL"):
            monkeypatch.setenv(name, server.url)
        for name in ("NOTION_TOKEN", "TAVILY_API_KEY", "GITHUB_TOKEN"):
            monkeypatch.setenv(name, "secret-token-0123456789")
        monkeypatch.setenv("NOTION_DATABASE_ID", "0" * 32)
        monkeypatch.setenv("HTTPS_PROXY", server.url)
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def fill(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    """Return a value of a schema with the canary in every text of it."""
    if "$ref" in schema:
        return fill(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return fill(schema[key][0], root)
    if "enum" in schema or "const" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    match schema.get("type"):
        case "object":
            return {name: fill(inner, root) for name, inner in schema.get("properties", {}).items()}
        case "array":
            return [fill(schema.get("items", {}), root)] * max(schema.get("minItems", 1), 1)
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return False
        case _:
            return CANARY


def load(pack: str, name: str) -> Tool:
    return next(tool for tool in pack_named(pack).load() if tool.name == name)


async def call(tool: Tool, folder: Path, consent: Consent | None) -> str | None:
    """Call the tool with the canary in a run that has read it; return the code of its error."""
    arguments = fill(tool.parameters, tool.parameters)
    agent = Agent(
        model=ScriptedModel([Call(tool.name, arguments), "so"]),
        tools=[tool],
        policy=ALLOW,
        consent=consent,
        private_texts=[f"Her key is {CANARY}."],
        deps={"root": folder, "data": folder / "data", "repository": "octo/research"},
        collect_tool_stats=True,
    )
    result = await agent.run("Go.")
    return next(one.error_type for step in result.steps for one in step.calls)


def check(recorder: Recorder) -> None:
    assert [one for one in recorder.received if CANARY[:12].encode() in one.replace(b"-", b"").lower()] == []
    assert [one for one in recorder.connected if one != recorder.server_address] == []


@pytest.mark.parametrize("consent", [None, Consent(purpose="this post", calls=9)], ids=["no consent", "consent"])
@pytest.mark.parametrize(("pack", "name"), TOOLS)
async def test_XL38_no_tool_of_any_pack_sends_a_canary_out(
    pack: str, name: str, consent: Consent | None, recorder: Recorder, tmp_path: Path
) -> None:
    tool = load(pack, name)
    code = await call(tool, tmp_path, consent)
    check(recorder)
    assert code != "invalid_arguments" or not is_outward(tool)
    if is_outward(tool):
        assert code == "needs_approval"


async def test_XL38_the_search_of_explorations_is_held_back_too(recorder: Recorder, tmp_path: Path) -> None:
    tool = make_search_tool({"SEARXNG_URL": recorder.url})
    assert await call(tool, tmp_path, None) == "needs_approval"
    check(recorder)


async def test_XL38_the_recorder_would_see_it(recorder: Recorder, tmp_path: Path) -> None:
    """The same tools outside of such a run: the canary comes to the server, so the tests above could fail."""
    for tool in (load("writing", "read_notion_page"), make_search_tool({"SEARXNG_URL": recorder.url})):
        recorder.received.clear()
        arguments = fill(tool.parameters, tool.parameters)
        agent = Agent(model=ScriptedModel([Call(tool.name, arguments), "so"]), tools=[tool], policy=ALLOW)
        await agent.run(f"Read {CANARY}.", deps={"data": tmp_path})
        assert any(CANARY[:8].encode() in one for one in recorder.received), tool.name


@pytest.mark.parametrize("form", [CANARY, f"https://www.notion.so/team/Tea-{CANARY}?pvs=4", CANARY.upper()])
async def test_XL63_a_page_that_the_person_names_is_read(form: str, recorder: Recorder) -> None:
    tool = load("writing", "read_notion_page")
    agent = Agent(model=ScriptedModel([Call(tool.name, {"page_id": CANARY}), "so"]), tools=[tool], policy=ALLOW)
    await agent.run(f"Write about {form} please.", labels="private")
    assert len(recorder.received) == 1


async def test_XL63_the_words_of_a_model_name_no_page(recorder: Recorder) -> None:
    """XL63: the task of a sub-agent is a model's, and a summary or a file that was read is nobody's own words."""
    tool = load("writing", "read_notion_page")
    reader = Agent(model=ScriptedModel([Call(tool.name, {"page_id": CANARY}), "so"]), tools=[tool], policy=ALLOW)
    helper = reader.as_tool(name="helper", description="Reads.")
    script = ScriptedModel([Call("helper", {"task": f"Read {CANARY}."}), Call(tool.name, {"page_id": CANARY}), "so"])
    result = await Agent(model=script, tools=[helper, tool], policy=ALLOW).run(
        "Go.", messages=[UserMessage.of(f"The page is {CANARY}.", is_summary=True)]
    )
    codes = [one.error_type for step in result.steps for one in step.calls]
    assert codes == [None, "page_not_named"]
    assert recorder.received == []
