"""Wrappers: each forwards everything and changes one thing; timeouts hold whatever a tool does (K5, XL12)."""

import asyncio
import gc
import inspect
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from tests.kernel.stand_ins import Disk, Person
from tests.support.clock import time_passes
from typing_extensions import TypedDict

from toolroll.errors import DefinitionError, PermitRefused, ToolTimeout
from toolroll.kernel.approval.permit import Permit
from toolroll.kernel.approval.policy import Policy, Rule
from toolroll.kernel.approval.request import Effect, Preview
from toolroll.kernel.call.context import Run, ToolContext
from toolroll.kernel.call.result import CallOutcome
from toolroll.kernel.data.labels import Labels
from toolroll.kernel.define import wrappers
from toolroll.kernel.define.decorator import define_tool, tool
from toolroll.kernel.define.tool import Tool
from toolroll.kernel.define.wrappers import (
    ApprovalTool,
    RenamedTool,
    TimeoutTool,
    WrapperTool,
    filtered,
    labelled,
    prefixed,
    renamed,
    with_approval,
    with_timeout,
)

PREVIEW = Preview.of_text("shown")
DERIVED = {"definition", "describe", "execute_raw"}
"""What a tool works out from the rest; a wrapper's own is right."""


@tool
def greet(name: str) -> str:
    """Greet somebody."""
    return name


class Words(TypedDict):
    text: str


class Inside(Tool):
    """Answers each question in its own way, and remembers what it was told."""

    name, description, parameters = "inside", "of inside", {"type": "object"}
    effect: Effect = "external"
    labels: Labels = frozenset({"private"})
    asks = True
    has_condition = True
    can_be_stopped = False
    loop_guard = False
    inner_tools = (greet,)

    def __init__(self) -> None:
        self.told: list[object] = []

    @property
    def core(self) -> Tool:
        return self

    def validate(self, raw: str) -> object:
        return ("validated", raw)

    def paths(self, arguments: object) -> tuple[str, ...]:
        return ("path of", str(arguments))

    @property
    def locates(self) -> bool:
        return True

    async def locate(self, paths: tuple[str, ...], ctx: ToolContext) -> tuple[str, ...]:
        self.told.append((paths, ctx))
        return tuple(f"{path} leads here" for path in paths)

    def fields(self, arguments: object) -> Mapping[str, object]:
        return {"field of": arguments}

    def why(self, arguments: object) -> str:
        return f"why {arguments}"

    def failure_content(self, message: str) -> object:
        return {"failed": message}

    async def find_outcome(self, ctx: ToolContext) -> CallOutcome | None:
        self.told.append(ctx)
        return CallOutcome(state="done", text="found")

    async def preview(self, arguments: object, ctx: ToolContext, edited: str | None = None) -> Preview:
        self.told.append((arguments, ctx, edited))
        return PREVIEW

    def invoke(self, permit: Permit, ctx: ToolContext) -> Awaitable[object]:
        self.told.append((permit, ctx))
        return asyncio.sleep(0, result="invoked")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return ("called", args, kwargs)


class Pass(Permit):
    """A permit to look at: the tool inside does not redeem it."""

    __slots__ = ()

    def __init__(self) -> None:
        self._granted = "person"
        self._preview = None
        self._seal = "x"

    def _require_same(self, name: str) -> None:
        return


async def members(one: Tool, permit: Permit, ctx: ToolContext) -> dict[str, object]:
    """Everything a tool says and does, by name."""
    return {
        "name": one.name,
        "description": one.description,
        "parameters": one.parameters,
        "effect": one.effect,
        "labels": one.labels,
        "core": one.core,
        "asks": one.asks,
        "can_be_stopped": one.can_be_stopped,
        "has_condition": one.has_condition,
        "needs_approval": one.needs_approval(1, ctx),
        "fields": one.fields(1),
        "loop_guard": one.loop_guard,
        "inner_tools": one.inner_tools,
        "needs": one.needs,
        "validate": one.validate("raw"),
        "paths": one.paths(1),
        "locates": one.locates,
        "locate": await one.locate(("a",), ctx),
        "failure_content": one.failure_content("no"),
        "find_outcome": await one.find_outcome(ctx),
        "why": one.why(1),
        "preview": await one.preview(1, ctx, "edit"),
        "invoke": await one.invoke(permit, ctx),
    }


