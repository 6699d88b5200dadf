"""An index over the empty workspace; its worker processes are shared by all tests of one process."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from toolroll.safe.paths.names import RelativePath
from toolroll.workspace.symbols.index import Index
from toolroll.workspace.symbols.workers import Worker, Workers
from toolroll.workspace.workspace import Workspace

Write = Callable[[dict[str, str]], None]


class SharedWorkers(Workers):
    """Stays when one index closes: starting a process for each test would take longer than all of them."""

    def close(self) -> None:
        pass

    def end(self) -> None:
        super().close()


@pytest.fixture(scope="session")
def workers() -> Iterator[SharedWorkers]:
    workers = SharedWorkers(most=2)
    yield workers
    workers.end()


@pytest.fixture
def index(workspace: Workspace, workers: SharedWorkers) -> Iterator[Index]:
    with Index(workspace, workers=workers) as index:
        yield index


@pytest.fixture
def write(folder: Path) -> Write:
    def write_files(files: dict[str, str]) -> None:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return write_files


def at(path: str) -> RelativePath:
    return RelativePath(parts=tuple(path.split("/")))


__all__ = ["SharedWorkers", "Worker", "Write", "at"]
