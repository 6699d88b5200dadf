"""`toolroll runs fork`: another way from a step of a run, in a process of its own."""

import asyncio
import json
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.support.programs import environment, run_toolroll
from tests.support.run_log import RunLog

from toolroll.journal.records import MessageAdded, ModelTurn, RunBegan
from toolroll.kernel.data.messages import AssistantMessage, TextBlock, UserMessage
from toolroll.kernel.data.usage import Usage

TOOLS = Path(__file__).parents[1] / "run_tools.py"
LOOK = {"name": "look", "arguments": {"path": "a.txt"}, "id": "look_1"}
SAVE = {"name": "save", "arguments": {"path": "b.txt", "text": "copied"}, "id": "save_1"}


class Place:
    """A folder with scripts to play, and a home of its own."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.work = folder / "work"
        self.work.mkdir()
        (self.work / "a.txt").write_text("hello\n")
        self.log = RunLog(folder / "home", capsys)

    def script(self, *turns: object) -> str:
        (self.work / f"{len(turns)}.json").write_text(json.dumps(turns))
        return f"scripted:{len(turns)}.json"

    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run_toolroll(*arguments, env=environment(self.log.home), cwd=self.work)

    def records(self, run_id: str) -> list[Any]:
        journal = self.log.journal()
        try:
            return [record for _, record in asyncio.run(journal.read(run_id))]
        finally:
            journal.close()

    def stored(self, run_id: str) -> list[Any]:
        with sqlite3.connect(self.log.path) as db:
            found = db.execute("select * from records where run_id = ? order by number", (run_id,)).fetchall()
        db.close()
        return found


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Place:
    return Place(tmp_path, capsys)


def test_D4_a_run_is_forked_with_another_model_and_prompt(place: Place) -> None:
    model = place.script({"text": "I look.", "calls": [LOOK]}, {"text": "I copy.", "calls": [SAVE]}, "Copied.")
    place.call("run", "Go.", "--model", model, "--from", str(TOOLS), "--yes")
    [one] = place.log.ids()
    before = place.stored(one)
    script = place.script({"text": "Again.", "calls": [LOOK | {"id": "look_2"}]}, "Seen.")
    done = place.call("runs", "fork", one[:8], "--at", "0", "--model", script, "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, events[0]["event"], events[-1]["text"]) == (0, "run_started", "Seen.")
    new = events[0]["run_id"]
    assert place.log.ids() == [new, one]
    began = place.records(new)[0]
    assert isinstance(began, RunBegan)
    assert (began.forked_from, began.at, began.inherited) == (one, 0, 1)
    assert began.settings["model"] == "scripted:2.json"
    assert before == place.stored(one)
    listed = json.loads(place.call("runs", "list", "--json").stdout)["runs"]
    assert [(run["forked_from"], run["at"]) for run in listed] == [(one, 0), (None, None)]


def test_D4_XA8_a_fork_goes_on_from_the_middle_and_asks_as_any_run_does(place: Place) -> None:
    model = place.script({"text": "I look.", "calls": [LOOK]}, {"text": "I copy.", "calls": [SAVE]}, "Copied.")
    place.call("run", "Go.", "--model", model, "--from", str(TOOLS))  # it waits for an answer
    [one] = place.log.ids()
    done = place.call("runs", "fork", one, "--at", "1", "--prompt", "Carefully.")
    assert (done.returncode, "I copy." in done.stdout, (place.work / "b.txt").exists()) == (3, True, False)
    new = place.log.ids()[0]
    said = [record.message for record in place.records(new) if isinstance(record, MessageAdded)]
    assert said == [UserMessage.of("Go."), UserMessage.of("Carefully.")]
    assert sum(isinstance(record, ModelTurn) for record in place.records(new)) == 2
    yes = place.call("runs", "resume", new, "--approve", "save_1")
    assert (yes.returncode, yes.stdout, (place.work / "b.txt").read_text()) == (0, "Copied.\n", "copied")


@pytest.mark.parametrize(
    ("settings", "arguments", "code", "told"),
    [
        ({"model": "scripted:x"}, ["--at", "3"], 2, "has 1 complete step, so it cannot be forked at 3"),
        ({"model": "scripted:x"}, [], 2, "Missing option '--at'"),
        ({"model": "scripted:x"}, ["--at", "-1"], 2, "-1 is not in the range"),
        ({"model": "scripted:x"}, ["--at", "1", "--prompt", " "], 2, "The prompt is empty"),
        ({"kind": "explore", "model": "x"}, ["--at", "1"], 2, "An exploration cannot be forked"),
        ({}, ["--at", "1"], 2, "Name the --model"),
    ],
)
def test_S2_what_cannot_be_forked_is_told(
    place: Place, settings: dict[str, object], arguments: list[str], code: int, told: str
) -> None:
    (place.work / "x").write_text('["Hi."]')
    settings = {name: f"scripted:{place.work}/x" if name == "model" else value for name, value in settings.items()}
    answered = ModelTurn(
        message=AssistantMessage(blocks=(TextBlock(text="Hi."),)),
        stop="end",
        stop_detail="",
        usage=Usage(),
        cost=None,
        duration_s=1.0,
    )
    began = RunBegan(model="m", system="", tools={}, settings=settings)
    place.log.write("recorded", began, MessageAdded(message=UserMessage.of("Go.")), answered)
    done = place.call("runs", "fork", "recorded", *arguments, "--json")
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, error["code"]) == (code, "usage")
    assert told in error["message"]
    assert place.log.ids() == ["recorded"]


def test_XD3_a_run_that_goes_on_or_is_not_there_is_1(place: Place) -> None:
    (place.work / "x").write_text('["Hi."]')
    began = RunBegan(model="m", system="", tools={}, settings={"model": f"scripted:{place.work}/x"})
    place.log.write("recorded", began, MessageAdded(message=UserMessage.of("Go.")))
    holding = place.log.journal()
    asyncio.run(holding.acquire("recorded"))
    for run_id, told in (("recorded", "is going on"), ("nobody", "There is no run")):
        done = place.call("runs", "fork", run_id, "--at", "0")
        assert (done.returncode, told in done.stderr) == (1, True)
    holding.close()
