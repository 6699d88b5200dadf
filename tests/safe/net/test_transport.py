"""XW8: every connection goes to an address that was judged, redirects and changing answers included."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpcore2
import httpx2
import pytest

from toolroll.errors import UrlRefused
from toolroll.safe.net.transport import guarded_transport
from toolroll.safe.net.urls import Resolver

PUBLIC, PUBLIC_V6 = "93.184.215.14", "2606:2800:220:1::1"
BOTH = ("http", "https")


@dataclass
class Site:
    """A real server on loopback; `answers` maps a path to the raw response."""

    port: int = 0
    requests: list[str] = field(default_factory=list)
    first_bytes: list[bytes] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.read(4096)
            self.first_bytes.append(head)
            line, _, rest = head.decode("latin-1").partition("\r\n")
            host = next((part[6:] for part in rest.split("\r\n") if part.lower().startswith("host: ")), "")
            self.requests.append(f"{line.split(' ')[1]} {host}" if " " in line else "")
            answer = self.answers.get(line.split(" ")[1], "") if " " in line else ""
            writer.write(answer.encode() or b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
            await writer.drain()
        finally:
            writer.close()


def redirect(location: str) -> str:
    return f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    site = Site()
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    async with server:
        yield site


class Network(httpcore2.AnyIOBackend):
    """The real backend; public addresses end at the test server, and all that is dialled is written down."""

    def __init__(self, site: Site, *, dead: frozenset[str] = frozenset()) -> None:
        self.site, self.dead, self.dialled = site, dead, list[tuple[str, int]]()
        self.timeouts: list[float | None] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        self.dialled.append((host, port))
        self.timeouts.append(timeout)
        if host in self.dead:
            raise httpcore2.ConnectError("no route")
        return await super().connect_tcp("127.0.0.1", self.site.port, timeout, local_address, socket_options)


def answering(*rounds: Sequence[str]) -> tuple[Resolver, list[str]]:
    """A resolver that gives the next round each time it is asked, and the names it was asked for."""
    asked: list[str] = []

    async def resolver(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return rounds[min(len(asked), len(rounds)) - 1]

    return resolver, asked


@asynccontextmanager
async def client(transport: httpx2.AsyncHTTPTransport, **options: bool | float) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(transport=transport, **{"timeout": 5, **options}) as made:  # type: ignore[arg-type]  # mixed options
        yield made


async def test_XW8_loopback_is_refused_by_default(site: Site) -> None:
    async with client(guarded_transport(schemes=BOTH)) as http:
        for host in ("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]"):
            with pytest.raises(UrlRefused):
                await http.get(f"http://{host}:{site.port}/")
    assert site.requests == []


async def test_XW8_loopback_is_reached_only_where_a_person_allowed_it(site: Site) -> None:
    allow = frozenset({f"127.0.0.1:{site.port}"})
    async with client(guarded_transport(schemes=BOTH, allow_hosts=allow)) as http:
        response = await http.get(f"http://127.0.0.1:{site.port}/page")
        assert response.text == "ok"
        with pytest.raises(UrlRefused):
            await http.get(f"http://127.0.0.2:{site.port}/page")
    assert site.requests == [f"/page 127.0.0.1:{site.port}"]


async def test_XW8_plain_http_and_passwords_are_refused_before_any_lookup(site: Site) -> None:
    resolver, asked = answering([PUBLIC])
    async with client(guarded_transport(resolver=resolver, network=Network(site))) as http:
        for url, rule in (("http://example.com/", "scheme"), ("https://me:pw@example.com/", "user_info")):
            with pytest.raises(UrlRefused) as caught:
                await http.get(url)
            assert rule == caught.value.rule
    assert asked == []


async def test_XW8_the_connection_is_pinned_and_keeps_the_name(site: Site) -> None:
    resolver, asked = answering([PUBLIC])
    network = Network(site)
    async with client(guarded_transport(schemes=BOTH, resolver=resolver, network=network)) as http:
        response = await http.get("http://example.com/page")
    assert response.status_code == 200
    assert asked == ["example.com"]
    assert network.dialled == [(PUBLIC, 80)]
    assert site.requests == ["/page example.com"]


async def test_XW8_a_name_that_turns_to_loopback_is_refused(site: Site) -> None:
    """Rebinding: public for the check, loopback for whoever asks again."""
    resolver, asked = answering([PUBLIC], ["127.0.0.1"])
    network = Network(site)
    async with client(guarded_transport(schemes=BOTH, resolver=resolver, network=network)) as http:
        await http.get(f"http://rebind.example.com:{site.port}/first")
        with pytest.raises(UrlRefused, match="loopback"):
            await http.get(f"http://rebind.example.com:{site.port}/second")
    # Once for each connection: the first was never looked up again, the second never dialled.
    assert asked == ["rebind.example.com"] * 2
    assert network.dialled == [(PUBLIC, site.port)]
    assert len(site.requests) == 1


async def test_XW8_one_private_address_among_public_ones_refuses_the_name(site: Site) -> None:
    resolver, _ = answering([PUBLIC, "10.0.0.1"])
    network = Network(site)
    async with client(guarded_transport(schemes=BOTH, resolver=resolver, network=network)) as http:
        with pytest.raises(UrlRefused):
            await http.get("http://example.com/")
    assert network.dialled == []


@pytest.mark.parametrize(
    ("location", "rule"),
    [
        ("http://127.0.0.1:{port}/admin", "address"),
        ("http://localhost:{port}/admin", "local_name"),
        ("http://[::ffff:127.0.0.1]:{port}/admin", "address"),
        ("http://169.254.169.254/latest/meta-data/", "address"),
        ("http://2130706433:{port}/admin", "address"),
        ("http://me:pw@example.com/admin", "user_info"),
        ("http://private.example.com/admin", "address"),
        ("//127.0.0.1:{port}/admin", "address"),
    ],
)
async def test_XW8_each_redirect_is_judged_again(site: Site, location: str, rule: str) -> None:
    async def resolver(host: str, port: int) -> list[str]:
        return ["10.0.0.1"] if host.startswith("private.") else [PUBLIC]

    site.answers["/go"] = redirect(location.format(port=site.port))
    async with client(
        guarded_transport(schemes=BOTH, resolver=resolver, network=Network(site)), follow_redirects=True
    ) as http:
        with pytest.raises(UrlRefused) as caught:
            await http.get("http://example.com/go")
    assert rule == caught.value.rule
    assert site.requests == ["/go example.com"]


async def test_XW8_a_redirect_to_a_public_page_is_followed(site: Site) -> None:
    site.answers["/go"] = redirect("http://other.example.com/there")
    resolver, asked = answering([PUBLIC])
    async with client(
        guarded_transport(schemes=BOTH, resolver=resolver, network=Network(site)), follow_redirects=True
    ) as http:
        response = await http.get("http://example.com/go")
    assert response.text == "ok"
    assert asked == ["example.com", "other.example.com"]
    assert site.requests == ["/go example.com", "/there other.example.com"]


async def test_XW8_the_transport_itself_follows_nothing(site: Site) -> None:
    site.answers["/go"] = redirect("http://other.example.com/there")
    resolver, asked = answering([PUBLIC])
    async with client(guarded_transport(schemes=BOTH, resolver=resolver, network=Network(site))) as http:
        assert (await http.get("http://example.com/go")).status_code == 302
    assert asked == ["example.com"]


async def test_XW8_the_tls_handshake_names_the_host(site: Site) -> None:
    resolver, _ = answering([PUBLIC])
    network = Network(site)
    async with client(guarded_transport(resolver=resolver, network=network)) as http:
        with pytest.raises(httpx2.ConnectError):  # the server speaks no TLS; its answer ends the handshake
            await http.get("https://www.example.com/")
    assert network.dialled == [(PUBLIC, 443)]
    assert b"www.example.com" in site.first_bytes[0]
    assert PUBLIC.encode() not in site.first_bytes[0]


async def test_XW8_proxies_of_the_environment_are_not_used(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{site.port}")
    assert os.environ["HTTP_PROXY"]
    async with client(guarded_transport(schemes=BOTH)) as http:
        with pytest.raises(UrlRefused):
            await http.get("http://10.0.0.1/")
    resolver, _ = answering([PUBLIC])
    network = Network(site)
    async with client(guarded_transport(schemes=BOTH, resolver=resolver, network=network)) as http:
        await http.get("http://example.com/page")
    assert network.dialled == [(PUBLIC, 80)]
    assert site.requests == ["/page example.com"]


async def test_XW8_the_next_judged_address_is_tried(site: Site) -> None:
    resolver, _ = answering([PUBLIC_V6, PUBLIC])
    network = Network(site, dead=frozenset({PUBLIC_V6}))
    async with client(guarded_transport(schemes=BOTH, resolver=resolver, network=network)) as http:
        assert (await http.get("http://example.com/")).text == "ok"
    assert network.dialled == [(PUBLIC_V6, 80), (PUBLIC, 80)]
    first, second = network.timeouts
    assert first is not None
    assert second is not None
    assert first <= 2.5 < second <= 5


async def test_XW8_all_addresses_dead_is_an_error_of_the_network(site: Site) -> None:
    resolver, _ = answering([PUBLIC_V6, PUBLIC])
    network = Network(site, dead=frozenset({PUBLIC_V6, PUBLIC}))
    transport = guarded_transport(schemes=BOTH, resolver=resolver, network=network)
    async with httpx2.AsyncClient(transport=transport, timeout=None) as http:
        with pytest.raises(httpx2.ConnectError):
            await http.get("http://example.com/")
    assert network.timeouts == [None, None]


async def test_XW8_an_ipv6_literal_is_dialled_as_it_is(site: Site) -> None:
    network = Network(site)
    async with client(guarded_transport(schemes=BOTH, network=network)) as http:
        await http.get(f"http://[{PUBLIC_V6}]/page")
    assert network.dialled == [(PUBLIC_V6, 80)]
