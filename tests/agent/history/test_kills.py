"""XD1-XD3 with real processes: killed after any write, while a person is asked, and in the middle of a change."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.agent import crash
from tests.agent.crash import RUN, STEPS, make_agent

from toolroll import Approve
from toolroll.agent.approvals import AskLater
from toolroll.agent.history.unknown_calls import ALREADY_DONE
from toolroll.journal.records import ApprovalQuestion, CallEnded
from toolroll.journal.sqlite import SqliteJournal

ROOT = Path(__file__).parents[3]
ROUNDS = int(os.environ.get("TOOLROLL_ROUNDS", "0"))
MOST_WRITES = 70
"""More often than that the run does not write; a kill that comes too late kills nobody."""
LEAST_WRITES = 3 * STEPS + 1
POINTS = {
    "sqlite": (1, 2, 15, 16, 17, 31, 32, 33, 34, 35, 36, 37, 50, 64),
    "postgres": (1, 16, 33, 34, 35, 50),
}
SAME = ("text", "stop_reason", "messages", "steps", "saved")


def start(program: str, *arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, str(ROOT / "tests" / "agent" / program), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})


def play_rounds(folder: Path, *rounds: str) -> list[dict[str, Any]]:
    with start("crash.py", str(folder), *rounds) as process:
        assert process.stdout is not None
        found = [json.loads(line) for line in process.stdout]
    assert process.returncode == 0
    return found


def on_record(folder: Path, name: str) -> set[str]:
    """The calls of a round that have a result."""
    journal = SqliteJournal(folder / name / "data" / "runs.db")
    found = asyncio.run(journal.read(RUN))
    journal.close()
    return {record.result.call_id for _, record in found if isinstance(record, CallEnded)}


def results_of(round_: dict[str, Any]) -> list[dict[str, Any]]:
    return [result for message in round_["messages"] for result in message.get("results", ())]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_XD1_a_run_killed_after_any_write_ends_the_same_and_pays_nothing_twice(
    tmp_path: Path, store: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At some writes in CI, every one with TOOLROLL_ROUNDS; and once with a new process for each single write."""
    if store == "postgres":
        monkeypatch.setenv(crash.DATABASE, request.getfixturevalue("database_url"))
    points = range(1, MOST_WRITES) if ROUNDS else POINTS[store]
    each = ["-1"] if ROUNDS or store == "sqlite" else []
    whole, *killed = play_rounds(tmp_path, "0", *map(str, points), "33,1,2,9", *each)
    assert Counter(whole["happened"]) == Counter(dict.fromkeys(whole["happened"], 1))
    assert len(whole["steps"]) == STEPS
    writes = killed[-1]["processes"] - 1 if store == "sqlite" else LEAST_WRITES  # where each process made one
    assert LEAST_WRITES <= writes < MOST_WRITES
    for one in killed:
        assert one["processes"] > 1 or one["kills"][0] > writes
        for result in results_of(one):  # the change was made while a neighbour's write killed the process
            if result["content"] == ALREADY_DONE:
                result["content"] = "saved"
        assert {key: one[key] for key in SAME} == {key: whole[key] for key in SAME}, one["kills"]
        counts = Counter(one["happened"])
        assert counts.keys() == Counter(whole["happened"]).keys()
        again = {what for what, count in counts.items() if count > 1}
        # Reads that were running when their process died have no result yet: only those are made again.
        assert all(what.startswith(("tool look_", "tool peek_")) for what in again), (one["kills"], again)


def test_XD1_no_call_with_a_result_on_record_is_run_again(tmp_path: Path) -> None:
    kills = ("6", "16", "35")
    befores = play_rounds(tmp_path, *(f"{kill}:{kill}!" for kill in kills))
    finished = [on_record(tmp_path, kill) for kill in kills]
    afters = play_rounds(tmp_path, *(f"{kill}:0" for kill in kills))
    for calls, before, after in zip(finished, befores, afters, strict=True):
        assert calls
        counts = [Counter(one["happened"]) for one in (before, after)]
        assert all(counts[0][f"tool {call}"] == counts[1][f"tool {call}"] for call in calls)


