"""One session with a server, by the SDK's client: connect, list the tools, call one."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import httpx2
from mcp.client import Client
from mcp.client.session import ClientRequestContext
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitRequestParams, ElicitResult, Implementation

from toolroll._version import __version__
from toolroll.errors import McpServerFailed
from toolroll.kernel.call.result import ToolResult
from toolroll.mcp_client.content import read_result
from toolroll.mcp_client.http_limit import LimitedTransport
from toolroll.mcp_client.spec import ServerSpec
from toolroll.mcp_client.stdio import MAX_MESSAGE_BYTES, StdioEnd, open_stdio
from toolroll.safe.net.urls import is_loopback
from toolroll.safe.programs.run import minimal_environment

MAX_PAGES: Final = 50
"""Of a list of tools: a server that always names a next page is not followed for ever."""
MAX_LISTED: Final = 5_000
"""Tools that are read at all, before the person's choice among them."""

OnProgress: TypeAlias = Callable[[str, float | None], None]
Elicit: TypeAlias = Callable[[ElicitRequestParams], Awaitable[ElicitResult]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """Which server answered, and in which version of the protocol."""

    protocol: str
    server: str = ""
    version: str = ""


class Session:
    """An open session; for the event loop that it was opened in."""

    def __init__(self, client: Client, end: StdioEnd) -> None:
        self._client = client
        self.end = end

    @property
    def info(self) -> SessionInfo:
        """Return what the server says of itself."""
        found = self._client.server_info
        protocol = self._client.protocol_version
        return (
            SessionInfo(protocol=protocol)
            if found is None
            else SessionInfo(protocol=protocol, server=found.name, version=found.version)
        )

    async def list_tools(self) -> list[dict[str, Any]]:
        """Return the tools of the server as plain data, page by page up to the limits."""
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await self._client.list_tools(cursor=cursor, cache_mode="refresh")
            found += [
                tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools[:MAX_LISTED]
            ]
            cursor = page.next_cursor
            if cursor is None or len(found) >= MAX_LISTED:
                break
        return found[:MAX_LISTED]

    async def call_tool(self, name: str, arguments: Mapping[str, object], on_progress: OnProgress) -> ToolResult:
        """Call a tool and return its result; ToolFailure where the server says that it failed."""

        async def report(progress: float, total: float | None, message: str | None) -> None:
            on_progress(message or "", min(max(progress / total, 0.0), 1.0) if total else None)

        answer = await self._client.call_tool(name, dict(arguments), progress_callback=report)
        return read_result(name, answer)


@asynccontextmanager
async def open_session(
    spec: ServerSpec, environment: Mapping[str, str], *, elicit: Elicit, auth: httpx2.Auth | None = None
) -> AsyncIterator[Session]:
    """Connect to the server, in whichever version of the protocol it speaks.

    `environment` has the values of the variables that the server, or its headers, are given.
    """
    end = StdioEnd()
    async with AsyncExitStack() as stack:
        if spec.url:
            http = await stack.enter_async_context(_open_http(spec, environment, auth))
            transport: Any = streamable_http_client(spec.url, http_client=http, max_sse_event_size=MAX_MESSAGE_BYTES)
        else:
            program_environment = minimal_environment(environment) | spec.pick_variables(environment)
            transport = open_stdio(spec, program_environment, end)

        async def on_elicit(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:  # noqa: ARG001
            return await elicit(params)

        client = Client(
            transport,
            client_info=Implementation(name="toolroll", version=__version__),
            elicitation_callback=on_elicit,
            read_timeout_seconds=max(spec.call_seconds, spec.connect_seconds),
            cache=None,
        )
        try:
            await stack.enter_async_context(client)
        except Exception:
            if end.reason:  # it says more than that the connection was closed
                raise McpServerFailed(end.reason) from None
            raise
        yield Session(client, end)


@asynccontextmanager
async def _open_http(
    spec: ServerSpec, environment: Mapping[str, str], auth: httpx2.Auth | None
) -> AsyncIterator[httpx2.AsyncClient]:
    # What is on this machine is not reached through a proxy, whatever the environment says.
    inner = httpx2.AsyncHTTPTransport(trust_env=not is_loopback(spec.url))
    timeout = httpx2.Timeout(spec.connect_seconds, read=spec.call_seconds)
    client = httpx2.AsyncClient(
        transport=LimitedTransport(inner, limit_bytes=MAX_MESSAGE_BYTES),
        headers=spec.fill_headers(environment),
        timeout=timeout,
        auth=auth,
        follow_redirects=False,
    )
    async with client:
        yield client
