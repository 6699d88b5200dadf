"""XD1: a call that was about to run when its run was cut off is looked for or asked about, never just repeated."""

from pathlib import Path
from typing import Any

import pytest
from tests.agent.desk import Desk, Person
from tests.agent.stage import add
from tests.agent.tape import Tape

from toolroll import Agent, Approve, Policy, Preview, Reject, Rule, RunResult, ToolContext, tool
from toolroll.agent.approvals import AskLater
from toolroll.agent.history.resume import LOST
from toolroll.agent.history.unknown_calls import ALREADY_DONE, UNKNOWN
from toolroll.journal.records import ApprovalAnswer, ApprovalQuestion, CallEnded, CallIntended
from toolroll.kernel.approval.request import content_hash
from toolroll.kernel.data.messages import ToolCall, ToolResults
from toolroll.kernel.define.tool import Tool
from toolroll.models.scripted import Call, Line, ScriptedModel

RUN = "run"
CHANGE = Call("replace", {"old": "two", "new": "2"}, id="change")
LETTER = Call("send", {"text": "Dear"}, id="letter")
SUM = Call("add", {"a": 1, "b": 2}, id="sum")
YES = Policy((Rule(action="allow", tool="*"),))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def make(desk: Desk, tape: Tape, *script: Line, **options: Any) -> Agent[Any]:
    left = list(script)[tape.paid(RUN) :]
    tools: list[Tool] = options.pop("tools", [desk.replace, desk.send, add])
    return Agent(model=ScriptedModel(left), tools=tools, journal=tape, make_id=lambda: RUN, **options)


async def cut_off(desk: Desk, *script: Line, **options: Any) -> Tape:
    """What is left of a run that was killed right after it had written down that it changes something."""
    tape = Tape()
    await make(desk, tape, *script, **{"approver": Person(), **options}).run("Go.")
    intended = next(n for n, (_, records) in enumerate(tape.writes, 1) if isinstance(records[-1], CallIntended))
    desk.runs.clear()
    desk.sent.clear()
    return await tape.cut(intended)


def only_result(result: RunResult[Any]) -> tuple[object, bool]:
    [results] = [message for message in result.messages if isinstance(message, ToolResults)]
    [one] = results.results
    return one.content, one.is_error


@pytest.mark.parametrize("options", [{}, {"policy": YES, "approver": None}], ids=["asked", "allowed"])
async def test_XD1_a_change_that_is_there_was_made(desk: Desk, options: dict[str, Any]) -> None:
    """Also where the tool itself can no longer say what it would do, because it has done it."""
    left = await cut_off(desk, CHANGE, "Done.", **options)
    assert desk.text == "one 2 three"
    person = Person()
    result = await make(desk, left, CHANGE, "Done.", **{"approver": person, **options}).resume(RUN)
    assert (desk.runs, desk.text, person.asked) == ([], "one 2 three", [])
    assert only_result(result) == (ALREADY_DONE, False)
    assert result.text == "Done."
    assert isinstance(left.records(RUN)[-3], CallEnded)


@pytest.mark.parametrize("options", [{}, {"policy": YES, "approver": None}], ids=["asked", "allowed"])
async def test_XD1_a_change_that_is_not_there_is_made_by_the_same_leave(desk: Desk, options: dict[str, Any]) -> None:
    left = await cut_off(desk, CHANGE, "Done.", **options)
    desk.path.write_text("one two three")
    person = Person()
    result = await make(desk, left, CHANGE, "Done.", **{"approver": person, **options}).resume(RUN)
    assert (desk.runs, desk.text, person.asked) == (["change"], "one 2 three", [])
    assert only_result(result) == ("replaced", False)
    assert left.kinds(RUN).count("intended") == 1


