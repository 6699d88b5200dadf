"""D4: another way from the middle of a run, which itself stays as it is."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.agent.legality import problems
from tests.agent.scenarios import RUN, SCENARIOS, adding, make
from tests.agent.stage import Call, Notes, add, agent_of
from tests.agent.tape import Tape
from tests.agent.test_labels import ALLOW, World

from toolroll import Agent, RunResult, ScriptedModel, ToolContext, tool
from toolroll.agent.approvals import AskLater
from toolroll.agent.events import Event, RunStarted
from toolroll.agent.history.fork import first_steps, fork_run
from toolroll.agent.history.replay import replay
from toolroll.agent.run import GO_ON
from toolroll.agent.stop import step_count_is
from toolroll.errors import JournalRefused, UsageError
from toolroll.journal.journal import MemoryJournal, Recording
from toolroll.journal.records import CallEnded, MessageAdded, ModelTurn, RunBegan, RunEnded, StateSet
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.data.messages import AssistantMessage, ToolMessage, ToolResults, UserMessage
from toolroll.models.scripted import Line
from toolroll.outputs.browse import all_outputs
from toolroll.packs.code.tools import TOOLS as CODE_TOOLS
from toolroll.packs.standard import read_todos, write_todos

LONG = "a line of it\n" * 2_000


@tool
async def read_long(name: str = "a") -> str:
    """Read something long."""
    return f"{name}\n{LONG}"


def forked(script: list[Line], journal: Any, **options: Any) -> Agent[Any]:
    """Like `make`, but for the id: each fork is a run of its own."""
    return agent_of(*script, **{"journal": journal, **options})


def answers(result: RunResult[Any]) -> list[ToolMessage]:
    """All results that the model was sent."""
    return [one for message in result.messages if isinstance(message, ToolResults) for one in message.results]


async def records_of(journal: Any, run_id: str) -> list[Any]:
    return [record for _, record in await journal.read(run_id)]


async def fork(agent: Agent[Any], run_id: str, *, at: int, **options: Any) -> RunResult[Any]:
    return await agent.start(fork=run_id, at_step=at, **options).wait()


async def test_D4_a_fork_begins_with_the_first_steps_and_goes_another_way() -> None:
    tape = Tape()
    script: list[Line] = [Call("add", adding), Call("add", {"a": 5, "b": 5}), "Ten."]
    await make(script, tape).run("Go.")
    before = tape.records(RUN)
    heard: list[Event] = []
    other = ScriptedModel(["Three is enough."])
    agent = Agent(model=other, tools=[add], journal=tape)
    result = await fork(agent, RUN, at=1, listener=heard.append)
    assert (result.text, len(result.steps), result.run_id == RUN) == ("Three is enough.", 2, False)
    [asked] = other.requests
    assert [type(message) for message in asked[:3]] == [UserMessage, AssistantMessage, ToolResults]
    assert [event.run_id for event in heard if isinstance(event, RunStarted)] == [result.run_id]
    assert before == tape.records(RUN)
    began = tape.records(result.run_id)[0]
    assert isinstance(began, RunBegan)
    assert (began.forked_from, began.at, began.parent) == (RUN, 1, None)
    assert before[1 : began.inherited + 1] == tape.records(result.run_id)[1 : began.inherited + 1]
    assert [record.kind for record in tape.records(result.run_id)[began.inherited + 1 :]] == ["answered", "finished"]


async def test_D4_a_fork_goes_on_with_another_prompt() -> None:
    tape = Tape()
    await make([Call("add", adding), "Three."], tape).run("Go.")
    model = ScriptedModel(["Drei."])
    result = await fork(Agent(model=model, tools=[add], journal=tape), RUN, at=2, prompt="In German, please.")
    said = [message for message in result.messages if isinstance(message, UserMessage)]
    assert said == [UserMessage.of("Go."), UserMessage.of("In German, please.")]
    assert problems(result.messages) == []


async def test_D4_at_step_0_the_prompt_takes_the_place_of_the_old_one() -> None:
    tape = Tape()
    await make(["Hello."], tape).run("Say hello.")
    again = await fork(forked(["Hi."], tape), RUN, at=0)
    assert again.messages[:1] == (UserMessage.of("Say hello."),)
    other = await fork(forked(["Bye."], tape), RUN, at=0, prompt="Say goodbye.")
    assert [message for message in other.messages if isinstance(message, UserMessage)] == [
        UserMessage.of("Say goodbye.")
    ]
    third = await fork(forked(["So long."], tape), other.run_id, at=1, prompt="Once more.")
    assert [step.text for step in third.steps] == ["Bye.", "So long."]


async def test_D4_a_fork_after_an_answer_says_to_go_on() -> None:
    tape = Tape()
    await make(["Hello."], tape).run("Say hello.")
    result = await fork(forked(["More."], tape), RUN, at=1)
    assert UserMessage.of(GO_ON) in result.messages
    assert (result.text, problems(result.messages)) == ("More.", [])


async def test_D4_what_came_after_the_step_is_not_there() -> None:
    """Todos and a later prompt belong to steps that the fork has not made."""
    tape = Tape()
    todos = [{"content": "One"}]
    script: list[Line] = [
        Call("write_todos", {"todos": todos}),
        Call("write_todos", {"todos": [{"content": "Two"}]}),
        "Done.",
        "More.",
    ]
    tools = [write_todos, read_todos]
    await make(script, tape, tools=tools).run("Go.")
    await make(script, tape, tools=tools).resume(RUN, prompt="And more.")
    agent = forked([Call("read_todos", {}), "Read."], tape, tools=tools)
    result = await fork(agent, RUN, at=1)
    listed = [str(one.content) for one in answers(result) if one.name == "read_todos"]
    assert len(listed) == 1
    assert "One" in listed[0]
    assert "Two" not in listed[0]
    texts = [message for message in result.messages if isinstance(message, UserMessage)]
    assert texts == [UserMessage.of("Go.")]
    last = await fork(forked(["Other."], tape, tools=tools), RUN, at=3, prompt="Else.")
    assert [message for message in last.messages if isinstance(message, UserMessage)] == [
        UserMessage.of("Go."),
        UserMessage.of("Else."),
    ]


async def test_D4_limits_begin_anew_also_when_the_fork_is_resumed() -> None:
    tape = Tape()
    script: list[Line] = [Call("add", adding), Call("add", {"a": 2, "b": 2}), "So far."]
    whole = await make(script, tape, stop_when=step_count_is(3)).run("Go.")
    assert whole.stop_reason == "condition"
    later: list[Line] = [Call("add", {"a": 7, "b": 7}), "Fourteen."]
    for at in (2, 3):  # the third step is the last answer that the limit asked for
        result = await fork(forked(later, tape, stop_when=step_count_is(3)), RUN, at=at)
        assert (result.stop_reason, result.text) == ("answer", "Fourteen.")
    made = await fork_run(forked([], tape).setup, RUN, at=2)
    resumed = await forked(later, tape, stop_when=step_count_is(3)).resume(made)
    assert (resumed.stop_reason, resumed.text, len(resumed.steps)) == ("answer", "Fourteen.", 4)
    told = await forked([], tape).resume(made)
    assert (told.stop_reason, told.text, len(told.steps)) == ("answer", "Fourteen.", 4)


@pytest.mark.parametrize("name", SCENARIOS)
async def test_D4_every_kind_of_run_is_forked_at_every_step(name: str) -> None:
    scenario = SCENARIOS[name]
    tape = Tape()
    await make(scenario.script, tape, **scenario.options).run("Go.")
    before = list(tape.records(RUN))
    steps = sum(isinstance(record, ModelTurn) for record in before)
    options = {**scenario.options, "output": None, "require_done": False}
    for at in range(steps + 1):
        result = await fork(forked(["Another end."], tape, **options), RUN, at=at, prompt="Else.")
        assert result.text == "Another end."
        assert len(result.steps) == at + 1
        assert problems(result.messages) == []
    assert before == tape.records(RUN)


async def test_D4_D3_a_fork_can_be_replayed() -> None:
    tape = Tape()
    await make([Call("add", adding), Call("add", {"a": 5, "b": 5}), "Ten."], tape).run("Go.")
    for at in (0, 1, 2, 3):
        script: list[Line] = [Call("add", {"a": 1, "b": 1}), "Two."]
        result = await fork(forked(script, tape), RUN, at=at)
        report = await replay(forked([], tape), result.run_id)
        assert (report.is_same, report.differences, report.steps) == (True, (), at + 2)


async def test_XL14_D4_what_the_first_steps_brought_in_stays_with_the_fork() -> None:
    world, journal = World(), MemoryJournal()
    script: list[Line] = [Call("page", {}), Call("secret", {}), "Read."]
    whole = await world.agent(ScriptedModel(script), journal=journal).run("Go.")
    sending: list[Line] = [Call("send", {"text": "0000"}), "Sent?"]
    tainted = await fork(world.agent(ScriptedModel(sending), journal=journal), whole.run_id, at=2)
    assert (world.sent, tainted.stop_reason) == ([], "approval_pending")
    clean = await fork(world.agent(ScriptedModel(sending), journal=journal), whole.run_id, at=1)
    assert world.sent == ["0000"]
    assert clean.text == "Sent?"
    again = await fork(world.agent(ScriptedModel(sending), journal=journal, policy=ALLOW), tainted.run_id, at=2)
    assert (world.sent, again.stop_reason) == (["0000"], "approval_pending")


async def test_D4_a_file_that_was_read_later_was_not_read_by_the_fork(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.txt").write_text("one\ntwo\n")
    journal = SqliteJournal(tmp_path / "data" / "runs.db")
    edit = Call("edit_file", {"path": "a.txt", "content": "one\nthree\n", "description": "Change it."})
    options: dict[str, Any] = {
        "tools": [one for one in CODE_TOOLS if one.name in ("read_file", "list_files", "edit_file")],
        "deps": {"root": project},
        "journal": journal,
        "policy": ALLOW,
    }
    script: list[Line] = [Call("list_files", {"path": "."}), Call("read_file", {"path": "a.txt"}), "Read."]
    whole = await Agent(model=ScriptedModel(script), **options).run("Go.")
    assert [one.is_error for one in answers(whole)] == [False, False]
    early = await fork(Agent(model=ScriptedModel([edit, "Edited?"]), **options), whole.run_id, at=1)
    assert answers(early)[-1].is_error
    assert "read" in str(answers(early)[-1].content).lower()
    kept = [record.name for record in await records_of(journal, early.run_id) if isinstance(record, StateSet)]
    assert [name for name in kept if name.startswith("code.seen")] == []
    late = await fork(Agent(model=ScriptedModel([edit, "Edited."]), **options), whole.run_id, at=2)
    assert (answers(late)[-1].is_error, (project / "a.txt").read_text()) == (False, "one\nthree\n")
    stale = await fork(Agent(model=ScriptedModel([edit, "Edited."]), **options), whole.run_id, at=2)
    assert answers(stale)[-1].is_error
    journal.close()


async def test_D4_outputs_of_the_first_steps_are_read_from_the_fork_and_no_others(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "runs.db")
    script: list[Line] = [Call("read_long", {"name": "first"}), Call("read_long", {"name": "second"}), "Read."]
    whole = await Agent(model=ScriptedModel(script), tools=[read_long], journal=journal).run("Go.")
    refs = [
        record.result.output_ref.id
        for record in await records_of(journal, whole.run_id)
        if isinstance(record, CallEnded) and record.result.output_ref is not None
    ]
    reading: list[Line] = [
        [Call("tool_output_cache", {"ref_id": ref, "offset": 0, "limit": 1}) for ref in refs],
        "Read again.",
    ]
    result = await fork(Agent(model=ScriptedModel(reading), tools=[read_long], journal=journal), whole.run_id, at=1)
    first, second = answers(result)[-2:]
    assert (first.is_error, "first" in str(first.content), second.is_error) == (False, True, True)
    of_fork = [one for one in all_outputs(tmp_path / "outputs") if one.meta.runs == (result.run_id,)]
    assert [one.meta.id for one in of_fork] == refs[:1]
    assert of_fork[0].data_path.stat().st_nlink == 2
    journal.close()


async def test_D4_a_journal_in_memory_has_no_outputs_to_hand_on() -> None:
    journal = MemoryJournal()
    whole = await Agent(model=ScriptedModel(["Hi."]), journal=journal, outputs="off").run("Go.")
    agent = Agent(model=ScriptedModel(["Ho."]), journal=journal, outputs="off", make_id=lambda: "fork")
    result = await fork(agent, whole.run_id, at=0)
    assert (result.run_id, result.text) == ("fork", "Ho.")


@pytest.mark.parametrize("at", [-1, 2, 99])
async def test_D4_a_step_that_is_not_there_is_told(at: int) -> None:
    tape = Tape()
    await make(["Hello."], tape).run("Go.")
    with pytest.raises(UsageError, match="Run run has 1 complete step, so it cannot be forked at"):
        await fork(forked([], tape), RUN, at=at)
    assert {RUN} == {run_id for run_id, _ in tape.writes}


async def test_D4_a_turn_whose_calls_wait_for_an_answer_is_no_complete_step() -> None:
    tape, notes = Tape(), Notes()
    options: dict[str, Any] = {"tools": [add, notes.write], "approver": AskLater()}
    await make([Call("add", adding), Call("write", {"text": "x"}), "Never."], tape, **options).run("Go.")
    with pytest.raises(UsageError, match="has 1 complete step, so it cannot be forked at 2"):
        await fork(forked([], tape), RUN, at=2)
    result = await fork(forked(["Without it."], tape, tools=[add, notes.write]), RUN, at=1)
    assert (result.text, notes.written) == ("Without it.", [])


async def test_D4_a_turn_that_was_given_up_for_another_prompt_is_a_step() -> None:
    tape, notes = Tape(), Notes()
    options: dict[str, Any] = {"tools": [add, notes.write], "approver": AskLater()}
    await make([Call("write", {"text": "x"}), "Instead."], tape, **options).run("Go.")
    await make([Call("write", {"text": "x"}), "Instead."], tape, **options).resume(RUN, prompt="Leave it.")
    result = await fork(forked(["Fine."], tape, tools=[notes.write]), RUN, at=1, prompt="Other.")
    assert (result.text, problems(result.messages)) == ("Fine.", [])


async def test_XD3_D4_a_run_that_goes_on_is_not_forked(tmp_path: Path) -> None:
    one, other = SqliteJournal(tmp_path / "runs.db"), SqliteJournal(tmp_path / "runs.db")

    @tool
    async def look(ctx: ToolContext) -> str:
        """Look."""
        with pytest.raises(JournalRefused, match="is going on"):
            await fork(forked([], other), ctx.run.run_id, at=0)
        return "seen"

    script: list[Line] = [Call("look", {}), "Done."]
    whole = await Agent(model=ScriptedModel(script), tools=[look], journal=one).run("Go.")
    result = await fork(forked(["Now."], other), whole.run_id, at=1)
    assert result.text == "Now."
    assert not await other.is_held("nobody")
    one.close()
    other.close()


async def test_D4_a_part_of_a_run_is_not_forked() -> None:
    tape = Tape()
    helper = Agent(model=ScriptedModel(["Helped."])).as_tool(name="helper", description="Help.")
    await make([Call("helper", {"task": "x"}, id="c1"), "Done."], tape, tools=[helper]).run("Go.")
    with pytest.raises(JournalRefused, match="is a part of run run"):
        await fork(forked([], tape), f"{RUN}.c1", at=0)


async def test_XD4_D4_a_damaged_run_is_forked_before_the_damage_only(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "runs.db")
    script: list[Line] = [Call("add", adding), Call("add", {"a": 5, "b": 5}), "Ten."]
    whole = await forked(script, journal).run("Go.")
    numbers = [number for number, record in await journal.read(whole.run_id) if isinstance(record, ModelTurn)]
    with sqlite3.connect(tmp_path / "runs.db") as db:
        db.execute(
            "update records set body = cast(body || ' ' as blob) where run_id = ? and number = ?",
            (whole.run_id, numbers[1]),
        )
    db.close()
    before = dump(tmp_path / "runs.db", whole.run_id)
    with pytest.raises(UsageError, match=r"has 1 complete step.*is damaged"):
        await fork(forked([], journal), whole.run_id, at=2)
    result = await fork(forked(["Saved."], journal), whole.run_id, at=1)
    assert result.text == "Saved."
    assert before == dump(tmp_path / "runs.db", whole.run_id)
    journal.close()


def dump(path: Path, run_id: str) -> list[Any]:
    """All that the file has of a run."""
    with sqlite3.connect(path) as db:
        runs = db.execute("select * from runs where run_id = ?", (run_id,)).fetchall()
        records = db.execute("select * from records where run_id = ?", (run_id,)).fetchall()
    db.close()
    return [*runs, *records]


async def test_D4_the_recorded_run_is_the_same_byte_for_byte(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "runs.db")
    whole = await Agent(model=ScriptedModel([Call("read_long", {}), "Read."]), tools=[read_long], journal=journal).run(
        "Go."
    )
    before = dump(tmp_path / "runs.db", whole.run_id)
    await fork(Agent(model=ScriptedModel(["Else."]), tools=[read_long], journal=journal), whole.run_id, at=1)
    assert before == dump(tmp_path / "runs.db", whole.run_id)
    journal.close()


async def test_D4_without_a_journal_nothing_is_forked() -> None:
    with pytest.raises(UsageError, match="Only a run with a journal"):
        await fork(agent_of("Hi."), RUN, at=0)


def test_D4_a_run_that_failed_before_its_first_turn_has_its_prompt_to_fork() -> None:
    records = (
        RunBegan(model="m", system="", tools={}),
        MessageAdded(message=UserMessage.of("Go.")),
        RunEnded(stop_reason="failed", stop_detail="", text=""),
    )
    recording = Recording(run_id="r", records=tuple(enumerate(records, start=1)))
    assert first_steps(recording, 0) == (records[1],)
    assert first_steps(Recording(run_id="r", records=()), 0) == ()
