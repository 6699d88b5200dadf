"""Logins at MCP servers: in a file for the owner alone, each for one server (S31, XM30)."""

from pathlib import Path

import pytest

from toolroll.errors import JsonRefused
from toolroll.home.mcp_tokens import McpLogin, McpTokenBook
from toolroll.safe.secrets.redact import redact_shown

LOGIN = McpLogin(name="wiki", url="https://wiki.example/mcp", tokens={"access_token": "opaque-and-long-enough"})


def test_XM30_a_login_is_kept_for_its_server_alone_and_shown_nowhere(tmp_path: Path) -> None:
    book = McpTokenBook(tmp_path)
    assert book.find("one") is None
    book.put("one", LOGIN)
    assert (tmp_path / "mcp-tokens.json").stat().st_mode & 0o777 == 0o600
    assert book.find("one") == LOGIN
    assert book.find("other") is None
    assert "opaque" not in redact_shown("got opaque-and-long-enough back")
    assert book.remove("one")
    assert not book.remove("one")


def test_XM30_a_file_that_others_can_see_or_that_is_damaged_gives_no_token(tmp_path: Path) -> None:
    book, file = McpTokenBook(tmp_path), tmp_path / "mcp-tokens.json"
    book.put("one", LOGIN)
    file.chmod(0o640)
    with pytest.raises(JsonRefused, match="chmod 600"):
        book.find("one")
    file.chmod(0o600)
    file.write_text('{"servers": {"one": "opaque-token"}}')
    with pytest.raises(JsonRefused) as raised:
        book.put("two", LOGIN)
    assert "opaque" not in raised.value.message
    assert file.read_text() == '{"servers": {"one": "opaque-token"}}'
