"""What the tests of the agent play with: a few tools, and short ways to run them with a script."""

import asyncio
from collections.abc import Iterable
from typing import Any

from toolroll import Agent, RunResult, tool
from toolroll.agent.events import Event
from toolroll.kernel.approval.request import ApprovalRequest, Approve, Decision
from toolroll.models.scripted import Call, Line, ScriptedModel

__all__ = ["Call", "Notes", "add", "agent_of", "events_of", "fail", "play"]


@tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
async def fail(why: str = "broken") -> str:
    """Fail."""
    raise ValueError(why)


class Notes:
    """A list that a tool writes to, and who may: the side effect of these tests."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.asked: list[str] = []

        @tool(effect="writes")
        async def write(text: str) -> str:
            """Write a note."""
            self.written.append(text)
            return "written"

        self.write = write

    def decide(self, requests: Iterable[ApprovalRequest], /) -> list[Decision]:
        """An approver that says yes, and remembers what it was asked."""
        found = list(requests)
        self.asked += [request.preview.text for request in found]
        return [Approve() for _ in found]


def agent_of(*script: Line, **options: Any) -> Agent[Any]:
    """An agent whose model says what is written here."""
    return Agent(model=ScriptedModel(script), **{"tools": [add, fail], **options})


async def play(*script: Line, prompt: str = "go", **options: Any) -> RunResult[Any]:
    """The result of one run of it."""
    return await agent_of(*script, **options).run(prompt)


async def events_of(agent: Agent[Any], prompt: str = "go") -> list[Event]:
    """All that a run tells."""
    return [event async for event in agent.stream(prompt)]


async def ticks(count: int) -> None:
    """Let everything else go on that many times."""
    for _ in range(count):
        await asyncio.sleep(0)
