"""The bounded HTTP client against servers on loopback that misbehave."""

import asyncio
import gzip
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.clock import time_passes, time_passes_for_the_other_side

from toolroll.errors import ServiceFailed
from toolroll.safe.net.http import HttpClient, HttpLimits, HttpResponse

KEY = "canary-key-0123456789"
LIMIT = 1_000
HOUR_S = 3_600.0


@dataclass
class Server:
    """A server that answers each request with the next of `answers`, raw bytes, and then hangs up."""

    answers: list[bytes] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    behave: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]] | None = None
    url: str = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.heads.append(head)
            fields = dict(line.lower().split(": ", 1) for line in head.strip().split("\r\n")[1:])
            self.bodies.append(await reader.readexactly(int(fields.get("content-length", "0"))))
            if self.behave is not None:
                await self.behave(reader, writer)
            else:
                writer.write(self.answers.pop(0))
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()


@asynccontextmanager
async def running(*answers: bytes) -> AsyncIterator[Server]:
    server = Server(list(answers))
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    async with listener:
        yield server


@asynccontextmanager
async def open_client(limits: HttpLimits | None = None) -> AsyncIterator[HttpClient]:
    client = HttpClient(limits or HttpLimits(total_s=HOUR_S, body_bytes=LIMIT))
    try:
        yield client
    finally:
        await client.aclose()


def answer(body: bytes = b"{}", *headers: str, status: int = 200) -> bytes:
    lines = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


async def ask(server: Server, limits: HttpLimits | None = None, *, max_redirects: int = 0) -> HttpResponse:
    async with open_client(limits) as client:
        headers = {"authorization": f"Bearer {KEY}"}
        return await client.request(
            "GET", f"{server.url}/a", service="Octo", headers=headers, max_redirects=max_redirects
        )


async def failure(server: Server, limits: HttpLimits | None = None, *, max_redirects: int = 0) -> ServiceFailed:
    with pytest.raises(ServiceFailed) as caught:
        await ask(server, limits, max_redirects=max_redirects)
    assert KEY not in "".join(map(str, (caught.value, caught.value.__cause__, caught.value.__context__)))
    return caught.value


async def test_an_answer_comes_with_status_headers_and_body() -> None:
    async with running(answer(b"text", "X-One: 1", status=404)) as server:
        response = await ask(server)
    assert (response.status, response.headers["x-one"], response.body) == (404, "1", b"text")
    [head] = server.heads
    assert head.startswith("GET /a HTTP/1.1\r\n")
    assert f"authorization: bearer {KEY}" in head.lower()


async def test_a_body_is_sent() -> None:
    async with running(answer()) as server, open_client() as client:
        await client.request("POST", server.url, service="Octo", content=b"hello")
    assert server.bodies == [b"hello"]


async def test_cookies_are_not_sent_back() -> None:
    async with running(answer(b"", "Set-Cookie: who=me"), answer()) as server, open_client() as client:
        for _ in range(2):
            await client.request("GET", server.url, service="Octo")
    assert not any("cookie" in head.lower() for head in server.heads)


async def test_a_closed_client_can_be_used_again() -> None:
    async with running(answer(), answer()) as server, open_client() as client:
        await client.request("GET", server.url, service="Octo")
        await client.aclose()
        assert (await client.request("GET", server.url, service="Octo")).status == 200


# --- Size ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
async def test_a_body_may_be_as_large_as_the_limit_and_no_larger(packed: bool) -> None:
    bodies = [b"x" * LIMIT, b"x" * (LIMIT + 1)]
    answers = [answer(gzip.compress(one), "Content-Encoding: gzip") if packed else answer(one) for one in bodies]
    async with running(*answers) as server:
        assert (await ask(server)).body == bodies[0]
        error = await failure(server)
    assert (error.message, error.status) == ("Octo sent more than 1,000 bytes.", 200)


