"""`ghostpen` in this process, with the sample author, scripted models, and a terminal where lines are written down."""

import json
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.support.project import Told

from toolroll.cli.ghostpen.main import ghostpen
from toolroll.cli.main import run
from toolroll.cli.session import Session
from toolroll.cli.terminal.terminal import Terminal
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.sample import sample_profile
from toolroll.packs.writing.texts.messages import Lang

READ = "read"
"""A turn that is never played: in its place stands the read of the profile by the program."""

CTRL_C = "\x03"
"""Typed at a `Typed` terminal, this is the signal."""


def post(text: str = "Here is the thing: tea.", topic: str = "good tea") -> dict[str, Any]:
    """A turn with a draft."""
    return {"text": f'<post topic="{topic}">\n{text}\n</post>'}


class Desk:
    """`data` has the profiles and posts."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder, self.data = folder, folder / "data"
        self._capture = capture

    def has_profile(self, lang: Lang = "en", **changes: object) -> None:
        fields = {**sample_profile(lang), **changes}
        ProfileStore(self.data).create(fields, now=datetime(2026, 2, 9, 10, tzinfo=UTC))

    def script(self, *turns: object) -> str:
        """The name of a model that says this."""
        file = self.folder / "script.json"
        file.write_text(json.dumps(turns))
        return f"scripted:{file}"

    def run(self, *arguments: str) -> Told:
        """`ghostpen` in this process."""
        code = run([*arguments], Session(json="--json" in arguments), ghostpen, "ghostpen")
        told = self._capture.readouterr()
        return Told(code, told.out, told.err)

    def said(self) -> Told:
        """What was written since the last time."""
        told = self._capture.readouterr()
        return Told(0, told.out, told.err)

    def posts(self) -> list[str]:
        return [path.read_text(encoding="utf-8") for path in (self.data / "output" / "generated").glob("*.md")]


class Typed(Terminal):
    """A terminal at which these lines are typed; then the input is closed."""

    def __init__(self, *lines: str, rows: int = 50, columns: int = 100) -> None:
        super().__init__(input_fd=0)
        self._lines = list(lines)
        self._rows, self._columns = rows, columns
        self.asked: list[str] = []

    @property
    def size(self) -> tuple[int, int]:
        return self._columns, self._rows

    def ask(self, prompt: str, *, fresh: bool = False, again: Callable[[], None] | None = None) -> str | None:
        self.asked.append(prompt)
        line = self._lines.pop(0) if self._lines else None
        if line == CTRL_C:
            signal.raise_signal(signal.SIGINT)
        return line