@pytest.mark.parametrize(
    ("wrap", "changed"),
    [
        (WrapperTool, {}),
        (lambda inner: RenamedTool(inner, "other"), {"name": "other"}),
        (ApprovalTool, {"asks": True}),
        (lambda inner: TimeoutTool(inner, 10), {}),
        (lambda inner: labelled(inner, "untrusted"), {"labels": {"private", "untrusted"}}),
        (lambda inner: WrapperTool(ApprovalTool(TimeoutTool(RenamedTool(inner, "x"), 5))), {"name": "x"}),
    ],
    ids=["plain", "renamed", "approval", "timeout", "labelled", "stack"],
)
async def test_a_wrapper_forwards_everything_but_what_it_is_for(
    wrap: Callable[[Tool], Tool], changed: Mapping[str, object]
) -> None:
    inside, permit, ctx = Inside(), Pass(), ToolContext()
    expected = await members(inside, permit, ctx)
    public = {name for name in dir(Tool) if not name.startswith("_")}
    assert public == expected.keys() | DERIVED
    told = inside.told.copy()
    inside.told.clear()
    wrapped = wrap(inside)
    assert await members(wrapped, permit, ctx) == {**expected, **changed}
    assert inside.told == told
    assert wrapped(1, a=2) == ("called", (1,), {"a": 2})
    assert wrapped.definition.name == changed.get("name", "inside")
    assert wrapped.definition.parameters == inside.parameters


def test_K1_a_wrapped_function_still_looks_like_itself() -> None:
    def greet(name: str, times: int = 1) -> str:
        """Greet somebody."""
        return name * times

    one = with_approval(with_timeout(renamed(tool(greet), "hello"), 5))
    assert one("a", times=2) == "aa"
    assert (one.__doc__, getattr(one, "__name__", None), one.name) == ("Greet somebody.", "greet", "hello")
    assert inspect.signature(one) == inspect.signature(greet)
    plain = with_approval(define_tool(name="d", description="d", input=Words, execute=lambda given, ctx: "x"))
    assert not hasattr(plain, "__wrapped__")


@tool
def look(path: str) -> str:
    """Look."""
    return f"seen {path}"


async def test_tools_are_renamed_prefixed_and_filtered() -> None:
    other = renamed(look, "peek")
    assert (other.name, other.definition.name, look.name) == ("peek", "peek", "look")
    assert (await other.execute_raw('{"path":"a"}')).text == "seen a"
    named = prefixed([look, other], "files_")
    assert [one.name for one in named] == ["files_look", "files_peek"]
    assert filtered([look, other], lambda one: one.name == "peek") == [other]
    assert repr(other) == "<tool peek (reads)>"


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "é"])
def test_K4_a_new_name_is_checked(name: str) -> None:
    with pytest.raises(DefinitionError, match="cannot be named"):
        renamed(look, name)
    with pytest.raises(DefinitionError, match="cannot be named"):
        prefixed([look], "é")


async def test_K40_with_approval_does_not_take_the_tools_word_for_it() -> None:
    class Quiet(WrapperTool):
        @property
        def asks(self) -> bool:
            return False

    result = await Quiet(with_approval(look)).execute_raw('{"path":"a"}', Run(approver=Person()).context())
    assert (result.code, result.text) == (
        "permit_refused",
        "Error executing tool: look needs a person's approval, and nobody was asked.",
    )


async def test_K40_with_approval_asks_whatever_a_rule_allows() -> None:
    class Quiet(WrapperTool):
        @property
        def asks(self) -> bool:
            return False

    class Mute(Quiet):
        def needs_approval(self, arguments: object, ctx: ToolContext) -> bool | None:
            return None

    person, policy = Person(), Policy((Rule(action="allow"),))
    for _ in range(2):
        result = await with_approval(look).execute_raw('{"path":"a"}', Run(approver=person, policy=policy).context())
        assert result.text == "seen a"
    assert len(person.asked) == 2
    assert (await with_approval(look).execute_raw("{}", Run(policy=policy).context())).is_error
    for wrapper, code in ((Quiet, "needs_approval"), (Mute, "permit_refused")):
        result = await wrapper(with_approval(look)).execute_raw('{"path":"a"}', Run(policy=policy).context())
        assert result.code == code
    denied = Run(approver=person, policy=policy.plus([Rule(action="deny", tool="look")]))
    assert (await with_approval(look).execute_raw('{"path":"a"}', denied.context())).code == "denied"


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), -float("inf")])
def test_K5_a_timeout_is_a_number_of_seconds(seconds: float) -> None:
    with pytest.raises(DefinitionError, match="a timeout is a number of seconds above 0"):
        with_timeout(look, seconds)


