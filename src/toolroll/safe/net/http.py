"""A bounded HTTP client for the services that toolroll talks to on its own behalf: GitHub, Notion, search.

The address is fixed or set by the user, so it may be private. The answer is not trusted: every request has limits on
time and size, a compressed body is unpacked here within the same limit, cookies are not kept, and a redirect is refused
unless it stays on the same origin, so that no key reaches another server (XW8). An address that a model or a document
names belongs to `guarded_transport` instead.
"""

import asyncio
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias
from urllib.parse import urljoin, urlsplit

from toolroll.errors import ServiceFailed, UrlRefused
from toolroll.messages import (
    SERVICE_CONNECTION,
    SERVICE_REDIRECT,
    SERVICE_REDIRECT_LOOP,
    SERVICE_TIMEOUT,
    SERVICE_TOO_LARGE,
    SERVICE_UNREACHABLE,
    SERVICE_UNREADABLE,
)
from toolroll.safe.limits import HTTP_CONNECT_TIMEOUT_S
from toolroll.safe.net.urls import check_url, is_loopback
from toolroll.safe.secrets.redact import redact_line

if TYPE_CHECKING:
    import httpx2

Method: TypeAlias = Literal["GET", "PATCH", "POST", "PUT"]

_GZIP_WINDOW: Final = 31  # zlib's code for a gzip header and the largest window
_REDIRECTS: Final = frozenset({301, 302, 307, 308})
_MAX_DETAIL_CHARACTERS: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpLimits:
    """How long one request may take, and how large its answer may be.

    `total_s` bounds the whole exchange with its redirects, so a server that sends a byte a second cannot hold it open.
    `read_s` bounds the silence between two pieces of the answer. `body_bytes` counts after decompression.
    """

    total_s: float
    body_bytes: int
    read_s: float | None = None
    connect_s: float = HTTP_CONNECT_TIMEOUT_S


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """A whole answer; header names are case-insensitive."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class HttpClient:
    """Sends requests within limits, from one event loop. Close it after the last request.

    `transport` replaces the network, for tests.
    """

    def __init__(self, limits: HttpLimits, *, transport: "httpx2.AsyncBaseTransport | None" = None) -> None:
        self.limits: Final = limits
        self._transport = transport
        self._clients: dict[tuple[bool, bool], httpx2.AsyncClient] = {}

    async def request(
        self,
        method: Method,
        url: str,
        *,
        service: str,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        body_bytes: int | None = None,
        max_redirects: int = 0,
    ) -> HttpResponse:
        """Return the answer, whatever its status; raise ServiceFailed, which names the `service`, where there is none.

        Up to `max_redirects` redirects on the same origin are followed. With 0, a redirect is an answer like any other.
        """
        exchange = _Exchange(
            service=service, headers=headers or {}, content=content, limit=body_bytes or self.limits.body_bytes
        )
        try:
            async with asyncio.timeout(self.limits.total_s):
                for _ in range(max_redirects + 1):
                    response = await self._send(method, url, exchange)
                    if not max_redirects or response.status not in _REDIRECTS:
                        return response
                    url = _redirect_target(url, response, service)
        except TimeoutError as error:
            raise _timeout_error(service, self.limits.total_s) from error
        raise ServiceFailed(SERVICE_REDIRECT_LOOP(service=service))

    async def aclose(self) -> None:
        """Close the connections; the next request opens new ones."""
        clients, self._clients = self._clients, {}
        for client in clients.values():
            await client.aclose()

    async def _send(self, method: Method, url: str, exchange: "_Exchange") -> HttpResponse:
        import httpx2  # noqa: PLC0415 - eleven interpreter starts, which a run without network never needs

        service = exchange.service
        try:
            _ = urlsplit(url).port  # a ValueError above 65535, which httpx2 would find out in the middle of connecting
            # Not `build_request`: that would send cookies back.
            request = httpx2.Request(
                method,
                url,
                headers={"accept-encoding": "gzip", "user-agent": "toolroll", **exchange.headers},
                content=exchange.content,
                extensions={"timeout": self._timeouts()},
            )
            answer = await self._client_for(url).send(request, stream=True, follow_redirects=False)
            try:
                return HttpResponse(
                    status=answer.status_code, headers=answer.headers, body=await exchange.read_body(answer)
                )
            finally:
                await answer.aclose()
        except httpx2.TimeoutException as error:
            is_connect = isinstance(error, httpx2.ConnectTimeout)
            waited_s = self.limits.connect_s if is_connect else self.limits.read_s or self.limits.total_s
            raise _timeout_error(service, waited_s) from error
        except httpx2.ConnectError as error:  # in the words of the system or of TLS, such as an expired certificate
            detail = redact_line(str(error), _MAX_DETAIL_CHARACTERS).rstrip(".") or type(error).__name__
            raise ServiceFailed(SERVICE_UNREACHABLE(service=service, reason=detail)) from error
        except (
            httpx2.RequestError,
            httpx2.InvalidURL,
            ValueError,
        ) as error:  # whose words may quote a header, and so a key
            raise ServiceFailed(SERVICE_CONNECTION(service=service, reason=type(error).__name__)) from error

    def _timeouts(self) -> dict[str, float | None]:
        limits = self.limits
        return {"connect": min(limits.connect_s, limits.total_s), "read": limits.read_s, "write": None, "pool": None}

    def _client_for(self, url: str) -> "httpx2.AsyncClient":
        import httpx2  # noqa: PLC0415 - as above

        kind = is_loopback(url), url.startswith("https://")
        client = self._clients.get(kind)
        if client is None:
            is_local, is_tls = kind
            client = self._clients[kind] = httpx2.AsyncClient(
                transport=self._transport,
                follow_redirects=False,
                # What is on this machine is not reached through a proxy, whatever the environment says.
                trust_env=not is_local,
                # Reading the certificates takes 30 ms; without TLS, nobody looks at them.
                verify=is_tls,
            )
        return client


@dataclass(frozen=True, slots=True, kw_only=True)
class _Exchange:
    """What is sent, to whom, and how much may come back."""

    service: str
    headers: Mapping[str, str]
    content: bytes | None
    limit: int

    async def read_body(self, answer: "httpx2.Response") -> bytes:
        """Read and unpack the body piece by piece: a megabyte of gzip can be a gigabyte of text."""
        encoding = answer.headers.get("content-encoding", "").strip().lower()
        if encoding not in ("", "identity", "gzip"):
            raise self._unreadable(answer.status_code)
        unpack = _Gunzip() if encoding == "gzip" else None
        received, body = 0, bytearray()
        async for chunk in answer.aiter_raw():
            received += len(chunk)
            try:
                body += chunk if unpack is None else unpack.feed(chunk, self.limit + 1 - len(body))
            except zlib.error as error:
                raise self._unreadable(answer.status_code) from error
            if max(received, len(body)) > self.limit:
                message = SERVICE_TOO_LARGE(service=self.service, limit=f"{self.limit:,}")
                raise ServiceFailed(message, status=answer.status_code)
        if received and unpack is not None and not unpack.is_complete:
            raise self._unreadable(answer.status_code)
        return bytes(body)

    def _unreadable(self, status: int) -> ServiceFailed:
        return ServiceFailed(SERVICE_UNREADABLE(service=self.service), status=status)


class _Gunzip:
    """Unpacks gzip, also of several members (RFC 1952), never more than it is asked for."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP_WINDOW)

    @property
    def is_complete(self) -> bool:
        return self._member.eof

    def feed(self, data: bytes, max_bytes: int) -> bytes:
        unpacked = bytearray()
        while data and len(unpacked) < max_bytes:
            if self._member.eof:
                self._member = zlib.decompressobj(_GZIP_WINDOW)
            unpacked += self._member.decompress(data, max_bytes - len(unpacked))
            data = self._member.unused_data
        return bytes(unpacked)


def _redirect_target(url: str, response: HttpResponse, service: str) -> str:
    """Judge where a redirect leads: parsers disagree on blanks and backslashes, so an address with them is refused."""
    location = response.headers.get("location", "")
    try:
        if location.isprintable() and " " not in location and "\\" not in location:
            hosts = frozenset({urlsplit(url).hostname or ""})
            old, new = (
                check_url(one, schemes=("http", "https"), allow_hosts=hosts) for one in (url, urljoin(url, location))
            )
            if (old.scheme, old.host, old.port) == (new.scheme, new.host, new.port):
                return new.url
    except (UrlRefused, ValueError):
        pass
    raise ServiceFailed(SERVICE_REDIRECT(service=service), status=response.status)


def _timeout_error(service: str, seconds: float) -> ServiceFailed:
    return ServiceFailed(SERVICE_TIMEOUT(service=service, seconds=f"{seconds:g}"))
