"""Calls that cannot be run, tools that misbehave: each gets its result, and the run goes on (XL6-XL8, XL12)."""

import asyncio
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.agent.legality import problems
from tests.agent.stage import Call, Notes, add, agent_of, events_of, fail, play
from tests.support.clock import time_passes
from tests.support.model_script import Turn, Use
from tests.support.model_server import ModelServer

from toolroll import Agent, RunResult, Toolset, tool
from toolroll.kernel.data.messages import ToolMessage, ToolResults
from toolroll.models.model import Wire
from toolroll.safe.programs.run import run_program

WIRES: list[Wire] = ["anthropic", "openai", "chat"]


def results_of(result: RunResult[Any]) -> list[ToolMessage]:
    return [one for message in result.messages if isinstance(message, ToolResults) for one in message.results]


BAD_ARGUMENTS = [
    ('{"a": 1, "b"', "Invalid JSON"),
    ("[1, 2]", "must be a JSON object"),
    ('"text"', "must be a JSON object"),
    ('{"a": 1, "b": 2, "c": 3}', "c: there is no such parameter"),
    ('{"a": "x", "b": 2}', "a: Input should be a valid integer"),
    ('{"a": 1}', "b: missing"),
    ('{"a": 1, "a": 2, "b": 3}', "stands twice"),
    ('{"a": 1, "b": NaN}', "Invalid JSON"),
    ('{"a": "' + "x" * 1_000_000 + '"}', "larger than"),
    ('{"a":' + "[" * 10_000 + "]" * 10_000 + "}", "Invalid JSON"),
]


@pytest.mark.parametrize(("arguments", "fault"), BAD_ARGUMENTS, ids=[fault for _, fault in BAD_ARGUMENTS])
async def test_XL6_bad_arguments_are_answered_with_what_is_wrong_and_can_be_repaired(
    arguments: str, fault: str
) -> None:
    result = await play(Call("add", arguments), Call("add", {"a": 1, "b": 2}), "3")
    first, second = results_of(result)
    assert first.is_error
    assert fault in str(first.content)
    assert (second.content, result.text) == ("3", "3")
    assert problems(result.messages) == []


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("stream", [True, False])
async def test_XL6_broken_arguments_come_back_over_every_wire(wire: Wire, stream: bool) -> None:
    """What the model wrote is answered, and what is sent back is an object: providers refuse anything else."""
    script: list[Turn | str] = [Turn([Use("add", '{"a": 1, "b"'), Use("add", "[1]")]), "sorry"]
    async with ModelServer(script) as server:
        agent = Agent(model=server.model(wire), tools=[add])
        result = await (agent.stream("go").wait() if stream else agent.run("go"))
    assert result.text == "sorry"


async def test_XL6_three_bad_turns_in_a_row_stop() -> None:
    result = await play(*[Call("add", f'{{"a": {number}') for number in range(3)], "I give up", stop_when=())
    assert (result.stop_reason, result.text, len(result.steps)) == ("invalid_calls", "I give up", 4)


@pytest.mark.parametrize("name", ["nothing", "Add", "ADD", "__init__", "аdd", "add ", "removed_tool", "", "a" * 300])
async def test_XL7_unknown_tools_are_answered_with_the_known_names(name: str) -> None:
    result = await play(Call(name, {"a": 1, "b": 2}), "I see")
    [one] = results_of(result)
    assert one.is_error
    assert str(one.content).endswith("Known tools: add, fail.")
    assert problems(result.messages) == []


@pytest.mark.parametrize("wire", WIRES)
async def test_XL7_a_name_that_no_provider_takes_does_not_end_the_conversation(wire: Wire) -> None:
    async with ModelServer([Turn([Use("multi_tool_use.parallel", {}), Use("аdd", {"a": 1})]), "I see"]) as server:
        assert (await Agent(model=server.model(wire), tools=[add]).run("go")).text == "I see"


async def test_XL8_ids_that_are_empty_or_stand_twice_get_one_result_each_in_order() -> None:
    calls = [Call("add", {"a": number, "b": 0}, id=name) for number, name in enumerate(["", "x", "x", "", "x_2"])]
    result = await play(calls, [Call("add", {"a": 9, "b": 0}, id="x")], "done")
    assert [one.content for one in results_of(result)] == ["0", "1", "2", "3", "4", "9"]
    assert len({one.call_id for one in results_of(result)}) == 6
    assert problems(result.messages) == []


@pytest.mark.parametrize("wire", WIRES)
async def test_XL8_twenty_calls_that_end_in_any_order_keep_theirs(wire: Wire) -> None:
    @tool
    async def wait(number: int) -> int:
        """Take a while, the first the longest."""
        for _ in range(3 * (20 - number)):
            await asyncio.sleep(0)
        return number

    calls = [Use("wait", {"number": number}, id="same" if number % 7 == 0 else None) for number in range(20)]
    async with ModelServer([Turn(calls), "done"]) as server:
        result = await Agent(model=server.model(wire), tools=[wait]).run("go")
    assert [one.content for one in results_of(result)] == [str(number) for number in range(20)]


