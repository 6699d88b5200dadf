"""An HTTP transport that connects only to addresses the URL guard has judged (XW8).

The guard sits where the socket is opened, below redirects, retries and connection reuse: whatever asks for a page, and
however often it is sent elsewhere, every connection is to an address of the one answer that was judged. The name goes
only into the TLS handshake and the Host header.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

import httpcore2
import httpx2

from toolroll.safe.limits import KEEPALIVE_S
from toolroll.safe.net.urls import Destination, Resolver, check_url, resolve, system_resolver

if TYPE_CHECKING:
    import ssl


@dataclass(frozen=True, slots=True, kw_only=True)
class _Guard:
    """What may be connected to: the one judge for requests and for sockets."""

    schemes: tuple[str, ...]
    allow_hosts: frozenset[str]
    resolver: Resolver

    def check(self, url: str) -> None:
        check_url(url, schemes=self.schemes, allow_hosts=self.allow_hosts)

    async def destination(self, host: str, port: int) -> Destination:
        # The scheme was judged with the request; a socket knows only host and port.
        netloc = f"[{host}]" if ":" in host else host
        checked = check_url(f"https://{netloc}:{port}/", allow_hosts=self.allow_hosts)
        return await resolve(checked, resolver=self.resolver)


def guarded_transport(
    *,
    schemes: tuple[str, ...] = ("https",),
    allow_hosts: frozenset[str] = frozenset(),
    resolver: Resolver = system_resolver,
    ssl_context: "ssl.SSLContext | None" = None,
    network: httpcore2.AsyncNetworkBackend | None = None,
) -> httpx2.AsyncHTTPTransport:
    """Make a transport for `httpx2.AsyncClient` that raises UrlRefused instead of leaving the public internet.

    Proxies of the environment are not used: a proxy would look the name up again, and reach what it likes. Redirects
    are the client's to follow; each one is judged like the first request. `network` opens the sockets, to addresses.
    """
    guard = _Guard(schemes=schemes, allow_hosts=allow_hosts, resolver=resolver)
    pool = httpcore2.AsyncConnectionPool(
        ssl_context=ssl_context or httpx2.create_ssl_context(trust_env=False),
        keepalive_expiry=KEEPALIVE_S,
        network_backend=_GuardedBackend(guard, network or httpcore2.AnyIOBackend()),
    )

    return _GuardedTransport(guard, pool)


class _GuardedTransport(httpx2.AsyncHTTPTransport):
    def __init__(self, guard: _Guard, pool: httpcore2.AsyncConnectionPool) -> None:
        self._guard, self._pool = guard, pool

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self._guard.check(str(request.url))
        return await super().handle_async_request(request)


class _GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Opens sockets to addresses that were judged. Nothing else is implemented: socket files stay out of reach."""

    def __init__(self, guard: _Guard, network: httpcore2.AsyncNetworkBackend) -> None:
        self._guard, self._network = guard, network

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 -- the signature is httpcore2's
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        destination = await self._guard.destination(host, port)
        return await _dial(self._network, destination, timeout, local_address, socket_options)


async def _dial(
    network: httpcore2.AsyncNetworkBackend,
    destination: Destination,
    timeout_s: float | None,
    local_address: str | None,
    socket_options: Iterable[httpcore2.SOCKET_OPTION] | None,
) -> httpcore2.AsyncNetworkStream:
    deadline = None if timeout_s is None else monotonic() + timeout_s
    *others, last = destination.addresses
    for tried, address in enumerate(others):
        # An equal share of what is left: an IPv6 address that swallows packets leaves time for the IPv4 one.
        share = None if deadline is None else (deadline - monotonic()) / (len(others) + 1 - tried)
        try:
            return await network.connect_tcp(str(address), destination.port, share, local_address, socket_options)
        except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
            continue
    left = None if deadline is None else deadline - monotonic()
    return await network.connect_tcp(str(last), destination.port, left, local_address, socket_options)
