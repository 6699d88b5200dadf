"""D2: a run goes on from its record, wherever it was cut off, as if nothing had happened."""

import asyncio
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.agent.scenarios import RUN, SCENARIOS, City, adding, make, told
from tests.agent.stage import Call, Notes, add
from tests.agent.tape import Tape

from toolroll import Agent, TextPart, ToolContext, tool
from toolroll.agent.approvals import AskLater
from toolroll.agent.events import CallFinished, Event, RunStarted, Warned
from toolroll.agent.history.resume import LOST, NOT_RUN
from toolroll.agent.history.unknown_calls import UNKNOWN
from toolroll.agent.run import GO_ON
from toolroll.agent.stop import Condition, deadline, step_count_is, tokens_over
from toolroll.errors import JournalRefused, Overloaded, UsageError
from toolroll.journal.journal import MemoryJournal
from toolroll.journal.records import RunEnded
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.call.events import StateChanged
from toolroll.kernel.data.messages import ToolResults, UserMessage
from toolroll.models.scripted import Line, ScriptedModel
from toolroll.packs.standard import read_todos, write_todos


@pytest.mark.parametrize("name", SCENARIOS)
async def test_XD1_D2_a_run_cut_off_after_any_write_ends_the_same(name: str) -> None:
    """Nothing that is on record is paid or run again: the script has no turn to spare."""
    scenario = SCENARIOS[name]
    tape = Tape()
    whole = await make(scenario.script, tape, **scenario.options).run("Go.")
    assert whole.stop_reason == scenario.stop
    ends_for_good = scenario.stop in ("answer", "done")  # everything else goes on when it is resumed
    for count in range(1, len(tape.writes) + ends_for_good):
        left = await tape.cut(count)
        result = await make(scenario.script, left, **scenario.options).resume(RUN)
        assert told(result) == told(whole), f"cut after write {count}: {tape.writes[count - 1][1]}"
        assert left.paid(RUN) == tape.paid(RUN)
        assert sorted(left.kinds(RUN)) == sorted(tape.kinds(RUN))


async def test_D2_a_finished_run_is_reported_and_asks_nobody() -> None:
    tape = Tape()
    whole = await make([Call("add", adding), "3"], tape).run("Go.")
    result = await make([], tape).resume(RUN)
    assert told(result) == told(whole)
    assert [step.duration_s > 0 for step in result.steps] == [True, True]


async def test_D2_a_checked_answer_is_there_again_after_the_end() -> None:
    tape = Tape()
    await make(['{"name": "Kyiv"}'], tape, output=City).run("Go.")
    result = await make([], tape, output=City).resume(RUN)
    assert result.output == City(name="Kyiv")


async def test_D2_a_run_that_a_limit_stopped_goes_on_with_the_limit_anew() -> None:
    script: list[Line] = [Call("add", adding), "So far 3.", Call("add", {"a": 3, "b": 3}), "Now 6.", "All: 6."]
    tape = Tape()
    options: dict[str, Any] = {"stop_when": step_count_is(2)}
    first = await make(script, tape, **options).run("Go.")
    assert (first.stop_reason, first.text, first.closing) == ("condition", "So far 3.", True)
    second = await make(script, tape, **options).resume(RUN)
    assert (second.stop_reason, second.text, len(second.steps)) == ("condition", "Now 6.", 4)
    assert [message for message in second.messages if message == UserMessage.of(GO_ON)] != []
    third = await make(script, tape, stop_when=step_count_is(2)).resume(RUN)
    assert (third.stop_reason, third.text, len(third.steps)) == ("answer", "All: 6.", 5)


@pytest.mark.parametrize("limit", [tokens_over(40), deadline(3600)])
async def test_D2_limits_of_a_run_that_was_cut_off_go_on_counting(limit: Condition) -> None:
    tape = Tape()
    script: list[Line] = [Call("add", {"a": number, "b": 1}) for number in range(9)]
    whole = await make([*script, "Enough."], tape, stop_when=limit, close_with_answer=False).run("Go.")
    left = await tape.cut(len(tape.writes) - 2)
    result = await make([*script, "Enough."], left, stop_when=limit, close_with_answer=False).resume(RUN)
    assert told(result) == told(whole)


