"""A copy of the sample project and a home of its own, for commands that work in a project."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from tests.support.programs import environment, run_toolroll, toolroll
from tests.support.terminal import Pseudo

import toolroll.packs.code as code_pack
from toolroll.workspace.changes.apply import AppliedChange, apply
from toolroll.workspace.changes.history import History
from toolroll.workspace.changes.proposal import Change, Proposal
from toolroll.workspace.workspace import Workspace


class Told(NamedTuple):
    """What a command came to."""

    code: int
    out: str
    err: str


Calling: TypeAlias = Callable[..., Told]

SAMPLE = Path(code_pack.__file__).parent / "sample"


class Project:
    """The sample project at work: `root` is the copy, `home` all of the user's own data."""

    def __init__(self, folder: Path) -> None:
        self.home, self.root = folder / "home", folder / "tea-board"
        shutil.copytree(SAMPLE, self.root)

    def script(self, *turns: object) -> str:
        """The name of a model that says this."""
        file = self.home.with_name("script.json")
        file.write_text(json.dumps(turns))
        return f"scripted:{file}"

    def call(self, *arguments: str, stdin: str | None = None, **env: str) -> subprocess.CompletedProcess[str]:
        """A command in the project, without a terminal."""
        return run_toolroll(*arguments, env=environment(self.home, **env), cwd=self.root, stdin=stdin)

    def terminal(self, *arguments: str, env: Mapping[str, str] | None = None, rows: int = 60) -> Pseudo:
        """A command in the project, at a terminal."""
        known = environment(self.home, **(env or {}))
        return Pseudo(toolroll(*arguments), env=known, cwd=self.root, columns=100, rows=rows)

    def change(self, files: dict[str, str | None], *, run_id: str = "run", description: str = "") -> AppliedChange:
        """Change files as a tool would, as one change."""
        with self.workspace() as workspace, History(workspace.state) as history:
            changes = tuple(
                Change(path=workspace.path(name), before=self._bytes(name), after=_encoded(after))
                for name, after in files.items()
            )
            return apply(workspace, Proposal(changes=changes, description=description), history, run_id=run_id)

    def workspace(self) -> Workspace:
        """The workspace as a command opens it."""
        return Workspace.of_user(self.root, environment={"TOOLROLL_HOME": str(self.home)})

    def text(self, name: str) -> str:
        """What a file holds."""
        return (self.root / name).read_text()

    def _bytes(self, name: str) -> bytes | None:
        return (self.root / name).read_bytes() if (self.root / name).exists() else None


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def lines(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """The events on stdout."""
    return [json.loads(line) for line in done.stdout.splitlines()]


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file of a folder with its content."""
    return {
        os.path.relpath(path, folder): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
