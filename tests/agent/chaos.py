"""Runs with changes, approvals and a sub-agent, in processes that are killed at random moments and resumed.

`python tests/agent/chaos.py FOLDER SEED KILLS` plays one run after another until that many processes were killed, and
prints what came of it as JSON. A change adds a line to a file in one step, so that a repeated one stands there twice,
and a lost one not at all.
"""

import asyncio
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from toolroll.agent.agent import Agent
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision, Preview, content_hash
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.define.decorator import tool
from toolroll.models.model import ModelRequest
from toolroll.models.scripted import Call, Line, ScriptedModel

RUN = "the-run"
STEPS = 9
DELEGATING = 4
PART_STEPS = 5
MOST_KILLS = 10
"""Of one run; then it is left alone, and the next one begins."""


def preview_add(arguments: Mapping[str, object], ctx: ToolContext, edited: str | None) -> Preview:
    """What the file would become."""
    before = read(Path(str(ctx.deps["folder"])) / str(arguments["file"]))
    return Preview.of_change(before, f"{before}{arguments['line']}\n", path="file", base=content_hash(before))


@tool(effect="writes", preview=preview_add)
def add_line(file: str, line: str, ctx: ToolContext) -> str:
    """Add a line to a file."""
    path = Path(str(ctx.deps["folder"])) / file
    assert ctx.preview is not None
    new = path.with_name(f"{file}.new")
    new.write_text(ctx.preview.editable or "")
    new.replace(path)
    return "added"


@tool
def look(file: str, ctx: ToolContext) -> str:
    """Read a file."""
    return read(Path(str(ctx.deps["folder"])) / file)


def read(path: Path) -> str:
    """The text of a file, none if there is no file."""
    return path.read_text() if path.exists() else ""


class Person:
    """Says yes to each change, and notes whether one may be a repetition."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        """Yes to each."""
        if any(request.is_repeat for request in requests):
            (self._folder / "unsure").touch()
        return [Approve() for _ in requests]


def script(file: str, steps: int, *, delegates: bool) -> ScriptedModel:
    """A model that adds a line to its file in each step but the last."""

    def play(request: ModelRequest) -> Line:
        step = sum(message.role == "assistant" for message in request.messages) + 1
        if step == steps:
            return "All done."
        if delegates and step == DELEGATING:
            return Call("part", {"task": "Add your lines."}, id="part_1")
        added = Call("add_line", {"file": file, "line": f"line {step}"}, id=f"add_{step}")
        return [f"Step {step}.", Call("look", {"file": file}, id=f"look_{step}"), added]

    return ScriptedModel(play)


def make_agent(folder: Path) -> Agent[None]:
    """The agent of the run, in this process."""
    part = Agent(model=script("part", PART_STEPS, delegates=False), tools=[add_line, look])
    return Agent(
        model=script("whole", STEPS, delegates=True),
        tools=[add_line, look, part.as_tool(name="part", description="Add more lines.")],
        approver=Person(folder),
        deps={"folder": str(folder)},
        journal=SqliteJournal(folder / "data" / "runs.db"),
        make_id=lambda: RUN,
    )


async def is_readable(folder: Path) -> bool | None:
    """Whether all runs on record can be read; None where there is none yet."""
    journal = SqliteJournal(folder / "data" / "runs.db")
    try:
        rows = await journal.runs()
        found = [await journal.read(row.run_id) for row in rows]
    finally:
        journal.close()
    return not any(one.is_damaged for one in found) if found else None


async def play(folder: Path) -> str:
    """Begin the run, or go on with it; a kill is no fault of the run, so it is never given up."""
    agent = make_agent(folder)
    is_begun = await is_readable(folder) is not None
    return (await (agent.resume(RUN, force=True) if is_begun else agent.run("Go."))).text


def play_until_killed(folder: Path, after_s: float | None) -> bool:
    """Play in a process of its own that is killed after that time; whether it was."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            (folder / "text").write_text(asyncio.run(play(folder)))
            status = 0
        finally:
            sys.stderr.flush()
            os._exit(status)
    if after_s is not None:
        time.sleep(after_s)  # the moment of the kill, not a wait for something
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0, "the run failed"
    return os.WIFSIGNALED(status)


def play_round(folder: Path, chance: random.Random, kills: int, longest_s: float) -> Counter[str]:
    """One run to its end, with that many kills at most, each within a time; what came of it, in numbers."""
    folder.mkdir()
    found = Counter(runs=1)
    while play_until_killed(folder, chance.uniform(0, longest_s) if found["kills"] < kills else None):
        found["kills"] += 1
        found["unreadable"] += asyncio.run(is_readable(folder)) is False
    whole = [f"line {step}" for step in range(1, STEPS) if step != DELEGATING]
    for file, wanted in (("whole", whole), ("part", [f"line {step}" for step in range(1, PART_STEPS)])):
        lines = Counter(read(folder / file).splitlines())
        found["repeated"] += sum(count - 1 for count in lines.values())
        found["lost"] += sum(line not in lines for line in wanted)
    found["unfinished"] += read(folder / "text") != "All done."
    found["unsure"] += (folder / "unsure").exists()
    return found


if __name__ == "__main__":
    chance, found = random.Random(int(sys.argv[2])), Counter[str]()
    began = time.perf_counter()
    found.update(play_round(Path(sys.argv[1]) / "0", chance, 0, 0))
    whole_s = time.perf_counter() - began  # on this machine, as busy as it is
    while found["kills"] < int(sys.argv[3]):
        left = min(int(sys.argv[3]) - found["kills"], MOST_KILLS)
        found.update(play_round(Path(sys.argv[1]) / str(found["runs"]), chance, left, whole_s))
    print(json.dumps(found))
