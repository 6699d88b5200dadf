"""Clients of a server in the same process: the SDK's own, of both eras, with a person behind them."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types

from mcp import Client
from toolroll.mcp.server.server import ToolServer

ERAS = ("legacy", "auto")
"""The handshake of 2025-11-25, and the version without sessions, which a client finds by asking for it."""

YES = types.ElicitResult(action="accept", content={"allow": True})
NO = types.ElicitResult(action="accept", content={"allow": False, "reason": "Not now."})


class Person:
    """Gives the answers in turn, the last one again and again, and remembers the questions."""

    def __init__(
        self,
        *answers: types.ElicitResult,
        look: Callable[[], object] = lambda: None,
        work: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.answers = list(answers)
        self.questions: list[str] = []
        self._look = look
        self._work = work

    async def __call__(self, context: Any, params: Any) -> types.ElicitResult:
        del context
        self.questions.append(params.message)
        self._look()
        if self._work is not None:
            await self._work()
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@asynccontextmanager
async def connect(server: ToolServer, era: str, person: Person | None = None) -> AsyncIterator[Client]:
    """A client of the server; without a person it has no elicitation."""
    async with Client(server.protocol, mode=era, elicitation_callback=person) as client:
        yield client


def text_of(result: types.CallToolResult) -> str:
    """All text of a result."""
    return "\n".join(block.text for block in result.content if isinstance(block, types.TextContent))
