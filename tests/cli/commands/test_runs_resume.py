"""`toolroll runs resume` of a run that another process drives: who waits is told so at once, and may leave (XD3)."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.programs import environment
from tests.support.project import Project

from toolroll.agent.events import Event, Warned
from toolroll.cli.actions.runs.recorded_agent import without_wait_warning
from toolroll.cli.actions.runs.resume import warn_if_busy
from toolroll.journal.records import RunBegan
from toolroll.journal.sqlite import SqliteJournal

ME = os.getpid()
NEW = {"path": "b.js", "content": "b\n", "description": "Make b."}
CREATE = {"name": "create_file", "arguments": NEW, "id": "create_1"}

AGENTS_NOTE = "Note: The model follows AGENTS.md of this project. Read it if you do not know who wrote it."


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteJournal]:
    """A run log in which this process drives the run `abcdef`."""
    monkeypatch.setenv("TOOLROLL_HOME", str(tmp_path / "home"))
    journal = SqliteJournal(tmp_path / "home" / "data" / "runs.db")
    asyncio.run(journal.append("abcdef", RunBegan(model="m", system="", tools={})))
    yield journal
    journal.close()


def test_XD3_a_second_resume_is_told_of_the_first_and_of_what_to_do(project: Project) -> None:
    assert project.call("code", "Go.", "--model", project.script({"calls": [CREATE]}, "Made.")).returncode == 3
    resume = ("runs", "resume", project.call("runs", "list").stdout[:12])
    with project.terminal(*resume) as driving:
        driving.wait_for("Allow this?")
        with project.terminal(*resume) as leaving, project.terminal(*resume) as waiting:
            for terminal in (leaving, waiting):
                terminal.wait_for(f"is being driven by another process ({driving.process.pid}).")
                terminal.wait_for("If it waits for an answer, give it there.")
            leaving.send(b"\x03")
            assert leaving.end() == (130, "")
            driving.press("y")
            assert driving.end() == (0, "Made.\n")
            assert waiting.end()[0] == 0
            assert waiting.text.count("is being driven by another process") == 1
            assert "Allow this?" not in waiting.text


def test_XD3_a_program_reads_of_the_waiting_among_the_events(project: Project) -> None:
    assert project.call("code", "Go.", "--model", project.script({"calls": [CREATE]}, "Made.")).returncode == 3
    resume = ("runs", "resume", project.call("runs", "list").stdout[:12])
    with project.terminal(*resume) as driving:
        driving.wait_for("Allow this?")
        with project.terminal(*resume, "--json") as program:
            assert program.process.stdout is not None
            told = json.loads(program.process.stdout.readline())
            driving.press("y")
            assert program.end()[0] == 0
            assert " ".join(program.text.split()) == AGENTS_NOTE
    assert told["event"] == "warning"
    assert told["text"].endswith("waiting for it. If it stands at a question, answer it there.")


def test_XD3_who_drives_a_run_is_told_before_an_agent_is_made(held: SqliteJournal) -> None:
    """Nothing of what makes an agent slow to begin has been loaded by then."""
    code = (
        "import sys; from toolroll.cli.actions.runs.resume import warn_if_busy; assert warn_if_busy('abcd'); "
        "print([name for name in ('toolroll.apps.spec', 'toolroll.agent.agent', 'rich') if name in sys.modules])"
    )
    env = environment(held.folder.parent)
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"
    assert f"! Run abcdef is being driven by another process ({ME})." in done.stderr


def test_XD3_nothing_is_said_of_a_run_that_nobody_drives(
    held: SqliteJournal, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not warn_if_busy("nothing-like-it"), "whoever goes on says that there is none"
    assert warn_if_busy("abcdef")
    assert "Ctrl-C here ends the waiting" in capsys.readouterr().err
    asyncio.run(held.release("abcdef"))
    assert not warn_if_busy("abcdef")
    assert capsys.readouterr().err == ""


def test_XD3_the_waiting_is_told_once() -> None:
    heard: list[Event] = []
    waits, other = Warned(kind="waiting_for_run", text="Waiting."), Warned(kind="repeated_call", text="Other.")
    for event in (waits, other):
        without_wait_warning(heard.append)(event)
    assert heard == [other]
