"""The page is there before the rest of the server is, and says so if the rest cannot be opened (S20)."""

import socket
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import httpx2
import pytest
from starlette.applications import Starlette
from tests.web.conftest import WAIT_S, make_service

from toolroll.errors import JournalRefused
from toolroll.web.app import make_app
from toolroll.web.front import Front, run_front
from toolroll.web.guard import LOCAL_NAMES, HostGuard
from toolroll.web.page import FOLDER
from toolroll.web.server import AddressInUse, AddressRefused, Server, open_socket


def test_S20_the_page_is_sent_while_the_rest_is_being_opened(tmp_path: Path) -> None:
    service, _ = make_service(tmp_path)
    may_open, ports, ended = threading.Event(), list[int](), list[str]()

    @contextmanager
    def open_app() -> Iterator[Starlette]:
        assert may_open.wait(WAIT_S)
        yield make_app(service)
        ended.append("closed")

    front = Front(open_app)
    server = Server(HostGuard(front, names=LOCAL_NAMES), host="127.0.0.1", port=0, on_start=ports.append)
    thread = threading.Thread(target=server.listen_and_run, daemon=True)
    thread.start()
    waited = threading.Event()
    while not ports:
        waited.wait(0.01)
    with httpx2.Client(base_url=f"http://127.0.0.1:{ports[0]}", timeout=WAIT_S, trust_env=False) as client:
        assert (FOLDER / "index.html").read_text() == client.get("/").text
        assert client.get("/static/app.js").headers["content-type"] == "text/javascript; charset=utf-8"
        assert client.head("/static/app.js").content == b""
        assert [client.get("/static/none.js").status_code, client.post("/static/app.js").status_code] == [404, 405]
        assert client.get("/", headers={"Host": "evil.example"}).status_code == 421
        may_open.set()
        assert client.get("/healthz").json() == {"status": "ok"}
    server.should_exit = True
    thread.join(WAIT_S)
    assert ended == ["closed"]


def test_S20_a_server_that_cannot_open_its_files_ends_with_the_reason() -> None:
    answers: list[int] = []
    is_connected = threading.Event()

    def open_app() -> AbstractContextManager[Starlette]:
        assert is_connected.wait(WAIT_S)
        raise JournalRefused("The run log is damaged.")

    def ask(port: int) -> None:
        def send() -> None:
            with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as one:
                one.sendall(
                    b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
                )
                with one.makefile("rb") as answer:
                    heads = (line for line in answer if line.startswith(b"HTTP/1.1 "))
                    answers.append(int(next(heads).split()[1]))
                    is_connected.set()  # the second request is on the same connection, and has been received
                    answers.append(int(next(heads).split()[1]))

        caller.append(threading.Thread(target=send))
        caller[0].start()

    caller: list[threading.Thread] = []
    with pytest.raises(JournalRefused, match="damaged"):
        run_front(open_app, names=LOCAL_NAMES, host="127.0.0.1", port=0, on_start=ask)
    caller[0].join(WAIT_S)
    assert answers == [200, 503]


def test_S20_a_port_in_use_is_said_before_anything_is_opened() -> None:
    def open_app() -> AbstractContextManager[Starlette]:
        raise AssertionError

    with socket.create_server(("127.0.0.1", 0)) as other:
        port: int = other.getsockname()[1]
        with pytest.raises(AddressInUse) as caught:
            run_front(open_app, names=LOCAL_NAMES, host="127.0.0.1", port=port, on_start=lambda _port: None)
    assert (caught.value.host, caught.value.port, caught.value.code) == ("127.0.0.1", port, "address_in_use")
    with pytest.raises(AddressRefused):
        open_socket("192.0.2.1", 0)  # of no machine


def test_S20_a_server_that_is_still_loading_ends_at_once() -> None:
    may_go_on, ended = threading.Event(), threading.Event()

    def open_app() -> AbstractContextManager[Starlette]:
        server.should_exit = True
        assert may_go_on.wait(WAIT_S)
        return nullcontext(Starlette())

    front = Front(open_app)
    server = Server(front, host="127.0.0.1", port=0, on_start=lambda _port: None)

    def run() -> None:
        server.listen_and_run()
        ended.set()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ended.wait(WAIT_S)  # while what it loads is not there yet
    may_go_on.set()
    thread.join(WAIT_S)
    assert front.failure is None
