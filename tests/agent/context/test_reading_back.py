"""Models that read outputs back, in runs: to the end of any line, again and again, and not where they may not."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from tests.agent.context.counted import Counted, results_in

from toolroll import Agent, ScriptedModel, step_count_is, tool
from toolroll.agent.context.rules import ContextRules
from toolroll.agent.events import ContextTrimmed
from toolroll.kernel.data.messages import ToolMessage
from toolroll.models.model import ModelRequest
from toolroll.models.scripted import Call
from toolroll.outputs.browse import all_outputs
from toolroll.outputs.reader import PAGE_BYTES

READS = 30
NEXT = re.compile(r"Next: (tool_output_cache) (\{.*\})\]")


@tool
async def log() -> str:
    """Read a long log."""
    return "".join(f"{number} ok\n" for number in range(20_000))


async def test_K55_K52_reading_back_again_and_again_keeps_and_cuts_nothing_anew(tmp_path: Path) -> None:
    """The loop that would never end: a page that is itself offloaded, and read back, and offloaded."""

    def turns(number: int, request: ModelRequest) -> str | Call:
        first = results_in(request.messages)[0] if number > 1 else None
        if number == 1:
            return Call("log")
        assert first is not None
        found = re.search(r"ref=(\w+)", str(first.content))
        assert found is not None
        if number > READS:
            return found[1]
        return Call("tool_output_cache", {"ref_id": found[1], "offset": 500 * number, "limit": 1_000})

    counted = Counted(turns)
    rules = ContextRules(window_tokens=40_000, outputs_tokens=8_000, compact_at=None)
    agent = Agent(model=counted.model, tools=[log], outputs=tmp_path, context=rules, stop_when=step_count_is(READS + 2))
    run = agent.stream("Read it all.")
    events = [event async for event in run]
    assert run.result is not None
    assert sum(isinstance(event, ContextTrimmed) for event in events) >= 2
    assert [one.meta.id for one in all_outputs(tmp_path)] == [run.result.text]
    pages = [one for one in results_in(run.result.messages) if one.name == "tool_output_cache"]
    assert all(one.output_ref is None and "truncated" not in str(one.content) for one in pages)
    sent = [str(one.content) for one in results_in(counted.model.requests[-1])]
    assert set(re.findall(r"tool output trimmed; ref=(\w+)", "\n".join(sent))) == {run.result.text}
    assert max(counted.sizes) <= 40_000


def follows(result: ToolMessage) -> Call | None:
    """The call that an answer names, exactly as it stands there."""
    found = NEXT.search(str(result.content).splitlines()[-2 if "truncated" in str(result.content) else -1])
    return None if found is None else Call(found[1], json.loads(found[2]))


@pytest.mark.parametrize("letter", ["x", "漢"])
async def test_K51_K53_a_line_of_100_000_characters_is_read_to_its_end_by_the_calls_it_names(
    letter: str, tmp_path: Path
) -> None:
    @tool
    async def line() -> str:
        """One long line."""
        return letter * 100_000

    def turn(request: ModelRequest) -> str | Call:
        results = results_in(request.messages)
        return Call("line") if not results else follows(results[-1]) or "Read."

    agent = Agent(model=ScriptedModel(turn), tools=[line], outputs=tmp_path, stop_when=step_count_is(20))
    first, *pages = results_in((await agent.run("go")).messages)
    shown = str(first.content).split("\n")[0] + "".join(str(one.content).split("\n")[0].split("\t")[1] for one in pages)
    assert shown == letter * 100_000
    assert all(len(str(one.content).encode()) <= PAGE_BYTES + 300 for one in (first, *pages))


async def test_K53_K55_a_line_of_ten_megabytes_is_windowed_from_anywhere(tmp_path: Path) -> None:
    size = 10_000_000

    @tool
    async def line() -> str:
        """One very long line."""
        return "é" * (size // 2 - 6) + "needle" + "é" * 3

    asked: list[Call] = []

    def turn(request: ModelRequest) -> str | Call:
        results = results_in(request.messages)
        if not results:
            return Call("line")
        ref = results[0].output_ref
        assert ref is not None
        if not asked:
            asked.extend(Call("tool_output_cache", {"ref_id": ref.id, "column": at}) for at in (5_000_001, size - 30))
            asked.append(Call("tool_output_cache_grep", {"ref_id": ref.id, "pattern": "needle"}))
            asked.append(Call("tool_output_cache", {"ref_id": ref.id, "column": size}))
        return asked[len(results) - 1] if len(results) <= len(asked) else "Read."

    result = await Agent(model=ScriptedModel(turn), tools=[line], outputs=tmp_path).run("go")
    _, middle, end, found, past = results_in(result.messages)
    assert len(str(middle.content).encode()) <= PAGE_BYTES + 300
    assert f'"column": {5_000_000 + (PAGE_BYTES - 16) // 2 * 2}' in str(middle.content)
    assert "needleééé" in str(end.content)
    assert "This is the end." in str(end.content)
    assert len(str(found.content)) < 1_500
    assert past.is_error
    assert "past its end" in str(past.content)


async def test_XF6_a_hostile_pattern_ends_within_a_second_in_a_run(tmp_path: Path) -> None:
    @tool
    async def letters() -> str:
        """Many letters."""
        return "a" * 60_000 + "!\n"

    def turn(request: ModelRequest) -> str | Call:
        results = results_in(request.messages)
        if not results:
            return Call("letters")
        ref = results[0].output_ref
        assert ref is not None
        patterns = ["(a+)+$", "(a|aa)+$", "(.*)*x", r"(a)\1", "a{1,1000}{1,1000}"]
        if len(results) > len(patterns):
            return "Searched."
        arguments: dict[str, Any] = {"ref_id": ref.id, "pattern": patterns[len(results) - 1], "regex": True}
        return Call("tool_output_cache_grep", arguments)

    began = time.process_time()
    result = await Agent(model=ScriptedModel(turn), tools=[letters], outputs=tmp_path).run("go")
    assert time.process_time() - began < 5.0
    found = results_in(result.messages)[1:]
    assert [one.is_error for one in found] == [False, False, False, True, True]


async def test_XC1_a_sub_agent_cannot_read_what_its_caller_or_its_sibling_kept(tmp_path: Path) -> None:
    """References are handed down in the task: they lead nowhere there, be the outputs long or short."""
    seen: list[str] = []

    @tool
    async def note() -> str:
        """Something short."""
        return "private"

    def part(request: ModelRequest) -> str | Call:
        results = results_in(request.messages)
        given = re.findall(r"\b[0-9a-f]{32}\b", str(request.messages[0]))
        if not results:
            return Call("log")
        if len(results) <= len(given):
            return Call("tool_output_cache", {"ref_id": given[len(results) - 1]})
        seen.extend(str(one.content) for one in results[1:] if one.is_error)
        assert results[0].output_ref is not None
        return f"Mine is {results[0].output_ref.id}"

    def whole(request: ModelRequest) -> str | Call:
        results = results_in(request.messages)
        if len(results) < 2:
            return Call("log") if not results else Call("note")
        if len(results) < 4:
            refs = " ".join(one.output_ref.id for one in results if one.output_ref is not None)
            handed = " ".join(re.findall(r"Mine is (\w+)", " ".join(str(one.content) for one in results)))
            return Call("helper", {"task": f"Read {refs} {handed}"})
        return "Done."

    helper = Agent(model=ScriptedModel(part), tools=[log]).as_tool(name="helper", description="Helps.")
    agent = Agent(model=ScriptedModel(whole), tools=[log, note, helper], outputs=tmp_path)
    assert (await agent.run("go")).text == "Done."
    assert len(seen) == 2 + 4  # the caller's two; then these, the helper's answer, and the sibling's own
    assert all(text.startswith("There is no output '") for text in seen)
