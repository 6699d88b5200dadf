"""The calls of one turn (K41, XL7, XL8, XL12): asked together, run side by side, answered in order."""

import asyncio
import os
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernel.stand_ins import Book, Disk, Person

from toolroll.errors import ToolFailure
from toolroll.kernel.approval.policy import Policy, Rule
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision, Reject
from toolroll.kernel.call.context import Run, ToolContext
from toolroll.kernel.call.execute import admit
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.call.step import _StepRunner, _Work, execute_step, make_ids_unique
from toolroll.kernel.data.labels import Labels
from toolroll.kernel.data.messages import ToolCall
from toolroll.kernel.define.decorator import tool
from toolroll.kernel.define.tool import Tool, Toolset
from toolroll.kernel.define.wrappers import WrapperTool, with_timeout
from toolroll.safe.limits import MAX_CALLS_PER_STEP


def call(name: str, arguments: str = "{}", call_id: str = "") -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=arguments)


async def run(tools: Sequence[Tool], calls: Sequence[ToolCall], of: Run | None = None) -> list[ToolResult]:
    return await execute_step(Toolset(tools), calls, of or Run(approver=Person()))


@tool
async def echo(text: str = "") -> str:
    """Echo."""
    return text


@tool(effect="external")
async def send(text: str) -> str:
    """Send."""
    return f"sent {text}"


@tool
async def fail() -> str:
    """Fail."""
    raise ValueError("failed")


async def test_K41_all_that_needs_a_decision_is_asked_about_at_once() -> None:
    disk = Disk()
    person = Person(lambda one: Reject("no") if one.tool == "send" else Approve())
    calls = [
        call("echo", '{"text":"a"}', "1"),
        call("write", '{"path":"f","text":"new\\n"}', "2"),
        call("missing", "{}", "3"),
        call("send", '{"text":"b"}', "4"),
        call("send", '{"txt":"b"}', "5"),
        call("write", '{"path":"f","text":"impossible\\n"}', "6"),
        call("fail", "{}", "7"),
        call("write", '{"path":".env","text":"x"}', "8"),
        call("echo", "{", "9"),
    ]
    of = Run(approver=person, policy=Policy((Rule(action="deny", path=".env"),)))
    results = await run([echo, send, fail, disk.tool], calls, of)
    assert [[request.call_id for request in batch] for batch in person.asked] == [["2", "4"]]
    assert [result.code for result in results] == [
        *(None, None, "unknown_tool", "rejected", "invalid_arguments", "no_change", "tool_error", "denied"),
        "invalid_json",
    ]
    assert [result.text for result in results[:2]] == ["a", "written"]
    assert disk.writes == ["new\n"]


async def test_K41_a_step_that_needs_no_decision_asks_nobody() -> None:
    person = Person()
    await run([echo, fail], [call("echo"), call("fail"), call("missing")], Run(approver=person))
    assert person.asked == []


async def test_no_calls_have_no_results() -> None:
    assert await run([echo], []) == []


async def test_XL8_results_come_in_the_order_of_the_calls_not_of_their_ends() -> None:
    gates = [asyncio.Event() for _ in range(20)]
    ended: list[int] = []

    @tool
    async def wait(number: int) -> int:
        """Wait for the next one."""
        if number < 19:
            await gates[number + 1].wait()
        ended.append(number)
        gates[number].set()
        return number

    calls = [call("wait", f'{{"number":{number}}}') for number in range(20)]
    results = await run([wait], calls)
    assert [result.value for result in results] == list(range(20))
    assert ended == list(reversed(range(20)))


