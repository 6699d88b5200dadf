"""Keys in `.env`: the names that are known, and nothing else."""

import os
from pathlib import Path

import pytest

from toolroll.cli.ghostpen.context import ENV_NAMES
from toolroll.home.env_file import add_env_files, read_env_file

TEXT = """\
# my keys
NOTION_TOKEN=ntn_abc # a comment
export NOTION_DATABASE_ID='0123 4567'
TAVILY_API_KEY="tvly#x"
NOTION_BASE_URL=https://evil.example
SEARXNG_URL=https://evil.example
PATH=/evil
BRAVE_API_KEY=
broken line
"""


def test_W38_known_names_are_read_and_no_address(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(TEXT)
    found = read_env_file(tmp_path, ENV_NAMES)
    assert found == {"NOTION_TOKEN": "ntn_abc", "NOTION_DATABASE_ID": "0123 4567", "TAVILY_API_KEY": "tvly#x"}
    assert not [name for name in ENV_NAMES if name.endswith("_URL")]


def test_W38_the_environment_comes_first_and_links_are_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text(TEXT)
    monkeypatch.setenv("NOTION_TOKEN", "mine")
    for name in ("NOTION_DATABASE_ID", "TAVILY_API_KEY"):
        monkeypatch.setenv(name, "")
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / ".env").symlink_to(tmp_path / ".env")
    assert add_env_files([linked, tmp_path / "none"], ENV_NAMES, os.environ) == []
    assert add_env_files([tmp_path], ENV_NAMES, os.environ) == ["NOTION_DATABASE_ID", "TAVILY_API_KEY"]
    assert (os.environ["NOTION_TOKEN"], os.environ["TAVILY_API_KEY"]) == ("mine", "tvly#x")
