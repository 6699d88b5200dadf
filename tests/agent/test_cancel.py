"""Leaving a run at any moment: what there is of it can be gone on from (A6)."""

import asyncio
import gc
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

import pytest
from tests.agent.legality import problems
from tests.agent.stage import Call, Notes, add, agent_of, ticks
from tests.support.model_script import Block, Text, Thinking, Turn, Use
from tests.support.model_server import ModelServer, Received

from toolroll import Agent, Depends, tool
from toolroll.agent.history.repair import INTERRUPTED
from toolroll.agent.live import LiveRun
from toolroll.errors import JournalRefused, NetworkFailed, UsageError
from toolroll.journal.journal import MemoryJournal
from toolroll.journal.records import CallEnded, Record, RunEnded
from toolroll.kernel.data.messages import AssistantMessage, Message, ToolResults, UserMessage
from toolroll.models.model import Wire
from toolroll.models.retry import RetryRule

WIRES: list[Wire] = ["anthropic", "openai", "chat"]
NEW = "a new prompt"


@tool
async def slow(number: int) -> str:
    """Take a few rounds of the event loop."""
    await ticks(3 * number)
    return f"slow {number}"


def script() -> Callable[[Received], Turn]:
    """Two turns with calls that read and write, an answer, and another one to whatever comes after a new prompt."""
    first: list[str | Block] = [Thinking("hm"), Text("I look "), Use("slow", {"number": 1}), Use("slow", {"number": 4})]
    second = [Use("write", {"text": "x"}), Use("slow", {"number": 2}), Use("nothing", {})]
    turns = iter([Turn(first), Turn(second), Turn("all done")])
    return lambda received: Turn("hello again") if NEW.encode() in received.raw else next(turns)


async def leave_at(run: LiveRun[Any], number: int) -> bool:
    """Listen to so many events and go; whether there were as many."""
    seen = 0
    async with run:
        async for _ in run:
            seen += 1
            if seen == number:
                return True
    return False


@pytest.mark.parametrize("wire", WIRES)
async def test_A6_leave_at_every_event_then_go_on_with_a_new_prompt(wire: Wire) -> None:
    """The server checks every request as the provider would; so does our own checker."""
    notes = Notes()
    number, left, reasons = 0, True, list[str]()
    while left:
        number += 1
        async with ModelServer(script()) as server:
            agent = Agent(model=server.model(wire), tools=[slow, notes.write], approver=notes)
            run = agent.stream("go")
            left = await leave_at(run, number)
            assert problems(run.messages) == []
            assert run.result is not None
            reasons.append(run.result.stop_reason)
            goes_on = await agent.run(NEW, messages=run.messages)
            assert goes_on.text == "hello again"
            assert goes_on.messages[: len(run.messages)] == run.messages
    assert number > 20
    assert set(reasons) == {"interrupted", "answer"}
    assert reasons.count("interrupted") > 10


async def test_A6_cancel_at_every_turn_of_the_event_loop() -> None:
    """Finer than events: wherever the run waits, it can be cancelled there."""
    notes = Notes()
    rounds, ended = 0, False
    while not ended:
        turns: list[Any] = [
            ["I look ", Call("slow", {"number": 1}), Call("slow", {"number": 4})],
            [Call("write", {"text": "x"}), Call("slow", {"number": 2})],
            "all done",
        ]
        run = agent_of(*turns, tools=[slow, notes.write], approver=notes).stream("go")
        task = asyncio.create_task(run.wait())
        await ticks(rounds)
        rounds += 1
        ended = task.done()
        task.cancel()
        await asyncio.wait({task})
        assert problems(run.messages) == []
        goes_on = await agent_of("hello again").run(NEW, messages=run.messages)
        assert (goes_on.text, goes_on.stop_reason) == ("hello again", "answer")
    assert rounds > 10


async def test_A6_results_that_are_there_are_kept_when_their_siblings_are_cancelled() -> None:
    never = asyncio.Event()

    @tool
    async def wait() -> str:
        """Never end."""
        await never.wait()
        return "never"

    journal = MemoryJournal()
    agent = agent_of([Call("wait"), Call("add", {"a": 1, "b": 2})], tools=[wait, add], journal=journal)
    run = agent.stream("go")
    async with run:
        async for event in run:
            if event.event == "tool_result":
                break
    results = run.messages[-1]
    assert isinstance(results, ToolResults)
    assert [one.content for one in results.results] == [INTERRUPTED, "3"]
    records = [record for _, record in await journal.read(run.run_id)]
    assert [record.result.content for record in records if isinstance(record, CallEnded)] == ["3"]
    assert isinstance(records[-1], RunEnded)
    assert records[-1].stop_reason == "interrupted"