async def test_writes_run_in_order_while_reads_run_beside_them() -> None:
    log: list[str] = []
    read_began, read_may_end = asyncio.Event(), asyncio.Event()

    @tool
    async def look() -> str:
        """Look."""
        log.append("read begins")
        read_began.set()
        await read_may_end.wait()
        log.append("read ends")
        return "seen"

    @tool(effect="writes")
    async def change(name: str) -> str:
        """Change."""
        await read_began.wait()  # so a read runs while a write does
        log.append(f"{name} begins")
        for _ in range(3):
            await asyncio.sleep(0)
        log.append(f"{name} ends")
        if name == "c":
            read_may_end.set()  # and goes on until the last write has ended
        return name

    calls = [call("change", '{"name":"a"}'), call("look"), *(call("change", f'{{"name":"{name}"}}') for name in "bc")]
    results = await run([look, change], calls)
    assert [result.text for result in results] == ["a", "seen", "b", "c"]
    assert log == [
        *("read begins", "a begins", "a ends", "b begins", "b ends", "c begins", "c ends", "read ends"),
    ]


async def test_XA1_of_two_changes_to_one_file_the_second_was_shown_too_early() -> None:
    disk = Disk()
    calls = [call("write", f'{{"path":"f","text":"{text}"}}') for text in ("one", "two")]
    first, second = await run([disk.tool], calls)
    assert (first.text, second.code) == ("written", "stale_approval")
    assert disk.writes == ["one"]
    assert "Read it again" in second.text


class Stops(BaseException):
    pass


def raising(name: str, error: BaseException) -> Tool:
    @tool(name=name)
    async def raises() -> str:
        """Raise."""
        await asyncio.sleep(0)
        raise error

    return raises


@tool
async def cancels_itself() -> str:
    """Cancel the task it runs in."""
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)
    return "never"


@tool(effect="external")
async def cancels_its_turn() -> str:
    """Cancel the task it runs in."""
    return str(await cancels_itself())


@tool
async def prints() -> str:
    """Print."""
    print("to stdout")
    os.write(1, b"raw\n")
    return "printed"


@tool
async def swallows() -> str:
    """Ignore cancellation."""
    while True:
        try:
            await let_go.wait()
        except asyncio.CancelledError:
            continue
        return "let go"


let_go = asyncio.Event()


async def test_XL12_no_call_can_take_its_siblings_down(capfd: pytest.CaptureFixture[str]) -> None:
    hanging = with_timeout(swallows, 0.01)
    bad = [
        raising("error", ValueError("x")),
        raising("exits", SystemExit(2)),
        raising("stops", Stops("y")),
        raising("cancelled", asyncio.CancelledError()),
        raising("closed", GeneratorExit()),
        raising("failure", ToolFailure("said so")),
        cancels_itself,
        cancels_its_turn,
        prints,
        hanging,
    ]
    calls = [
        one
        for bad_one in bad
        for one in (call("echo", '{"text":"fine"}'), call(bad_one.name), call("send", '{"text":"x"}'))
    ]
    try:
        results = await run([echo, send, *bad], calls)
    finally:
        let_go.set()
    assert [result.text for result in results[::3]] == ["fine"] * len(bad)
    assert [result.text for result in results[2::3]] == ["sent x"] * len(bad)
    assert [result.text for result in results[1::3]] == [
        "Error executing tool: x",
        "Error executing tool: SystemExit: 2",
        "Error executing tool: y",
        "Error executing tool: CancelledError",
        "Error executing tool: GeneratorExit",
        "said so",
        "Error executing tool: CancelledError",
        "Error executing tool: CancelledError",
        "printed",
        "swallows did not end within 0.01 seconds; it may still be running.",
    ]
    assert "to stdout\nraw\n" in capfd.readouterr().out
    assert (await run([echo], [call("echo", '{"text":"next step"}')]))[0].text == "next step"


async def test_a_step_that_is_cancelled_stops_all_and_starts_nothing_more() -> None:
    began, heard, changed = asyncio.Event(), list[str](), list[str]()

    @tool
    async def hang() -> str:
        """Hang."""
        began.set()
        await asyncio.Event().wait()
        return "never"

    @tool(effect="writes")
    async def change(name: str) -> str:
        """Change."""
        changed.append(name)
        if name == "b":
            await asyncio.Event().wait()
        return name

    calls = [
        call("echo", '{"text":"early"}'),
        call("hang"),
        *(call("change", f'{{"name":"{name}"}}') for name in "abc"),
    ]
    tools = Toolset([echo, hang, change])
    of = Run(approver=Person())
    task = asyncio.create_task(execute_step(tools, calls, of, on_result=lambda _, result: heard.append(result.text)))
    while changed != ["a", "b"] or not began.is_set():
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (sorted(heard), changed) == (["a", "early"], ["a", "b"])