async def test_XD1_an_edited_change_that_is_not_there_is_made_as_edited(desk: Desk) -> None:
    left = await cut_off(desk, CHANGE, "Done.", approver=Person(Approve(edited="my own words")))
    desk.path.write_text("one two three")
    await make(desk, left, CHANGE, "Done.", approver=Person()).resume(RUN)
    assert desk.text == "my own words"


async def test_XD1_a_file_that_is_neither_before_nor_after_is_asked_about(desk: Desk) -> None:
    left = await cut_off(desk, CHANGE, "Done.")
    desk.path.write_text("two, by somebody else")
    person = Person(Reject("leave it"))
    result = await make(desk, left, CHANGE, "Done.", approver=person).resume(RUN)
    assert [UNKNOWN in request.why for request in person.asked] == [True]
    assert (desk.runs, desk.text) == ([], "two, by somebody else")
    content, is_error = only_result(result)
    assert is_error
    assert content == f"{UNKNOWN} It was not run again: User rejected changes: leave it"


async def test_XD1_a_file_in_which_it_cannot_be_done_again_is_left_and_reported(desk: Desk) -> None:
    left = await cut_off(desk, CHANGE, "Done.")
    desk.path.write_text("something else")
    person = Person()
    result = await make(desk, left, CHANGE, "Done.", approver=person).resume(RUN)
    assert (desk.runs, person.asked) == ([], [])
    assert only_result(result) == (f"{UNKNOWN} It was not run again: 'two' is not in the file.", True)


@pytest.mark.parametrize("policy", [None, YES], ids=["asked", "allowed"])
async def test_XD1_what_leaves_no_trace_is_asked_about_and_run_after_one_yes(desk: Desk, policy: Policy | None) -> None:
    options: dict[str, Any] = {} if policy is None else {"policy": policy}
    left = await cut_off(desk, LETTER, "Done.", **options)
    person = Person(Approve())
    result = await make(desk, left, LETTER, "Done.", approver=person, **options).resume(RUN)
    assert [request.why for request in person.asked] == [f"{UNKNOWN} Run it again? Send a letter."]
    assert (desk.sent, result.text) == (["Dear"], "Done.")


async def test_XD1_where_nobody_is_there_it_waits_for_an_answer_about_exactly_that(desk: Desk) -> None:
    left = await cut_off(desk, LETTER, "Done.")
    for _ in range(2):
        waiting = await make(desk, left, LETTER, "Done.").resume(RUN)
        assert waiting.stop_reason == "approval_pending"
        assert [UNKNOWN in asked.why for asked in waiting.pending] == [True]
        assert desk.sent == []
    result = await make(desk, left, LETTER, "Done.").resume(RUN, decisions={"letter": Approve()})
    assert (result.text, desk.sent) == ("Done.", ["Dear"])
    questions = [record for record in left.records(RUN) if isinstance(record, ApprovalQuestion)]
    assert len({record.digest for record in questions}) == len(questions) == 2


async def test_XD1_an_answer_about_an_unknown_call_survives_a_crash_too(desk: Desk) -> None:
    left = await cut_off(desk, LETTER, "Done.")
    await make(desk, left, LETTER, "Done.", approver=Person()).resume(RUN)
    desk.sent.clear()
    decided = [n for n, (_, records) in enumerate(left.writes, 1) if isinstance(records[-1], ApprovalAnswer)]
    again = await left.cut(decided[-1])
    person = Person()
    await make(desk, again, LETTER, "Done.", approver=person).resume(RUN)
    assert (person.asked, desk.sent) == ([], ["Dear"])


async def test_XD1_a_second_crash_in_the_same_place_is_asked_about_again(desk: Desk) -> None:
    left = await cut_off(desk, LETTER, "Done.")
    await make(desk, left, LETTER, "Done.", approver=Person()).resume(RUN)
    desk.sent.clear()
    intended = [n for n, (_, records) in enumerate(left.writes, 1) if isinstance(records[-1], CallIntended)]
    again = await left.cut(intended[-1])
    person = Person(Reject())
    await make(desk, again, LETTER, "Done.", approver=person).resume(RUN)
    assert ([request.call_id for request in person.asked], desk.sent) == (["letter"], [])


