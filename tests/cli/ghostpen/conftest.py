"""Fixtures for commands in this process, with a data folder of their own; nobody can be asked."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.ghostpen.author import Desk
from tests.cli.ghostpen.pen import Pen
from tests.packs.writing.notion.workspace import Workspace
from tests.support.author import trust_data


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Desk:
    names = ("LANG", "LC_ALL", "LC_MESSAGES", "TOOLROLL_MODEL", "NOTION_TOKEN", "NOTION_DATABASE_ID", "TAVILY_API_KEY")
    for name in names:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TOOLROLL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CI", "1")
    monkeypatch.chdir(tmp_path)
    trust_data(tmp_path / "home", tmp_path)
    return Desk(tmp_path, capsys)


@pytest.fixture
def pen(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Pen:
    """Commands about profiles in this process; nobody can be asked."""
    for name in ("LANG", "LC_ALL", "LC_MESSAGES", "TOOLROLL_MODEL", "NOTION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TOOLROLL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CI", "1")
    monkeypatch.chdir(tmp_path)
    return Pen(tmp_path, capsys)


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    """Notion on loopback."""
    with Workspace() as workspace:
        yield workspace
