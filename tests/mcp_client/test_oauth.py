"""S31: a person logs in to a server in a browser; XM30: the tokens are kept for that server, and go to no other."""

import json
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from tests.mcp_client.authorization_server import serve_login

from toolroll.errors import McpServerFailed
from toolroll.home.mcp_tokens import McpTokenBook
from toolroll.mcp_client import MCPServer, ServerSpec
from toolroll.mcp_client.oauth import log_in, make_auth
from toolroll.testing import RecordingApprover, make_run


def browse(url: str) -> None:
    """A browser: goes where it is sent, in the background."""

    def visit() -> None:
        with urllib.request.urlopen(url) as page:
            page.read()

    threading.Thread(target=visit).start()


def make(spec: ServerSpec, book: McpTokenBook) -> MCPServer:
    return MCPServer.from_spec(spec, environment={}, make_auth=lambda: make_auth(spec, book))


async def call(server: MCPServer) -> str:
    async with server:
        [tool] = server
        return (await tool.execute_raw("{}", make_run(approver=RecordingApprover()).context())).text


async def test_S31_XM30_a_login_is_kept_used_and_renewed(tmp_path: Path) -> None:
    book, said = McpTokenBook(tmp_path), list[str]()
    with serve_login() as login:
        spec = ServerSpec(name="private", url=login.resource, oauth=True)
        with pytest.raises(McpServerFailed, match="toolroll mcp login private"):
            await call(make(spec, book))
        assert not login.tokens
        await log_in(spec, book, {}, show=said.append, browse=browse)
        assert said[0].startswith("Log in at 127.0.0.1 in your browser.")
        stored = json.loads((tmp_path / "mcp-tokens.json").read_text())["servers"]
        assert list(stored) == [spec.identity]
        assert await call(make(spec, book)) == "ada"
        assert len(login.tokens) == 1
        kept = book.find(spec.identity)
        assert kept is not None
        book.put(spec.identity, kept.model_copy(update={"expires_at": time.time() - 1}))
        assert await call(make(spec, book)) == "ada"
        assert login.refreshed == ["refresh-number-1-of-this-server"]
        assert not any(token.startswith("refresh") for token in login.shown_to_resource)


async def test_XM30_another_server_under_the_same_name_gets_no_token(tmp_path: Path) -> None:
    book = McpTokenBook(tmp_path)
    with serve_login() as login, serve_login() as other:
        spec = ServerSpec(name="private", url=login.resource, oauth=True)
        await log_in(spec, book, {}, show=lambda _text: None, browse=browse)
        moved = ServerSpec(name="private", url=other.resource, oauth=True)
        with pytest.raises(McpServerFailed, match="not logged in"):
            await call(make(moved, book))
        assert other.shown_to_resource == []


async def test_S31_a_refused_login_and_a_stray_visitor_are_told(tmp_path: Path) -> None:
    def meddle(url: str) -> None:
        back = urllib.request.Request(
            url.split("redirect_uri=")[1].split("&", maxsplit=1)[0].replace("%3A", ":").replace("%2F", "/")
        )
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(back)
        browse(url)

    with serve_login(refuses=True) as login:
        spec = ServerSpec(name="private", url=login.resource, oauth=True)
        with pytest.raises(McpServerFailed, match="access_denied"):
            await log_in(spec, McpTokenBook(tmp_path), {}, show=lambda _text: None, browse=meddle)
    assert McpTokenBook(tmp_path).find(spec.identity) is None or not login.tokens
