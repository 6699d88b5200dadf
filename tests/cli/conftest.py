"""Commands in a copy of the sample project, in this process: a start of Python costs more than most of them."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.programs import Starter, shared_starter
from tests.support.project import Calling, Project, Told

from toolroll.cli.main import run
from toolroll.cli.session import Session

if TYPE_CHECKING:
    from tests.support.scene import Scene


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


@pytest.fixture
def starter() -> Starter:
    """A process that has loaded all of the code already; commands are copies of it."""
    return shared_starter()


@pytest.fixture
def scene(tmp_path: Path, starter: Starter) -> "Scene":
    """A project and a home in which every command has something to do."""
    from tests.support.scene import Scene

    return Scene(tmp_path, starter)