@pytest.fixture
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrappers, "CANCEL_GRACE_S", 0.01)


@pytest.fixture
async def complaints() -> list[dict[str, Any]]:
    """What the event loop would print: exceptions that nobody looked at."""
    found: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: found.append(context))
    return found


def stopped(name: str) -> str:
    return f"{name} did not end within 0.01 seconds and was stopped."


def left(name: str) -> str:
    return f"{name} did not end within 0.01 seconds; it may still be running."


async def test_K5_a_tool_in_time_is_not_disturbed() -> None:
    result = await with_timeout(look, 5).execute_raw('{"path":"a"}')
    assert result.text == "seen a"

    @tool(timeout=5)
    async def fail() -> str:
        """Fail."""
        raise ValueError("its own")

    assert (await fail.execute_raw("{}")).text == "Error executing tool: its own"


async def test_K5_XL12_a_tool_that_hangs_is_stopped() -> None:
    seen: list[str] = []

    @tool(timeout=0.01)
    async def hang(ctx: ToolContext) -> str:
        """Hang."""
        try:
            await asyncio.Event().wait()
        finally:
            seen.append("cleaned up, cancelled" if ctx.cancelled else "not told")
        return "never"

    result = await hang.execute_raw("{}")
    assert (result.text, result.code, result.is_error) == (stopped("hang"), "timeout", True)
    assert seen == ["cleaned up, cancelled"]


async def test_K5_XL12_a_sync_tool_that_hangs_is_left_to_finish_alone(short_grace: None) -> None:
    began, go_on, told = threading.Event(), threading.Event(), threading.Event()

    @tool(timeout=60)
    def hang(ctx: ToolContext) -> str:
        """Hang."""
        began.set()
        go_on.wait(60)
        if ctx.cancelled:
            told.set()
        return "late"

    call = asyncio.create_task(hang.execute_raw("{}"))
    assert await asyncio.to_thread(began.wait, 60)  # else its time may be up before a thread takes it
    time_passes(60)
    result = await call
    assert result.text == "hang did not end within 60 seconds; it may still be running."
    assert result.code == "timeout"
    go_on.set()
    assert await asyncio.to_thread(told.wait, 60)


@pytest.mark.parametrize("ends", ["returns", "raises", "exits"])
async def test_XL12_a_tool_that_ignores_cancellation_is_left_behind(
    ends: str, short_grace: None, complaints: list[dict[str, Any]]
) -> None:
    let_go, ended = asyncio.Event(), asyncio.Event()

    @tool(timeout=0.01)
    async def stubborn() -> str:
        """Ignore cancellation."""
        try:
            while not let_go.is_set():
                try:
                    await let_go.wait()
                except asyncio.CancelledError:
                    continue
            if ends == "raises":
                raise ValueError("late")
            if ends == "exits":
                raise SystemExit(1)
            return "late"
        finally:
            ended.set()

    result = await stubborn.execute_raw("{}")
    assert (result.text, result.code) == (left("stubborn"), "timeout")
    let_go.set()
    await ended.wait()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    gc.collect()
    assert complaints == []


async def test_XL12_a_tool_that_exits_fails_alone() -> None:
    @tool(timeout=5)
    async def leave() -> str:
        """Exit."""
        raise SystemExit(3)

    @tool(timeout=5)
    def leave_too() -> str:
        """Exit."""
        raise SystemExit("bye")

    assert (await leave.execute_raw("{}")).text == "Error executing tool: the tool tried to exit the program (3)"
    assert (await leave_too.execute_raw("{}")).text == "Error executing tool: the tool tried to exit the program (bye)"


