"""Calls in tests: deterministic, through the whole executor, with everything recorded."""

from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from inspect import signature
from typing import Annotated

import pytest

from toolroll import ApprovalRequest, Approve, Depends, Policy, Reject, Rule, Run, ToolContext, Toolset, testing, tool
from toolroll.errors import UsageError
from toolroll.kernel.approval.request import Decision
from toolroll.kernel.call.events import ApprovalDecided, ApprovalRequested, KernelEvent, Progress, StateChanged
from toolroll.kernel.call.step import execute_step
from toolroll.kernel.data.messages import ToolCall
from toolroll.testing import (
    RecordingApprover,
    RecordingLedger,
    call,
    call_tool,
    counting_ids,
    fixed_clock,
    make_run,
    recorded_events,
)
from toolroll.testing.run import RunOptions

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


def get_names() -> list[str]:
    raise AssertionError("the real provider was used")


@tool
def greet(day: date, names: Annotated[list[str], Depends(get_names)], ctx: ToolContext) -> dict[str, object]:
    """Greet everybody."""
    ctx.progress("greeting", 0.5)
    return {"names": names, "year": day.year, "now": ctx.now(), "call": ctx.call_id, "run": ctx.run_id}


@tool(effect="writes")
async def erase(path: str) -> str:
    """Erase a file."""
    return f"erased {path}"


async def test_K22_K24_a_call_gets_overrides_fixed_ids_and_a_fixed_clock() -> None:
    run = make_run(overrides={get_names: lambda: ["Ada"]})
    for number in (1, 2):
        result = await call_tool(greet, run, day=date(2026, 11, 15))
        assert result.value == {
            "names": ["Ada"],
            "year": 2026,
            "now": datetime(2026, 1, 1, 12, tzinfo=UTC),
            "call": f"id_{number}",
            "run": "run_1",
        }


async def test_K24_progress_is_recorded_as_an_event() -> None:
    heard: list[KernelEvent] = []
    run = make_run(overrides={get_names: list}, on_event=heard.append)
    await call_tool(greet, run, day=date(2026, 11, 15))
    run.set_state("todos", [])
    assert [Progress(call_id="id_1", message="greeting", fraction=0.5)] == recorded_events(run, Progress)
    assert [StateChanged(name="todos", value=[])] == recorded_events(run, StateChanged)
    assert heard == recorded_events(run) == run.events


def test_call_works_without_a_loop() -> None:
    assert call(erase, path="a").text == "erased a"
    assert call(erase, make_run(approver=None), path="a").code == "needs_approval"


def test_an_error_out_of_call_is_the_only_one_in_its_traceback() -> None:
    @tool
    async def press() -> None:
        """Press Ctrl-C."""
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        call(press)
    assert caught.value.__context__ is None


async def test_call_in_async_code_says_what_to_write() -> None:
    with pytest.raises(UsageError, match=r"await call_tool\(\.\.\.\)"):
        call(erase, path="a")


async def test_a_call_is_validated_like_a_model_s() -> None:
    result = await call_tool(erase, file="a")
    assert result.code == "invalid_arguments"
    assert "file: there is no such parameter; it takes: path" in result.text


async def test_arguments_may_have_any_name_the_tool_has() -> None:
    @tool
    def start(run: str, tool: str) -> str:
        """Start something."""
        return f"{run} {tool}"

    assert (await call_tool(start, run="a", tool="b")).text == "a b"


async def test_a_run_that_is_made_for_a_call_is_closed_after_it() -> None:
    closed: list[str] = []

    async def session() -> AsyncIterator[str]:
        yield "open"
        closed.append("closed")

    @tool
    async def use(value: Annotated[str, Depends(session, scope="run")]) -> str:
        """Use it."""
        return value

    assert (await call_tool(use)).text == "open"
    assert closed == ["closed"]
    async with make_run() as run:
        await call_tool(use, run)
        await call_tool(use, run)
        assert closed == ["closed"]
    assert closed == ["closed", "closed"]


async def test_a_run_of_the_user_s_own_serves_as_well() -> None:
    assert (await call_tool(erase, Run(), path="a")).code == "needs_approval"


async def test_K22_every_option_of_a_run_can_be_given() -> None:
    run = make_run(
        run_id="mine",
        deps={"root": "/"},
        policy=Policy((Rule(action="deny", tool="erase"),)),
        clock=lambda: datetime(2000, 1, 1, tzinfo=UTC),
        make_id=lambda: "same",
    )
    assert (run.run_id, run.deps["root"], run.clock().year, run.context().call_id) == ("mine", "/", 2000, "same")
    assert (await call_tool(erase, run, path="a")).code == "denied"


