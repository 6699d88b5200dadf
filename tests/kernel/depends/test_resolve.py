"""Making dependencies: once per scope, also concurrently; torn down in reverse, whatever happens."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Annotated, Any

import pytest

from toolroll import DependencyKey, Depends, Run, Tool, ToolContext, ToolFailure, ToolResult, tool
from toolroll.errors import DependencyCycle, DependencyError
from toolroll.kernel import threads

WAIT_S = 60.0
UNCLEAN = (
    "Error executing tool: it ran, but cleaning up after it failed: {0} does not close. What it did may be done or "
    "undone: look before you call it again. It had answered:"
)


async def call(made: Tool, run: Run | None = None) -> ToolResult:
    return await made.execute_raw("{}", (run or Run()).context("c"))


def using(*providers: Any, fails: BaseException | None = None) -> Tool:
    """A tool that is given what the providers make, and shows it."""

    async def show(**given: object) -> list[object]:
        if fails is not None:
            raise fails
        return list(given.values())

    names = [f"p{number}" for number in range(len(providers))]
    return tool("Show.", name="show")(with_parameters(show, dict(zip(names, providers, strict=True))))


def with_parameters(function: Callable[..., Any], needs: dict[str, Any]) -> Callable[..., Any]:
    import inspect

    kind = inspect.Parameter.KEYWORD_ONLY
    marks = {name: need if isinstance(need, Depends) else Depends(need) for name, need in needs.items()}
    function.__annotations__ = {name: Annotated[object, mark] for name, mark in marks.items()}
    function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, kind, annotation=function.__annotations__[name]) for name in needs]
    )
    return function


# --- Making ------------------------------------------------------------------------------------------------


def sync_value() -> str:
    return "sync"


async def async_value() -> str:
    return "async"


def sync_steps() -> Iterator[str]:
    yield "sync steps"


async def async_steps() -> AsyncIterator[str]:
    yield "async steps"


class Made:
    def __init__(self, value: Annotated[str, Depends(sync_value)]) -> None:
        self.value = value

    def method(self) -> str:
        return "method"


def show_made(made: Annotated[Made, Depends(Made)]) -> str:
    return f"made of {made.value}"


async def test_K20_providers_of_every_kind_are_given_to_a_tool() -> None:
    providers = (sync_value, async_value, sync_steps, async_steps, show_made, Made("x").method, lambda: async_value())  # noqa: PLW0108 - on purpose
    assert (await call(using(*providers))).value == [
        "sync",
        "async",
        "sync steps",
        "async steps",
        "made of sync",
        "method",
        "async",
    ]


async def test_K20_a_sync_tool_is_given_them_too() -> None:
    @tool("Show.")
    def show(a: Annotated[str, Depends(async_value)], ctx: ToolContext, b: Annotated[str, Depends(sync_steps)]) -> str:
        return f"{a}, {b}, {ctx.call_id}"

    assert (await call(show)).text == "async, sync steps, c"


async def test_K20_a_provider_may_be_given_the_context() -> None:
    async def whose(ctx: ToolContext) -> str:
        return ctx.call_id

    assert (await call(using(whose))).value == ["c"]


async def test_K5_a_sync_provider_does_not_block_the_loop() -> None:
    beat = threading.Event()

    def slow() -> bool:
        return beat.wait(WAIT_S)

    def slow_steps() -> Iterator[bool]:
        yield beat.wait(WAIT_S)

    asyncio.get_running_loop().call_later(0, beat.set)
    assert (await call(using(slow, slow_steps))).value == [True, True]


async def test_K20_a_provider_that_fails_is_an_error_result() -> None:
    def broken() -> int:
        raise ValueError("no database today")

    result = await call(using(broken))
    assert (result.is_error, result.text) == (True, "Error executing tool: no database today")


# --- Tearing down -------------------------------------------------------------------------------------------


class Trace:
    """Providers that write down what they do."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def sync(self, name: str, *, fails: str = "") -> Callable[[], Iterator[str]]:
        def steps() -> Iterator[str]:
            self.steps.append(f"open {name}")
            if fails == "open":
                raise ValueError(f"{name} does not open")
            yield name
            self.steps.append(f"close {name}")
            if fails == "close":
                raise ValueError(f"{name} does not close")

        return steps

    def later(self, name: str, *, fails: str = "") -> Callable[[], AsyncIterator[str]]:
        inner = self.sync(name, fails=fails)

        async def steps() -> AsyncIterator[str]:
            for value in inner():
                yield value

        return steps


KINDS = pytest.mark.parametrize("kind", ["sync", "later"])