async def test_XA3_a_step_that_is_cancelled_while_the_person_looks_runs_nothing() -> None:
    asked, disk = asyncio.Event(), Disk()

    class Slow(Person):
        async def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
            asked.set()
            await asyncio.Event().wait()
            return [Approve() for _ in requests]

    calls = [call("write", '{"path":"f","text":"x"}'), call("echo")]
    heard: list[ToolCall] = []
    step = execute_step(
        Toolset([disk.tool, echo]), calls, Run(approver=Slow()), on_result=lambda one, _: heard.append(one)
    )
    task = asyncio.create_task(step)
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (disk.writes, heard) == ([], [])


async def test_XL8_two_hundred_calls_get_two_hundred_results() -> None:
    ran: list[int] = []

    @tool
    def count(number: int) -> int:
        """Count."""
        ran.append(number)
        return number

    results = await run([count], [call("count", f'{{"number":{number}}}') for number in range(200)])
    assert len(results) == 200
    assert [result.value for result in results[:MAX_CALLS_PER_STEP]] == list(range(MAX_CALLS_PER_STEP))
    assert sorted(ran) == list(range(MAX_CALLS_PER_STEP))
    assert {result.code for result in results[MAX_CALLS_PER_STEP:]} == {"too_many_calls"}
    assert results[-1].text.startswith("More than 128 calls in one turn; this one was not run.")


async def test_XL8_doubled_and_empty_ids_give_one_result_per_call() -> None:
    seen: list[str] = []

    @tool
    async def who(ctx: ToolContext) -> str:
        """Say the id."""
        seen.append(ctx.call_id)
        return ctx.call_id

    book = Book()
    results = await run([who], [call("who", call_id=name) for name in ("a", "a", "", "", "b", "a")], Run(ledger=book))
    ids = [result.text for result in results]
    assert (ids[0], ids[4]) == ("a", "b")
    assert len(set(ids)) == 6
    assert sorted(name for word, name in book.lines if word == "intent") == sorted(ids)


@given(
    names=st.lists(st.sampled_from(["", "a", "b", "call_x", "call_x_2"]) | st.text(max_size=3), max_size=12),
    taken=st.sets(st.sampled_from(["a", "call_x", "z"])),
)
def test_XL8_ids_become_unique_and_good_ones_stay(names: list[str], taken: set[str]) -> None:
    calls = [call("t", call_id=name) for name in names]
    found = [one.id for one in make_ids_unique(calls, lambda: "x", taken)]
    assert len(set(found) | taken) == len(names) + len(taken)
    assert all(found)
    for number, name in enumerate(names):
        if name and name not in taken and name not in found[:number]:
            assert found[number] == name
    again = make_ids_unique([call("t", call_id=name) for name in found], lambda: "x", taken)
    assert [one.id for one in again] == found


async def test_every_result_is_heard_of_when_it_is_there() -> None:
    heard: list[tuple[str, str]] = []
    kept = asyncio.Event()

    async def keep(one: ToolCall, result: ToolResult) -> None:
        await asyncio.sleep(0)
        heard.append((one.id, result.text))
        kept.set()

    @tool
    async def after() -> str:
        """Wait until the first result was kept."""
        await kept.wait()
        return "after"

    calls = [call("after", call_id="1"), call("echo", '{"text":"x"}', "2"), call("missing", call_id="3")]
    await execute_step(Toolset([after, echo]), calls, Run(), on_result=keep)
    assert {name for name, _ in heard} == {"1", "2", "3"}
    assert heard[-1] == ("1", "after")


