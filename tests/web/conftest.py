"""The service over a real socket: an address, and tokens with different scopes."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
import uvicorn
from starlette.applications import Starlette

from toolroll.apps.explore import ExploreOptions
from toolroll.apps.jobs import JobStore
from toolroll.engine.local import LocalEngine
from toolroll.home.tokens import TokenBook
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.call.context import utc_now
from toolroll.web.api import Service
from toolroll.web.app import make_app
from toolroll.web.guard import GuardedProtocol
from toolroll.web.sessions import Sessions

WAIT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A service that runs; `secrets` are its tokens by name."""

    url: str
    service: Service
    secrets: dict[str, str]
    root: Path

    def client(self, name: str = "owner") -> httpx2.Client:
        headers = {"Authorization": f"Bearer {self.secrets[name]}"} if name else {}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=WAIT_S, trust_env=False)

    @property
    def link(self) -> str:
        """The link that the terminal shows."""
        assert self.service.sessions is not None
        return f"{self.url}/#token={self.service.sessions.launch_token}"

    @contextmanager
    def browser(self) -> Iterator[httpx2.Client]:
        """A client with a session, which sends what the page sends."""
        assert self.service.sessions is not None
        with httpx2.Client(base_url=self.url, headers={"Origin": self.url}, timeout=WAIT_S, trust_env=False) as client:
            opened = client.post("/api/session", json={"token": self.service.sessions.launch_token})
            assert opened.status_code == 200, opened.text
            yield client


def make_service(tmp_path: Path, *turns: object) -> tuple[Service, dict[str, str]]:
    (tmp_path / "script.json").write_text(json.dumps(turns or ["# Tea\n\nIt is hot."]))
    home = tmp_path / "home"
    environment = {"TOOLROLL_HOME": str(home), "TOOLROLL_MODEL": f"scripted:{tmp_path / 'script.json'}"}
    book = TokenBook(home / "config")
    secrets = {
        "owner": book.create("owner", ("read", "run", "approve"), now=utc_now()),
        "other": book.create("other", ("read", "run", "approve"), now=utc_now()),
        "reader": book.create("reader", ("read",), now=utc_now()),
        "admin": book.create("admin", ("read", "all"), now=utc_now()),
    }
    store = JobStore(
        journal=SqliteJournal(home / "data" / "runs.db"), engine=LocalEngine(home / "data" / "jobs.db", poll_s=0.01)
    )
    options = ExploreOptions(idea="", mode="exploration", model="", folder=str(tmp_path), ideas=str(tmp_path / "ideas"))
    service = Service(
        store=store, tokens=book, environment=environment, folder=tmp_path, place=options, sessions=Sessions()
    )
    return service, secrets


@pytest.fixture
def slots() -> int:
    """How many jobs the service drives itself."""
    return 2


@pytest.fixture
def site(tmp_path: Path, slots: int) -> Iterator[Site]:
    service, secrets = make_service(tmp_path)
    with run_site(make_app(service, slots=slots), service, secrets, tmp_path) as running:
        yield running


@contextmanager
def run_site(
    app: Starlette, service: Service, secrets: dict[str, str], root: Path, *, port: int = 0, is_last: bool = True
) -> Iterator[Site]:
    """Serve an application in a thread, and close its service at the end if nobody serves it again."""
    config = uvicorn.Config(app, host="127.0.0.1", port=port, http=GuardedProtocol, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    waited = threading.Event()
    while not server.started and thread.is_alive():
        waited.wait(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield Site(url=f"http://127.0.0.1:{port}", service=service, secrets=secrets, root=root)
    finally:
        server.should_exit = True
        thread.join(WAIT_S)
        for part in (service.store.journal, service.store.engine) if is_last else ():
            assert isinstance(part, SqliteJournal | LocalEngine)
            part.close()
