"""Approvals from elsewhere (XA2, XA3): one outcome each, bound to what was seen."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from tests.kernel.approval.test_ask_person import request
from tests.kernel.stand_ins import Disk
from tests.support.clock import time_passes

from toolroll.errors import DecisionRefused
from toolroll.kernel.approval.desk import ApprovalDesk
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision, Reject
from toolroll.kernel.call.context import Run
from toolroll.kernel.call.step import execute_step
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.define.tool import Toolset

LATE = "Nothing waits for this answer"
OTHER = "This answer is for something else"


@asynccontextmanager
async def asking(desk: ApprovalDesk, *requests: ApprovalRequest) -> AsyncIterator[asyncio.Task[list[Decision]]]:
    """The question, asked; whoever is left waiting at the end is cancelled."""
    task = asyncio.create_task(desk.decide(requests))
    while not desk.pending and not task.done():
        await asyncio.sleep(0)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])


def answer(desk: ApprovalDesk, one: ApprovalRequest, decision: Decision, digest: str | None = None) -> None:
    desk.answer(run_id=one.run_id, call_id=one.call_id, digest=digest or one.digest, decision=decision)


async def test_XA3_each_request_gets_its_own_answer_in_any_order() -> None:
    desk, one, two = ApprovalDesk(), request("1"), request("2")
    async with asking(desk, one, two) as task:
        assert list(desk.pending) == [one, two]
        answer(desk, two, Reject("no"))
        assert list(desk.pending) == [one]
        answer(desk, one, Approve("text"))
        assert await task == [Approve("text"), Reject("no")]
    assert desk.pending == ()


async def test_no_requests_need_no_answers() -> None:
    assert await ApprovalDesk().decide([]) == []


@pytest.mark.parametrize("digest", ["forged", "", "é", "\ud800", "0" * 64])
async def test_XA2_a_forged_digest_is_refused_and_the_request_stays_open(digest: str) -> None:
    desk, one = ApprovalDesk(), request()
    async with asking(desk, one) as task:
        with pytest.raises(DecisionRefused, match=OTHER):
            desk.answer(run_id="r", call_id="1", digest=digest, decision=Approve())
        assert desk.pending == (one,)
        answer(desk, one, Reject())
        assert await task == [Reject()]


async def test_XA2_an_answer_to_what_was_shown_before_is_refused() -> None:
    desk, old, new = ApprovalDesk(), request(), replace(request(), arguments={"path": "other"})
    async with asking(desk, new):
        with pytest.raises(DecisionRefused, match=OTHER):
            answer(desk, old, Approve())


@pytest.mark.parametrize(("run_id", "call_id"), [("r", "2"), ("other", "1"), ("", ""), ("r", "")])
async def test_XA2_an_unknown_request_is_refused(run_id: str, call_id: str) -> None:
    desk, one = ApprovalDesk(), request()
    async with asking(desk, one):
        with pytest.raises(DecisionRefused, match=LATE):
            desk.answer(run_id=run_id, call_id=call_id, digest=one.digest, decision=Approve())


@pytest.mark.parametrize("decision", [None, True, "yes", {"edited": None}, Approve, Approve(edited=5)])  # type: ignore[arg-type]  # a client's
async def test_XA2_what_is_no_decision_is_refused_and_spoils_nothing(decision: Decision) -> None:
    desk, one = ApprovalDesk(), request()
    async with asking(desk, one) as task:
        with pytest.raises(DecisionRefused, match="An answer is Approve or Reject"):
            answer(desk, one, decision)
        answer(desk, one, Approve())
        assert await task == [Approve()]


@pytest.mark.parametrize(("first", "second"), [(Approve(), Approve()), (Approve(), Reject()), (Reject(), Approve())])
async def test_XA3_the_second_answer_is_refused(first: Decision, second: Decision) -> None:
    desk, one, two = ApprovalDesk(), request("1"), request("2")
    async with asking(desk, one, two) as task:
        answer(desk, one, first)
        with pytest.raises(DecisionRefused, match=LATE):
            answer(desk, one, second)
        answer(desk, two, Reject())
        assert await task == [first, Reject()]
    with pytest.raises(DecisionRefused, match=LATE):
        answer(desk, one, second)


async def test_XA3_of_two_people_at_once_one_is_heard() -> None:
    desk, one = ApprovalDesk(), request()
    gate = asyncio.Event()

    async def say(decision: Decision) -> bool:
        await gate.wait()
        try:
            answer(desk, one, decision)
        except DecisionRefused:
            return False
        return True

    async with asking(desk, one) as task:
        words: list[Decision] = [Approve(), Reject()]
        people = [asyncio.create_task(say(word)) for word in words * 20]
        gate.set()
        assert sum(await asyncio.gather(*people)) == 1
        assert await task == [Approve()]


async def test_XA3_silence_is_a_rejection_and_later_answers_are_refused() -> None:
    desk, one, two = ApprovalDesk(timeout_s=60), request("1"), request("2")
    async with asking(desk, one, two) as task:
        answer(desk, two, Approve())
        time_passes(60)
        assert await task == [Reject("no answer within 60 seconds"), Approve()]
    with pytest.raises(DecisionRefused, match=LATE):
        answer(desk, one, Approve())


async def test_XA3_an_answer_after_cancelling_is_refused() -> None:
    desk, one = ApprovalDesk(), request()
    async with asking(desk, one) as task:
        task.cancel()
        await asyncio.wait([task])
        assert desk.pending == ()
        with pytest.raises(DecisionRefused, match=LATE):
            answer(desk, one, Approve())


async def test_XA3_an_answer_after_a_restart_is_refused() -> None:
    desk, one = ApprovalDesk(), request()
    async with asking(desk, one):
        with pytest.raises(DecisionRefused, match=LATE):
            answer(ApprovalDesk(), one, Approve())


async def test_XA3_two_questions_with_one_id_do_not_get_in_each_others_way() -> None:
    desk, one = ApprovalDesk(), request("same")
    other = replace(one, arguments={"path": "x"})
    async with asking(desk, one) as first:
        second = asyncio.create_task(desk.decide([other]))
        while len(desk.pending) < 2:
            await asyncio.sleep(0)
        answer(desk, other, Reject("other"))
        assert await second == [Reject("other")]
        answer(desk, one, Approve())
        assert await first == [Approve()]


async def test_XA3_the_same_question_twice_takes_two_answers() -> None:
    desk, one = ApprovalDesk(), request()
    async with asking(desk, one, one) as task:
        answer(desk, one, Approve())
        assert not task.done()
        answer(desk, one, Reject())
        assert await task == [Approve(), Reject()]


async def test_XA3_a_call_answered_over_the_desk_runs_once() -> None:
    desk, disk = ApprovalDesk(), Disk()
    calls = [ToolCall(id="c", name="write", arguments='{"path":"f","text":"new\\n"}')]
    step = asyncio.create_task(execute_step(Toolset([disk.tool]), calls, Run(run_id="r", approver=desk)))
    while not desk.pending:
        await asyncio.sleep(0)
    [pending] = desk.pending
    answer(desk, pending, Approve())
    for again in (Approve(), Reject(), Approve("more\n")):
        with pytest.raises(DecisionRefused):
            answer(desk, pending, again)
    [result] = await step
    assert (result.text, disk.writes) == ("written", ["new\n"])


@pytest.mark.parametrize("digest", [None, 5, b"x"])
def test_XA6_a_digest_is_text(digest: Any) -> None:
    with pytest.raises(DecisionRefused, match="the digest of what was seen"):
        ApprovalDesk().answer(run_id="r", call_id="c", digest=digest, decision=Approve())
