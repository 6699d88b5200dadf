"""Nothing but a clear yes is one (K41, K43, XA2)."""

import asyncio
import logging
from collections.abc import Sequence

import pytest
from tests.kernel.stand_ins import Anything, Person

from toolroll.errors import DecisionRefused, UsageError
from toolroll.kernel.approval.ask_person import NOBODY, Unanswered
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Approver, Decision, Preview, Reject, is_decision
from toolroll.kernel.call.context import Run
from toolroll.kernel.call.events import ApprovalRequested, KernelEvent


def request(call_id: str = "1") -> ApprovalRequest:
    return ApprovalRequest(
        run_id="r",
        call_id=call_id,
        tool="t",
        effect="writes",
        arguments={},
        why="",
        preview=Preview.of_text("p"),
        paths=(),
        fingerprint="f",
    )


TWO = [request("1"), request("2")]


async def test_K41_all_requests_come_together_and_each_gets_its_answer() -> None:
    person = Person(lambda one: Approve() if one.call_id == "1" else Reject("no"))
    assert await Run(approver=person).ask(TWO) == (Approve(), Reject("no"))
    assert person.asked == [tuple(TWO)]


async def test_K41_an_approver_may_answer_without_waiting() -> None:
    assert await Run(approver=Anything([Approve("x"), Reject()])).ask(TWO) == (Approve("x"), Reject())


async def test_K43_without_an_approver_nobody_is_asked_and_nobody_told() -> None:
    events: list[KernelEvent] = []
    assert await Run(on_event=events.append).ask(TWO) == [NOBODY, NOBODY]
    assert events == []


async def test_K41_every_request_is_an_event() -> None:
    events: list[KernelEvent] = []
    await Run(on_event=events.append, approver=Person()).ask(TWO)
    assert events == [ApprovalRequested(request=one) for one in TWO]


async def cut_off(_requests: Sequence[ApprovalRequest]) -> list[Decision]:
    raise asyncio.CancelledError


COUNT = "TypeError: decide must return 2 decisions, one for each request, not "
KIND = "TypeError: a decision is Approve(...) or Reject(...), with text or nothing in it, not "


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (ValueError("broken sk-secret"), "ValueError"),
        (SystemExit(1), "SystemExit"),
        (asyncio.CancelledError(), "CancelledError"),
        (cut_off, "CancelledError"),
        (None, COUNT + "NoneType"),
        (True, COUNT + "bool"),
        ("yes", COUNT + "str"),
        ([], COUNT + "0"),
        ([Approve()], COUNT + "1"),
        ([Approve(), Approve(), Approve()], COUNT + "3"),
        ([Approve(), None], KIND + "NoneType"),
        ([Approve(), True], KIND + "bool"),
        ([Approve(), "Approve"], KIND + "str"),
        ([Approve, Approve], KIND + "the class Approve"),
        ([Approve(), Approve(edited=5)], KIND + "Approve"),  # type: ignore[arg-type]  # what an unchecked one may say
        ([Approve(), Reject(reason=5)], KIND + "Reject"),  # type: ignore[arg-type]
        ({Approve(), Reject()}, COUNT + "set"),
        (iter([Approve(), Approve()]), COUNT + "list_iterator"),
        ("ab", COUNT + "str"),
    ],
)
async def test_XA2_whatever_is_no_list_of_decisions_approves_nothing_and_says_why(
    answer: object, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert await Run(approver=Anything(answer)).ask(TWO) == [Unanswered(f"the approver failed: {said}")] * 2
    assert "the approver failed; nothing is approved" in caplog.text


async def test_K43_an_approver_may_say_itself_that_nobody_is_there() -> None:
    assert await Run(approver=Anything(DecisionRefused("gone home"))).ask(TWO) == [NOBODY, NOBODY]


@pytest.mark.parametrize(
    "approver", [3, True, Approve(), object(), Person], ids=["int", "bool", "yes", "object", "class"]
)
def test_K41_what_cannot_be_asked_is_refused_when_the_run_is_made(approver: object) -> None:
    with pytest.raises(UsageError, match=r"^An approver is an object with decide\(requests\), not "):
        Run(approver=approver)  # type: ignore[arg-type]  # which is the mistake


async def test_XA3_an_answer_that_changes_afterwards_changes_nothing() -> None:
    said: list[Decision] = [Reject(), Reject()]
    decisions = await Run(approver=Anything(said)).ask(TWO)
    said[:] = [Approve(), Approve()]
    assert decisions == (Reject(), Reject())


async def test_XA3_a_cancelled_question_is_cancelled() -> None:
    asked = asyncio.Event()

    class Slow:
        async def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
            asked.set()
            await asyncio.Event().wait()
            return [Approve() for _ in requests]

    approver: Approver = Slow()
    task = asyncio.create_task(Run(approver=approver).ask(TWO))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_person_who_presses_ctrl_c_is_heard() -> None:
    with pytest.raises(KeyboardInterrupt):
        await Run(approver=Anything(KeyboardInterrupt())).ask(TWO)


async def test_a_listener_that_breaks_does_not_decide_anything(caplog: pytest.LogCaptureFixture) -> None:
    def broken(_event: KernelEvent) -> None:
        raise BrokenPipeError("gone")

    run = Run(on_event=broken, approver=Person())
    assert await run.ask(TWO) == (Approve(), Approve())
    run.report(ApprovalRequested(request=TWO[0]))
    assert "a listener failed on approval_requested" in caplog.text
    assert caplog.records[0].levelno == logging.ERROR


def test_decisions_are_told_from_all_else() -> None:
    assert all(map(is_decision, [Approve(), Approve(""), Approve("x"), Reject(), Reject("x")]))
    assert not any(map(is_decision, [None, True, "yes", Approve, object(), 1]))
