"""What the tests of this room stand on: a workspace in an empty folder, with its state beside it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from toolroll.workspace.limits import DEFAULT_LIMITS, Limits
from toolroll.workspace.workspace import Workspace

Opening = Callable[..., Workspace]


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ignored files are counted to the end, however busy the machine is."""
    monkeypatch.setattr("toolroll.workspace.search.walk.MAX_COUNTING_SECONDS", 60.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the workspace."""
    folder = tmp_path / "app"
    folder.mkdir()
    return folder


@pytest.fixture
def opened(folder: Path, tmp_path: Path) -> Iterator[Opening]:
    """Opens the workspace with other rules or limits."""
    made: list[Workspace] = []

    def open_workspace(*deny: str, limits: Limits = DEFAULT_LIMITS) -> Workspace:
        made.append(Workspace(folder, state=tmp_path / "state", deny=deny, limits=limits))
        return made[-1]

    yield open_workspace
    for workspace in made:
        workspace.close()


@pytest.fixture
def workspace(opened: Opening) -> Workspace:
    """The workspace, with neither rules nor files."""
    return opened()
