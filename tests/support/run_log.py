"""A user's run log made without a process for each run, and commands called in this one."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolroll import Agent, RunResult, ScriptedModel, tool
from toolroll.cli.main import run
from toolroll.cli.session import Session
from toolroll.journal.records import Record
from toolroll.journal.sqlite import SqliteJournal
from toolroll.models.scripted import Call, Line

LONG = "a line of it\n" * 2_000


@tool
async def look(path: str = "a.txt") -> str:
    """Look at a file."""
    return f"{path}\n{LONG}" if path == "long" else f"{path} is here"


@tool(effect="writes")
async def save(text: str) -> str:
    """Save a text."""
    return f"saved {text}"


class RunLog:
    """The home of a user, with runs in it."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home = home
        self.path = home / "data" / "runs.db"
        self.outputs = home / "data" / "outputs"
        self._capsys = capsys

    def journal(self, **options: Any) -> SqliteJournal:
        return SqliteJournal(self.path, **options)

    def run(
        self, *script: Line, prompt: str = "Go.", clock: "Callable[[], float] | None" = None, **options: Any
    ) -> str:
        """The id of a run that is recorded now."""

        async def work() -> RunResult[Any]:
            given: dict[str, Any] = {"model": ScriptedModel(script), "tools": [look, save], "journal": journal}
            return await Agent(**(given | options)).run(prompt)

        journal = self.journal(**({} if clock is None else {"clock": clock}))
        try:
            return asyncio.run(work()).run_id
        finally:
            journal.close()

    def write(self, run_id: str, *records: Record, **options: Any) -> None:
        """Records as they are."""
        journal = self.journal(**options)
        asyncio.run(journal.append(run_id, *records))
        journal.close()

    def ids(self) -> list[str]:
        """All runs, the latest first."""
        journal = self.journal()
        try:
            return [row.run_id for row in asyncio.run(journal.runs())]
        finally:
            journal.close()

    def call(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, stdout and stderr of a command."""
        code = run(list(arguments), Session(json="--json" in arguments))
        told = self._capsys.readouterr()
        return code, told.out, told.err

    def json(self, *arguments: str) -> tuple[int, Any]:
        """Exit code and answer of a command."""
        code, out, _ = self.call(*arguments, "--json")
        return code, json.loads(out)


def looking(path: str = "a.txt", call_id: str = "c1") -> Call:
    """A call that only reads."""
    return Call("look", {"path": path}, id=call_id)
