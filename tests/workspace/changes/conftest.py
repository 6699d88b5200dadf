"""A history beside the workspace, and short ways to change files through it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from toolroll.workspace.changes.apply import AppliedChange, apply
from toolroll.workspace.changes.history import History
from toolroll.workspace.changes.proposal import Change, Proposal
from toolroll.workspace.workspace import Workspace

Applying = Callable[..., AppliedChange]


@pytest.fixture
def history(workspace: Workspace) -> Iterator[History]:
    with History(workspace.state) as history:
        yield history


@pytest.fixture
def change(workspace: Workspace, history: History, folder: Path) -> Applying:
    """Gives files other contents as one change: `change({"a": b"new", "b": None})`."""

    def change(files: dict[str, bytes | None], *, run_id: str = "run", mode: int | None = None) -> AppliedChange:
        changes = []
        for name, after in files.items():
            before = (folder / name).read_bytes() if (folder / name).exists() else None
            changes.append(Change(path=workspace.path(name), before=before, after=after, mode=mode))
        proposal = Proposal(changes=tuple(changes), description=f"change {', '.join(files)}")
        return apply(workspace, proposal, history, run_id=run_id)

    return change
