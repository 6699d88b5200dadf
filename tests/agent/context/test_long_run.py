"""A run that reads a thousand times what its model can: it stays inside the window, and loses nothing."""

import os
import re
from pathlib import Path

from tests.agent.context.counted import Counted, results_in, text_of

from toolroll import Agent, step_count_is, tool
from toolroll.agent.context.rules import ContextRules
from toolroll.agent.events import ContextCompacted, ContextTrimmed
from toolroll.journal.sqlite import SqliteJournal
from toolroll.models.model import ModelRequest
from toolroll.models.scripted import Call

STEPS = 200 if "TOOLROLL_ROUNDS" in os.environ else 120
BYTES = 150_000
WINDOW = 32_000


@tool
async def read_log(number: int) -> str:
    """Read one of the logs."""
    line = f"log {number}: nothing to see here, move on please\n"
    half = line * (BYTES // 2 // len(line))
    return f"{half}log {number}: the code is {number * 7919}\n{half}"


def in_outputs(request: ModelRequest) -> str | None:
    """The reference of the first output, where the output was."""
    first = str(results_in(request.messages)[0].content)
    found = re.search(r"tool output trimmed; ref=(\w+)", first)
    return found[1] if found else None


def in_summary(request: ModelRequest, what: str) -> str | None:
    """The first reference of that kind in what took the place of the conversation."""
    told = "\n".join(text_of(message) for message in request.messages)
    found = re.search(rf"^- (\w{{32}}): {what}", told, re.MULTILINE)
    return found[1] if found else None


def script(number: int, request: ModelRequest) -> str | Call:
    """Reads all, then looks into the first; where its reference is in a list of such, into the list before."""
    if number <= STEPS:
        return Call("read_log", {"number": number})
    last = results_in(request.messages)[-1]
    if "the code is" in str(last.content) and last.name == "tool_output_cache_grep":
        return str(last.content)
    listed = in_summary(request, "the list of")
    if listed is not None and last.name == "read_log":
        return Call("tool_output_cache", {"ref_id": listed, "limit": 1})
    if last.name == "tool_output_cache":
        [first] = re.findall(r"(\w{32}): read_log", str(last.content))
    else:
        first = in_outputs(request) or in_summary(request, "read_log")
    return Call("tool_output_cache_grep", {"ref_id": first, "pattern": "the code is"})


async def play(folder: Path, **rules: float) -> tuple[Counted, str, list[object]]:
    counted = Counted(script)
    journal = SqliteJournal(folder / "runs.db")
    agent = Agent(
        model=counted.model,
        tools=[read_log],
        journal=journal,
        stop_when=step_count_is(STEPS + 5),
        context=ContextRules(window_tokens=WINDOW, **rules),  # type: ignore[arg-type]
    )
    run = agent.stream("Read all the logs. Then tell me the code in the first one.")
    events: list[object] = [event async for event in run]
    assert run.result is not None
    journal.close()
    return counted, run.result.text, events


async def test_K52_K51_a_long_run_stays_inside_its_window_and_answers_from_its_first_output(tmp_path: Path) -> None:
    counted, text, events = await play(tmp_path)
    assert "log 1: the code is 7919" in text
    assert max(counted.sizes) <= WINDOW
    assert any(isinstance(event, ContextTrimmed) for event in events)


async def test_A21_so_it_does_when_it_is_compacted_again_and_again(tmp_path: Path) -> None:
    """The first reference survives every summary, though the model's own words never name it, and when there are too
    many of them for the window, they can be read where the others are."""
    counted, text, events = await play(tmp_path, outputs_tokens=0)
    assert "log 1: the code is 7919" in text
    assert max(counted.sizes) <= WINDOW
    assert sum(isinstance(event, ContextCompacted) for event in events) > STEPS / 3
    assert not any(isinstance(event, ContextTrimmed) for event in events)