async def test_a_bomb_of_compressed_bytes_is_not_unpacked() -> None:
    """300 kB that would be 300 MB; and several members, each of which is within the limit."""
    bomb, members = gzip.compress(b"\0" * 300_000_000, 9), gzip.compress(b"x" * 900) * 2
    limits = HttpLimits(total_s=HOUR_S, body_bytes=1_000_000)
    async with running(answer(bomb, "Content-Encoding: gzip"), answer(members, "Content-Encoding: gzip")) as server:
        assert (await failure(server, limits)).message == "Octo sent more than 1,000,000 bytes."
        assert (await failure(server)).message == "Octo sent more than 1,000 bytes."


async def test_a_body_without_end_is_cut_off() -> None:
    async def pour(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"x" * 1_000)
            await writer.drain()
            await asyncio.sleep(0)

    async with running() as server:
        server.behave = pour
        assert (await failure(server)).message == "Octo sent more than 1,000 bytes."


async def test_members_of_gzip_are_read_one_after_the_other() -> None:
    async with running(answer(gzip.compress(b"one ") + gzip.compress(b"two"), "Content-Encoding: gzip")) as server:
        assert (await ask(server)).body == b"one two"


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b"no gzip", "gzip"),
        (gzip.compress(b"cut off")[:-9], "gzip"),
        (b"x", "deflate"),
        (b"x", "br"),
        (gzip.compress(gzip.compress(b"x")), "gzip, gzip"),
    ],
    ids=["not gzip", "cut", "deflate", "brotli", "twice"],
)
async def test_an_encoding_that_was_not_asked_for_or_is_broken_is_a_failure(body: bytes, encoding: str) -> None:
    async with running(answer(body, f"Content-Encoding: {encoding}")) as server:
        error = await failure(server)
    assert (error.message, error.status) == ("Octo sent an answer that cannot be read.", 200)


@given(st.binary(max_size=2_000), st.integers(1, 200))
async def test_what_was_packed_is_unpacked_in_pieces_of_any_size(data: bytes, size: int) -> None:
    packed = gzip.compress(data)

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(packed), size):
            yield packed[start : start + size]

    transport = httpx2.MockTransport(
        lambda _: httpx2.Response(200, headers={"content-encoding": "gzip"}, content=pieces())
    )
    client = HttpClient(HttpLimits(total_s=HOUR_S, body_bytes=2_000), transport=transport)
    assert (await client.request("GET", "https://example.com/", service="Octo")).body == data
    await client.aclose()


# --- Time ----------------------------------------------------------------------------------------------


async def test_XW9_a_byte_a_second_ends_at_the_overall_deadline() -> None:
    sent = 0

    async def dribble(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"x")
            sent += 1
            await writer.drain()
            await time_passes_for_the_other_side(1)

    async with running() as server:
        server.behave = dribble
        error = await failure(server, HttpLimits(total_s=30, read_s=5, body_bytes=LIMIT))
    assert (error.message, error.status) == ("Octo did not answer within 30 seconds.", None)
    assert 20 <= sent <= 40


