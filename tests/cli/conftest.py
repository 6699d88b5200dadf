"""Commands in a copy of the sample project, in this process: a start of Python costs more than most of them."""

from pathlib import Path

import pytest
from tests.cli.project import Calling, Project, Told

from toolroll.cli.main import run
from toolroll.cli.session import Session


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def call(project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Calling:
    """A command in the project; nobody can be asked."""
    monkeypatch.setenv("TOOLROLL_HOME", str(project.home))
    monkeypatch.setenv("CI", "1")
    monkeypatch.chdir(project.root)

    def call(*arguments: str) -> Told:
        code = run(list(arguments), Session(json="--json" in arguments))
        told = capsys.readouterr()
        return Told(code, told.out, told.err)

    return call