async def test_A6_cancelling_the_task_of_a_plain_run_leaves_its_record() -> None:
    journal = MemoryJournal()
    started = asyncio.Event()

    @tool
    async def wait() -> str:
        """Never end."""
        started.set()
        await asyncio.Event().wait()
        return "never"

    task = asyncio.create_task(agent_of(Call("wait"), tools=[wait], journal=journal).run("go"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    [row] = await journal.runs()
    *_, (_, last) = await journal.read(row.run_id)
    assert isinstance(last, RunEnded)
    assert (last.stop_reason, last.stop_detail) == ("interrupted", "CancelledError")


async def test_A6_run_scoped_values_are_torn_down_when_a_run_is_cancelled() -> None:
    log: list[str] = []

    async def connection() -> AsyncIterator[str]:
        log.append("open")
        yield "db"
        log.append("close")

    @tool
    async def query(db: Annotated[str, Depends(connection, scope="run")]) -> str:
        """Use it, for ever."""
        log.append(db)
        await asyncio.Event().wait()
        return "never"

    run = agent_of(Call("query"), tools=[query]).stream("go")
    async with run:
        async for event in run:
            if event.event == "tool_call_started":
                await ticks(10)
                break
    assert log == ["open", "db", "close"]


async def test_leaving_without_a_word_cancels_the_run_too() -> None:
    """A plain `break`, without `async with`: the generator is cleared away, and with it the run."""
    cancelled = asyncio.Event()

    @tool
    async def wait() -> str:
        """Never end."""
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return "never"

    run = agent_of(Call("wait"), tools=[wait]).stream("go")
    async for event in run:
        if event.event == "tool_call_started":
            break
    gc.collect()
    async with asyncio.timeout(10):
        await cancelled.wait()
    await run.aclose()
    assert problems(run.messages) == []


async def test_messages_are_there_before_the_run_begins_and_it_need_not_begin() -> None:
    earlier: list[Message] = [UserMessage.of("hi"), AssistantMessage(blocks=())]
    run = agent_of("never").stream("go", messages=earlier)
    assert run.messages == (UserMessage.of("hi"), UserMessage.of("go"))
    assert run.result is None
    await run.aclose()


async def test_a_run_is_listened_to_once() -> None:
    run = agent_of("hi").stream("go")
    assert (await run.wait()).text == "hi"
    assert await run.wait() is run.result
    with pytest.raises(UsageError, match="listened to once"):
        [event async for event in run]


async def test_what_a_slow_reader_has_not_read_yet_is_not_lost() -> None:
    kinds: list[str] = []
    async for event in agent_of(Call("add", {"a": 1, "b": 2}), "a b c").stream("go"):
        await ticks(20)
        kinds.append(event.event)
    assert kinds.count("text_delta") == 3
    assert kinds[-1] == "run_finished"


class BadJournal(MemoryJournal):
    """A journal on a full disk, from the nth record on."""

    def __init__(self, good: int) -> None:
        super().__init__()
        self._good = good

    async def append(self, run_id: str, /, *records: Record) -> int:
        self._good -= len(records)
        if self._good < 0:
            raise JournalRefused("the disk is full")
        return await super().append(run_id, *records)


@pytest.mark.parametrize("good", range(7))
async def test_a_run_that_cannot_be_recorded_ends_with_that_error(good: int, caplog: pytest.LogCaptureFixture) -> None:
    run = agent_of([Call("add", {"a": 1, "b": 2}), Call("fail")], "done", journal=BadJournal(good)).stream("go")
    with pytest.raises(JournalRefused, match="the disk is full"):
        await run.wait()
    assert run.result is not None
    assert (run.result.stop_reason, run.result.stop_detail) == ("failed", "the disk is full")
    assert problems(run.messages) == []
    assert "could not be recorded" in caplog.text


async def test_an_error_of_the_model_is_not_hidden_by_one_of_the_journal() -> None:
    agent = agent_of(NetworkFailed("gone"), journal=BadJournal(2), retry=RetryRule(retries=0))
    with pytest.raises(NetworkFailed, match="gone"):
        await agent.run("go")


CTRL_C = """
import asyncio, os, signal
from toolroll import Agent, ScriptedModel, tool
from toolroll.journal.journal import MemoryJournal
from toolroll.models.scripted import Call

signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests run in the background

@tool
async def interrupt() -> str:
    "Press Ctrl-C, and wait for what comes."
    os.kill(os.getpid(), signal.SIGINT)
    await asyncio.sleep(60)
    return "never"

journal = MemoryJournal()
try:
    Agent(model=ScriptedModel([Call("interrupt")]), tools=[interrupt], journal=journal).run_sync("go")
except KeyboardInterrupt:
    [row] = asyncio.run(journal.runs())
    *_, (_, last) = asyncio.run(journal.read(row.run_id))
    print(last.stop_reason)
"""


def test_A6_ctrl_c_ends_a_program_with_its_run_on_record() -> None:
    done = subprocess.run([sys.executable, "-c", CTRL_C], capture_output=True, text=True, check=True, timeout=200)
    assert done.stdout == "interrupted\n"