async def test_XL12_a_tool_that_cancels_itself_has_failed() -> None:
    @tool(timeout=5)
    async def give_up() -> str:
        """Give up."""
        raise asyncio.CancelledError

    assert (await give_up.execute_raw("{}")).text == "Error executing tool: CancelledError"


async def test_K3_cancelling_the_call_cancels_the_tool() -> None:
    began, seen = asyncio.Event(), list[str]()

    @tool(timeout=60)
    async def hang(ctx: ToolContext) -> str:
        """Hang."""
        began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append(f"cancelled {ctx.cancelled}")
            raise
        return "never"

    task = asyncio.create_task(hang.execute_raw("{}"))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["cancelled True"]


async def test_XL12_cancelling_twice_does_not_wait_for_a_stubborn_tool(complaints: list[dict[str, Any]]) -> None:
    began, again, let_go = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @tool(timeout=60)
    async def stubborn() -> str:
        """Ignore cancellation."""
        began.set()
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                again.set()
        raise ValueError("late")

    task = asyncio.create_task(stubborn.execute_raw("{}"))
    await began.wait()
    task.cancel()
    await again.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    let_go.set()
    for _ in range(5):
        await asyncio.sleep(0)
    del task
    gc.collect()
    assert complaints == []


async def test_K5_a_preview_that_hangs_is_stopped_too() -> None:
    async def hang(_arguments: Mapping[str, object], _ctx: ToolContext, _edited: str | None) -> Preview:
        await asyncio.Event().wait()
        return PREVIEW

    ran: list[str] = []

    @tool(effect="writes", timeout=0.01, preview=hang)
    async def write(path: str) -> str:
        """Write."""
        ran.append(path)
        return "written"

    person = Person()
    result = await write.execute_raw('{"path":"a"}', Run(approver=person).context())
    assert (result.code, person.asked, ran) == ("timeout", [], [])
    assert result.text == "The preview of write did not end within 0.01 seconds. Nothing was done."


async def test_XA3_what_starts_after_its_time_is_up_does_not_run(short_grace: None) -> None:
    """A wrapper that ignores its cancellation cannot make the change later: the permit has expired."""
    let_go, refused = asyncio.Event(), asyncio.Event()

    class Late(WrapperTool):
        async def invoke(self, permit: Permit, ctx: ToolContext) -> object:
            while not let_go.is_set():
                try:
                    await let_go.wait()
                except asyncio.CancelledError:
                    continue
            try:
                return await self._inner.invoke(permit, ctx)
            except PermitRefused:
                refused.set()
                raise

    disk = Disk()
    late = with_timeout(Late(disk.tool), 0.01)
    result = await late.execute_raw('{"path":"f","text":"x"}', Run(approver=Person()).context())
    assert result.code == "timeout"
    let_go.set()
    await refused.wait()
    assert disk.writes == []


async def test_K5_the_shorter_of_two_timeouts_counts() -> None:
    @tool(timeout=60)
    async def hang() -> str:
        """Hang."""
        await asyncio.Event().wait()
        return "never"

    assert (await with_timeout(hang, 0.01).execute_raw("{}")).text == stopped("hang")


@pytest.mark.parametrize(("seconds", "words"), [(1, "1 second"), (0.5, "0.5 seconds"), (2, "2 seconds")])
async def test_K5_a_timeout_is_told_in_good_words(
    seconds: float, words: str, monkeypatch: pytest.MonkeyPatch, short_grace: None
) -> None:
    class Hangs(Inside):
        can_be_stopped = Tool.can_be_stopped

        def invoke(self, permit: Permit, ctx: ToolContext) -> Awaitable[object]:
            return asyncio.Event().wait()

    one: Tool = TimeoutTool(Hangs(), seconds)
    wait = asyncio.wait
    monkeypatch.setattr(asyncio, "wait", lambda tasks, timeout: wait(tasks, timeout=timeout / 100))
    with pytest.raises(ToolTimeout, match=f"inside did not end within {words} and was stopped."):
        await one.invoke(Pass(), ToolContext())


def test_A47_a_tool_says_whether_its_calls_may_be_repeated() -> None:
    assert Tool.loop_guard.fget(Inside()) is True  # type: ignore[attr-defined]  # a property, which Inside overrides
