"""Compaction around calls that wait for a person: before the pause, after it, and with a question still open."""

from typing import Any

import pytest
from tests.agent.context.counted import Counted, results_in
from tests.agent.legality import problems
from tests.agent.tape import Tape

from toolroll import Agent, Approve, Reject, step_count_is, tool
from toolroll.agent.approvals import AskLater
from toolroll.agent.context.rules import ContextRules
from toolroll.journal.records import MessagesCompacted
from toolroll.kernel.approval.request import Decision
from toolroll.kernel.data.messages import AssistantMessage
from toolroll.models.model import ModelRequest
from toolroll.models.scripted import Call

WINDOW = 4_000
WORDS = "word " * 700
FILES = 6


@tool
async def read(path: str) -> str:
    """Read a file."""
    return f"{path}: {WORDS}"


@tool(effect="external")
async def publish(text: str) -> str:
    """Publish a text."""
    return f"published {text}: {WORDS}"


def turns(asks_at: int) -> Any:
    def turn(number: int, _request: ModelRequest) -> str | Call:
        if number == asks_at:
            return Call("publish", {"text": "news"}, id="waits")
        return Call("read", {"path": f"{number}.py"}) if number <= FILES else "Done."

    return turn


def make(counted: Counted, tape: Tape) -> Agent[Any]:
    return Agent(
        model=counted.model,
        tools=[read, publish],
        journal=tape,
        make_id=lambda: "run",
        approver=AskLater(),
        stop_when=step_count_is(FILES + 3),
        context=ContextRules(window_tokens=WINDOW),
    )


async def paused(tape: Tape, asks_at: int) -> Counted:
    """A run up to the question, and one more process that comes along meanwhile and cannot answer it."""
    counted = Counted(turns(asks_at))
    first = await make(counted, tape).run("Go.")
    assert [asked.call_id for asked in first.pending] == ["waits"]
    written = len(tape.writes)
    again = await make(Counted(turns(asks_at)), tape).resume("run")
    assert again.pending == first.pending
    assert not [one for one in tape.records("run")[written:] if isinstance(one, MessagesCompacted)]
    return counted


@pytest.mark.parametrize("asks_at", range(1, FILES + 1))
@pytest.mark.parametrize("decision", [Approve(), Reject("no")], ids=["yes", "no"])
async def test_A21_a_call_that_waits_stays_with_its_answer_however_full_the_window_is(
    asks_at: int, decision: Decision
) -> None:
    tape = Tape()
    before = await paused(tape, asks_at)
    after = Counted(turns(asks_at))
    after.number = before.number
    result = await make(after, tape).resume("run", decisions={"waits": decision})
    assert result.text == "Done."
    requests = [*before.model.requests, *after.model.requests]
    assert all(not problems(messages, is_request=True) for messages in requests)
    assert max(before.sizes + after.sizes) <= WINDOW
    assert before.asked_for_summary or after.asked_for_summary
    told = "published news: " + WORDS if isinstance(decision, Approve) else "User rejected changes: no"
    first_with_it = next(messages for messages in after.model.requests if "waits" in _answered(messages))
    assert _answered(first_with_it)["waits"] == told  # whole, and after the call that it belongs to
    assert _asked(first_with_it)[-1] == "waits"


def _answered(messages: Any) -> dict[str, object]:
    return {one.call_id: one.content for one in results_in(messages)}


def _asked(messages: Any) -> list[str]:
    return [call.id for one in messages if isinstance(one, AssistantMessage) for call in one.calls]
