"""A call that its client cancels ends, on every way that there is, and is on record as interrupted."""

import asyncio
from contextlib import AsyncExitStack

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from tests.mcp.server.clients import ERAS, connect, text_of
from tests.mcp.server.site import connect_http, serve

from mcp import Client
from toolroll import tool
from toolroll.journal.journal import MemoryJournal
from toolroll.journal.records import CallEnded
from toolroll.mcp.server.http import HttpEndpoint
from toolroll.mcp.server.server import ToolServer

WAIT_S = 30.0


class Slow:
    """A tool that waits until it is cancelled, and says when it began and ended."""

    def __init__(self) -> None:
        self.begun, self.ended = asyncio.Event(), asyncio.Event()

        @tool
        async def wait() -> str:
            """Wait for ever."""
            self.begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.ended.set()
            return "never"

        self.tool = wait


@tool
async def ping() -> str:
    """Answer."""
    return "pong"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("over_http", [False, True])
async def test_S30_a_cancelled_call_ends_and_the_client_goes_on(era: str, over_http: bool) -> None:
    slow, journal = Slow(), MemoryJournal()
    server = ToolServer([slow.tool, ping], journal=journal)
    async with AsyncExitStack() as stack:
        client: Client
        if over_http:
            endpoint = HttpEndpoint(server)
            stack.push_async_callback(endpoint.aclose)
            url = await stack.enter_async_context(serve(Starlette(routes=[Route("/mcp", endpoint)])))
            client = await stack.enter_async_context(connect_http(f"{url}/mcp", era))
        else:
            client = await stack.enter_async_context(connect(server, era))
        call = asyncio.ensure_future(client.call_tool("wait", {}))
        await asyncio.wait_for(slow.begun.wait(), WAIT_S)
        call.cancel()
        await asyncio.wait_for(slow.ended.wait(), WAIT_S)
        assert text_of(await client.call_tool("ping", {})) == "pong"
    [row] = await journal.runs()
    ended = {
        record.result.name: record.code for _, record in await journal.read(row.run_id) if isinstance(record, CallEnded)
    }
    assert ended == {"wait": "interrupted", "ping": None}


@tool
async def give_up(how: str) -> str:
    """Cancel itself."""
    if how == "raise":
        raise asyncio.CancelledError
    me = asyncio.current_task()
    assert me is not None
    me.cancel()
    await asyncio.sleep(0)
    return "not reached"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("how", ["raise", "cancel"])
async def test_S30_a_tool_that_cancels_itself_has_failed_and_nothing_else_has(era: str, how: str) -> None:
    async with connect(ToolServer([give_up, ping]), era) as client:
        failed = await asyncio.wait_for(client.call_tool("give_up", {"how": how}), WAIT_S)
        assert failed.is_error
        assert text_of(await client.call_tool("ping", {})) == "pong"
