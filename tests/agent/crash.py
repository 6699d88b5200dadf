"""A run of 20 steps that can be killed after any of its records, and resumed in another process.

`python tests/agent/crash.py FOLDER ROUND...` plays each round in a folder of its own, each part of it in a process of
its own, and prints what came of it as a line of JSON. A round is a list of numbers such as `12` or `5,3`: after how
many writes the first process is killed, the next one, and so on; the one after that is left alone. `0` kills nobody,
`-1` kills every process after its first write. `NAME:12!` kills the first process and leaves the rest to a later round
in the folder of that name. With the URL of a database in CRASH_DATABASE, the runs are recorded there.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field
from pydantic_core import to_jsonable_python

from toolroll.agent.agent import Agent
from toolroll.agent.result import RunResult
from toolroll.agent.stop import step_count_is
from toolroll.journal.journal import Journal, Recording, RunRow
from toolroll.journal.postgres import PostgresJournal
from toolroll.journal.records import Record, StateSet
from toolroll.journal.sqlite import SqliteJournal
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision, Preview, content_hash
from toolroll.kernel.call.context import ToolContext
from toolroll.kernel.define.decorator import tool
from toolroll.models.model import ModelRequest
from toolroll.models.scripted import Call, Line, ScriptedModel
from toolroll.packs.standard import write_todos
from toolroll.postgres.address import parse_address
from toolroll.postgres.database import Database
from toolroll.postgres.presence import Presence

RUN = "the-run"
STEPS = 20
SAVING = 10
PLANNING = 5
MOST_PROCESSES = 200
DATABASE = "CRASH_DATABASE"


class Fatal:
    """A journal that kills its process after so many records."""

    def __init__(self, inner: Journal, after: int) -> None:
        self._inner = inner
        self._left = after
        self._lock = asyncio.Lock()

    async def append(self, run_id: str, /, *records: Record) -> int:
        """Add records, and die of it when their number is up.

        One after the other: else a server may have the intent of a change on record when its neighbour's write kills
        us, and nobody could know any more whether the change was made.
        """
        async with self._lock:
            number = await self._inner.append(run_id, *records)
            if all(isinstance(record, StateSet) for record in records):
                return number  # an attempt to resume, which is not yet a step
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return number

    async def read(self, run_id: str, /, *, after: int = 0) -> Recording:
        """As it is."""
        return await self._inner.read(run_id, after=after)

    async def runs(self) -> Sequence[RunRow]:
        """As it is."""
        return await self._inner.runs()

    async def acquire(self, run_id: str, /) -> bool:
        """As it is."""
        return await self._inner.acquire(run_id)

    async def release(self, run_id: str, /) -> None:
        """As it is."""
        await self._inner.release(run_id)


def note(folder: Path, line: str) -> None:
    """Write down that something happened, so that it survives whoever did it."""
    fd = os.open(folder / "happened", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(fd, f"{line}\n".encode())
    os.close(fd)


def happened(folder: Path) -> list[str]:
    """Everything that was written down."""
    path = folder / "happened"
    return path.read_text().split("\n")[:-1] if path.exists() else []


@tool
async def look(number: int, ctx: ToolContext) -> str:
    """Look at something."""
    note(Path(str(ctx.deps["folder"])), f"tool {ctx.call_id}")
    await asyncio.sleep(0)
    return f"saw {number}"


@tool
def peek(number: int, ctx: ToolContext) -> dict[str, int]:
    """Look at something else, in a thread."""
    note(Path(str(ctx.deps["folder"])), f"tool {ctx.call_id}")
    return {"peeked": number}


def preview_save(arguments: dict[str, str], ctx: ToolContext, edited: str | None) -> Preview:
    """What the file would become."""
    path = Path(str(ctx.deps["folder"])) / "saved"
    before = path.read_text() if path.exists() else ""
    after = arguments["text"] if edited is None else edited
    return Preview.of_change(before, after, path="saved", base=content_hash(before))


@tool(effect="writes", preview=preview_save)
async def save(text: Annotated[str, Field(description="What to write.")], ctx: ToolContext) -> str:
    """Write the file."""
    folder = Path(str(ctx.deps["folder"]))
    note(folder, f"tool {ctx.call_id}")
    assert ctx.preview is not None
    (folder / "saved").write_text(ctx.preview.editable or "")
    return "saved"


class Person:
    """Says yes, and writes down that it was asked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def decide(self, requests: Sequence[ApprovalRequest], /) -> list[Decision]:
        """Yes to each."""
        for request in requests:
            note(self._folder, f"asked {request.call_id}")
        return [Approve() for _ in requests]


