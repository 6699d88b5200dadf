"""XD2, XA1-XA3: questions survive whoever asked them, and an answer fits one question, once."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.agent.desk import Desk, Person
from tests.agent.stage import add
from tests.agent.tape import Tape

from toolroll import Agent, Approve, MemoryJournal, Policy, Reject, Rule, RunResult, Tool, step_count_is
from toolroll.agent.approvals import AskLater
from toolroll.agent.events import Event, Warned
from toolroll.errors import DecisionRefused, UsageError
from toolroll.journal.records import ApprovalAnswer, ApprovalQuestion
from toolroll.kernel.approval.request import Decision, Preview
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.call.events import ApprovalDecided
from toolroll.kernel.data.messages import ToolResults
from toolroll.kernel.define.decorator import tool
from toolroll.models.scripted import Call, Line, ScriptedModel

RUN = "run"
CHANGE = Call("replace", {"old": "two", "new": "2"}, id="change")
LETTER = Call("send", {"text": "Dear"}, id="letter")
SUM = Call("add", {"a": 1, "b": 2}, id="sum")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def make(desk: Desk, tape: Tape, *script: Line, **options: Any) -> Agent[Any]:
    left = list(script)[tape.paid(RUN) :]
    tools: list[Tool] = [desk.replace, desk.send, add]
    return Agent(
        model=ScriptedModel(left), tools=options.pop("tools", tools), journal=tape, make_id=lambda: RUN, **options
    )


async def test_XD2_a_run_waits_on_record_where_nobody_is_there(desk: Desk) -> None:
    tape = Tape()
    turn: Line = ["Both.", CHANGE, SUM, LETTER]
    events: list[Event] = []
    stream = make(desk, tape, turn, approver=AskLater()).stream("Go.")
    events = [event async for event in stream]
    result = stream.result
    assert result is not None
    assert result.stop_reason == "approval_pending"
    assert [asked.call_id for asked in result.pending] == ["change", "letter"]
    assert "-one two three" in result.pending[0].preview
    assert "replace (change), send (letter)" in result.text
    assert not any(isinstance(event, ApprovalDecided) for event in events)
    assert tape.kinds(RUN) == ["run_began", "said", "answered", "asked", "asked", "ended", "finished"]
    assert (desk.runs, desk.sent, desk.text) == ([], [], "one two three")


async def test_XD2_what_waits_still_waits_in_the_next_process_and_is_bound_to_the_same(desk: Desk) -> None:
    tape = Tape()
    first = await make(desk, tape, [CHANGE, SUM], approver=AskLater()).run("Go.")
    for _ in range(3):
        again = await make(desk, tape, [CHANGE, SUM]).resume(RUN)
        assert again.pending == first.pending
        assert again.stop_reason == "approval_pending"
    assert tape.kinds(RUN).count("asked") == 1
    assert tape.kinds(RUN).count("ended") == 1


async def test_XD2_answers_from_elsewhere_let_it_go_on(desk: Desk) -> None:
    tape = Tape()
    turns: list[Line] = [[CHANGE, SUM, LETTER], "Done."]
    await make(desk, tape, *turns, approver=AskLater()).run("Go.")
    result = await make(desk, tape, *turns).resume(RUN, decisions={"change": Approve(), "letter": Reject("too soon")})
    assert (result.text, result.stop_reason, result.pending) == ("Done.", "answer", ())
    assert (desk.runs, desk.sent, desk.text) == (["change"], [], "one 2 three")
    [results] = [message for message in result.messages if isinstance(message, ToolResults)]
    assert [one.content for one in results.results] == ["replaced", "3", "User rejected changes: too soon"]


async def test_XD2_some_answers_now_and_some_later(desk: Desk) -> None:
    tape = Tape()
    turns: list[Line] = [[CHANGE, LETTER], "Done."]
    await make(desk, tape, *turns, approver=AskLater()).run("Go.")
    half = await make(desk, tape, *turns).resume(RUN, decisions={"change": Approve()})
    assert [asked.call_id for asked in half.pending] == ["letter"]
    assert desk.text == "one 2 three"
    whole = await make(desk, tape, *turns).resume(RUN, decisions={"letter": Approve()})
    assert (whole.text, desk.runs, desk.sent) == ("Done.", ["change"], ["Dear"])


async def test_XD2_who_is_there_after_a_restart_is_asked(desk: Desk) -> None:
    tape = Tape()
    turns: list[Line] = [CHANGE, "Done."]
    await make(desk, tape, *turns, approver=AskLater()).run("Go.")
    person = Person()
    result = await make(desk, tape, *turns, approver=person).resume(RUN)
    assert [request.call_id for request in person.asked] == ["change"]
    assert person.asked[0].digest == asked_digest(tape)
    assert (result.text, desk.text) == ("Done.", "one 2 three")


def asked_digest(tape: Tape) -> str:
    [asked] = [record for record in tape.records(RUN) if isinstance(record, ApprovalQuestion)]
    return asked.digest


@pytest.mark.parametrize("decision", [Approve(), Approve(edited="mine"), Approve(edited=""), Reject("no"), Reject()])
async def test_XA3_an_answer_on_record_is_applied_once_and_not_asked_for_again(desk: Desk, decision: Decision) -> None:
    tape = Tape()
    turns: list[Line] = [CHANGE, "Done."]
    whole = await make(desk, tape, *turns, approver=Person(decision)).run("Go.")
    expected, runs = desk.text, list(desk.runs)
    decided = next(n for n, (_, records) in enumerate(tape.writes, 1) if isinstance(records[-1], ApprovalAnswer))
    desk.path.write_text("one two three")
    desk.runs.clear()
    person = Person()
    left = await tape.cut(decided)
    result = await make(desk, left, *turns, approver=person).resume(RUN)
    assert person.asked == []
    assert (desk.text, desk.runs, result.messages) == (expected, runs, whole.messages)
    assert left.kinds(RUN) == tape.kinds(RUN)


async def test_XA1_a_file_that_changed_since_is_asked_about_again(desk: Desk) -> None:
    tape = Tape()
    turns: list[Line] = [CHANGE, "Done."]
    await make(desk, tape, *turns, approver=AskLater()).run("Go.")
    desk.path.write_text("zero one two three")
    told: list[Event] = []
    agent = make(desk, tape, *turns)
    again = await agent.start(resume=RUN, decisions={"change": Approve()}, listener=told.append).wait()
    assert again.stop_reason == "approval_pending"
    assert [event.text for event in told if isinstance(event, Warned)] == [
        f"{again.pending[0].tool} (change) is asked anew: what it would change has changed since it was answered."
    ]
    assert "zero" in again.pending[0].preview
    assert (desk.runs, desk.text) == ([], "zero one two three")
    result = await make(desk, tape, *turns).resume(RUN, decisions={"change": Approve()})
    assert (result.text, desk.text) == ("Done.", "zero one 2 three")


@pytest.mark.parametrize(
    ("notes", "base", "why"),
    [
        (
            ("is imported by 2 files.",),
            "b",
            "the notes on it (is imported by 2 files.), and nothing else that is shown,",
        ),
        ((), "b", "the notes on it (none now), and nothing else that is shown, have changed"),
        (("is imported by 1 file.",), "c", "the tool or the file, though not what is shown, has changed"),
    ],
)
async def test_XA1_it_is_said_why_a_yes_does_not_count_any_more(
    desk: Desk, notes: tuple[str, ...], base: str, why: str
) -> None:
    seen = Preview(kind="text", text="It saves.", base="b", notes=("is imported by 1 file.",))
    now = [seen]
    ran: list[str] = []

    def preview(_arguments: object, _ctx: object, _edited: object) -> Preview:
        return now[0]

    @tool(effect="writes", preview=preview)
    def save(text: str) -> str:
        """Save a text."""
        ran.append(text)
        return "saved"

    tape, told = Tape(), list[Event]()
    turns: list[Line] = [Call("save", {"text": "a"}, id="c"), "Done."]
    await make(desk, tape, *turns, tools=[save], approver=AskLater()).run("Go.")
    now[0] = Preview(kind="text", text="It saves.", base=base, notes=notes)
    agent = make(desk, tape, *turns, tools=[save])
    again = await agent.start(resume=RUN, decisions={"c": Approve()}, listener=told.append).wait()
    assert (again.stop_reason, ran) == ("approval_pending", [])
    [warning] = [event.text for event in told if isinstance(event, Warned)]
    assert warning.startswith(f"save (c) is asked anew: {why}")


async def test_XA1_an_answer_on_record_does_not_fit_a_file_that_changed(desk: Desk) -> None:
    tape = Tape()
    turns: list[Line] = [CHANGE, "Done."]
    await make(desk, tape, *turns, approver=Person()).run("Go.")
    decided = next(n for n, (_, records) in enumerate(tape.writes, 1) if isinstance(records[-1], ApprovalAnswer))
    desk.path.write_text("another two")
    desk.runs.clear()
    person = Person(Reject("not any more"))
    told: list[Event] = []
    agent = make(desk, await tape.cut(decided), *turns, approver=person)
    await agent.start(resume=RUN, listener=told.append).wait()
    assert ["what it is about has changed" in event.text for event in told if isinstance(event, Warned)] == [True]
    assert [request.call_id for request in person.asked] == ["change"]
    assert (desk.runs, desk.text) == ([], "another two")


async def test_XA1_a_tool_that_is_defined_anew_is_asked_about_again(desk: Desk) -> None:
    tape = Tape()
    turns: list[Line] = [LETTER, "Done."]
    await make(desk, tape, *turns, approver=AskLater()).run("Go.")
    sent: list[str] = []

    @tool(effect="external")
    def send(text: str, copy_to: str = "everybody") -> str:
        """Send a letter."""
        sent.append(text)
        return "sent"

    result = await make(desk, tape, *turns, tools=[send]).resume(RUN, decisions={"letter": Approve()})
    assert (result.stop_reason, sent) == ("approval_pending", [])


@pytest.mark.parametrize("call_id", ["sum", "other", "change\x00", ""])
async def test_XA2_an_answer_to_what_was_never_asked_is_refused(desk: Desk, call_id: str) -> None:
    tape = Tape()
    await make(desk, tape, [CHANGE, SUM], approver=AskLater()).run("Go.")
    before = tape.kinds(RUN)
    with pytest.raises(DecisionRefused, match=r"Nothing waits.*Calls that do: change"):
        await make(desk, tape, [CHANGE, SUM]).resume(RUN, decisions={call_id: Approve()})
    assert (tape.kinds(RUN), desk.runs) == (before, [])


async def test_XA3_a_second_answer_is_refused(desk: Desk) -> None:
    tape = Tape()
    turns: list[Line] = [CHANGE, "Done."]
    await make(desk, tape, *turns, approver=AskLater()).run("Go.")
    await make(desk, tape, *turns).resume(RUN, decisions={"change": Approve()})
    for decision in (Approve(), Reject()):
        with pytest.raises(DecisionRefused, match="Calls that do: none"):
            await make(desk, tape).resume(RUN, decisions={"change": decision})
    assert desk.runs == ["change"]


async def test_XA3_two_answers_at_once_have_one_outcome(desk: Desk) -> None:
    tape = Tape()
    turns: list[Line] = [CHANGE, "Done."]
    await make(desk, tape, *turns, approver=AskLater()).run("Go.")
    yes = make(desk, tape, *turns).resume(RUN, decisions={"change": Approve()})
    no = make(desk, tape, *turns).resume(RUN, decisions={"change": Reject()})
    first, second = await asyncio.gather(yes, no)
    assert first.messages == second.messages
    assert (tape.kinds(RUN).count("decided"), desk.runs) == (1, ["change"])


async def test_XA3_an_edited_answer_that_lost_a_secret_is_asked_for_again(desk: Desk) -> None:
    tape = Tape()
    turns: list[Line] = [CHANGE, "Done."]
    await make(desk, tape, *turns, approver=Person(Approve(edited="key=[redacted:known]"))).run("Go.")
    decided = next(n for n, (_, records) in enumerate(tape.writes, 1) if isinstance(records[-1], ApprovalAnswer))
    desk.path.write_text("one two three")
    person = Person()
    await make(desk, await tape.cut(decided), *turns, approver=person).resume(RUN)
    assert len(person.asked) == 1
    assert desk.text == "one 2 three"


async def test_XA1_a_rule_that_denies_it_by_now_wins_over_an_answer(desk: Desk) -> None:
    tape = Tape()
    turns: list[Line] = [LETTER, "Done."]
    await make(desk, tape, *turns, approver=AskLater()).run("Go.")
    policy = Policy((Rule(action="deny", tool="send"),))
    result = await make(desk, tape, *turns, policy=policy).resume(RUN, decisions={"letter": Approve()})
    assert (result.text, desk.sent) == ("Done.", [])


async def test_XD2_two_resumes_with_answers_while_one_waits_for_the_other(desk: Desk) -> None:
    tape = Tape()
    turns: list[Line] = [[CHANGE, LETTER], "Done."]
    await make(desk, tape, *turns, approver=AskLater()).run("Go.")
    change = make(desk, tape, *turns).resume(RUN, decisions={"change": Approve()})
    letter = make(desk, tape, *turns).resume(RUN, decisions={"letter": Approve()})
    await asyncio.gather(change, letter)
    assert (desk.runs, desk.sent) == (["change"], ["Dear"])


def test_K43_without_a_journal_nobody_can_be_asked_later(desk: Desk) -> None:
    with pytest.raises(UsageError, match=r"^AskLater keeps questions in the journal\."):
        Agent(model=ScriptedModel([CHANGE, "I could not."]), tools=[desk.replace], approver=AskLater())
    assert desk.runs == []


async def test_K43_a_part_with_a_journal_of_its_own_does_not_wait_for_later(desk: Desk) -> None:
    tape = Tape()
    part = Agent(model=ScriptedModel([CHANGE, "I could not."]), tools=[desk.replace], journal=MemoryJournal())
    tools = [part.as_tool(name="part", description="Change it.")]
    turns: list[Line] = [Call("part", {"task": "Go on."}, id="part_1"), "Done."]
    result = await make(desk, tape, *turns, tools=tools, approver=AskLater()).run("Go.")
    assert (result.text, result.pending, desk.runs) == ("Done.", (), [])


async def test_K41_an_approver_that_answers_nonsense_has_not_said_yes(desk: Desk) -> None:
    class Odd:
        def decide(self, requests: object, /) -> Any:
            return ["yes"]

    tape = Tape()
    result = await make(desk, tape, CHANGE, "Then not.", approver=Odd()).run("Go.")
    assert (result.text, desk.runs, tape.kinds(RUN).count("decided")) == ("Then not.", [], 0)


async def resumed_while_held(desk: Desk, whole: Tape, *, known: int, added: int, script: list[Line]) -> RunResult[Any]:
    """Resume the first `known` writes while somebody holds the run, who adds some more and is gone."""
    left = await whole.cut(known)
    assert await left.acquire(RUN)
    waits = asyncio.Event()

    def listen(event: Event) -> None:
        if isinstance(event, Warned) and event.kind == "waiting_for_run":
            waits.set()

    resumed = asyncio.create_task(make(desk, left, *script).start(resume=RUN, listener=listen).wait())
    await waits.wait()
    for _, records in whole.writes[known : known + added]:
        await left.append(RUN, *records)
    await left.release(RUN)
    return await resumed


async def test_XD3_who_waited_goes_on_when_the_driver_was_killed_between_the_approval_and_the_next_turn(
    desk: Desk,
) -> None:
    whole = Tape()
    turns: list[Line] = [CHANGE, "Done."]
    await make(desk, whole, *turns, approver=AskLater()).run("Go.")
    pending = len(whole.writes)
    await make(desk, whole, *turns).resume(RUN, decisions={"change": Approve()})
    kinds = [[record.kind for record in records] for _, records in whole.writes[pending:]]
    assert kinds == [["decided"], ["intended"], ["ended"], ["answered"], ["finished"]]
    for added in range(5):  # killed after each of its writes, or before the first
        desk.path.write_text("one two three" if added < 3 else "one 2 three")
        result = await resumed_while_held(desk, whole, known=pending, added=added, script=turns)
        if added == 0:  # nothing was answered
            assert (result.stop_reason, [one.call_id for one in result.pending]) == ("approval_pending", ["change"])
        else:
            assert (result.stop_reason, result.text, result.pending) == ("answer", "Done.", ())
    ended = await resumed_while_held(desk, whole, known=pending, added=5, script=turns)
    assert (ended.stop_reason, ended.text) == ("answer", "Done.")


async def test_XD3_who_waited_reports_the_end_that_the_driver_brought_about(desk: Desk) -> None:
    whole = Tape()
    turns: list[Line] = [SUM, SUM, "Done."]
    await make(desk, whole, *turns, stop_when=step_count_is(1), close_with_answer=False).run("Go.")
    begun = len(whole.writes)
    await make(desk, whole, *turns, stop_when=step_count_is(1), close_with_answer=False).resume(RUN)
    added = len(whole.writes) - begun
    result = await resumed_while_held(desk, whole, known=begun, added=added, script=turns)
    assert (result.stop_reason, len(result.steps)) == ("condition", 2)
    result = await resumed_while_held(desk, whole, known=begun, added=0, script=turns)
    assert (result.stop_reason, len(result.steps)) == ("answer", 3)  # the driver was killed before it did anything


@pytest.mark.parametrize("answered", [False, True], ids=["open", "answered"])
async def test_XA22_a_tool_that_calls_itself_harmless_by_now_is_still_asked_about(desk: Desk, answered: bool) -> None:
    """Its effect changed from `writes` to `reads` between the question and the answer."""
    ran: list[str] = []

    @tool(name="replace")
    def harmless(old: str, new: str, ctx: ToolContext) -> str:
        """Replace a word."""
        ran.append(ctx.call_id)
        return "replaced"

    tape = Tape()
    await make(desk, tape, CHANGE, "Done.", approver=AskLater()).run("Go.")
    decisions = {"change": Approve()} if answered else {}
    later = await make(desk, tape, CHANGE, "Done.", tools=[harmless]).resume(RUN, decisions=decisions)
    assert (later.stop_reason, [one.call_id for one in later.pending], ran) == ("approval_pending", ["change"], [])
    assert "needed an approval" in later.pending[0].why
    again = await make(desk, tape, CHANGE, "Done.", tools=[harmless]).resume(RUN, decisions={"change": Reject()})
    assert (again.text, ran) == ("Done.", [])


async def test_XA22_a_person_can_still_allow_it(desk: Desk) -> None:
    @tool(name="replace")
    def harmless(old: str, new: str) -> str:
        """Replace a word."""
        return "looked"

    tape = Tape()
    await make(desk, tape, CHANGE, "Done.", approver=AskLater()).run("Go.")
    person = Person()
    result = await make(desk, tape, CHANGE, "Done.", tools=[harmless], approver=person).resume(RUN)
    assert (result.text, [one.call_id for one in person.asked]) == ("Done.", ["change"])
