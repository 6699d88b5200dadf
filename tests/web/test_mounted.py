"""MCP at an address of the service: behind its guards, with its tokens, and begun by the first request."""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
from tests.mcp.server.site import HELLO, JSON, LIST
from tests.web.conftest import Site, make_service, run_site

from toolroll.cli.actions.mcp.endpoint import PATH, LazyEndpoint, make_finder
from toolroll.cli.actions.mcp.serve import make_server
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.call.context import utc_now
from toolroll.mcp.server.build import ServerOptions
from toolroll.web.app import make_app
from toolroll.web.guard import LOCAL_NAMES


@contextmanager
def mounted_site(folder: Path) -> Iterator[Site]:
    service, secrets = make_service(folder)
    journal = service.store.journal
    assert isinstance(journal, SqliteJournal)

    def make(stack: ExitStack) -> object:
        return make_server(ServerOptions(root=folder), journal, stack)

    endpoint = LazyEndpoint(make, names=LOCAL_NAMES, find=make_finder(service.tokens))
    with run_site(make_app(service, mounted={PATH: endpoint}), service, secrets, folder) as site:
        yield site


def read_answer(response: httpx2.Response) -> dict[str, Any]:
    """The message in an answer: JSON, or the last event of a stream."""
    text = response.text
    if response.headers["content-type"].startswith("text/event-stream"):
        text = [line for line in text.splitlines() if line.startswith("data: {")][-1].removeprefix("data: ")
    found: dict[str, Any] = json.loads(text)
    return found


def test_S30_XM13_the_service_has_mcp_behind_its_guards(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(os.environ, "TOOLROLL_HOME", str(tmp_path / "home"))
    (tmp_path / "notes.txt").write_text("tea\n")
    with mounted_site(tmp_path) as site:
        site.secrets["client"] = site.service.tokens.create("client", ("mcp",), now=utc_now())
        for name, status in (("", 401), ("owner", 401), ("admin", 401)):
            with site.client(name) as client:
                assert client.post(PATH, json=HELLO, headers=JSON).status_code == status
        with site.browser() as page:
            assert page.post(PATH, json=HELLO, headers=JSON).status_code == 401, "the session of the page is no token"
        with site.client("client") as client:
            assert client.post(PATH, json=HELLO, headers=JSON | {"Host": "evil.example"}).status_code == 421
            assert client.post(PATH, json=HELLO, headers=JSON | {"Origin": "http://evil.example"}).status_code == 403
            assert client.post(PATH, content=b"x" * 2_000_000, headers=JSON).status_code == 413
            opened = client.post(PATH, json=HELLO, headers=JSON)
            session = JSON | {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
            client.post(PATH, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=session)
            tools = read_answer(client.post(PATH, json=LIST, headers=session))["result"]["tools"]
            assert "read_file" in [one["name"] for one in tools]
            params = {"name": "read_file", "arguments": {"path": "notes.txt"}}
            call = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params}
            assert "tea" in read_answer(client.post(PATH, json=call, headers=session))["result"]["content"][0]["text"]
