"""D3: a recorded run is played again without its model, and every difference is reported with its place."""

from pathlib import Path
from typing import Any

import pytest
from tests.agent.desk import Desk, Person
from tests.agent.scenarios import RUN, SCENARIOS, adding, make, named
from tests.agent.stage import Call, add, fail
from tests.agent.tape import Tape

from toolroll import Agent, Approve, Reject, Tool, ToolMessage, tool
from toolroll.agent.approvals import AskLater
from toolroll.agent.history.differences import NOTHING, Difference, Outline, compare_steps
from toolroll.agent.history.replay import ReplayReport, replay
from toolroll.agent.stop import step_count_is
from toolroll.errors import JournalRefused, UsageError
from toolroll.journal.journal import MemoryJournal
from toolroll.journal.records import ApprovalAnswer, CallEnded, CallIntended
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.approval.request import Decision, Effect
from toolroll.models.scripted import Line, ScriptedModel
from toolroll.packs.standard import done

EVERYTHING: tuple[Effect, ...] = ("reads", "writes", "external")
CHANGE = Call("replace", {"old": "two", "new": "2"}, id="change")
LETTER = Call("send", {"text": "Dear"}, id="letter")
ENDED = CallEnded(result=ToolMessage(call_id="call_1", name="add", content="3"), code=None, duration_ms=1.0)


class Silent(ScriptedModel):
    """A model that must not be asked."""

    def __init__(self) -> None:
        super().__init__([])


def today(tape: Tape, **options: Any) -> Agent[Any]:
    return Agent(**{"model": Silent(), "tools": [add, fail], "journal": tape, **options})


async def played(tape: Tape, **options: Any) -> ReplayReport:
    before = list(tape.writes)
    report = await replay(today(tape, **options), RUN)
    assert tape.writes == before
    return report


@pytest.mark.parametrize("name", SCENARIOS)
async def test_D3_a_run_that_nothing_changed_for_is_the_same(name: str) -> None:
    """Whole, cut off anywhere, and resumed after that."""
    scenario = SCENARIOS[name]
    tape = Tape()
    whole = await make(scenario.script, tape, **scenario.options).run("Go.")
    agent = make(scenario.script, tape, **scenario.options)
    report = await replay(agent, RUN)
    assert report.differences == ()
    assert report.is_same
    assert report.result is not None
    assert (report.result.text, report.result.messages) == (whole.text, whole.messages)
    assert report.steps == len(whole.steps)
    for count in range(1, len(tape.writes)):
        left = await tape.cut(count)
        assert (await replay(make(scenario.script, left, **scenario.options), RUN)).differences == ()
        await make(scenario.script, left, **scenario.options).resume(RUN)
        assert (await replay(make(scenario.script, left, **scenario.options), RUN)).differences == ()


async def test_D3_runs_that_were_continued_are_played_part_by_part() -> None:
    script: list[Line] = [Call("add", adding), "So far.", Call("add", {"a": 5, "b": 5}), "Ten.", "Bye."]
    tape = Tape()
    options: dict[str, Any] = {"stop_when": step_count_is(2)}
    await make(script, tape, **options).run("Go.")
    await make(script, tape, **options).resume(RUN)
    await make(script, tape, **options).resume(RUN, prompt="And?")
    report = await played(tape, **options)
    assert report.differences == ()
    assert report.steps == 5
    assert report.result is not None
    assert report.result.text == "Bye."


async def test_D3_a_limit_without_a_last_word_and_then_more() -> None:
    script: list[Line] = [Call("add", adding), Call("add", {"a": 5, "b": 5}), "Ten."]
    tape = Tape()
    await make(script, tape, stop_when=step_count_is(1), close_with_answer=False).run("Go.")
    await make(script, tape, stop_when=step_count_is(1), close_with_answer=False).resume(RUN)
    await make(script, tape, stop_when=step_count_is(1), close_with_answer=False).resume(RUN)
    report = await played(tape, stop_when=step_count_is(1), close_with_answer=False)
    assert report.differences == ()


async def test_D3_a_tool_that_answers_differently_is_reported_where_it_does() -> None:
    tape = Tape()
    await make(
        [Call("add", adding), [Call("add", {"a": 2, "b": 2}), Call("add", {"a": 3, "b": 3})], "Done."], tape
    ).run("Go.")

    @tool(name="add")
    async def wrong(a: int, b: int) -> int:
        """Add two numbers."""
        if a == 3:
            raise ValueError("no threes")
        return a + b

    report = await played(tape, tools=[wrong, fail])
    assert not report.is_same
    assert report.calls_run == 3
    expected = [
        Difference(step=2, call="call_3", what="result", recorded="6", now="Error executing tool: no threes"),
        Difference(step=2, call="call_3", what="is_error", recorded=False, now=True),
        Difference(step=2, call="call_3", what="code", recorded=None, now="tool_error"),
    ]
    assert [one for one in report.differences if one.step] == expected
    assert str(expected[1]) == "step 2, call call_3, is_error: recorded False, now True"