async def test_XL12_whatever_a_tool_does_its_siblings_get_their_results_and_the_run_goes_on() -> None:
    stubborn_ended, may_end = asyncio.Event(), threading.Event()

    @tool(timeout=0.1)
    async def hang() -> str:
        """Never end."""
        await asyncio.Event().wait()
        return "never"

    @tool(timeout=0.1)
    async def stubborn() -> str:
        """Ignore that it was told to stop."""
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0.05)
            stubborn_ended.set()
        return "too late"

    @tool
    async def leave() -> str:
        """Try to end the program."""
        sys.exit(3)

    @tool
    async def cancel() -> str:
        """Cancel itself."""
        raise asyncio.CancelledError

    @tool(timeout=0.1)
    def block() -> str:
        """Block its thread."""
        may_end.wait(60)
        return "blocked"

    names = ["hang", "stubborn", "leave", "cancel"]
    calls = [*map(Call, names), Call("block"), Call("fail"), Call("add", {"a": 1, "b": 2})]
    tools = [hang, stubborn, leave, cancel, block, fail, add]
    async with asyncio.timeout(60):
        result = await play(calls, "I see", tools=tools, collect_tool_stats=True)
        may_end.set()
        await stubborn_ended.wait()
    assert result.text == "I see"
    assert result.tool_calls is not None
    codes = {log.name: log.error_type for log in result.tool_calls}
    assert codes == {
        "hang": "timeout",
        "stubborn": "timeout",
        "leave": "tool_error",
        "cancel": "tool_error",
        "block": "timeout",
        "fail": "tool_error",
        "add": None,
    }
    assert results_of(result)[-1].content == "3"
    assert problems(result.messages) == []


SPAWNER = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
print(os.getpid(), child.pid, flush=True)
open("begun", "w").close()
time.sleep(600)
"""


def is_alive(pid: int) -> bool:
    """Whether it still runs; one that ended and that nobody asked for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


async def test_XL12_a_tool_that_spawns_children_leaves_none_behind(tmp_path: Path) -> None:
    pids: list[int] = []

    @tool(timeout=7_200)
    async def spawn() -> str:
        """Run a program that starts another one and hangs."""
        command = [sys.executable, "-c", SPAWNER]
        running = asyncio.create_task(run_program(command, timeout_s=3_600, limit_output_bytes=1000, cwd=tmp_path))
        while not (tmp_path / "begun").exists():
            await asyncio.sleep(0.01)
        time_passes(3_600)
        result = await running
        pids.extend(map(int, result.stdout.split()))
        return result.ended

    result = await play([Call("spawn"), Call("add", {"a": 1, "b": 2})], "I see", tools=[spawn, add])
    assert [one.content for one in results_of(result)] == ["timeout", "3"]
    assert len(pids) == 2
    while any(map(is_alive, pids)):  # killed; the system takes a moment to forget them
        await asyncio.sleep(0.01)


PRINTER = """
import asyncio, json, sys
from toolroll import Agent, ScriptedModel, tool
from toolroll.models.scripted import Call

@tool
def shout(text: str) -> str:
    "Print to stdout, as a careless library does."
    print(text)
    return "shouted"

result = Agent(model=ScriptedModel([Call("shout", {"text": "noise"}), "done"]), tools=[shout]).run_sync("go")
print(json.dumps({"text": result.text, "result": str(result.messages[2])}))
"""


def test_XL12_what_a_tool_prints_is_not_its_result_and_a_program_with_a_hanging_one_ends() -> None:
    done = subprocess.run([sys.executable, "-c", PRINTER], capture_output=True, text=True, check=True, timeout=200)
    noise, said = done.stdout.splitlines()
    assert noise == "noise"
    assert json.loads(said)["text"] == "done"
    assert "shouted" in json.loads(said)["result"]
    assert "noise" not in json.loads(said)["result"]


async def test_18_the_six_ways_a_call_can_fail_are_all_answered() -> None:
    """Unknown tool, bad JSON, validation, exception, timeout, denial: the model reads each, and none raises."""

    @tool(timeout=0.01)
    async def hang() -> str:
        """Never end."""
        await asyncio.Event().wait()
        return "never"

    notes = Notes()
    calls = [
        Call("nothing"),
        Call("add", "{"),
        Call("add", {"a": 1}),
        Call("fail"),
        Call("hang"),
        Call("write", {"text": "x"}),
    ]
    result = await play(calls, "I see", tools=[add, fail, hang, notes.write], collect_tool_stats=True)
    assert result.tool_calls is not None
    assert [log.error_type for log in result.tool_calls] == [
        "unknown_tool",
        "invalid_json",
        "invalid_arguments",
        "tool_error",
        "timeout",
        "needs_approval",
    ]
    assert notes.written == []


async def test_a_call_is_timed_from_when_it_runs_and_told_then() -> None:
    """A person who takes long to answer is not part of it."""

    class Slow(Notes):
        async def ask(self, requests: Any) -> Any:
            await asyncio.sleep(0.2)
            return Notes.decide(self, requests)

    slow = Slow()

    class Approver:
        async def decide(self, requests: Any, /) -> Any:
            return await slow.ask(requests)

    agent = agent_of(Call("write", {"text": "x"}), "done", tools=[slow.write], approver=Approver())
    events = await events_of(agent)
    [finished] = [event for event in events if event.event == "tool_result"]
    assert getattr(finished, "duration_ms") < 200  # noqa: B009 - of one kind of event


def test_tools_can_be_given_as_any_iterable() -> None:
    agent = Agent(model=agent_of("x").setup.model, tools=Toolset([add]))
    assert [one.name for one in agent.setup.definitions] == ["add"]
