"""The page is there before the rest of the server is, and says so if the rest cannot be opened (S20)."""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
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
from toolroll.web.server import Server


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
    thread = threading.Thread(target=server.run, daemon=True)
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
    asked = threading.Event()

    def open_app() -> AbstractContextManager[Starlette]:
        assert asked.wait(WAIT_S)
        raise JournalRefused("The run log is damaged.")

    def ask(port: int) -> None:
        def send() -> None:
            with httpx2.Client(trust_env=False, timeout=WAIT_S) as client:
                asked.set()
                answers.append(client.get(f"http://127.0.0.1:{port}/healthz").status_code)

        caller.append(threading.Thread(target=send))
        caller[0].start()

    caller: list[threading.Thread] = []
    with pytest.raises(JournalRefused, match="damaged"):
        run_front(open_app, names=LOCAL_NAMES, host="127.0.0.1", port=0, on_start=ask)
    caller[0].join(WAIT_S)
    assert answers in ([503], [])  # or it was too late to connect