async def test_the_approver_says_yes_unless_told_and_keeps_what_it_saw() -> None:
    approver = RecordingApprover()
    run = make_run(approver=approver)
    assert (await call_tool(erase, run, path="a")).text == "erased a"
    [request] = approver.requests
    assert (request.tool, request.effect, request.arguments) == ("erase", "writes", {"path": "a"})
    assert [ApprovalRequested(request=request)] == recorded_events(run, ApprovalRequested)
    assert [ApprovalDecided(request=request, decision=Approve())] == recorded_events(run, ApprovalDecided)


async def test_decisions_are_given_in_turn_and_what_is_asked_together_stays_together() -> None:
    approver = RecordingApprover([Reject("not this one"), Approve()])
    calls = [ToolCall(id=name, name="erase", arguments=f'{{"path": "{name}"}}') for name in ("a", "b")]
    results = await execute_step(Toolset([erase]), calls, make_run(approver=approver))
    assert [result.text for result in results] == ["User rejected changes: not this one", "erased b"]
    assert [tuple(request.call_id for request in batch) for batch in approver.batches] == [("a", "b")]


async def test_one_decision_holds_for_all() -> None:
    run = make_run(approver=RecordingApprover(Reject()))
    assert [{"rejected"}] == [{(await call_tool(erase, run, path=path)).code for path in "abc"}]


async def test_a_function_can_decide() -> None:
    def judge(request: ApprovalRequest) -> Decision:
        return Approve() if request.arguments == {"path": "tmp"} else Reject("only tmp")

    run = make_run(approver=RecordingApprover(judge))
    assert (await call_tool(erase, run, path="tmp")).text == "erased tmp"
    assert (await call_tool(erase, run, path="etc")).text == "User rejected changes: only tmp"


async def test_an_approver_without_decisions_left_has_not_said_yes(caplog: pytest.LogCaptureFixture) -> None:
    approver = RecordingApprover([Approve()])
    run = make_run(approver=approver)
    assert [
        (await call_tool(erase, run, path="a")).text,
        (await call_tool(erase, run, path="b")).code,
    ] == ["erased a", "needs_approval"]
    assert len(approver.requests) == 2
    assert "no decision left for erase" in caplog.text


async def test_the_ledger_keeps_intent_and_outcome_in_order() -> None:
    ledger = RecordingLedger()
    result = await call_tool(erase, make_run(ledger=ledger), path="a")
    expected = ToolCall(id="id_1", name="erase", arguments='{"path":"a"}')
    assert [("intent", expected, None), ("outcome", expected, result)] == [
        (row.kind, row.call, row.result) for row in ledger.rows
    ]


async def test_a_rejected_call_leaves_no_row() -> None:
    ledger = RecordingLedger()
    await call_tool(erase, make_run(ledger=ledger, approver=RecordingApprover(Reject())), path="a")
    assert ledger.rows == []


def test_the_public_names_are_sorted_and_say_what_they_promise() -> None:
    assert sorted(testing.__all__) == testing.__all__
    assert [name for name in testing.__all__ if not getattr(testing, name).__doc__] == []


def test_run_options_are_those_of_a_run() -> None:
    taken = [name for name in signature(Run.__init__).parameters if name != "self"]
    assert sorted(RunOptions.__annotations__) == sorted(taken)


async def test_arguments_that_are_not_named_are_told_from_a_run() -> None:
    with pytest.raises(UsageError, match=r"^Arguments are given by name: call\(erase, name=\.\.\.\)\. .* not 'a'\.$"):
        await call_tool(erase, "a")  # type: ignore[arg-type]  # the mistake under test


def test_what_is_no_tool_cannot_be_called() -> None:
    with pytest.raises(UsageError, match=r"^Only a tool can be called like this, not <built-in function print>\."):
        call(print)  # type: ignore[arg-type]  # the mistake under test


def test_K24_a_fixed_clock_stands_still() -> None:
    clock = fixed_clock(NOON)
    assert [clock(), clock(), clock()] == [NOON, NOON, NOON]


def test_K24_a_fixed_clock_goes_on_by_its_step_from_its_start() -> None:
    clock = fixed_clock(NOON, step=timedelta(minutes=5))
    assert [NOON, NOON + timedelta(minutes=5), NOON + timedelta(minutes=10)] == [clock(), clock(), clock()]


def test_K24_two_clocks_do_not_share_their_time() -> None:
    first, second = (fixed_clock(NOON, step=timedelta(days=1)) for _ in range(2))
    first()
    assert first() != second()


def test_K24_a_fixed_clock_has_a_time_of_its_own() -> None:
    assert fixed_clock()() == fixed_clock()()
    assert fixed_clock()().tzinfo is UTC


def test_a_clock_without_a_zone_is_refused_with_what_to_write() -> None:
    with pytest.raises(UsageError, match=r"tzinfo=UTC"):
        fixed_clock(datetime(2026, 11, 15))  # noqa: DTZ001 - the mistake under test


def test_ids_count() -> None:
    make_id = counting_ids("call")
    assert [make_id(), make_id(), make_id()] == ["call_1", "call_2", "call_3"]
    assert counting_ids()() == "id_1"
