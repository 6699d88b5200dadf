"""A folder with the sample author, for commands in this process; nobody can be asked."""

from pathlib import Path

import pytest
from tests.cli.writing.author import Desk


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Desk:
    names = ("LANG", "LC_ALL", "LC_MESSAGES", "TOOLROLL_MODEL", "NOTION_TOKEN", "NOTION_DATABASE_ID", "TAVILY_API_KEY")
    for name in names:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TOOLROLL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CI", "1")
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path, capsys)
