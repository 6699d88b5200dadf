"""What a call knows of the world, and that a test can replace all of it."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Awaitable
from datetime import UTC, datetime

import pytest

from toolroll import DependencyKey, Preview, Run, ToolCall, ToolContext, define_tool, tool
from toolroll.errors import DependencyError
from toolroll.kernel.call.context import Ledger, random_id, utc_now
from toolroll.kernel.call.events import KernelEvent, Progress, StateChanged

WAIT_S = 60.0
MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


async def test_K24_a_tool_gets_all_that_the_run_was_made_with() -> None:
    events: list[KernelEvent] = []
    logger = logging.getLogger("test.K24")
    run = Run(run_id="run-1", deps={"db": "memory"}, clock=lambda: MOMENT, logger=logger, on_event=events.append)
    seen: dict[str, object] = {}

    @tool("Look around.")
    async def look(ctx: ToolContext) -> str:
        ctx.progress("half", 0.5)
        ctx.progress("more")
        seen.update(deps=ctx.deps, call_id=ctx.call_id, run_id=ctx.run_id, now=ctx.now(), logger=ctx.logger)
        seen.update(cancelled=ctx.cancelled, key=await ctx.resolve(DependencyKey("seven", lambda: 7)))
        return "ok"

    result = await look.execute_raw("{}", run.context("call-1"))
    assert result.text == "ok"
    assert seen == {
        "deps": {"db": "memory"},
        "call_id": "call-1",
        "run_id": "run-1",
        "now": MOMENT,
        "logger": logger,
        "cancelled": False,
        "key": 7,
    }
    assert events == [
        Progress(call_id="call-1", message="half", fraction=0.5),
        Progress(call_id="call-1", message="more", fraction=None),
    ]


async def test_K24_without_a_run_a_call_has_one_of_its_own() -> None:
    @tool("Look around.")
    async def look(ctx: ToolContext) -> str:
        ctx.progress("nobody listens")
        return f"{ctx.run_id} {ctx.call_id} {dict(ctx.deps)}"

    first, second = (await look.execute_raw("{}")).text, (await look.execute_raw("{}")).text
    assert first != second
    assert first.endswith(" {}")
    assert ToolContext().logger.name == "toolroll.tools"


def test_K24_ids_are_long_and_the_clock_has_a_zone() -> None:
    assert len(random_id()) == 32
    assert random_id() != random_id()
    before = datetime.now(UTC)
    assert before <= utc_now() <= datetime.now(UTC)
    assert before <= ToolContext().now()


def test_K24_ids_can_be_replaced() -> None:
    ids = iter(["run", "call"])
    run = Run(make_id=lambda: next(ids))
    assert (run.run_id, run.context().call_id) == ("run", "call")


def test_K21_deps_is_a_plain_mapping_that_nobody_changes() -> None:
    given = {"db": 1}
    run = Run(deps=given)
    given["db"] = 2
    assert run.context().deps == {"db": 1}
    with pytest.raises(TypeError):
        run.deps["db"] = 3  # type: ignore[index]


async def test_K24_progress_of_a_sync_tool_crosses_over_to_the_loop() -> None:
    heard: list[tuple[KernelEvent, int]] = []
    run = Run(on_event=lambda event: heard.append((event, threading.get_ident())))

    @tool("Work.")
    def work(ctx: ToolContext) -> int:
        ctx.progress("from a thread")
        return threading.get_ident()

    result = await work.execute_raw("{}", run.context("c"))
    assert result.value != threading.get_ident()
    assert heard == [(Progress(call_id="c", message="from a thread"), threading.get_ident())]


async def test_K24_progress_of_threads_that_an_async_tool_starts_crosses_over_too() -> None:
    heard: list[int] = []
    run = Run(on_event=lambda _: heard.append(threading.get_ident()))

    @tool("Work.")
    async def work(ctx: ToolContext) -> None:
        ctx.progress("here")
        await asyncio.to_thread(ctx.progress, "there")

    await work.execute_raw("{}", run.context())
    assert heard == [threading.get_ident()] * 2


def test_K24_progress_after_the_loop_has_closed_is_dropped() -> None:
    heard: list[KernelEvent] = []
    contexts: list[ToolContext] = []

    @tool("Work.")
    def work(ctx: ToolContext) -> None:
        contexts.append(ctx)

    asyncio.run(_run(work.execute_raw("{}", Run(on_event=heard.append).context())))
    thread = threading.Thread(target=contexts[0].progress, args=("too late",))
    thread.start()
    thread.join(WAIT_S)
    assert heard == []


async def _run(work: Awaitable[object]) -> None:
    await work


async def test_K24_a_sync_tool_sees_that_it_was_cancelled() -> None:
    started, stopped = threading.Event(), threading.Event()

    @tool("Work for long.")
    def work(ctx: ToolContext) -> None:
        started.set()
        while not ctx.cancelled:
            pass
        stopped.set()

    ctx = ToolContext()
    task = asyncio.create_task(work.execute_raw("{}", ctx))
    await asyncio.to_thread(started.wait, WAIT_S)
    assert not ctx.cancelled
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(stopped.wait, WAIT_S)


async def test_K24_threads_of_a_cancelled_async_tool_see_it_as_well() -> None:
    started = asyncio.Event()

    @tool("Work for long.")
    async def work(ctx: ToolContext) -> None:
        started.set()
        await asyncio.Event().wait()

    ctx = ToolContext()
    task = asyncio.create_task(work.execute_raw("{}", ctx))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ctx.cancelled


def test_K24_cancelling_the_run_cancels_all_its_calls() -> None:
    run = Run()
    first, second = run.context(), run.context()
    first.cancel()
    assert (first.cancelled, second.cancelled) == (True, False)
    run.cancelled = True
    assert second.cancelled


def test_K24_state_is_kept_with_the_run_and_reported() -> None:
    events: list[KernelEvent] = []
    run = Run(on_event=events.append)
    run.set_state("todos", [1])
    assert run.state == {"todos": [1]}
    assert events == [StateChanged(name="todos", value=[1])]
    with pytest.raises(TypeError):
        run.state["todos"] = []  # type: ignore[index]
    Run().set_state("todos", [])  # nobody listens


async def test_K20_closing_a_run_tears_down_what_it_made_and_nothing_is_made_after() -> None:
    steps: list[str] = []

    async def connect() -> AsyncIterator[str]:
        steps.append("open")
        yield "db"
        steps.append("close")

    key: DependencyKey[str] = DependencyKey("db", connect, "run")
    async with Run() as run:
        assert await run.context().resolve(key) == "db"
        assert await run.context().resolve(key) == "db"
        assert steps == ["open"]
    assert steps == ["open", "close"]
    with pytest.raises(DependencyError, match="db was asked for after everything had been torn down"):
        await run.context().resolve(key)
    await run.aclose()
    assert steps == ["open", "close"]


def test_K22_an_override_must_be_a_function() -> None:
    with pytest.raises(DependencyError, match=r"override of db must be a function.*not 'memory'.*lambda"):
        Run(overrides={"db": "memory"})  # type: ignore[dict-item]


async def test_K24_the_context_of_define_tool_is_the_same() -> None:
    from pydantic import BaseModel

    class Nothing(BaseModel):
        pass

    made = define_tool(name="look", description="Look.", input=Nothing, execute=lambda _, ctx: ctx.call_id)
    assert (await made.execute_raw("{}", ToolContext(call_id="c9"))).text == "c9"


def test_what_was_approved_is_nothing_before_anybody_was_asked() -> None:
    ctx = ToolContext()
    ctx.has_unread_edit = True
    assert ctx.preview is None
    assert ctx.has_unread_edit
    ctx.preview = Preview.of_text("x")
    assert ctx.preview.text == "x"
    assert not ctx.has_unread_edit


def test_a_listener_cannot_swallow_ctrl_c() -> None:
    def stop(_event: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Run(on_event=stop).report(Progress(call_id="c", message="m"))


async def test_a_ledger_may_record_intents_alone() -> None:
    class Intents(Ledger):
        def __init__(self) -> None:
            self.names: list[str] = []

        async def intent(self, call: ToolCall, /) -> None:
            self.names.append(call.name)

    @tool
    def greet() -> str:
        """Greet."""
        return "hello"

    ledger = Intents()
    result = await greet.execute_raw("{}", Run(ledger=ledger).context())
    assert (result.text, ledger.names) == ("hello", ["greet"])
