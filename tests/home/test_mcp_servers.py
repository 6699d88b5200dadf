"""MCP servers in settings and in `.mcp.json`: no secrets, nothing that a project may not say (S31, XM30)."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from toolroll.errors import UsageError
from toolroll.home.mcp_servers import ServerSettings, parse_mcp_json
from toolroll.home.project_settings import describe_servers
from toolroll.home.settings import read_settings, settings_path
from toolroll.home.settings_file import add_server, remove_server
from toolroll.mcp_client import ServerSpec

FILES = {"command": "npx", "args": ["-y", "server-files", "."], "env": {"LEVEL": "debug", "KEY": "${FILES_KEY}"}}


def dump(**servers: object) -> bytes:
    return json.dumps({"mcpServers": servers}).encode()


def test_S31_the_file_of_other_clients_is_read() -> None:
    web = {"type": "http", "url": "https://x.example/mcp", "headers": {"Authorization": "Bearer ${X_TOKEN}"}}
    found = parse_mcp_json(dump(files=FILES | {"disabled": False}, web=web))
    files = ServerSpec.from_settings("files", found["files"], folder="/project")
    assert (files.place, files.cwd) == ("npx -y server-files .", "/project")
    assert files.pick_variables({"FILES_KEY": "secret"}) == {"LEVEL": "debug", "KEY": "secret"}
    assert files.given_variables == ("FILES_KEY",)
    assert ServerSpec.from_settings("web", found["web"]).fill_headers({"X_TOKEN": "t"}) == {"Authorization": "Bearer t"}
    assert describe_servers(found) == [
        "MCP server files runs as you: npx -y server-files .; it is given LEVEL=debug, KEY=${FILES_KEY}",
        "MCP server web calls https://x.example/mcp; it is given Authorization=Bearer ${X_TOKEN}",
    ]


def test_S31_a_variable_can_have_a_default() -> None:
    spec = ServerSpec(name="x", command="x", variables={"A": "${B:-c}"})
    assert spec.pick_variables({}) == {"A": "c"}
    assert spec.pick_variables({"B": "d"}) == {"A": "d"}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "cannot be used"),
        (b'{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}', "twice"),
        (dump(a={"type": "sse", "url": "https://x.example"}), "use one of stdio, http"),
        (dump(a={"command": "sh", "args": ["${HOME}"]}), "only in env and headers"),
        (dump(a={"command": "sh", "args": "x"}), "mcpServers.a.args"),
        (dump(a={"command": "x", "env": {"API_TOKEN": "abc"}}), "'API_TOKEN' is a secret"),
        (dump(a={"url": "https://x.example", "headers": {"authorization": "Bearer x"}}), "'authorization' is a secret"),
    ],
)
def test_S31_what_makes_no_sense_in_the_file_is_named(content: bytes, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        parse_mcp_json(content)


@given(
    st.binary(max_size=200)
    | st.recursive(st.none() | st.text(), lambda x: st.dictionaries(st.text(), x)).map(
        lambda value: json.dumps({"mcpServers": value}).encode()
    )
)
def test_S31_any_bytes_are_servers_or_a_refusal(content: bytes) -> None:
    with suppress(UsageError):
        assert all(isinstance(one, ServerSettings) for one in parse_mcp_json(content).values())


def test_S31_settings_hold_no_secret() -> None:
    with pytest.raises(ValidationError, match="secret"):
        ServerSettings(url="https://x.example", headers={"X-Api-Key": "abc"})


def test_S31_a_server_is_added_and_removed_and_the_rest_of_the_file_stays(tmp_path: Path) -> None:
    environment = {"TOOLROLL_HOME": str(tmp_path)}
    path = settings_path(environment)
    path.parent.mkdir(mode=0o700)
    path.write_text('# mine\nmodel = "haiku"  # small\n')
    path.chmod(0o600)
    add_server(environment, "files", {"command": "npx", "args": ["-y"], "local": True})
    assert read_settings(environment).mcp_servers["files"].options == {"command": "npx", "args": ("-y",), "local": True}
    with pytest.raises(UsageError, match="toolroll mcp remove files"):
        add_server(environment, "files", {"command": "x"})
    with pytest.raises(UsageError, match=r"mcp_servers\.other\.comand"):
        add_server(environment, "other", {"comand": "x"})
    assert remove_server(environment, "files")
    assert not remove_server(environment, "files")
    assert path.read_text().startswith('# mine\nmodel = "haiku"  # small\n')
    assert read_settings(environment).mcp_servers == {}
