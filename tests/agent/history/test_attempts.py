"""A run that dies at each attempt to resume it is given up, and stays open to a person's word (XD13)."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.agent.tape import Tape

from toolroll import Agent, tool
from toolroll.agent.history.attempts import ATTEMPTS_KEY, MAX_FRUITLESS_ATTEMPTS, Attempts, read_attempts
from toolroll.errors import UsageError
from toolroll.journal.records import RunEnded, StateSet
from toolroll.journal.sqlite import SqliteJournal
from toolroll.models.scripted import Call, Line, ScriptedModel

RUN = "run"


def make_agent(folder: Path, *, deadly: bool = True) -> Agent[None]:
    @tool(name="look")
    def deadly_look() -> str:
        """Look at something that kills the process."""
        if deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        return "seen"

    return Agent(
        model=ScriptedModel([Call("look", {}, id="look_1"), "Done."] if not on_record(folder) else ["Done."]),
        tools=[deadly_look],
        journal=SqliteJournal(folder / "runs.db"),
        make_id=lambda: RUN,
    )


def on_record(folder: Path) -> bool:
    return (folder / "runs.db").exists()


def run_in_child(folder: Path, **options: Any) -> str | None:
    """Begin or resume the run in a process of its own; return how it ended, None if the process died."""
    child = os.fork()
    if child == 0:
        try:
            is_new = not on_record(folder)
            agent = make_agent(folder)
            result = asyncio.run(agent.run("Go.") if is_new else agent.resume(RUN, **options))
            (folder / "ended").write_text(result.stop_reason)
            os._exit(0)
        finally:
            sys.stderr.flush()
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return None
    assert os.waitstatus_to_exitcode(status) == 0
    return (folder / "ended").read_text()


def test_XD13_a_run_that_dies_at_each_attempt_is_given_up_and_can_be_forced(tmp_path: Path) -> None:
    ends = [run_in_child(tmp_path) for _ in range(12)]
    dead = 1 + MAX_FRUITLESS_ATTEMPTS  # the run itself, then the attempts
    assert ends == [None] * dead + ["gave_up"] * (12 - dead)
    records = read(tmp_path)
    [end] = [one for one in records if isinstance(one, RunEnded)]
    assert (end.stop_reason, end.stop_detail) == ("gave_up", "died at 3 attempts in a row")
    assert run_in_child(tmp_path, force=True) is None
    assert run_in_child(tmp_path) == "gave_up"
    result = asyncio.run(make_agent(tmp_path, deadly=False).resume(RUN, force=True))
    assert (result.stop_reason, result.text) == ("answer", "Done.")


def read(folder: Path) -> list[object]:
    journal = SqliteJournal(folder / "runs.db")
    found = asyncio.run(journal.read(RUN))
    journal.close()
    return [record for _, record in found]


def test_XD13_another_prompt_leaves_the_deadly_call_out(tmp_path: Path) -> None:
    for _ in range(2 + MAX_FRUITLESS_ATTEMPTS):
        run_in_child(tmp_path)
    assert run_in_child(tmp_path, prompt="Do it without looking.") == "answer"


@tool
def look(number: int) -> str:
    """Look."""
    return f"seen {number}"


def looks(count: int) -> list[Line]:
    return [*(Call("look", {"number": number}, id=f"look_{number}") for number in range(count)), "Done."]


def attempts_of(tape: Tape) -> list[object]:
    return [one.value for one in tape.records(RUN) if isinstance(one, StateSet) and one.name == ATTEMPTS_KEY]


async def test_XD13_attempts_that_come_further_are_not_counted() -> None:
    def agent(journal: Tape) -> Agent[None]:
        return Agent(
            model=ScriptedModel(looks(8)[journal.paid(RUN) :]), tools=[look], journal=journal, make_id=lambda: RUN
        )

    tape = Tape()
    await agent(tape).run("Go.")
    tape = await tape.cut(2)
    for _ in range(2 * MAX_FRUITLESS_ATTEMPTS):  # each attempt dies two writes after its own record
        known = len(tape.writes)
        assert (await agent(tape).resume(RUN)).stop_reason == "answer"
        tape = await tape.cut(known + 3)
    assert [read_attempts(value).count for value in attempts_of(tape)] == [1] * 2 * MAX_FRUITLESS_ATTEMPTS


async def test_XD13_a_part_that_comes_further_counts_for_the_whole() -> None:
    """A sub-agent may take long, and its caller has no new record meanwhile."""

    def agent(journal: Tape) -> Agent[None]:
        part = Agent(model=ScriptedModel(looks(12)[journal.paid(f"{RUN}.part_1") :]), tools=[look])
        script: list[Line] = [Call("part", {"task": "Look."}, id="part_1"), "Done."]
        tools = [part.as_tool(name="part", description="Look around.")]
        return Agent(
            model=ScriptedModel(script[journal.paid(RUN) :]), tools=tools, journal=journal, make_id=lambda: RUN
        )

    tape = Tape()
    await agent(tape).run("Go.")
    tape = await tape.cut(4)
    for _ in range(2 * MAX_FRUITLESS_ATTEMPTS):
        known = len(tape.writes)
        assert (await agent(tape).resume(RUN)).stop_reason == "answer"
        tape = await tape.cut(known + 3)
    assert tape.paid(RUN) == 1
    assert [read_attempts(value).count for value in attempts_of(tape)] == [1] * 2 * MAX_FRUITLESS_ATTEMPTS


@pytest.mark.parametrize("value", [None, 3, "x", {}, {"count": "2", "progress": 1}, {"count": 2}])
def test_XD13_a_strange_record_of_attempts_counts_as_none(value: object) -> None:
    assert read_attempts(value) == Attempts()


def test_force_is_for_a_run_that_is_resumed() -> None:
    with pytest.raises(UsageError, match="force"):
        Agent(model=ScriptedModel([])).start("Go.", force=True)