@KINDS
async def test_K20_tear_down_runs_in_reverse_order(kind: str) -> None:
    trace = Trace()
    make = getattr(trace, kind)
    assert not (await call(using(make("a"), make("b"), make("c")))).is_error
    assert trace.steps == ["open a", "open b", "open c", "close c", "close b", "close a"]


async def test_K20_a_provider_is_torn_down_before_what_it_stands_on() -> None:
    steps: list[str] = []

    def connect() -> Iterator[str]:
        yield "db"
        steps.append("close db")

    async def begin(db: Annotated[str, Depends(connect)]) -> AsyncIterator[str]:
        yield f"transaction on {db}"
        steps.append(f"commit on {db}")

    assert (await call(using(begin))).value == ["transaction on db"]
    assert steps == ["commit on db", "close db"]


@KINDS
@pytest.mark.parametrize("error", [ValueError("boom"), ToolFailure("no"), SystemExit(3)])
async def test_K20_tear_down_runs_after_an_error_in_the_tool(kind: str, error: BaseException) -> None:
    trace = Trace()
    result = await call(using(getattr(trace, kind)("a"), fails=error))
    assert result.is_error
    assert trace.steps == ["open a", "close a"]


@KINDS
async def test_K20_tear_down_runs_after_an_error_in_another_provider(kind: str) -> None:
    trace = Trace()
    make = getattr(trace, kind)
    result = await call(using(make("a"), make("b", fails="open"), make("c")))
    assert result.text == "Error executing tool: b does not open"
    assert trace.steps == ["open a", "open b", "close a"]


@KINDS
async def test_K20_tear_down_runs_after_cancellation(kind: str) -> None:
    trace, started = Trace(), asyncio.Event()

    async def wait() -> None:
        started.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(call(using(getattr(trace, kind)("a"), wait)))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert trace.steps == ["open a", "close a"]


