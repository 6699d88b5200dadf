"""`toolroll mcp add`, `list`, `test`, `remove`: which MCP servers agents use (S31)."""

import json
import os
import sys

import pytest
from tests.mcp_client.scripted import SCRIPT
from tests.support.project import Calling, Project

from toolroll.home.mcp_servers import MCP_JSON
from toolroll.home.settings import read_settings

SERVER = (sys.executable, "-S", str(SCRIPT))
pytestmark = pytest.mark.usefixtures("project")


def test_S31_a_server_is_added_tried_listed_and_removed(call: Calling) -> None:
    added = call("mcp", "add", "s", "--local", "--tool", "echo", "--", *SERVER)
    assert (added.code, added.out.splitlines()[2].split()) == (0, ["s__echo", "new", "Return", "the", "text."])
    assert "Every call is asked about until you say otherwise." in added.err
    assert read_settings(os.environ).mcp_servers["s"].local
    listed = call("mcp", "list")
    assert (listed.code, listed.out.startswith("s: "), "0 accepted" in listed.out) == (0, True, True)
    [one] = json.loads(call("mcp", "list", "--json").out)["servers"]
    assert (one["name"], one["from"], "echo" in one["tools"], one["problem"]) == ("s", "settings", True, "")
    tested = json.loads(call("mcp", "test", "s", "--json").out)
    assert (tested["protocol"], tested["tools"]) == ("2025-11-25", [{"name": "echo", "state": "new", "title": "Echo"}])
    assert call("mcp", "add", "s", "--", "x").code == 2
    assert call("mcp", "remove", "s") == (0, "Removed: s. Its tools are no longer used.\n", "")
    assert call("mcp", "remove", "s").code == 1
    assert call("mcp", "list") == (0, "", "No MCP server is used here. To add one: toolroll mcp add --help\n")


def test_S31_a_server_that_does_not_start_is_added_and_told(call: Calling) -> None:
    added = call("mcp", "add", "broken", "--", "/bin/false")
    assert (added.code, "it ended with exit code 1" in added.err) == (0, True)
    assert "did not answer" in call("mcp", "list").out
    assert call("mcp", "test", "broken").code == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("s",), "Name a command or a --url"),
        (("s", "--url", "https://x.example", "--", "x"), "Name a command or a --url"),
        (("a b", "--", "x"), "no name for an MCP server"),
        (("s", "--url", "http://x.example/mcp"), "not encrypted"),
        (("s", "--url", "https://x.example", "--header", "oops"), "--header 'NAME: VALUE'"),
        (("s", "--url", "https://x.example", "--header", "Authorization: Bearer abc"), "is a secret"),
        (("s", "--env", "A=B", "--", "x"), "not the name of a variable"),
        (("s", "--oauth", "--", "x"), "headers and OAuth are for one with a URL"),
        (("s", "--", "x", "--token", "ghp_" + "a1B2" * 9), "looks like a secret"),
    ],
)
def test_S31_what_makes_no_sense_is_not_added(call: Calling, words: tuple[str, ...], told: str) -> None:
    refused = call("mcp", "add", *words)
    assert refused.code in (1, 2)
    assert told in " ".join(refused.err.split())
    assert read_settings(os.environ).mcp_servers == {}


def test_S31_there_is_no_login_without_oauth_and_no_test_without_a_server(call: Calling) -> None:
    assert call("mcp", "test", "nobody").code == 2
    call("mcp", "add", "s", "--no-test", "--", *SERVER)
    refused = call("mcp", "login", "s")
    assert (refused.code, "has no login" in refused.err) == (2, True)


def test_S31_XA9_trust_shows_which_command_a_project_would_run(project: Project, call: Calling) -> None:
    (project.root / MCP_JSON).write_text(
        json.dumps({"mcpServers": {"team": {"command": SERVER[0], "args": SERVER[1:]}}})
    )
    listed = call("mcp", "list")
    assert (listed.out, "Nobody has trusted it" in listed.err) == ("", True)
    with project.terminal("trust", "add", MCP_JSON) as terminal:
        terminal.wait_for("MCP server team runs as you:")
        terminal.wait_for("Trust it?")
        terminal.press("y")
        assert terminal.end()[0] == 0
    assert "team (of the project, .mcp.json)" in call("mcp", "list").out
    assert call("mcp", "test", "team").code == 0
