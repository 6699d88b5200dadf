"""MCP over HTTP: what `toolroll serve` mounts and `toolroll mcp --http` serves alone, and who may use it."""

import asyncio
import hmac
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from contextlib import ExitStack
from typing import Any, Final, Protocol, TypeAlias

from toolroll.home.tokens import Scope, TokenBook
from toolroll.lazy import load

PATH: Final = "/mcp"
SCOPE: Final[Scope] = "mcp"
"""What a token must allow: its holder reads and changes the folder, and approves that. No token for jobs does."""

_Message: TypeAlias = MutableMapping[str, Any]
_Receive: TypeAlias = Callable[[], Awaitable[_Message]]
_Send: TypeAlias = Callable[[_Message], Awaitable[None]]


class Endpoint(Protocol):
    """An ASGI application for one path."""

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        """Answer one request."""
        ...

    async def aclose(self) -> None:
        """End what it has begun."""
        ...


def make_finder(book: TokenBook, launch_token: str | None = None) -> Callable[[str], str | None]:
    """Return how tokens are looked up: those that are stored and may run tools, and that of this launch."""

    def find(secret: str) -> str | None:
        if launch_token is not None and hmac.compare_digest(secret.encode(), launch_token.encode()):
            return "launch"
        token = book.find(secret)
        # A stored token may be named 'launch' too; nobody may take its sessions over.
        return f"token {token.name}" if token is not None and SCOPE in token.scopes else None

    return find


class LazyEndpoint:
    """Begins with the first request: who serves a page and has no client does not wait for the SDK."""

    def __init__(
        self, make_server: Callable[[ExitStack], object], *, names: Collection[str], find: Callable[[str], str | None]
    ) -> None:
        self._make_server = make_server
        self._names = names
        self._find = find
        self._stack = ExitStack()
        self._lock = asyncio.Lock()
        self._endpoint: Endpoint | None = None

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        """Answer one request."""
        async with self._lock:
            endpoint = self._endpoint = self._endpoint or await self._begin()
        await endpoint(scope, receive, send)

    async def aclose(self) -> None:
        """End what it has begun."""
        if self._endpoint is not None:
            await self._endpoint.aclose()
        self._stack.close()

    async def _begin(self) -> Endpoint:
        # The import takes a second; the page goes on meanwhile.
        make = await asyncio.to_thread(load, "toolroll.mcp.server.http:HttpEndpoint")
        server = self._make_server(self._stack)
        endpoint: Endpoint = make(server, names=self._names, find_client=self._find)
        return endpoint
