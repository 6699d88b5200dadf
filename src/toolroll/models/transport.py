"""The seam to the network: a request as bytes goes out, a status, headers and bytes come back.

Everything above it is pure functions over data. The default speaks `httpx2`; an official SDK client (for Bedrock,
Vertex, Azure, or credentials of its own) plugs in here as well.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from toolroll.errors import ModelTimeout, NetworkFailed

if TYPE_CHECKING:
    import httpx2


@dataclass(slots=True, kw_only=True)
class Reply:
    """An HTTP answer whose body is still to be read."""

    status: int
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]

    async def body(self) -> bytes:
        """The whole body."""
        return b"".join([chunk async for chunk in self.chunks])


class Transport(Protocol):
    """Sends one request. Network failures arrive as `NetworkFailed` or `ModelTimeout`, also while the body is read."""

    def post(self, path: str, *, headers: Mapping[str, str], body: bytes) -> AbstractAsyncContextManager[Reply]:
        """The answer to a POST of `body` to `path` below the provider's base address."""
        ...


class HttpTransport:
    """The default transport: one `httpx2` client, made when it is first needed and kept for its connections."""

    def __init__(self, base_url: str, *, timeout_s: float = 600.0, connect_timeout_s: float = 10.0) -> None:
        self._base_url = base_url.rstrip("/")
        self._timeout_s = timeout_s
        self._connect_timeout_s = connect_timeout_s
        self._client: httpx2.AsyncClient | None = None

    @asynccontextmanager
    async def post(self, path: str, *, headers: Mapping[str, str], body: bytes) -> AsyncIterator[Reply]:
        """Send the request and hand over the answer while the connection is open."""
        import httpx2  # noqa: PLC0415 - eleven interpreter starts; only who talks to a provider pays them

        client = self._client = self._client or self._new_client()
        try:
            async with client.stream("POST", self._base_url + path, headers=dict(headers), content=body) as answer:
                yield Reply(status=answer.status_code, headers=answer.headers, chunks=answer.aiter_bytes())
        except httpx2.TimeoutException as error:
            raise ModelTimeout(f"The provider did not answer in time ({type(error).__name__}).") from error
        except httpx2.TransportError as error:
            raise NetworkFailed(
                f"The connection to the provider failed: {str(error) or type(error).__name__}."
            ) from error

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    def _new_client(self) -> "httpx2.AsyncClient":
        import httpx2  # noqa: PLC0415 - as above

        limits = httpx2.Timeout(self._timeout_s, connect=self._connect_timeout_s)
        return httpx2.AsyncClient(timeout=limits, follow_redirects=False)
