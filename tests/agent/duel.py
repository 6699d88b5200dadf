"""`python tests/agent/duel.py FOLDER NAME`: goes on with the run of `crash.py`, and says what it does on stdout.

The first time the model is asked it says so, and waits until something is written to the pipe `FOLDER/go`.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

from tests.agent.crash import RUN, make_agent, script, told

from toolroll.agent.agent import Agent
from toolroll.agent.events import Event, Warned
from toolroll.kernel.data.messages import Origin
from toolroll.models.model import Delta, Model, ModelRequest, ModelResponse


class Slow:
    """A model that can be held up."""

    def __init__(self, inner: Model, folder: Path) -> None:
        self._inner = inner
        self._go: Path | None = folder / "go"

    @property
    def origin(self) -> Origin:
        """The model behind it."""
        return self._inner.origin

    async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        """The turn, after a while."""
        if self._go is not None:
            print("asking", flush=True)
            go, self._go = self._go, None
            await asyncio.to_thread(go.read_bytes)
        async for piece in self._inner.respond(request, stream=stream):
            yield piece


def say(event: Event) -> None:
    """Tell that the run belongs to somebody else."""
    if isinstance(event, Warned):
        print("waiting" if "waiting for it" in event.text else event.text, flush=True)


async def main(folder: Path) -> None:
    """Go on, and tell what came of it."""
    agent: Agent[None] = make_agent(folder)
    agent._setup = replace(agent.setup, model=Slow(script(folder), folder))
    result = await agent.start(resume=RUN, listener=say).wait()
    print(json.dumps(told(result, folder)), flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
