"""Our server in the configuration of other programs: what is there stays, and what cannot be read is left alone."""

import json
import tomllib
from pathlib import Path

import pytest

from toolroll.apps.client_config import CLIENTS, ClientName, find_config, plan_change
from toolroll.cli.actions.mcp.install import find_program
from toolroll.cli.commands.mcp import install
from toolroll.errors import JsonRefused, StaleFile, UsageError

COMMAND = ["/usr/bin/toolroll", "mcp", "serve", "--root", "/a b/project"]


@pytest.mark.parametrize("client", CLIENTS)
def test_S33_the_server_stands_where_each_client_looks_for_it(client: ClientName, tmp_path: Path) -> None:
    path = find_config(client, home=tmp_path / "home", project=tmp_path / "project")
    change = plan_change(client, path, "toolroll", COMMAND, {"TOOLROLL_HOME": "/h"})
    assert change.before is None
    change.write()
    text = path.read_text()
    found = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    entry = found[CLIENTS[client].key]["toolroll"]
    assert [entry["command"], *entry["args"]] == COMMAND
    assert entry["env"] == {"TOOLROLL_HOME": "/h"}
    assert path.stat().st_mode & 0o777 == 0o600
    assert plan_change(client, path, "toolroll", COMMAND, {"TOOLROLL_HOME": "/h"}).after == text


def test_S33_all_else_in_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text('{"theme": "dark", "mcpServers": {"other": {"command": "x"}}, "ї": 1}')
    plan_change("cursor", path, "toolroll", COMMAND, {}).write()
    found = json.loads(path.read_text())
    assert (found["theme"], found["ї"], found["mcpServers"]["other"]) == ("dark", 1, {"command": "x"})
    assert [*found["mcpServers"]] == ["other", "toolroll"]
    toml = tmp_path / "config.toml"
    toml.write_text('# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y"\n')
    plan_change("codex", toml, "toolroll", COMMAND, {}).write()
    assert toml.read_text().startswith('# mine\nmodel = "x"\n')
    assert [*tomllib.loads(toml.read_text())["mcp_servers"]] == ["other", "toolroll"]


@pytest.mark.parametrize("text", ["// comment\n{}", "[]", "{", '{"a": 1, "a": 2}', '{"mcpServers": []}'])
def test_S33_what_cannot_be_read_is_left_alone(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(text)
    with pytest.raises((JsonRefused, UsageError), match="Nothing was changed"):
        plan_change("cursor", path, "toolroll", COMMAND, {})
    assert path.read_text() == text


def test_S33_a_file_that_changed_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text("{}")
    change = plan_change("cursor", path, "toolroll", COMMAND, {})
    path.write_text('{"new": 1}')
    with pytest.raises(StaleFile):
        change.write()
    assert path.read_text() == '{"new": 1}'


def test_S33_a_link_to_a_file_elsewhere_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles" / "mcp.json").write_text("{}")
    (tmp_path / "home" / ".cursor").mkdir(parents=True)
    link = tmp_path / "home" / ".cursor" / "mcp.json"
    link.symlink_to(tmp_path / "dotfiles" / "mcp.json")
    path = find_config("cursor", home=tmp_path / "home", project=tmp_path)
    plan_change("cursor", path, "toolroll", COMMAND, {}).write()
    assert link.is_symlink()
    assert "toolroll" in json.loads(link.read_text())["mcpServers"]


def test_S33_the_program_is_named_by_its_whole_path() -> None:
    assert all(Path(word).is_absolute() for word in find_program()[:1])
    choice = install.params[0].type
    assert tuple(getattr(choice, "choices", ())) == tuple(CLIENTS)