async def test_D2_another_prompt_goes_on_with_the_conversation() -> None:
    tape = Tape()
    script: list[Line] = ["One.", "Two.", "Three."]
    await make(script, tape).run("First?")
    second = await make(script, tape).resume(RUN, prompt="Second?")
    assert (second.text, len(second.steps)) == ("Two.", 2)
    third = await make(script, tape).resume(RUN, prompt=[TextPart(text="Third?")])
    asked = [message.content[0] for message in third.messages if isinstance(message, UserMessage)]
    assert [getattr(part, "text", "") for part in asked] == ["First?", "Second?", "Third?"]
    assert tape.kinds(RUN).count("finished") == 3


async def test_D2_another_prompt_leaves_what_was_never_finished_and_says_so() -> None:
    tape = Tape()
    notes = Notes()
    calls = [Call("add", adding), Call("write", {"text": "x"}), Call("write", {"text": "y"})]
    options: dict[str, Any] = {"tools": [add, notes.write], "approver": notes}
    await make([calls, "Done."], tape, **options).run("Go.")
    intended = tape.kinds(RUN).index("intended")
    left = await tape.cut(intended)  # the first two records are one write
    notes.written.clear()
    result = await make(["unused", "Never mind."], left, **options).resume(RUN, prompt="Stop that.")
    assert result.text == "Never mind."
    [results] = [message for message in result.messages if isinstance(message, ToolResults)]
    contents = {one.call_id: one.content for one in results.results}
    assert contents["call_2"] == UNKNOWN
    assert contents["call_3"] == NOT_RUN
    assert notes.written == []


async def test_D2_a_model_that_failed_is_asked_again() -> None:
    tape = Tape()
    script: list[Line] = [Call("add", adding), Overloaded("busy")]
    with pytest.raises(Overloaded):
        await make(script, tape).run("Go.")
    last = tape.records(RUN)[-1]
    assert isinstance(last, RunEnded)
    assert last.stop_reason == "failed"
    result = await make([Call("add", adding), "3"], tape).resume(RUN)
    assert (result.text, len(result.steps)) == ("3", 2)


async def test_D2_a_cancelled_run_goes_on_where_it_was() -> None:
    tape = Tape()
    began = asyncio.Event()

    @tool
    async def wait(ctx: ToolContext) -> str:
        """Wait the first time."""
        if not began.is_set():
            began.set()
            await asyncio.sleep(60)
        return "waited"

    options: dict[str, Any] = {"tools": [wait, add]}
    task = asyncio.ensure_future(make([[Call("wait"), Call("add", adding)], "Done."], tape, **options).run("Go."))
    await began.wait()
    while "ended" not in tape.kinds(RUN):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    result = await make([[Call("wait"), Call("add", adding)], "Done."], tape, **options).resume(RUN)
    assert result.text == "Done."
    assert [call.ok for call in result.steps[0].calls] == [True, True]
    assert tape.kinds(RUN).count("ended") == 2


async def test_D2_what_was_kept_with_the_run_is_there_again_and_is_shown() -> None:
    tape = Tape()
    script: list[Line] = [Call("write_todos", {"todos": [{"content": "One"}]}), Call("read_todos"), "Planned."]
    await make(script, tape, tools=[write_todos, read_todos]).run("Go.")
    left = await tape.cut(3)
    events: list[Event] = []
    agent = make(script, left, tools=[write_todos, read_todos])
    result = await agent.start(resume=RUN, listener=events.append, stream=True).wait()
    assert any("One" in str(message) for message in result.messages)
    assert isinstance(events[0], RunStarted)
    assert [event.name for event in events if isinstance(event, StateChanged)] == ["todos"]
    assert left.kinds(RUN).count("kept") == 1


async def test_D2_notes_about_the_record_are_told(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "data" / "runs.db")
    agent = Agent(model=ScriptedModel([Call("add", adding), "3", "4"]), tools=[add], journal=journal)
    run_id = (await agent.run("Go.")).run_id
    with sqlite3.connect(tmp_path / "data" / "runs.db") as db:
        db.execute("update records set body = cast('torn' as blob) where kind = 'finished'")
    db.close()
    events: list[Event] = []
    result = await agent.start(resume=run_id, listener=events.append).wait()
    assert result.text == "3"
    assert ["was torn and is left out" in event.text for event in events if isinstance(event, Warned)] == [True]
    journal.close()


async def test_XD4_a_damaged_run_is_not_continued(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "data" / "runs.db")
    agent = Agent(model=ScriptedModel([Call("add", adding), "3", "4"]), tools=[add], journal=journal)
    run_id = (await agent.run("Go.")).run_id
    with sqlite3.connect(tmp_path / "data" / "runs.db") as db:
        db.execute("update records set body = cast('torn' as blob) where number = 3")
    db.close()
    with pytest.raises(JournalRefused, match="can be looked at, but not continued"):
        await agent.resume(run_id, prompt="More?")
    assert [number for number, _ in await journal.read(run_id)] == [1, 2, 4, 5, 6]
    journal.close()


