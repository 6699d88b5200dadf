"""Tools over HTTP, both eras: who is let in, whose session it is, and that each client is a run of its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount, Route
from tests.mcp.server.clients import ERAS, YES, Person, text_of
from tests.mcp.server.site import HELLO, JSON, LIST, connect_http, serve

from toolroll import ToolContext, tool
from toolroll.journal.journal import MemoryJournal
from toolroll.journal.records import CallEnded, RunEnded
from toolroll.mcp.server.http import HttpEndpoint
from toolroll.mcp.server.server import ToolServer

SECRETS = {"secret-of-ann": "ann", "secret-of-bob": "bob"}


@tool
def add(a: int, b: int = 0) -> int:
    """Add two numbers."""
    return a + b


@tool(effect="writes")
def store(text: str) -> str:
    """Store a text."""
    return f"Stored {text}."


@tool
def show_all(ctx: ToolContext) -> str:
    """Show all that a tool can see of the call."""
    return repr((ctx.run.deps, ctx.call_id, ctx.run.run_id))


@asynccontextmanager
async def site(journal: MemoryJournal | None = None, *, is_open: bool = False) -> AsyncIterator[str]:
    endpoint = HttpEndpoint(
        ToolServer([add, store, show_all], journal=journal), find_client=None if is_open else SECRETS.get
    )
    try:
        async with serve(Starlette(routes=[Route("/mcp", endpoint)])) as url:
            yield f"{url}/mcp"
    finally:
        await endpoint.aclose()


@pytest.mark.parametrize("era", ERAS)
async def test_S30_tools_are_listed_called_and_approved_over_http(era: str) -> None:
    person, journal = Person(YES), MemoryJournal()
    async with site(journal) as url, connect_http(url, era, "secret-of-ann", person) as client:
        assert [one.name for one in (await client.list_tools()).tools] == ["add", "show_all", "store"]
        assert text_of(await client.call_tool("add", {"a": 1, "b": 2})) == "3"
        assert text_of(await client.call_tool("store", {"text": "tea"})) == "Stored tea."
    assert len(person.questions) == 1
    [row] = await journal.runs()
    records = [record for _, record in await journal.read(row.run_id)]
    assert sum(isinstance(record, CallEnded) for record in records) == 2
    assert isinstance(records[-1], RunEnded)


@pytest.mark.parametrize("era", ERAS)
async def test_XM13_each_client_over_http_is_a_run_of_its_own(era: str) -> None:
    journal = MemoryJournal()
    async with site(journal) as url:
        for secret in SECRETS:
            async with connect_http(url, era, secret) as client:
                await client.call_tool("add", {"a": 1})
                await client.call_tool("add", {"a": 2})
    rows = await journal.runs()
    assert len(rows) == 2
    for row in rows:
        records = [record for _, record in await journal.read(row.run_id)]
        assert sum(isinstance(record, CallEnded) for record in records) == 2
        assert isinstance(records[-1], RunEnded)


async def test_XM13_without_a_token_nobody_gets_in() -> None:
    async with site() as url, httpx2.AsyncClient(trust_env=False) as http:
        for given in (None, "Bearer wrong", "Basic secret-of-ann", "Bearer"):
            headers = JSON if given is None else JSON | {"Authorization": given}
            for body in (HELLO, LIST):
                refused = await http.post(url, json=body, headers=headers)
                assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer"), given


async def test_XM14_a_page_elsewhere_reaches_nothing() -> None:
    foreign = [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost.evil.example"}, 403),
        ({"Content-Type": "text/plain"}, 400),
    ]
    async with site(is_open=True) as url, httpx2.AsyncClient(trust_env=False) as http:
        for version in ("2025-11-25", "2026-07-28"):
            for headers, status in foreign:
                refused = await http.post(url, json=HELLO, headers=JSON | {"MCP-Protocol-Version": version} | headers)
                assert refused.status_code == status, (version, headers)


async def test_XM15_a_session_belongs_to_the_token_that_began_it() -> None:
    journal = MemoryJournal()
    async with site(journal) as url, httpx2.AsyncClient(trust_env=False) as http:
        ann = JSON | {"Authorization": "Bearer secret-of-ann"}
        bob = JSON | {"Authorization": "Bearer secret-of-bob"}
        opened = await http.post(url, json=HELLO, headers=ann)
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        assert len(session["Mcp-Session-Id"]) >= 32
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert (await http.post(url, json=ready, headers=ann | session)).status_code == 202
        call = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "add", "arguments": {"a": 1}}}
        assert (await http.post(url, json=call, headers=ann | session)).status_code == 200
        for method, body in (("POST", LIST), ("POST", call), ("GET", None), ("DELETE", None)):
            stolen = await http.request(method, url, json=body, headers=bob | session)
            assert stolen.status_code == 404, method
        made_up = await http.post(url, json=LIST, headers=ann | {"Mcp-Session-Id": "0" * 32})
        assert made_up.status_code == 404
        [row] = await journal.runs()
        assert row.last_kind != "run_ended", "a stranger cannot end it"
        assert (await http.delete(url, headers=ann | session)).status_code == 200
        [row] = await journal.runs()
        [*_, (_, last)] = await journal.read(row.run_id)
        assert isinstance(last, RunEnded), "with the session the run ends"


@pytest.mark.parametrize("era", ERAS)
async def test_XM16_no_tool_and_no_record_has_the_token_of_a_client(era: str, tmp_path: Path) -> None:
    journal = MemoryJournal()
    async with site(journal) as url, connect_http(url, era, "secret-of-ann") as client:
        assert "secret-of-ann" not in text_of(await client.call_tool("show_all", {}))
    [row] = await journal.runs()
    assert "secret-of-ann" not in repr(await journal.read(row.run_id))


async def test_XM15_an_answer_of_one_client_does_not_count_for_another() -> None:
    async with site() as url:
        async with connect_http(url, "auto", "secret-of-ann", Person(YES)) as ann:
            asked = await ann.session.call_tool("store", {"text": "x"}, allow_input_required=True)
        async with connect_http(url, "auto", "secret-of-bob", Person(YES)) as bob:
            with pytest.raises(Exception, match="Invalid or expired requestState"):
                await bob.session.call_tool(
                    "store",
                    {"text": "x"},
                    input_responses={"approval": YES},
                    request_state=asked.request_state,  # type: ignore[union-attr]  # it was asked
                )


async def test_S30_an_endpoint_can_be_mounted_in_another_application() -> None:
    endpoint = HttpEndpoint(ToolServer([add]))
    async with (
        serve(Starlette(routes=[Mount("/tools", routes=[Route("/mcp", endpoint)])])) as url,
        connect_http(f"{url}/tools/mcp", "auto") as client,
    ):
        assert text_of(await client.call_tool("add", {"a": 1, "b": 2})) == "3"
    await endpoint.aclose()
