"""Connections to a provider, of `httpx2`, kept open between requests; their errors become ours."""

from asyncio import AbstractEventLoop, get_running_loop
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final, cast
from urllib.request import getproxies

import httpx2

from toolroll.errors import ModelError, ModelTimeout, NetworkFailed
from toolroll.messages import MODEL_TIMEOUT_CONNECT
from toolroll.models.reply import Reply
from toolroll.safe.secrets.redact import redact_line

_SHOWN_CHARACTERS: Final = 200
_OWN_HEADERS: Final[Mapping[str, str]] = {"accept": "*/*", "accept-encoding": "gzip, deflate", "user-agent": "toolroll"}


class Connections:
    """The connections to one address, a set per event loop: those of a loop that has ended cannot be used again."""

    def __init__(self, base_url: str, *, timeouts_s: Mapping[str, float], is_local: bool) -> None:
        self._base_url = base_url
        self._connect_timeout_s = timeouts_s["connect"]
        self._is_local = is_local
        self._extensions = {"timeout": dict(timeouts_s)}
        self._lines: dict[AbstractEventLoop, _Line] = {}
        self._addresses: dict[str, httpx2.URL] = {}
        self._headers: tuple[Mapping[str, str], httpx2.Headers] | None = None

    @asynccontextmanager
    async def post(self, path: str, *, headers: Mapping[str, str], body: bytes) -> AsyncIterator[Reply]:
        """Send the request and hand over the answer while the connection is open."""
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
            failed.is_starting = self._is_local and isinstance(error, httpx2.ConnectError)
            raise failed from error

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        line = self._lines.pop(get_running_loop(), None)
        if line is not None:
            await line.closer.aclose()

    def _request(self, path: str, headers: Mapping[str, str], body: bytes) -> httpx2.Request:
        address = self._addresses.get(path)
        if address is None:
            address = self._addresses[path] = httpx2.URL(self._base_url + path)
        if self._headers is None or self._headers[0] != headers:
            self._headers = dict(headers), httpx2.Headers({**_OWN_HEADERS, **headers})
        return httpx2.Request("POST", address, headers=self._headers[1], content=body, extensions=self._extensions)

    async def _line(self) -> "_Line":
        loop = get_running_loop()
        line = self._lines.get(loop)
        if line is None:
            self._lines = {other: kept for other, kept in self._lines.items() if not other.is_closed()}
            line = self._lines[loop] = self._new_line()
            await anext(line.closer)
        return line

    def _new_line(self) -> "_Line":
        # What is on this machine is not reached through a proxy, whatever the environment says.
        trust_env = not self._is_local
        # Reading the certificates takes 30 ms; without TLS, nobody looks at them.
        verify = not self._base_url.startswith("http://")
        if trust_env and getproxies():
            client = httpx2.AsyncClient(follow_redirects=False, trust_env=True, verify=verify)
            return _Line(send=partial(client.send, stream=True), closer=_close_at_end(client.aclose))
        # The client adds cookies, redirects and authentication, for a fifth of the time of a request.
        direct = httpx2.AsyncHTTPTransport(trust_env=trust_env, verify=verify)
        return _Line(send=direct.handle_async_request, closer=_close_at_end(direct.aclose))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """The connections of one event loop."""

    send: Callable[[httpx2.Request], Awaitable[httpx2.Response]]
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


def _chunks(answer: httpx2.Response) -> AsyncGenerator[bytes, None]:
    if "content-encoding" in answer.headers:
        return answer.aiter_bytes()
    # Decoding what is not encoded takes a tenth of the time of a stream. What `httpx2` has here is a generator.
    return cast("AsyncGenerator[bytes, None]", cast("AsyncIterable[bytes]", answer.stream).__aiter__())


@asynccontextmanager
async def http_failures() -> AsyncIterator[None]:
    """Turn the errors of `httpx2`, also those while a body is read, into ours."""
    try:
        yield
    except httpx2.RequestError as error:
        raise _translate_error(error) from error


def _translate_error(error: httpx2.RequestError, connect_timeout_s: float | None = None) -> ModelError:
    if isinstance(error, httpx2.ConnectTimeout) and connect_timeout_s is not None:
        return ModelTimeout(MODEL_TIMEOUT_CONNECT(seconds=f"{connect_timeout_s:g}"))
    if isinstance(error, httpx2.TimeoutException):
        return ModelTimeout(f"The provider did not answer in time ({type(error).__name__}).")
    said = redact_line(str(error), _SHOWN_CHARACTERS) or type(error).__name__
    return NetworkFailed(f"The connection to the provider failed: {said}.")
