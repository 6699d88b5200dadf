"""`toolroll runs delete`: shows what goes, asks, and leaves everything else alone."""

import asyncio
import json
import os
import sqlite3
import time
from pathlib import Path

import pytest
from tests.journal.samples import EVERY_KIND
from tests.support.programs import environment, toolroll
from tests.support.run_log import RunLog, look, looking
from tests.support.terminal import Pseudo

from toolroll import Agent, ScriptedModel
from toolroll.agent.approvals import AskLater
from toolroll.cli.actions.runs.delete import HISTORY_STAYS
from toolroll.journal.records import ApprovalAnswer, ApprovalQuestion, MessageAdded, RunBegan, StateSet
from toolroll.kernel.data.messages import UserMessage
from toolroll.models.scripted import Call
from toolroll.outputs.run_folder import folder_name
from toolroll.workspace.changes.content_cache import ContentCache
from toolroll.workspace.workspace import Workspace

BEGAN = RunBegan(model="m", system="", tools={})
ASKED = ApprovalQuestion(call_id="c1", tool="save", digest="d", preview="")
DAY_S = 24 * 3600


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> RunLog:
    monkeypatch.setenv("TOOLROLL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CI", "1")
    return RunLog(tmp_path / "home", capsys)


def test_S4_a_run_is_deleted_with_its_parts_and_outputs(log: RunLog) -> None:
    helper = Agent(model=ScriptedModel([looking("long"), "Helped."]), tools=[look]).as_tool(
        name="helper", description="Help."
    )
    other = log.run(looking("long"), "Other.")
    one = log.run(looking("long"), Call("helper", {"task": "x"}, id="c2"), "Done.", tools=[look, helper])
    code, out, err = log.call("runs", "delete", one[:8], "--yes")
    assert code == 0
    assert out.startswith("Deleted: 1 run with 1 part, ")
    assert ", 3 outputs (" in out
    assert f"{one[:12]}  " in err
    assert HISTORY_STAYS in err
    assert log.ids() == [other]
    assert len(list(log.outputs.iterdir())) == 2  # of the other run, and when they were last collected
    again, _, told = log.call("runs", "delete", one, "--yes")
    assert (again, "There is no run" in told) == (1, True)