async def test_D3_tools_and_words_that_changed_are_reported_first() -> None:
    tape = Tape()
    await make([Call("add", adding), "3"], tape, system="Be brief.").run("Go.")

    @tool(name="add")
    async def other(a: int, b: int) -> int:
        """Add two whole numbers."""
        return a + b

    report = await played(tape, tools=[other, done], system="Be long.")
    assert [str(one) for one in report.differences] == [
        "step 0, system prompt: recorded 'Be brief.', now 'Be long.'",
        "step 0, tool add: recorded 'there', now 'defined differently'",
        "step 0, tool fail: recorded 'there', now '(nothing)'",
        "step 0, tool done: recorded '(nothing)', now 'there'",
    ]


async def test_D3_a_tool_that_is_gone_is_a_different_result() -> None:
    tape = Tape()
    await make([Call("add", adding), "3"], tape).run("Go.")
    report = await played(tape, tools=[done])
    codes = [one for one in report.differences if one.what == "code"]
    assert codes == [Difference(step=1, call="call_1", what="code", recorded=None, now="unknown_tool")]


async def test_D3_a_run_that_ends_sooner_is_reported() -> None:
    tape = Tape()
    await make([Call("add", adding), Call("add", {"a": 2, "b": 2}), "Done."], tape).run("Go.")
    report = await played(tape, stop_when=step_count_is(1), close_with_answer=False)
    found = [one for one in report.differences if one.step]
    assert found[0] == Difference(step=2, what="model call", recorded="made", now=NOTHING)
    assert ("stop_reason", "answer", "condition") in [(one.what, one.recorded, one.now) for one in found]


async def test_D3_a_run_that_asks_once_more_is_reported() -> None:
    tape = Tape()
    await make([Call("add", adding)], tape, stop_when=step_count_is(1), close_with_answer=False).run("Go.")
    report = await played(tape)
    assert report.result is None
    assert [one for one in report.differences if one.step] == [
        Difference(step=2, what="model call", recorded=NOTHING, now="one more")
    ]


async def test_D3_other_words_to_the_model_are_reported() -> None:
    tape = Tape()
    await make([Call("add", adding), "3"], tape, stop_when=step_count_is(2)).run("Go.")
    report = await played(tape, stop_when=lambda steps: "I am bored" if len(steps) == 1 else None)
    said = [one for one in report.differences if one.what == "said to the model"]
    assert [(one.step, "step_count_is(2)" in str(one.recorded), "bored" in str(one.now)) for one in said] == [
        (1, True, True)
    ]
    assert ("stop_detail", "step_count_is(2)", "I am bored") in [
        (one.what, one.recorded, one.now) for one in report.differences
    ]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def tools_of(desk: Desk) -> list[Tool]:
    return [desk.replace, desk.send, add]


async def record(desk: Desk, tape: Tape, *script: Line, **options: Any) -> None:
    given = {"approver": Person(), **options}
    await make(list(script), tape, tools=tools_of(desk), **given).run("Go.")
    desk.runs.clear()
    desk.sent.clear()


async def test_D3_what_changes_something_is_answered_from_the_record(desk: Desk) -> None:
    tape = Tape()
    await record(desk, tape, [CHANGE, LETTER, Call("add", adding)], "Done.")
    report = await played(tape, tools=tools_of(desk))
    assert report.differences == ()
    assert (report.calls_run, report.calls_from_record) == (1, 2)
    assert (desk.runs, desk.sent) == ([], [])


@pytest.mark.parametrize("decision", [Approve(), Approve(edited="mine"), Reject("no")])
async def test_D3_with_a_folder_of_its_own_changes_are_made_again_by_the_same_answers(
    desk: Desk, decision: Decision
) -> None:
    tape = Tape()
    await record(desk, tape, CHANGE, "Done.", approver=Person(decision))
    expected = desk.text
    desk.path.write_text("one two three")
    report = await replay(today(tape, tools=tools_of(desk)), RUN, effects=EVERYTHING)
    assert report.differences == ()
    assert (report.calls_run, report.calls_from_record, desk.text) == (1, 0, expected)


async def test_D3_a_question_that_changed_is_reported(desk: Desk) -> None:
    tape = Tape()
    await record(desk, tape, CHANGE, "Done.")
    desk.path.write_text("zero two")
    report = await replay(today(tape, tools=tools_of(desk)), RUN, effects=EVERYTHING)
    [question] = [one for one in report.differences if one.what == "question"]
    assert (question.step, question.call) == (1, "change")
    assert "+one 2 three" in str(question.recorded)
    assert "+zero 2" in str(question.now)