@KINDS
async def test_K20_a_tear_down_that_fails_fails_the_call_and_the_others_run(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    """What it should have done (a commit, say) has not happened; what the tool answered is told all the same."""
    trace = Trace()
    make = getattr(trace, kind)
    made = using(make("a"), make("b", fails="close"), make("c"))
    result = await call(made)
    assert (result.is_error, result.code) == (True, "cleanup_failed")
    assert result.text == f'{UNCLEAN.format("b")}\n["a","b","c"]'
    assert result.value == ["a", "b", "c"]
    assert trace.steps[3:] == ["close c", "close b", "close a"]
    [record] = caplog.records
    assert record.message.startswith(f"tool {made.name} has run, and cleaning up after it failed\nTraceback")


@KINDS
async def test_K20_after_an_error_in_the_tool_that_one_is_reported(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    make = getattr(Trace(), kind)
    result = await call(using(make("a", fails="close"), fails=ToolFailure("read this")))
    assert (result.text, result.code) == ("read this", "tool_failed")
    [record] = [record for record in caplog.records if "tear-down" in record.message]
    assert record.levelno == logging.ERROR
    assert "a does not close" in record.message


async def test_K20_a_cancellation_is_not_lost_to_a_failing_tear_down() -> None:
    started = asyncio.Event()

    async def wait() -> None:
        started.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(call(using(Trace().later("a", fails="close"), wait)))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@KINDS
async def test_K20_a_provider_that_never_yields_is_an_error(kind: str) -> None:
    def never() -> Iterator[int]:
        yield from ()

    async def never_later() -> AsyncIterator[int]:
        for value in never():
            yield value

    result = await call(using(never if kind == "sync" else never_later))
    assert result.is_error
    assert "ended without a yield. Yield the value once." in result.text


@KINDS
async def test_K20_a_provider_that_yields_twice_is_an_error_and_is_closed(kind: str) -> None:
    closed: list[str] = []

    def twice() -> Iterator[int]:
        try:
            yield 1
            yield 2
        finally:
            closed.append("sync")

    async def twice_later() -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            closed.append("later")

    result = await call(using(twice if kind == "sync" else twice_later))
    assert result.is_error
    assert "yields more than once" in result.text
    assert closed == [kind]


async def test_K20_a_set_up_that_is_cancelled_in_its_thread_is_undone_there() -> None:
    opened, go_on, closed = threading.Event(), threading.Event(), threading.Event()

    def connect() -> Iterator[str]:
        opened.set()
        go_on.wait(WAIT_S)
        yield "db"
        closed.set()

    task = asyncio.create_task(call(using(connect)))
    await asyncio.to_thread(opened.wait, WAIT_S)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not closed.is_set()
    go_on.set()
    assert await asyncio.to_thread(closed.wait, WAIT_S)


async def test_K20_a_set_up_that_ends_just_as_it_is_cancelled_is_undone_too(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = Trace()
    report = threads._Job.report

    def cancel_first(job: "threads._Job[object]") -> None:
        if trace.steps == ["open a"]:
            asyncio.run_coroutine_threadsafe(cancel(), loop).result(WAIT_S)
        report(job)

    async def cancel() -> None:
        task.cancel()

    loop = asyncio.get_running_loop()
    monkeypatch.setattr(threads._Job, "report", cancel_first)
    task = asyncio.create_task(call(using(trace.sync("a"))))
    with pytest.raises(asyncio.CancelledError):
        await task
    assert trace.steps == ["open a", "close a"]


async def test_K20_tear_down_may_still_use_what_it_stands_on() -> None:
    key: DependencyKey[str] = DependencyKey("log", lambda: "log")
    used: list[str] = []

    async def connect(ctx: ToolContext) -> AsyncIterator[str]:
        await ctx.resolve(key)
        yield "db"
        used.append(await ctx.resolve(key))
        with pytest.raises(DependencyError, match="after everything had been torn down"):
            await ctx.resolve(DependencyKey("other", lambda: "made too late"))

    assert not (await call(using(connect))).is_error
    assert used == ["log"]


# --- Overrides ----------------------------------------------------------------------------------------------


async def test_K22_an_override_by_function_wins_for_this_run_only() -> None:
    made = using(sync_value)
    assert (await call(made, Run(overrides={sync_value: lambda: "fake"}))).value == ["fake"]
    assert (await call(made)).value == ["sync"]


async def test_K22_an_override_reaches_what_other_providers_need() -> None:
    assert (await call(using(show_made), Run(overrides={sync_value: lambda: "fake"}))).value == ["made of fake"]


async def test_K22_an_override_by_id_wins_over_the_key() -> None:
    key: DependencyKey[str] = DependencyKey("db", sync_value)
    assert await Run(overrides={"db": lambda: "fake"}).context().resolve(key) == "fake"
    assert await Run(overrides={sync_value: lambda: "by function"}).context().resolve(key) == "by function"
    both: dict[Callable[..., Any] | str | DependencyKey[Any], Callable[..., Any]] = {
        "db": lambda: "by id",
        sync_value: lambda: "by function",
    }
    assert await Run(overrides=both).context().resolve(key) == "by id"
    assert (await call(using(Depends(key)), Run(overrides={"db": lambda: "fake"}))).value == ["fake"]


async def test_K22_an_override_may_have_steps_and_needs_of_its_own() -> None:
    steps: list[str] = []

    async def fake(real: Annotated[str, Depends(async_value)], ctx: ToolContext) -> AsyncIterator[str]:
        yield f"fake over {real} in {ctx.call_id}"
        steps.append("closed")

    assert (await call(using(sync_value), Run(overrides={sync_value: fake}))).value == ["fake over async in c"]
    assert steps == ["closed"]


async def test_K22_an_override_that_needs_what_it_replaces_is_a_cycle() -> None:
    def louder(value: Annotated[str, Depends(sync_value)]) -> str:
        return value.upper()

    result = await call(using(sync_value), Run(overrides={sync_value: louder}))
    assert (result.code, result.text) == (
        "dependency_cycle",
        "Error executing tool: Dependencies form a cycle: sync_value -> sync_value. Break it at one of them.",
    )


async def test_K22_K23_an_override_cannot_make_a_run_stand_on_a_call() -> None:
    run = Run(overrides={async_value: show_made})
    result = await call(using(Depends(async_value, "run")), run)
    assert result.code == "dependency"
    assert "async_value lives for the whole run but needs Made, which ends with each call" in result.text


# --- Scopes -------------------------------------------------------------------------------------------------


class Counter:
    def __init__(self) -> None:
        self.made = 0

    async def make(self) -> int:
        self.made += 1
        await asyncio.sleep(0)
        return self.made


async def test_K23_a_value_is_made_once_per_call() -> None:
    counter, run = Counter(), Run()

    async def double(value: Annotated[int, Depends(counter.make)]) -> int:
        return value * 2

    made = using(counter.make, double, counter.make)
    assert (await call(made, run)).value == [1, 2, 1]
    assert (await call(made, run)).value == [2, 4, 2]


async def test_K23_a_value_is_made_once_per_run() -> None:
    counter, run = Counter(), Run()
    made = using(Depends(counter.make, "run"))
    assert [(await call(made, run)).value for _ in range(3)] == [[1], [1], [1]]
    assert (await call(made)).value == [2]


async def test_K23_fifty_concurrent_calls_share_one_value() -> None:
    counter, run = Counter(), Run()
    made = using(Depends(counter.make, "run"))
    results = await asyncio.gather(*(call(made, run) for _ in range(50)))
    assert [result.value for result in results] == [[1]] * 50
    assert counter.made == 1


async def test_K23_run_scoped_values_outlive_the_call_and_end_with_the_run() -> None:
    trace = Trace()
    async with Run() as run:
        made = using(Depends(trace.later("a"), "run"), trace.sync("b"))
        await call(made, run)
        await call(made, run)
        assert trace.steps == ["open a", "open b", "close b", "open b", "close b"]
    assert trace.steps[-1] == "close a"


async def test_K23_a_maker_that_fails_leaves_the_work_to_the_next() -> None:
    attempts: list[int] = []

    async def flaky() -> int:
        attempts.append(1)
        attempt = len(attempts)
        await asyncio.sleep(0)
        if attempt == 1:
            raise ValueError("first attempt")
        return attempt

    run = Run()
    made = using(Depends(flaky, "run"))
    results = await asyncio.gather(*(call(made, run) for _ in range(5)))
    assert [result.is_error for result in results] == [True, False, False, False, False]
    assert {str(result.value) for result in results[1:]} == {"[2]"}
    assert len(attempts) == 2


async def test_K23_a_maker_that_is_cancelled_leaves_the_work_to_the_next() -> None:
    started, go_on = asyncio.Event(), asyncio.Event()
    attempts: list[int] = []

    async def slow() -> int:
        attempts.append(1)
        attempt = len(attempts)
        started.set()
        await go_on.wait()
        return attempt

    run = Run()
    made = using(Depends(slow, "run"))
    first = asyncio.create_task(call(made, run))
    await started.wait()
    others = [asyncio.create_task(call(made, run)) for _ in range(5)]
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    go_on.set()
    assert [result.value for result in await asyncio.gather(*others)] == [[2]] * 5
    assert len(attempts) == 2


async def test_K23_one_who_waits_may_be_cancelled_without_harm_to_the_maker() -> None:
    started, go_on = asyncio.Event(), asyncio.Event()

    async def slow() -> str:
        started.set()
        await go_on.wait()
        return "made"

    run = Run()
    made = using(Depends(slow, "run"))
    first = asyncio.create_task(call(made, run))
    await started.wait()
    second = asyncio.create_task(call(made, run))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    go_on.set()
    assert (await first).value == ["made"]


async def test_K23_a_run_that_closes_while_a_value_is_made_undoes_it() -> None:
    trace, started, go_on = Trace(), asyncio.Event(), asyncio.Event()

    async def connect() -> AsyncIterator[str]:
        started.set()
        await go_on.wait()
        trace.steps.append("open")
        yield "db"
        trace.steps.append("close")

    run = Run()
    task = asyncio.create_task(call(using(Depends(connect, "run")), run))
    await started.wait()
    await run.aclose()
    go_on.set()
    result = await task
    assert "was asked for after everything had been torn down" in result.text
    assert trace.steps == ["open", "close"]


# --- Cycles that only running shows -------------------------------------------------------------------------


KEYS: dict[str, "DependencyKey[str]"] = {}


async def make_a(ctx: ToolContext) -> str:
    return await ctx.resolve(KEYS["b"])


async def make_b(ctx: ToolContext) -> str:
    return await ctx.resolve(KEYS["c"])


async def make_c(ctx: ToolContext) -> str:
    return await ctx.resolve(KEYS["a"])


@pytest.mark.parametrize("scope", ["call", "run"])
async def test_K23_providers_that_resolve_each_other_are_a_named_cycle(scope: Any) -> None:
    KEYS.update({name: DependencyKey(name, make, scope) for name, make in zip("abc", MAKERS, strict=True)})
    with pytest.raises(DependencyCycle) as caught:
        await Run().context().resolve(KEYS["a"])
    assert caught.value.cycle == ("c", "a", "b", "c")


MAKERS = (make_a, make_b, make_c)


async def test_K23_two_calls_whose_values_wait_for_each_other_do_not_hang() -> None:
    begun: list[str] = []
    both = asyncio.Event()

    def crossed(other: str) -> Callable[[ToolContext], Any]:
        async def make(ctx: ToolContext) -> str:
            begun.append(other)
            if len(begun) == 2:
                both.set()
            await both.wait()
            return await ctx.resolve(KEYS[other])

        return make

    KEYS.update(
        left=DependencyKey("left", crossed("right"), "run"), right=DependencyKey("right", crossed("left"), "run")
    )
    run = Run()
    tasks = [run.context().resolve(KEYS["left"]), run.context().resolve(KEYS["right"])]
    outcomes = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), WAIT_S)
    cycles = [outcome.cycle for outcome in outcomes if isinstance(outcome, DependencyCycle)]
    assert cycles
    assert set(cycles) <= {("left", "right", "left"), ("right", "left", "right")}


async def test_K23_a_cycle_is_found_beside_other_waiting() -> None:
    go_on = asyncio.Event()

    async def make_slow() -> str:
        await go_on.wait()
        return "slow"

    async def make_first(ctx: ToolContext) -> object:
        slow: DependencyKey[str] = DependencyKey("slow", make_slow)
        back: DependencyKey[object] = DependencyKey("back", make_back)
        found = await asyncio.gather(ctx.resolve(slow), ctx.resolve(back), return_exceptions=True)
        return found[1]

    async def make_back(ctx: ToolContext) -> object:
        go_on.set()
        return await ctx.resolve(first)

    first: DependencyKey[object] = DependencyKey("first", make_first)
    error = await Run().context().resolve(first)
    assert isinstance(error, DependencyCycle)
    assert error.cycle == ("back", "first", "back")


async def test_K23_a_value_that_many_wait_for_along_several_ways_is_no_cycle() -> None:
    counter = Counter()
    base: DependencyKey[int] = DependencyKey("base", counter.make, "run")

    async def left(ctx: ToolContext) -> int:
        return await ctx.resolve(base)

    async def both(ctx: ToolContext) -> int:
        ways = (base, base, DependencyKey[int]("left", left, "run"))
        return sum(await asyncio.gather(*(ctx.resolve(key) for key in ways)))

    assert await Run().context().resolve(DependencyKey[int]("both", both, "run")) == 3
    assert counter.made == 1


async def test_K23_a_value_for_the_run_cannot_resolve_one_of_the_call() -> None:
    inner: DependencyKey[str] = DependencyKey("inner", sync_value)

    async def outer(ctx: ToolContext) -> str:
        return await ctx.resolve(inner)

    with pytest.raises(DependencyError, match="outer lives for the whole run but needs inner"):
        await Run().context().resolve(DependencyKey("outer", outer, "run"))


async def test_K23_a_provider_may_run_a_whole_tool_with_values_of_its_own() -> None:
    inner = using(sync_value)
    run = Run()

    async def report() -> object:
        return (await call(inner, run)).value

    assert (await call(using(Depends(report, "run")), run)).value == [["sync"]]


async def test_K23_a_tool_run_by_a_provider_that_needs_its_value_is_a_cycle() -> None:
    """The way leads through the values of two calls and of the run, and back."""
    run, tools = Run(), list[Tool]()

    async def report() -> object:
        return (await asyncio.wait_for(call(tools[0], run), WAIT_S)).text

    def wrap(value: Annotated[object, Depends(report, "run")]) -> object:
        return value

    tools.append(using(wrap))
    text = str((await asyncio.wait_for(call(tools[0], run), WAIT_S)).value)
    assert "Dependencies form a cycle" in text
    assert "wrap" in text


async def test_K23_a_task_that_a_provider_leaves_running_makes_values_freely() -> None:
    inner: DependencyKey[str] = DependencyKey("inner", sync_value)
    made, tasks = asyncio.Event(), list["asyncio.Task[str]"]()

    async def later(ctx: ToolContext) -> str:
        await made.wait()
        return await ctx.resolve(inner)

    async def outer(ctx: ToolContext) -> str:
        tasks.append(asyncio.create_task(later(ctx)))
        return "outer"

    ctx = Run().context()
    assert await ctx.resolve(DependencyKey[str]("outer", outer, "run")) == "outer"
    made.set()
    assert await tasks[0] == "sync"


async def test_K21_a_value_asked_for_by_key_is_made_once_and_torn_down_with_the_call() -> None:
    trace = Trace()
    key: DependencyKey[str] = DependencyKey("a", trace.later("a"))

    @tool("Ask twice.")
    async def ask(ctx: ToolContext) -> str:
        return await ctx.resolve(key) + await ctx.resolve(key)

    assert (await call(ask)).text == "aa"
    assert trace.steps == ["open a", "close a"]


async def test_K21_a_context_that_nobody_closes_can_be_closed_by_hand() -> None:
    trace = Trace()
    ctx = Run().context()
    await ctx.aclose()
    await ctx.resolve(DependencyKey[str]("a", trace.sync("a", fails="close")))
    with pytest.raises(ValueError, match="a does not close"):
        await ctx.aclose()
    await ctx.aclose()
    assert trace.steps == ["open a", "close a"]
