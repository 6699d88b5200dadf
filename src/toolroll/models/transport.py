"""The seam to the network: a request as bytes goes out, a status, headers and bytes come back.

Everything above it is pure functions over data. The default speaks `httpx2`; an official SDK client (for Bedrock,
Vertex, Azure, or credentials of its own) plugs in here as well.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import urlsplit

from toolroll.errors import ModelTimeout, NetworkFailed, ProviderFailed
from toolroll.safe.secrets import redact
from toolroll.safe.text import one_line

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    import httpx2

MAX_BODY_BYTES: Final = 64 * 1024 * 1024
"""The longest answer a model can write is under 1 MiB; search results with their encrypted text make several."""

_SHOWN_CHARACTERS: Final = 200


@dataclass(slots=True, kw_only=True)
class Reply:
    """An HTTP answer whose body is still to be read."""

    status: int
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]

    async def body(self) -> bytes:
        """The whole body, up to a size that no answer has."""
        body = bytearray()
        async for chunk in self.chunks:
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                raise ProviderFailed(f"The provider's answer has more than {MAX_BODY_BYTES:,} bytes.")
        return bytes(body)


class Transport(Protocol):
    """Sends one request. Network failures arrive as `NetworkFailed` or `ModelTimeout`, also while the body is read."""

    def post(self, path: str, *, headers: Mapping[str, str], body: bytes) -> AbstractAsyncContextManager[Reply]:
        """The answer to a POST of `body` to `path` below the provider's base address."""
        ...

    async def aclose(self) -> None:
        """Close what was opened."""
        ...


class HttpTransport:
    """The default transport: an `httpx2` client, made when it is first needed and kept for its connections.

    One per event loop: connections of a loop that has ended cannot be used by the next one.
    """

    def __init__(self, base_url: str, *, timeout_s: float = 600.0, connect_timeout_s: float = 10.0) -> None:
        self._base_url = base_url.rstrip("/")
        self._timeout_s = timeout_s
        self._connect_timeout_s = connect_timeout_s
        self._clients: dict[AbstractEventLoop, httpx2.AsyncClient] = {}

    @asynccontextmanager
    async def post(self, path: str, *, headers: Mapping[str, str], body: bytes) -> AsyncIterator[Reply]:
        """Send the request and hand over the answer while the connection is open."""
        async with http_failures():
            address = self._base_url + path
            async with self._client().stream("POST", address, headers=dict(headers), content=body) as answer:
                yield Reply(status=answer.status_code, headers=answer.headers, chunks=answer.aiter_bytes())

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        from asyncio import get_running_loop  # noqa: PLC0415 - as below

        client = self._clients.pop(get_running_loop(), None)
        if client is not None:
            await client.aclose()

    def _client(self) -> "httpx2.AsyncClient":
        from asyncio import get_running_loop  # noqa: PLC0415 - five interpreter starts; whoever gets here has paid them

        loop = get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            self._clients = {other: kept for other, kept in self._clients.items() if not other.is_closed()}
            client = self._clients[loop] = self._new_client()
        return client

    def _new_client(self) -> "httpx2.AsyncClient":
        import httpx2  # noqa: PLC0415 - eleven interpreter starts; only who talks to a provider pays them

        limits = httpx2.Timeout(self._timeout_s, connect=self._connect_timeout_s)
        # What is on this machine is not reached through a proxy, whatever the environment says.
        trust_env = not is_loopback(self._base_url)
        # Reading the certificates takes 30 ms; without TLS, nobody looks at them.
        verify = not self._base_url.startswith("http://")
        return httpx2.AsyncClient(timeout=limits, follow_redirects=False, trust_env=trust_env, verify=verify)


@asynccontextmanager
async def http_failures() -> AsyncIterator[None]:
    """Turns what `httpx2` raises, also while a body is read, into our errors."""
    import httpx2  # noqa: PLC0415 - as above

    try:
        yield
    except httpx2.TimeoutException as error:
        raise ModelTimeout(f"The provider did not answer in time ({type(error).__name__}).") from error
    except httpx2.RequestError as error:
        said = one_line(redact(str(error)), _SHOWN_CHARACTERS) or type(error).__name__
        raise NetworkFailed(f"The connection to the provider failed: {said}.") from error


def is_loopback(url: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