async def test_D2_without_a_journal_there_is_nothing_to_resume() -> None:
    with pytest.raises(UsageError, match="journal=SqliteJournal"):
        await Agent(model=ScriptedModel(["Hi."])).resume(RUN)


async def test_D2_a_run_that_is_not_there_is_not_made() -> None:
    journal = MemoryJournal()
    with pytest.raises(JournalRefused, match="no run 'other'"):
        await Agent(model=ScriptedModel(["Hi."]), journal=journal).resume("other")
    assert list(await journal.runs()) == []


async def test_D2_a_run_of_that_id_is_not_begun_twice_at_once() -> None:
    tape = Tape()
    await tape.acquire(RUN)
    with pytest.raises(JournalRefused, match="going on"):
        await make(["Hi."], tape).run("Go.")


async def test_D2_a_run_that_is_on_record_is_not_begun_again() -> None:
    tape = Tape()
    await make(["Hi."], tape).run("Go.")
    before = list(tape.writes)
    with pytest.raises(JournalRefused, match="Resume it"):
        await make(["", "Again."], tape).run("Go.")
    assert tape.writes == before
    assert (await make([], tape).resume(RUN)).text == "Hi."


async def test_XD3_two_tasks_that_resume_one_run_get_one_outcome() -> None:
    tape = Tape()
    await make([Call("add", adding), "3"], tape).run("Go.")
    left = await tape.cut(2)
    events: list[Event] = []
    first = make(["", "3"], left)
    second = make([], left)
    results = await asyncio.gather(first.resume(RUN), second.start(resume=RUN, listener=events.append).wait())
    assert told(results[0]) == told(results[1])
    assert left.paid(RUN) == 2
    assert any(isinstance(event, Warned) and "waiting for it" in event.text for event in events)


async def test_D6_a_call_whose_arguments_lost_a_secret_is_not_run(tmp_path: Path) -> None:
    secret = "canary-5f1d-value"
    journal = SqliteJournal(tmp_path / "data" / "runs.db", secrets=[secret])
    notes = Notes()
    options: dict[str, Any] = {"tools": [notes.write, add], "journal": journal, "make_id": lambda: RUN}
    calls = [Call("write", {"text": secret}, id="w"), Call("add", adding, id="a")]
    await Agent(model=ScriptedModel([calls]), approver=AskLater(), **options).run("Go.")
    shutil.rmtree(tmp_path / "data" / "sealed")
    result = await Agent(model=ScriptedModel(["Then not."]), approver=notes, **options).resume(RUN)
    [results] = [message for message in result.messages if isinstance(message, ToolResults)]
    assert results.results[0].content == LOST
    assert (notes.asked, notes.written, result.text) == ([], [], "Then not.")
    files = [one.read_bytes() for one in (tmp_path / "data").rglob("*") if one.is_file()]
    assert not any(secret.encode() in data for data in files)
    journal.close()


def test_D2_events_of_a_resumed_run_tell_of_its_calls() -> None:
    async def main() -> list[Event]:
        tape = Tape()
        await make([Call("add", adding), "3"], tape).run("Go.")
        events: list[Event] = []
        await make([Call("add", adding), "3"], await tape.cut(2)).start(resume=RUN, listener=events.append).wait()
        return events

    events = asyncio.run(main())
    assert [event.event for event in events] == [
        "run_started",
        "step_started",
        "tool_call_started",
        "tool_result",
        "step_finished",
        "step_started",
        "step_finished",
        "run_finished",
    ]
    assert [event.result.text for event in events if isinstance(event, CallFinished)] == ["3"]


async def test_XD3_a_run_that_is_deleted_before_it_is_held_is_not_gone_on_with(tmp_path: Path) -> None:
    class Late(SqliteJournal):
        async def acquire(self, run_id: str, /) -> bool:
            await self.delete([run_id])
            return await super().acquire(run_id)

    first = SqliteJournal(tmp_path / "runs.db")
    whole = await Agent(model=ScriptedModel(["Hi."]), journal=first).run("Go.")
    first.close()
    journal = Late(tmp_path / "runs.db")
    with pytest.raises(JournalRefused, match="There is no run"):
        await Agent(model=ScriptedModel(["Never."]), journal=journal).resume(whole.run_id)
    assert await journal.runs() == []
    journal.close()