DYING = """
import asyncio, os, signal, sys
from dataclasses import replace
from pathlib import Path
from tests.agent.crash import make_agent, note

class Dying:
    def decide(self, requests, /):
        note(folder, f"asked {requests[0].call_id}")
        os.kill(os.getpid(), signal.SIGKILL)

folder = Path(sys.argv[1])
agent = make_agent(folder)
agent._setup = replace(agent.setup, approver=Dying())
asyncio.run(agent.run("Go."))
"""


async def test_XD2_a_question_that_was_open_at_a_kill_is_still_open_and_still_bound(tmp_path: Path) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", DYING, str(tmp_path)], env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    journal = SqliteJournal(tmp_path / "data" / "runs.db")
    [asked] = [record for _, record in await journal.read(RUN) if isinstance(record, ApprovalQuestion)]
    journal.close()
    waiting = await agent_with(tmp_path, AskLater()).resume(RUN)
    assert (waiting.stop_reason, waiting.pending) == ("approval_pending", (asked,))
    (tmp_path / "saved").write_text("by somebody else")
    moved = await agent_with(tmp_path, AskLater()).resume(RUN, decisions={"save_1": Approve()})
    assert moved.stop_reason == "approval_pending"
    assert moved.pending[0].digest != asked.digest
    result = await agent_with(tmp_path, AskLater()).resume(RUN, decisions={"save_1": Approve()})
    assert (result.text, (tmp_path / "saved").read_text()) == ("All done.", "the text")
    counts = Counter(crash.happened(tmp_path))
    assert (counts["asked save_1"], counts["tool save_1"]) == (1, 1)
    assert all(counts[f"paid {step}"] == 1 for step in range(1, STEPS + 1))


def agent_with(folder: Path, approver: Any) -> Any:
    agent = make_agent(folder)
    agent._setup = replace(agent.setup, approver=approver)
    return agent


@pytest.mark.timeout(120)
def test_XD3_of_two_processes_that_resume_a_run_one_drives_it_and_the_other_reports(tmp_path: Path) -> None:
    play_rounds(tmp_path, "duel:20!")
    folder = tmp_path / "duel"
    os.mkfifo(folder / "go")
    with start("duel.py", str(folder)) as first, start("duel.py", str(folder)) as second:
        assert first.stdout is not None
        assert second.stdout is not None
        said = {first.stdout.readline(): first, second.stdout.readline(): second}
        assert said.keys() == {"asking\n", "waiting\n"}
        (folder / "go").write_text("go")
        driven, reported = (said[word].stdout.read() for word in ("asking\n", "waiting\n"))  # type: ignore[union-attr]  # both are pipes
    assert json.loads(driven) == json.loads(reported)
    assert json.loads(driven)["text"] == "All done."
    counts = Counter(crash.happened(folder))
    assert all(counts[f"paid {step}"] == 1 for step in range(1, STEPS + 1))
    assert counts["tool save_1"] == 1


@pytest.mark.timeout(120)
def test_XD3_when_the_one_that_drives_is_killed_the_other_takes_over(tmp_path: Path) -> None:
    play_rounds(tmp_path, "duel:20!")
    folder = tmp_path / "duel"
    os.mkfifo(folder / "go")
    with start("duel.py", str(folder)) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "asking\n"
        with start("duel.py", str(folder)) as second:
            assert second.stdout is not None
            assert second.stdout.readline() == "waiting\n"
            first.kill()
            assert second.stdout.readline() == "asking\n"
            (folder / "go").write_text("go")
            assert json.loads(second.stdout.read())["text"] == "All done."
    assert Counter(crash.happened(folder))["tool save_1"] == 1