@pytest.mark.parametrize("waits", [False, True])
async def test_a_listener_that_breaks_costs_no_call_its_run(waits: bool, caplog: pytest.LogCaptureFixture) -> None:
    heard: list[str] = []

    def broken(one: ToolCall, _result: ToolResult) -> None:
        heard.append(one.id)
        raise OSError(f"disk full at {one.id}")

    async def broken_later(one: ToolCall, result: ToolResult) -> None:
        await asyncio.sleep(0)
        broken(one, result)

    disk = Disk()
    calls = [call("echo", call_id="1"), call("write", '{"path":"f","text":"x"}', "2"), call("echo", call_id="3")]
    step = execute_step(
        Toolset([echo, disk.tool]), calls, Run(approver=Person()), on_result=broken_later if waits else broken
    )
    with pytest.raises(OSError, match="disk full at"):
        await step
    assert (sorted(heard), disk.writes) == (["1", "2", "3"], ["x"])
    assert caplog.text.count("who listens to results failed") == 3


async def test_XL7_names_are_looked_up_in_the_set_only() -> None:
    names = [
        "Echo",
        "ECHO",
        "__init__",
        "__class__",
        "еcho",
        "echo ",
        "",
        "exit",
        "os.system",
        "echo\x00",
        "e" * 10_000,
    ]
    for name, result in zip(names, await run([echo], [call(name) for name in names]), strict=True):
        assert (result.code, result.is_error) == ("unknown_tool", True), name
        assert "Known tools: echo." in result.text
        assert len(result.text) < 300


class Elusive(WrapperTool):
    """Whose core can be had but once."""

    asked = 0

    @property
    def core(self) -> Tool:
        self.asked += 1
        if self.asked > 1:
            raise RuntimeError("no more")
        return super().core


async def test_K3_a_wrapper_that_breaks_after_it_was_admitted_breaks_only_its_call() -> None:
    one, other = await run([Elusive(echo), fail], [call("echo", '{"text":"x"}'), call("fail")])
    assert (one.text, other.code) == ("x", "tool_error")


async def test_a_part_of_a_step_that_is_thrown_away_is_closed() -> None:
    @tool
    async def hang() -> str:
        """Hang."""
        await asyncio.sleep(0)
        return "never"

    caller = asyncio.current_task()
    assert caller is not None
    ctx, heard = ToolContext(), list[ToolResult]()
    work = _Work(call=call("hang"), ctx=ctx, tool=hang, state=admit(hang, "{}", ctx))
    running = _StepRunner(caller, lambda _, result: heard.append(result))
    part = running.run_one(work)

    async def begin() -> None:
        part.send(None)

    await asyncio.create_task(begin())
    part.close()
    assert heard == []


async def test_K43_without_anybody_to_ask_reads_go_on() -> None:
    disk = Disk()
    calls = [call("write", '{"path":"f","text":"x"}'), call("echo", '{"text":"y"}')]
    first, second = await run([disk.tool, echo], calls, Run())
    assert (first.code, second.text, disk.writes) == ("needs_approval", "y", [])


class BreaksOverLabels(WrapperTool):
    """A wrapper that cannot say what its tool brings in."""

    def __init__(self, inner: Tool, error: BaseException) -> None:
        super().__init__(inner)
        self._error = error

    @property
    def labels(self) -> Labels:
        raise self._error


async def test_XL31_beside_a_tool_whose_labels_cannot_be_read_no_rule_lets_anything_out() -> None:
    unknown, allow = BreaksOverLabels(echo, ValueError("broken")), Policy(rules=(Rule(tool="send", action="allow"),))
    calls = [call("send", '{"text":"b"}', "1"), call("echo", call_id="2")]
    sent, _ = await run([send, unknown], calls, Run(approver=None, policy=allow))
    assert sent.is_error
    [alone] = await run([send, unknown], calls[:1], Run(approver=None, policy=allow))
    assert alone.content == "sent b"


async def test_XL12_ctrl_c_while_labels_are_read_is_not_swallowed() -> None:
    pressed = BreaksOverLabels(echo, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        admit(send, '{"text":"b"}', ToolContext(), (pressed,))