def test_XC8_copies_of_files_that_a_run_has_read_go_with_it(log: RunLog, tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    other, one = log.run("Other."), log.run("Done.")
    with Workspace.of_user(tmp_path / "app", environment=os.environ) as workspace:
        for run_id in (other, one):
            ContentCache(workspace, run_id).keep(b"tea\n")
        assert log.call("runs", "delete", one, "--yes")[0] == 0
        assert [path.name for path in (workspace.state / "contents").iterdir()] == [folder_name(other)]


def test_S2_the_answer_as_json(log: RunLog) -> None:
    one, two = log.run("Hi."), log.run(looking("long"), "Hi.")
    code, told = log.json("runs", "delete", one, two, "--yes")
    assert (code, told["deleted"], told["left"], told["records"], told["outputs"]) == (0, [one, two], [], 10, 1)
    assert set(told) == {"deleted", "left", "records", "texts", "byte_size", "outputs", "output_bytes"}
    assert told["output_bytes"] > 20_000
    assert log.json("runs", "delete", "--older-than", "0", "--yes")[1]["deleted"] == []


def test_XA8_where_nobody_can_be_asked_nothing_is_deleted(log: RunLog) -> None:
    one = log.run("Hi.")
    code, _, err = log.call("runs", "delete", one)
    assert (code, "Nobody could be asked" in err, log.ids()) == (3, True, [one])
    assert log.json("runs", "delete", one)[1]["error"]["code"] == "needs_approval"


@pytest.mark.parametrize(("key", "code", "left"), [(b"n\n", 1, 1), (b"y\n", 0, 0), (b"\x03", 130, 1)])
def test_S4_at_a_terminal_somebody_is_asked(key: bytes, code: int, left: int, log: RunLog, tmp_path: Path) -> None:
    one = log.run("Hi.")
    with Pseudo(toolroll("runs", "delete", one), env=environment(log.home), cwd=tmp_path) as terminal:
        terminal.wait_for("Delete this for good?")
        terminal.send(key)
        assert terminal.end()[0] == code
    assert len(log.ids()) == left


def test_XD3_a_run_that_goes_on_is_refused_or_stays(log: RunLog) -> None:
    one, two = log.run("Hi.", clock=lambda: 1.0), log.run("Hi.", clock=lambda: 1.0)
    holding = log.journal()
    asyncio.run(holding.acquire(one))
    code, _, err = log.call("runs", "delete", one, two, "--yes")
    assert (code, f"Run {one} is going on" in err, len(log.ids())) == (1, True, 2)
    code, told = log.json("runs", "delete", "--older-than", "1", "--yes")
    assert (code, told["deleted"], [left["run_id"] for left in told["left"]]) == (0, [two], [one])
    holding.close()
    assert log.json("runs", "delete", one, "--yes")[0] == 0


def test_XD2_a_run_that_waits_for_an_answer_is_deleted_by_force_only(log: RunLog) -> None:
    old = time.time() - 10 * DAY_S
    one = log.run(Call("save", {"text": "x"}), approver=AskLater(), clock=lambda: old)
    code, told = log.json("runs", "delete", one, "--yes")
    assert (code, told["error"]["code"]) == (1, "journal")
    assert "waits for an answer" in told["error"]["message"]
    code, _, err = log.call("runs", "delete", "--older-than", "1", "--yes")
    assert (code, f"run {one} stays: it waits" in err, log.ids()) == (0, True, [one])
    assert log.json("runs", "delete", one, "--yes", "--force")[1]["deleted"] == [one]


@pytest.mark.parametrize(
    ("records", "waits"),
    [
        ((ASKED,), True),
        ((ASKED, ApprovalAnswer(call_id="c1", digest="d", decision="approve")), False),
        ((ASKED, MessageAdded(message=UserMessage.of("x")), EVERY_KIND[7]), True),
        ((ApprovalQuestion(call_id="call_1", tool="save", digest="d", preview=""), EVERY_KIND[7]), False),
    ],
)
def test_XD2_a_run_that_was_killed_while_it_asked_waits_too(
    log: RunLog, records: tuple[ApprovalQuestion, ...], waits: bool
) -> None:
    log.write("killed", BEGAN, *records)
    assert log.json("runs", "delete", "killed", "--yes")[0] == int(waits)


def test_S4_runs_that_nothing_was_added_to_are_deleted_by_age(log: RunLog) -> None:
    now = time.time()
    old, new = log.run("Old.", clock=lambda: now - 10 * DAY_S), log.run("New.", clock=lambda: now)
    log.write("orphan", RunBegan(model="m", system="", tools={}, parent="gone"), clock=lambda: now - 10 * DAY_S)
    code, told = log.json("runs", "delete", "--older-than", "9", "--yes")
    assert (code, sorted(told["deleted"])) == (0, sorted([old, "orphan"]))
    code, _, err = log.call("runs", "delete", "--older-than", "9")
    assert (code, err, log.ids()) == (0, "There is nothing to delete.\n", [new])


def test_S4_many_runs_are_not_all_listed(log: RunLog) -> None:
    for number in range(23):
        log.write(f"run-{number}", BEGAN, clock=lambda: 1.0)
    _, out, err = log.call("runs", "delete", "--older-than", "1", "--yes")
    assert err.count("unfinished") == 20
    assert "... and 3 more\n" in err
    assert out.startswith("Deleted: 23 runs, 23 records (")


@pytest.mark.parametrize("arguments", [[], ["abcd", "--older-than", "3"], ["--older-than", "-1"]])
def test_S2_what_makes_no_sense_is_told(log: RunLog, arguments: list[str]) -> None:
    code, told = log.json("runs", "delete", *arguments)
    assert (code, told["error"]["code"]) == (2, "usage")


def test_S4_a_part_goes_with_its_run_only(log: RunLog) -> None:
    log.write("one", BEGAN)
    log.write("one.c1", RunBegan(model="m", system="", tools={}, parent="one"))
    code, told = log.json("runs", "delete", "one.c1", "--yes")
    assert (code, told["error"]["message"]) == (1, "Run one.c1 is a part of run one, and goes with it.")


def test_XA6_a_prompt_cannot_play_with_the_terminal(log: RunLog) -> None:
    one = log.run("Hi.", prompt="\x1b[2J\u202egone")
    _, _, err = log.call("runs", "delete", one, "--yes")
    assert "\x1b" not in err
    assert "\u202e" not in err


def test_XD4_a_damaged_run_is_deleted(log: RunLog) -> None:
    one = log.run("Hi.")
    with sqlite3.connect(log.path) as db:
        db.execute("update records set body = x'00' where number = 2")
    db.close()
    assert log.json("runs", "delete", one, "--yes")[1]["deleted"] == [one]


def test_D6_a_deleted_secret_text_is_nowhere(log: RunLog) -> None:
    log.write("one", BEGAN, StateSet(name="n", value="canary-7391"))
    log.run("Stays.")
    log.json("runs", "delete", "one", "--yes")
    left = b"".join(one.read_bytes() for one in log.home.rglob("*") if one.is_file())
    assert b"canary-7391" not in left
    assert json.loads(log.call("runs", "list", "--json")[1])["runs"][0]["state"] == "answer"


def test_S2_a_beginning_that_fits_two_runs_is_told(log: RunLog) -> None:
    for run_id in ("abcd1", "abcd2"):
        log.write(run_id, BEGAN)
    code, told = log.json("runs", "delete", "abcd", "--yes")
    assert (code, told["error"]["message"]) == (2, "2 runs begin with 'abcd'. Write more of the id.")