async def test_D3_questions_that_come_or_go_are_reported(desk: Desk) -> None:
    tape = Tape()
    await record(desk, tape, [LETTER, Call("add", adding, id="sum")], "Done.")

    @tool(name="add", effect="external")
    async def asking(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    @tool(name="send")
    async def quiet(text: str) -> str:
        """Send a letter."""
        return "sent"

    report = await replay(today(tape, tools=[asking, quiet]), RUN, effects=EVERYTHING)
    found = {(one.call, one.what): (one.recorded, one.now) for one in report.differences}
    assert found["letter", "question"] == ('send {"text":"Dear"}', NOTHING)
    assert found["sum", "question"] == (NOTHING, 'add {"a":1,"b":2}')
    assert found["sum", "code"] == (None, "rejected")


async def test_D3_the_same_preview_of_another_tool_is_another_question(desk: Desk) -> None:
    tape = Tape()
    await record(desk, tape, LETTER, "Done.")

    @tool(name="send", effect="external")
    async def other(text: str, to: str = "all") -> str:
        """Send a letter."""
        return "sent"

    report = await replay(today(tape, tools=[other]), RUN, effects=EVERYTHING)
    [question] = [one for one in report.differences if one.what == "question"]
    assert question.call == "letter"


async def test_D3_a_call_whose_outcome_nobody_knew_is_not_made_again(desk: Desk) -> None:
    tape = Tape()
    await record(desk, tape, LETTER, "Done.")
    intended = next(n for n, (_, records) in enumerate(tape.writes, 1) if isinstance(records[-1], CallIntended))
    left = await tape.cut(intended)
    await make([LETTER, "Done."], left, tools=tools_of(desk), approver=Person(Reject())).resume(RUN)
    report = await replay(today(left, tools=tools_of(desk)), RUN, effects=EVERYTHING)
    assert (report.differences, report.calls_from_record, desk.sent) == ((), 1, [])


async def test_D3_a_run_that_waits_is_played_as_far_as_it_is(desk: Desk) -> None:
    tape = Tape()
    await record(desk, tape, [CHANGE, Call("add", adding)], approver=AskLater())
    report = await played(tape, tools=tools_of(desk))
    assert (report.differences, report.calls_run, report.calls_from_record) == ((), 1, 1)


async def test_D3_a_run_that_went_on_with_another_prompt_is_the_same(desk: Desk) -> None:
    tape = Tape()
    script: list[Line] = [[CHANGE, Call("add", adding)], "Never mind."]
    await record(desk, tape, *script, approver=AskLater())
    await make(script, tape, tools=tools_of(desk)).resume(RUN, prompt="Stop.")
    report = await played(tape, tools=tools_of(desk))
    assert report.differences == ()
    assert report.result is not None
    assert report.result.text == "Never mind."


async def test_D3_a_crash_between_answer_and_use_is_the_same(desk: Desk) -> None:
    tape = Tape()
    await record(desk, tape, CHANGE, "Done.")
    decided = next(n for n, (_, records) in enumerate(tape.writes, 1) if isinstance(records[-1], ApprovalAnswer))
    report = await played(await tape.cut(decided), tools=tools_of(desk))
    assert report.differences == ()


async def test_D3_a_record_from_disk_is_played_in_another_process(tmp_path: Path) -> None:
    """Here: from another journal on the same file, whose notes are passed on."""
    journal = SqliteJournal(tmp_path / "data" / "runs.db")
    script = named([Call("add", adding), "3"])
    await Agent(model=ScriptedModel(script), tools=[add], journal=journal, make_id=lambda: RUN).run("Go.")
    other = SqliteJournal(tmp_path / "data" / "runs.db")
    report = await replay(Agent(model=Silent(), tools=[add], journal=other), RUN)
    assert (report.is_same, report.steps, report.notes) == (True, 2, ())
    journal.close()
    other.close()


async def test_D3_an_empty_record_is_played_without_end() -> None:
    tape = Tape()
    await make(["Hi."], tape).run("Go.")
    report = await played(await tape.cut(1))
    assert (report.is_same, report.steps) == (True, 0)


async def test_D3_what_cannot_be_replayed_is_refused() -> None:
    with pytest.raises(UsageError, match="journal=SqliteJournal"):
        await replay(Agent(model=Silent()), RUN)
    with pytest.raises(JournalRefused, match="no run 'run'"):
        await replay(Agent(model=Silent(), journal=MemoryJournal()), RUN)


async def test_D3_a_result_that_is_missing_now_is_reported() -> None:
    tape = Tape()
    await make([[Call("add", adding), Call("done", {"message": "Bye."})]], tape, tools=[add, done]).run("Go.")
    report = await played(tape, tools=[add, done])
    assert report.differences == ()
    recorded = [Outline(), Outline(ended={"call_1": ENDED})]
    assert list(compare_steps(recorded, [Outline(), Outline()])) == [
        Difference(step=1, call="call_1", what="result", recorded="3", now=NOTHING)
    ]
