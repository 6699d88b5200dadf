"""What providers learn when a call fails, and on which thread they run."""

import asyncio
import sqlite3
import threading
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path
from typing import Annotated

import pytest
from tests.kernel.depends.test_resolve import KINDS, UNCLEAN, WAIT_S, Trace, call, using, with_parameters

from toolroll import DependencyKey, Depends, Done, Run, ToolContext, ToolFailure, ToolResult, tool

# --- After an error -----------------------------------------------------------------------------------------


class Transactions:
    """Providers that commit or roll back, each with its `yield` at another place."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    @contextmanager
    def noted(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self.steps.append(f"rollback {type(error).__name__}")
            raise
        self.steps.append("commit")

    def in_try(self) -> Iterator[str]:
        try:
            yield "db"
        except BaseException as error:
            self.steps.append(f"rollback {type(error).__name__}")
            raise
        else:
            self.steps.append("commit")

    def in_nested_try(self) -> Iterator[str]:
        try:
            try:
                yield "db"
            except KeyError:
                self.steps.append("never")
        except BaseException as error:
            self.steps.append(f"rollback {type(error).__name__}")
            raise
        self.steps.append("commit")

    def in_with(self) -> Iterator[str]:
        with self.noted():
            yield "db"

    def in_handler(self) -> Iterator[str]:
        """What covers this `yield` first only puts the stack right; the `try` is around that."""
        with self.noted():
            try:
                raise KeyError
            except KeyError:
                yield "db"

    def delegated(self) -> Iterator[str]:
        yield from self.in_try()

    async def in_try_later(self) -> AsyncIterator[str]:
        try:
            yield "db"
        except BaseException as error:
            await asyncio.sleep(0)
            self.steps.append(f"rollback {type(error).__name__}")
            raise
        else:
            self.steps.append("commit")

    async def in_with_later(self) -> AsyncIterator[str]:
        async with AsyncExitStack() as stack:
            stack.enter_context(self.noted())
            yield "db"


IN_TRY = pytest.mark.parametrize(
    "where", ["in_try", "in_nested_try", "in_with", "in_handler", "delegated", "in_try_later", "in_with_later"]
)


@IN_TRY
@pytest.mark.parametrize("error", [ValueError("boom"), ToolFailure("no"), SystemExit(3)])
async def test_K20_a_generator_with_a_try_around_its_yield_is_told_of_the_error(
    where: str, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    transactions = Transactions()
    result = await call(using(getattr(transactions, where), fails=error))
    assert result.is_error
    assert result.text in ("Error executing tool: boom", "no", "Error executing tool: SystemExit: 3")
    assert transactions.steps == [f"rollback {type(error).__name__}"]
    assert "tear-down" not in caplog.text


@IN_TRY
async def test_K20_it_commits_after_a_success(where: str) -> None:
    transactions = Transactions()
    assert (await call(using(getattr(transactions, where)))).value == ["db"]
    assert transactions.steps == ["commit"]


@IN_TRY
@pytest.mark.parametrize("way", ["returned", "raised"])
async def test_K20_the_end_of_the_run_is_a_success(where: str, way: str) -> None:
    transactions = Transactions()

    async def finish(**_: object) -> object:
        if way == "raised":
            raise Done("bye")
        return Done("bye")

    made = tool("Finish.", name="finish")(with_parameters(finish, {"db": getattr(transactions, where)}))
    result = await call(made)
    assert (result.is_final, result.text, transactions.steps) == (True, "bye", ["commit"])


async def test_K20_a_commit_that_fails_at_the_end_of_the_run_fails_the_call() -> None:
    result = await call(using(Trace().sync("a", fails="close"), fails=Done("bye")))
    assert (result.is_error, result.code, result.is_final) == (True, "cleanup_failed", False)
    assert result.text == f"{UNCLEAN.format('a')}\nbye"


@IN_TRY
async def test_K20_a_failure_that_is_returned_is_no_error(where: str) -> None:
    """Nothing was raised, so there is nothing to be told: the tool has done what it meant to."""
    transactions = Transactions()

    async def fail(**_: object) -> ToolResult:
        return ToolResult.failure("no", code="mine")

    made = tool("Fail.", name="fail")(with_parameters(fail, {"db": getattr(transactions, where)}))
    assert (await call(made)).code == "mine"
    assert transactions.steps == ["commit"]


@IN_TRY
async def test_K20_it_is_told_of_a_cancellation(where: str) -> None:
    transactions, started = Transactions(), asyncio.Event()

    async def wait() -> None:
        started.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(call(using(getattr(transactions, where), wait)))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert transactions.steps == ["rollback CancelledError"]


async def test_K20_it_is_told_of_an_error_in_another_provider() -> None:
    transactions = Transactions()
    result = await call(using(transactions.in_try, transactions.in_try_later, Trace().sync("b", fails="open")))
    assert result.text == "Error executing tool: b does not open"
    assert transactions.steps == ["rollback ValueError"] * 2


@KINDS
async def test_K20_lines_after_a_try_that_has_ended_run_after_an_error(kind: str) -> None:
    """Only a `try` around the `yield` counts, not one before it or after it, nor a loop or a condition."""
    steps: list[str] = []

    def plain() -> Iterator[int]:
        with suppress(ValueError):
            int("x")
        for number in range(1):
            if number == 0:
                yield number
        try:
            steps.append("close")
        finally:
            steps.append("closed")

    async def plain_later() -> AsyncIterator[int]:
        with suppress(ValueError):
            int("x")
        for number in range(1):
            if await asyncio.sleep(0, result=True):
                yield number
        steps.append("close")
        try:
            await asyncio.sleep(0)
        finally:
            steps.append("closed")

    assert (await call(using(plain if kind == "sync" else plain_later, fails=ValueError("boom")))).is_error
    assert steps == ["close", "closed"]


@KINDS
async def test_K20_a_yield_in_try_and_finally_is_torn_down_once(kind: str) -> None:
    steps: list[str] = []

    def tidy() -> Iterator[int]:
        try:
            yield 1
        finally:
            steps.append("close")

    async def tidy_later() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            await asyncio.sleep(0)
            steps.append("close")

    made = using(tidy if kind == "sync" else tidy_later, fails=ValueError("boom"))
    assert (await call(made)).text == "Error executing tool: boom"
    assert steps == ["close"]


class Reactions:
    """What providers do with the error they are told."""

    def __init__(self) -> None:
        self.seen: list[BaseException] = []

    def sync(self, reaction: str) -> Callable[[], Iterator[str]]:
        def steps() -> Iterator[str]:
            try:
                yield "db"
            except BaseException as error:
                self.seen.append(error)
                if reaction == "replace":
                    raise LookupError("rollback failed") from error
                if reaction == "yield":
                    yield "again"

        return steps

    def later(self, reaction: str) -> Callable[[], AsyncIterator[str]]:
        async def steps() -> AsyncIterator[str]:
            try:
                yield "db"
            except BaseException as error:
                self.seen.append(error)
                if reaction == "replace":
                    raise LookupError("rollback failed") from error
                if reaction == "yield":
                    yield "again"

        return steps


@KINDS
@pytest.mark.parametrize(
    ("reaction", "logged"), [("swallow", ""), ("replace", "rollback failed"), ("yield", "yields more than once")]
)
async def test_K20_whatever_a_provider_does_the_failure_stays_and_all_are_told(
    kind: str, reaction: str, logged: str, caplog: pytest.LogCaptureFixture
) -> None:
    reactions, error = Reactions(), ToolFailure("read this")
    make = getattr(reactions, kind)
    result = await call(using(make("swallow"), make(reaction), make("swallow"), fails=error))
    assert (result.is_error, result.text) == (True, "read this")
    assert reactions.seen == [error] * 3
    assert ("tear-down" in caplog.text) is bool(logged)
    assert logged in caplog.text


@KINDS
async def test_K20_several_are_told_in_reverse_order_beside_those_that_are_resumed(kind: str) -> None:
    trace, transactions = Trace(), Transactions()
    transactions.steps = trace.steps
    told = transactions.in_try if kind == "sync" else transactions.in_try_later
    make = getattr(trace, kind)
    assert (await call(using(make("a"), told, make("b"), fails=ValueError("boom")))).is_error
    assert trace.steps == ["open a", "open b", "close b", "rollback ValueError", "close a"]


async def test_K20_an_error_carries_no_lines_of_the_providers_it_went_through() -> None:
    transactions, error = Transactions(), ValueError("boom")
    await call(using(transactions.in_try, transactions.in_try_later, fails=error))
    names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    assert names[-1] == "show"
    assert not {"in_try", "in_try_later"} & set(names)


@IN_TRY
async def test_K20_K23_a_run_that_ends_resumes_what_lives_for_it(where: str) -> None:
    """One call failed; the run, and what other calls did with the value, did not."""
    transactions = Transactions()
    async with Run() as run:
        made = using(Depends(getattr(transactions, where), "run"), fails=ValueError("boom"))
        assert (await call(made, run)).is_error
        assert transactions.steps == []
    assert transactions.steps == ["commit"]


async def test_K20_a_set_up_that_ends_after_its_cancellation_is_told_of_it() -> None:
    opened, go_on, told = threading.Event(), threading.Event(), threading.Event()

    def connect() -> Iterator[str]:
        opened.set()
        go_on.wait(WAIT_S)
        try:
            yield "db"
        except asyncio.CancelledError:
            told.set()

    task = asyncio.create_task(call(using(connect)))
    await asyncio.to_thread(opened.wait, WAIT_S)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    assert await asyncio.to_thread(told.wait, WAIT_S)


# --- On one thread ------------------------------------------------------------------------------------------


async def test_K20_a_connection_can_be_used_by_the_sync_functions_of_its_call(tmp_path: Path) -> None:
    """sqlite3 refuses a connection in any other thread than the one that made it."""
    path, side_by_side = tmp_path / "db", threading.Barrier(20, timeout=WAIT_S)
    with sqlite3.connect(path) as con:
        con.execute("create table notes (text)")
    con.close()

    def connect() -> Iterator[sqlite3.Connection]:
        side_by_side.wait()  # all twenty are here before the first goes on
        con = sqlite3.connect(path, timeout=WAIT_S)
        try:
            yield con
        except BaseException:
            con.rollback()
            raise
        else:
            con.commit()
        finally:
            con.close()

    def cursor(con: Annotated[sqlite3.Connection, Depends(connect)]) -> sqlite3.Cursor:
        return con.cursor()

    @tool("Note.")
    def note(number: int, cursor: Annotated[sqlite3.Cursor, Depends(cursor)]) -> str:
        cursor.execute("insert into notes values (?)", (number,))
        if number % 2:
            raise ToolFailure("odd")
        return "noted"

    run = Run()
    calls = (note.execute_raw(f'{{"number": {number}}}', run.context()) for number in range(20))
    assert [result.text for result in await asyncio.gather(*calls)] == ["noted", "odd"] * 10
    con = sqlite3.connect(path)
    assert sorted(con.execute("select text from notes")) == [(number,) for number in range(0, 20, 2)]
    con.close()


async def test_K20_all_sync_functions_of_a_call_run_on_one_thread() -> None:
    seen: list[int] = []

    def plain() -> None:
        seen.append(threading.get_ident())

    def steps() -> Iterator[None]:
        seen.append(threading.get_ident())
        yield
        seen.append(threading.get_ident())

    @tool("Show.")
    def show(a: Annotated[None, Depends(plain)], b: Annotated[None, Depends(steps)]) -> None:
        seen.append(threading.get_ident())

    assert not (await call(show)).is_error
    assert len(seen) == 4
    assert len(set(seen)) == 1


async def test_K20_K23_what_lives_for_a_run_is_made_and_torn_down_on_one_thread() -> None:
    seen: list[int] = []

    def steps() -> Iterator[None]:
        seen.append(threading.get_ident())
        yield
        seen.append(threading.get_ident())

    def other(_: Annotated[None, Depends(steps, "run")]) -> Iterator[None]:
        yield from steps()

    @tool("Show.")
    def show(a: Annotated[None, Depends(other, "run")]) -> int:
        return threading.get_ident()

    async with Run() as run:
        results = await asyncio.gather(*(call(show, run) for _ in range(5)))
    assert len(seen) == 4
    assert len(set(seen)) == 1
    assert not {result.value for result in results} & set(seen)


async def test_K20_what_a_hung_call_leaves_behind_is_torn_down_on_another_thread() -> None:
    seen: list[int] = []
    started, go_on = threading.Event(), threading.Event()

    def steps() -> Iterator[None]:
        seen.append(threading.get_ident())
        yield
        seen.append(threading.get_ident())

    @tool("Hang.")
    def hang(a: Annotated[None, Depends(steps)]) -> None:
        started.set()
        go_on.wait(WAIT_S)

    task = asyncio.create_task(call(hang))
    await asyncio.to_thread(started.wait, WAIT_S)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(set(seen)) == 2
    go_on.set()


async def test_K21_a_sync_tool_may_wait_for_a_sync_value() -> None:
    loop, key = asyncio.get_running_loop(), DependencyKey[str]("key", lambda: "value")

    @tool("Ask.")
    def ask(ctx: ToolContext) -> str:
        return asyncio.run_coroutine_threadsafe(ctx.resolve(key), loop).result(WAIT_S)

    assert (await call(ask)).text == "value"