def script(folder: Path) -> ScriptedModel:
    """A model that plays the turn that the conversation has come to; each request is paid for."""

    def play(request: ModelRequest) -> Line:
        step = sum(message.role == "assistant" for message in request.messages) + 1
        note(folder, f"paid {step}")
        if step == STEPS:
            return "All done."
        calls = [Call("look", {"number": step}, id=f"look_{step}"), Call("peek", {"number": step}, id=f"peek_{step}")]
        if step == SAVING:
            calls.append(Call("save", {"text": "the text"}, id="save_1"))
        if step == PLANNING:
            calls.append(Call("write_todos", {"todos": [{"content": "Save it"}]}, id="plan_1"))
        return [f"Step {step}.", *calls]

    return ScriptedModel(play)


def open_log(folder: Path) -> Journal:
    """The run log of a round: in a file of its own, or in the database of all rounds."""
    url = os.environ.get(DATABASE)
    if url is None:
        return SqliteJournal(folder / "data" / "runs.db")
    database = Database(parse_address(url))
    # One process at a time, and it is dead when the next one begins: there is nobody to wait for.
    presence = Presence(database, silence_s=0.0, restart_s=0.0)
    return PostgresJournal(database, folder=folder / "data", presence=presence)


def name_run(folder: Path) -> str:
    """Return the id of the run of a round."""
    return RUN if DATABASE not in os.environ else f"{RUN}-{folder.name}"


def make_agent(folder: Path, *, kill_after: int = 0) -> Agent:
    """The agent of the run, in this process."""
    return Agent(
        model=script(folder),
        tools=[look, peek, save, write_todos],
        system="Be thorough.",
        stop_when=step_count_is(STEPS + 5),
        approver=Person(folder),
        deps={"folder": str(folder)},
        journal=Fatal(open_log(folder), kill_after),
        make_id=lambda: name_run(folder),
    )


async def play(folder: Path, *, kill_after: int = 0) -> RunResult[None]:
    """Begin the run, or go on with it."""
    agent = make_agent(folder, kill_after=kill_after)
    if (folder / "begun").exists():
        return await agent.resume(name_run(folder))
    (folder / "begun").touch()
    return await agent.run("Go.")


def told(result: RunResult[None], folder: Path) -> dict[str, object]:
    """All of a result that must not depend on who brought it about."""
    return {
        "text": result.text,
        "stop_reason": result.stop_reason,
        "messages": to_jsonable_python(result.messages),
        "steps": [
            [step.number, step.text, to_jsonable_python(step.usage), [(call.name, call.ok) for call in step.calls]]
            for step in result.steps
        ],
        "saved": (folder / "saved").read_text(),
    }


def in_child(folder: Path, *, kill_after: int) -> bool:
    """Play in a process of its own; whether it lived to the end."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            result = asyncio.run(play(folder, kill_after=kill_after))
            (folder / "told").write_text(json.dumps(told(result, folder)))
            status = 0
        finally:
            sys.stderr.flush()
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return False
    assert os.waitstatus_to_exitcode(status) == 0, "the run failed"
    return True


def play_round(folder: Path, kills: list[int], *, to_the_end: bool) -> None:
    """One round; its end is printed."""
    folder.mkdir(exist_ok=True)
    processes = 0
    alive = False
    while not alive and processes < (MOST_PROCESSES if to_the_end else len(kills)):
        kill_after = kills[min(processes, len(kills) - 1)] if processes < len(kills) or kills[-1] < 0 else 0
        alive = in_child(folder, kill_after=abs(kill_after))
        processes += 1
    outcome = {"kills": kills, "processes": processes, "happened": happened(folder)}
    end = json.loads((folder / "told").read_text()) if alive else {}
    print(json.dumps(outcome | end), flush=True)


if __name__ == "__main__":
    for wanted in sys.argv[2:]:
        name, _, numbers = wanted.rpartition(":")
        kills = [int(number) for number in numbers.rstrip("!").split(",")]
        play_round(Path(sys.argv[1]) / (name or numbers), kills, to_the_end=not numbers.endswith("!"))