@pytest.mark.parametrize("begins", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"], ids=["at once", "halfway"])
@pytest.mark.parametrize("read_s", [None, 5.0])
async def test_silence_ends_at_the_nearest_deadline(begins: bytes, read_s: float | None) -> None:
    async def stall(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(begins)
        await writer.drain()
        await time_passes_for_the_other_side(6 if read_s else 31)
        await reader.read()

    async with running() as server:
        server.behave = stall
        error = await failure(server, HttpLimits(total_s=30, read_s=read_s, body_bytes=LIMIT))
    assert error.message == f"Octo did not answer within {read_s or 30:g} seconds."


async def test_redirects_share_the_deadline() -> None:
    async def turn(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        time_passes(8)
        writer.write(answer(b"", "Location: /b", status=302))

    async with running() as server:
        server.behave = turn
        error = await failure(server, HttpLimits(total_s=30, body_bytes=LIMIT), max_redirects=9)
    assert error.message == "Octo did not answer within 30 seconds."
    assert len(server.heads) < 9


async def test_cancelling_is_not_taken_for_a_timeout() -> None:
    async def stall(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        asking.cancel()
        await reader.read()

    async with running() as server:
        server.behave = stall
        asking = asyncio.create_task(ask(server))
        with pytest.raises(asyncio.CancelledError):
            await asking


# --- Connections ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", b"SSH-2.0-OpenSSH\r\n\r\n", b"HTTP/1.1 200"],
    ids=["nothing", "ends early", "no HTTP", "half a line"],
)
async def test_a_server_that_breaks_off_is_a_failure(said: bytes) -> None:
    async with running(said) as server:
        error = await failure(server)
    assert (error.message, error.status) == ("The connection to Octo failed (RemoteProtocolError).", None)


async def test_a_server_that_is_not_there_is_a_failure() -> None:
    async with running() as server:
        pass
    assert (await failure(server)).message.startswith("Octo could not be reached: ")


@pytest.mark.parametrize("url", ["http://127.0.0.1:99999/", "http://[/", "ftp://127.0.0.1/", "x", ""])
async def test_an_address_that_is_none_is_a_failure(url: str) -> None:
    async with open_client() as client:
        with pytest.raises(ServiceFailed, match=r"The connection to Octo failed"):
            await client.request("GET", url, service="Octo")


async def test_html_in_place_of_json_is_an_answer_like_any_other() -> None:
    async with running(answer(b"<html>Sign in</html>", "Content-Type: text/html")) as server:
        assert (await ask(server)).body == b"<html>Sign in</html>"


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_this_machine_is_not_reached_through_a_proxy(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    async with running(answer()) as server:
        assert (await ask(server)).status == 200


async def test_another_machine_is_reached_through_the_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(answer(b"from the proxy")) as proxy, open_client() as client:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        response = await client.request("GET", "http://service.example/x", service="Octo")
    assert response.body == b"from the proxy"
    assert proxy.heads[0].startswith("GET http://service.example/x HTTP/1.1")


async def test_the_key_is_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with running(answer(), b"") as server:
        await ask(server)
        await failure(server)
    assert caplog.text
    assert KEY not in caplog.text


# --- Redirects -----------------------------------------------------------------------------------------


async def test_XW8_a_redirect_is_an_answer_unless_redirects_are_allowed() -> None:
    async with running(answer(b"", "Location: /b", status=302)) as server:
        assert (await ask(server)).status == 302
    assert len(server.heads) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_XW8_a_redirect_on_the_same_origin_is_followed_with_the_key(status: int) -> None:
    async with running(answer(b"", "Location: ../b?c=d#e", status=status), answer(b"there")) as server:
        assert (await ask(server, max_redirects=3)).body == b"there"
    assert server.heads[1].startswith("GET /b?c=d HTTP/1.1\r\n")
    assert KEY in server.heads[1]


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:{port}/",
        "//127.0.0.1:{port}/",
        "http://localhost:{port}/",
        "https://127.0.0.1:{own}/",
        "http:\\\\127.0.0.1:{port}/",
        "http:\\\\host",
        "/\\127.0.0.1:{port}/",
        "\\\\127.0.0.1:{port}/",
        "http://127.0.0.1:{own}@127.0.0.1:{port}/",
        "http://me@127.0.0.1:{own}/",
        "http://127.0.0.1:{own}\\@127.0.0.1:{port}/",
        "http://169.254.169.254/latest/meta-data",
        "file:///etc/passwd",
        "http://[",
        "http://127.0.0.1:{own}/a b",
        "",
    ],
)
async def test_XW8_a_key_goes_to_no_other_origin_however_it_is_spelled(location: str) -> None:
    async with running(answer(b"stolen")) as other, running() as server:
        port, own = other.url.rpartition(":")[2], server.url.rpartition(":")[2]
        target = location.format(port=port, own=own)
        server.answers = [answer(b"", f"Location: {target}", status=302)] * 4
        error = await failure(server, max_redirects=3)
        assert other.heads == []
    expected = "Octo redirects the request to another server, which is not followed."
    if not location:  # back to where it came from
        expected = "Octo redirects the request in circles."
    elif location.startswith("http:\\\\"):  # which httpx2 itself does not read
        expected = "The connection to Octo failed (InvalidURL)."
    assert error.message == expected


async def test_XW8_redirects_without_end_are_given_up() -> None:
    async with running(*[answer(b"", "Location: /b", status=307)] * 9) as server:
        error = await failure(server, max_redirects=3)
    assert error.message == "Octo redirects the request in circles."
    assert len(server.heads) == 4
