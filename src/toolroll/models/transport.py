"""The seam to the network: a request as bytes goes out, a status, headers and bytes come back.

Everything above it is pure functions over data. The default speaks `httpx2`; an official SDK client (for Bedrock,
Vertex, Azure, or credentials of its own) plugs in here as well.
"""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

from toolroll.lazy import load
from toolroll.models.reply import Reply
from toolroll.safe.net.urls import is_loopback

if TYPE_CHECKING:
    from toolroll.models.connections import Connections


class Transport(Protocol):
    """Sends one request. Network failures arrive as `NetworkFailed` or `ModelTimeout`, also while the body is read."""

    def post(self, path: str, *, headers: Mapping[str, str], body: bytes) -> AbstractAsyncContextManager[Reply]:
        """Send `body` by POST to `path` below the provider's base address, and return the answer."""
        ...

    async def aclose(self) -> None:
        """Close what was opened."""
        ...


class HttpTransport:
    """The default transport: connections of `httpx2`, made when they are first needed and kept.

    Making one is cheap: `httpx2`, which takes eleven interpreter starts, is loaded with the first request. Connections
    are closed with `aclose`, or when `asyncio.run` ends the loop that they belong to.
    """

    def __init__(self, base_url: str, *, timeout_s: float = 600.0, connect_timeout_s: float = 10.0) -> None:
        self._base_url = base_url.rstrip("/")
        self._timeouts_s = {"connect": connect_timeout_s, "read": timeout_s, "write": timeout_s, "pool": timeout_s}
        self.is_local: bool = is_loopback(base_url)
        self._connections: Connections | None = None

    def post(self, path: str, *, headers: Mapping[str, str], body: bytes) -> AbstractAsyncContextManager[Reply]:
        """Send the request and hand over the answer while the connection is open."""
        if self._connections is None:
            make = load("toolroll.models.connections:Connections")
            self._connections = make(self._base_url, timeouts_s=self._timeouts_s, is_local=self.is_local)
        return self._connections.post(path, headers=headers, body=body)

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        if self._connections is not None:
            await self._connections.aclose()
