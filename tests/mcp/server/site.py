"""A server over a real socket, in the event loop of the test."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import uvicorn
from mcp.client.streamable_http import streamable_http_client
from starlette.types import ASGIApp
from tests.mcp.server.clients import Person

from mcp import Client

JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
HELLO: Mapping[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}
LIST: Mapping[str, Any] = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}


@asynccontextmanager
async def serve(app: ASGIApp) -> AsyncIterator[str]:
    """Serve an application; gives its address."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="auto")
    server = uvicorn.Server(config)
    task = asyncio.ensure_future(server.serve())
    while not server.started:
        assert not task.done()
        await asyncio.sleep(0.005)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


@asynccontextmanager
async def connect_http(
    url: str, era: str, token: str | None = None, person: Person | None = None
) -> AsyncIterator[Client]:
    """A client of the SDK at an address."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=30, trust_env=False) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=era, elicitation_callback=person) as client:
            yield client
