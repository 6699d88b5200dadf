"""Approvals for programs: some now, some later, streamed, and wrong ones refused (A45)."""

import re
from typing import Any

import pytest
from tests.agent.stage import Call, Notes, agent_of

from toolroll import Agent, Approve, MemoryJournal, Reject, ScriptedModel
from toolroll.agent.approvals import AskLater
from toolroll.agent.events import RunFinished
from toolroll.errors import UsageError


def make(notes: Notes, journal: MemoryJournal, *script: Any) -> Agent[None]:
    return Agent(model=ScriptedModel(script), tools=[notes.write], journal=journal, approver=AskLater())


async def ask_three(notes: Notes, journal: MemoryJournal) -> str:
    calls = [Call("write", {"text": name}, id=name) for name in ("a", "b", "c")]
    waiting = await make(notes, journal, calls).run("go")
    assert [one.call_id for one in waiting.pending] == ["a", "b", "c"]
    return waiting.run_id


async def test_A45_some_calls_are_answered_now_and_some_later() -> None:
    notes, journal = Notes(), MemoryJournal()
    run_id = await ask_three(notes, journal)
    first = await make(notes, journal).resume(run_id, decisions={"b": Approve()})
    assert (notes.written, first.stop_reason) == (["b"], "approval_pending")
    assert [one.call_id for one in first.pending] == ["a", "c"]
    rest: dict[str, Approve | Reject] = {"a": Reject("no"), "c": Approve()}
    second = await make(notes, journal, "ok").resume(run_id, decisions=rest)
    assert (notes.written, second.text, second.pending) == (["b", "c"], "ok", ())


async def test_A45_a_resumed_run_can_be_streamed() -> None:
    notes, journal = Notes(), MemoryJournal()
    run_id = await ask_three(notes, journal)
    live = make(notes, journal, "ok").stream(resume=run_id, decisions=dict.fromkeys("abc", Approve()))
    events = [event async for event in live]
    assert isinstance(events[-1], RunFinished)
    assert [event.event for event in events].count("tool_result") == 3
    assert "text_delta" in [event.event for event in events]
    assert notes.written == ["a", "b", "c"]


@pytest.mark.parametrize("decision", [True, "yes", Approve, None, Approve(edited=3)])  # type: ignore[arg-type]
async def test_A45_a_decision_of_a_wrong_type_leaves_the_question(decision: Any) -> None:
    notes, journal = Notes(), MemoryJournal()
    run_id = await ask_three(notes, journal)
    said = f"The decision about 'a' is Approve(...) or Reject(...), not {decision!r}."
    with pytest.raises(UsageError, match=f"^{re.escape(said)}$"):
        await make(notes, journal).resume(run_id, decisions={"a": decision})
    assert [one.call_id for one in (await make(notes, journal).resume(run_id)).pending] == ["a", "b", "c"]
    assert notes.written == []


async def test_A45_an_approver_for_later_needs_a_journal() -> None:
    said = r"^AskLater keeps questions in the journal\. Give the agent one: journal=SqliteJournal\(folder\)\.$"
    with pytest.raises(UsageError, match=said):
        agent_of("hi", approver=AskLater())
    with pytest.raises(UsageError, match=said):
        agent_of("hi").start("go", approver=AskLater())
