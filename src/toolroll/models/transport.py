"""The seam to the network: a request as bytes goes out, a status, headers and bytes come back.

Everything above it is pure functions over data. The default speaks `httpx2`; an official SDK client (for Bedrock,
Vertex, Azure, or credentials of its own) plugs in here as well.
"""

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol, cast

from toolroll.errors import AnswerTooLarge, ModelError, ModelTimeout, NetworkFailed
from toolroll.messages import MODEL_ANSWER_TOO_LARGE, MODEL_TIMEOUT_CONNECT
from toolroll.safe.net.urls import is_loopback
from toolroll.safe.secrets.redact import redact_line

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    import httpx2

MAX_BODY_BYTES: Final = 64 * 1024 * 1024
"""The longest answer a model can write is under 1 MiB; search results with their encrypted text make several. A stream
of 128,000 tokens, each in an event of its own, has some 30 MiB."""

_SHOWN_CHARACTERS: Final = 200
_OWN_HEADERS: Final[Mapping[str, str]] = {"accept": "*/*", "accept-encoding": "gzip, deflate", "user-agent": "toolroll"}


@dataclass(slots=True, kw_only=True)
class Reply:
    """An HTTP answer whose body is still to be read."""

    status: int
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]

    async def body(self) -> bytes:
        """Read the whole body, up to a size that no answer has."""
        body = bytearray()
        async for chunk in self.chunks:
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                raise AnswerTooLarge(MODEL_ANSWER_TOO_LARGE(limit=f"{MAX_BODY_BYTES:,}"))
        return bytes(body)


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

    One set per event loop: connections of a loop that has ended cannot be used by the next one. They are closed with
    `aclose`, or when `asyncio.run` ends the loop.
    """

    def __init__(self, base_url: str, *, timeout_s: float = 600.0, connect_timeout_s: float = 10.0) -> None:
        self._base_url = base_url.rstrip("/")
        self._connect_timeout_s = connect_timeout_s
        self.is_local: bool = is_loopback(base_url)
        waits = {"connect": connect_timeout_s, "read": timeout_s, "write": timeout_s, "pool": timeout_s}
        self._extensions = {"timeout": waits}
        self._lines: dict[AbstractEventLoop, _Line] = {}
        self._addresses: dict[str, httpx2.URL] = {}
        self._headers: tuple[Mapping[str, str], httpx2.Headers] | None = None

    @asynccontextmanager
    async def post(self, path: str, *, headers: Mapping[str, str], body: bytes) -> AsyncIterator[Reply]:
        """Send the request and hand over the answer while the connection is open."""
        import httpx2  # noqa: PLC0415 - eleven interpreter starts; only who talks to a provider pays them

        try:
            answer = await (await self._line()).send(self._request(path, headers, body))
            chunks = _chunks(answer)
            try:
                yield Reply(status=answer.status_code, headers=answer.headers, chunks=chunks)
            finally:
                await chunks.aclose()
                await answer.aclose()
        except httpx2.RequestError as error:
            failed = _translate_error(error, self._connect_timeout_s)
            failed.is_starting = self.is_local and isinstance(error, httpx2.ConnectError)
            raise failed from error

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        line = self._lines.pop(running_loop(), None)
        if line is not None:
            await line.closer.aclose()

    def _request(self, path: str, headers: Mapping[str, str], body: bytes) -> "httpx2.Request":
        import httpx2  # noqa: PLC0415 - as above

        address = self._addresses.get(path)
        if address is None:
            address = self._addresses[path] = httpx2.URL(self._base_url + path)
        if self._headers is None or self._headers[0] != headers:
            self._headers = dict(headers), httpx2.Headers({**_OWN_HEADERS, **headers})
        return httpx2.Request("POST", address, headers=self._headers[1], content=body, extensions=self._extensions)

    async def _line(self) -> "_Line":
        loop = running_loop()
        line = self._lines.get(loop)
        if line is None:
            self._lines = {other: kept for other, kept in self._lines.items() if not other.is_closed()}
            line = self._lines[loop] = self._new_line()
            await anext(line.closer)
        return line

    def _new_line(self) -> "_Line":
        from urllib.request import getproxies  # noqa: PLC0415 - httpx2 has loaded it already

        import httpx2  # noqa: PLC0415 - as above

        # What is on this machine is not reached through a proxy, whatever the environment says.
        trust_env = not self.is_local
        # Reading the certificates takes 30 ms; without TLS, nobody looks at them.
        verify = not self._base_url.startswith("http://")
        if trust_env and getproxies():
            client = httpx2.AsyncClient(follow_redirects=False, trust_env=True, verify=verify)
            return _Line(send=partial(client.send, stream=True), closer=_close_at_end(client.aclose))
        # The client adds cookies, redirects and authentication, for a fifth of the time of a request.
        direct = httpx2.AsyncHTTPTransport(trust_env=trust_env, verify=verify)
        return _Line(send=direct.handle_async_request, closer=_close_at_end(direct.aclose))


def running_loop() -> "AbstractEventLoop":
    """Return the event loop that this code runs in."""
    from asyncio import get_running_loop  # noqa: PLC0415 - five interpreter starts; whoever gets here has paid them

    return get_running_loop()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """The connections of one event loop."""

    send: "Callable[[httpx2.Request], Awaitable[httpx2.Response]]"
    closer: AsyncGenerator[None, None]
    """Closes them when it is closed."""


async def _close_at_end(close: Callable[[], Awaitable[None]]) -> AsyncGenerator[None, None]:
    """Close connections with this generator. A loop that ends closes the generators that were begun in it, so nobody
    has to remember the connections of `asyncio.run(agent.run(...))`.
    """
    try:
        yield
    finally:
        await close()


def _chunks(answer: "httpx2.Response") -> AsyncGenerator[bytes, None]:
    if "content-encoding" in answer.headers:
        return answer.aiter_bytes()
    # Decoding what is not encoded takes a tenth of the time of a stream. What `httpx2` has here is a generator.
    return cast("AsyncGenerator[bytes, None]", cast("AsyncIterable[bytes]", answer.stream).__aiter__())


@asynccontextmanager
async def http_failures() -> AsyncIterator[None]:
    """Turn the errors of `httpx2`, also those while a body is read, into ours."""
    import httpx2  # noqa: PLC0415 - as above

    try:
        yield
    except httpx2.RequestError as error:
        raise _translate_error(error) from error


def _translate_error(error: "httpx2.RequestError", connect_timeout_s: float | None = None) -> ModelError:
    import httpx2  # noqa: PLC0415 - as above

    if isinstance(error, httpx2.ConnectTimeout) and connect_timeout_s is not None:
        return ModelTimeout(MODEL_TIMEOUT_CONNECT(seconds=f"{connect_timeout_s:g}"))
    if isinstance(error, httpx2.TimeoutException):
        return ModelTimeout(f"The provider did not answer in time ({type(error).__name__}).")
    said = redact_line(str(error), _SHOWN_CHARACTERS) or type(error).__name__
    return NetworkFailed(f"The connection to the provider failed: {said}.")