async def test_XD1_an_approver_that_breaks_leaves_the_question(desk: Desk) -> None:
    class Broken:
        def decide(self, requests: object, /) -> Any:
            raise OSError("the terminal is gone")

    left = await cut_off(desk, LETTER, "Done.")
    result = await make(desk, left, LETTER, "Done.", approver=Broken()).resume(RUN)
    assert (result.stop_reason, desk.sent) == ("approval_pending", [])
    assert [UNKNOWN in asked.why for asked in result.pending] == [True]


async def test_XD1_what_only_reads_is_run_again(desk: Desk) -> None:
    """Such an intent is not written today; a record that has one is read all the same."""
    tape = Tape()
    await make(desk, tape, SUM, "3").run("Go.")
    left = await tape.cut(2)
    call = ToolCall(id="sum", name="add", arguments='{"a":1,"b":2}')
    await left.append(RUN, CallIntended(call=call, effect="reads"))
    await left.release(RUN)
    result = await make(desk, left, SUM, "3").resume(RUN)
    assert only_result(result) == ("3", False)


async def test_XD1_a_tool_that_is_gone_is_reported(desk: Desk) -> None:
    left = await cut_off(desk, LETTER, "Done.")
    result = await make(desk, left, LETTER, "Done.", tools=[add]).resume(RUN)
    assert only_result(result) == (f"{UNKNOWN} There is no tool 'send' any more.", True)


async def test_D6_an_unknown_call_whose_arguments_lost_a_secret_is_not_run_again(desk: Desk) -> None:
    letter = Call("send", {"text": "key=[redacted:known]"}, id="letter")
    left = await cut_off(desk, letter, "Done.")
    person = Person()
    result = await make(desk, left, letter, "Done.", approver=person).resume(RUN)
    assert (person.asked, desk.sent) == ([], [])
    assert only_result(result) == (f"{UNKNOWN} {LOST}", True)


async def test_XD1_a_new_file_that_is_there_was_made(tmp_path: Path) -> None:
    """A tool that has no hash for a file that does not exist yet still shows by the one after."""
    path = tmp_path / "new.txt"

    def preview(arguments: Any, ctx: ToolContext, edited: str | None) -> Preview:
        before = path.read_text() if path.exists() else None
        base = None if before is None else content_hash(before)
        return Preview.of_text("new", base=base, editable=arguments["text"] if edited is None else edited)

    runs: list[str] = []

    @tool(effect="writes", preview=preview)
    def create(text: str, ctx: ToolContext) -> str:
        """Create the file."""
        assert ctx.preview is not None
        runs.append(text)
        path.write_text(text)
        return "created"

    desk, call = Desk(tmp_path), Call("create", {"text": "hello"}, id="new")
    left = await cut_off(desk, call, "Done.", tools=[create])
    there = await left.cut(len(left.writes))
    result = await make(desk, there, call, "Done.", tools=[create], approver=AskLater()).resume(RUN)
    assert (only_result(result), runs) == ((ALREADY_DONE, False), ["hello"])
    path.unlink()
    waiting = await make(desk, left, call, "Done.", tools=[create]).resume(RUN)
    assert [UNKNOWN in asked.why for asked in waiting.pending] == [True]
    assert not path.exists()


async def test_XD1_what_a_rule_forbids_by_now_is_left_and_reported(desk: Desk) -> None:
    left = await cut_off(desk, LETTER, "Done.")
    policy = Policy((Rule(action="deny", tool="send"),))
    person = Person()
    result = await make(desk, left, LETTER, "Done.", approver=person, policy=policy).resume(RUN)
    content, is_error = only_result(result)
    assert (person.asked, desk.sent, is_error) == ([], [], True)
    assert str(content).startswith(f"{UNKNOWN} It was not run again: send is not allowed here")
