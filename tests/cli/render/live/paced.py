"""`toolroll` with models that say a word for each byte that comes through a pipe: FIFO, then the arguments."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator

from toolroll.cli.main import main
from toolroll.models import scripted_file
from toolroll.models.model import Delta, ModelRequest, ModelResponse, TextDelta
from toolroll.models.scripted import ScriptedModel

# Open for both ways: it has no end as long as this process lives.
GATE = os.open(sys.argv[1], os.O_RDWR | os.O_NONBLOCK)


async def let_through() -> None:
    """Come back once there is a byte."""
    is_there = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(GATE, is_there.set)
    try:
        await is_there.wait()
        os.read(GATE, 1)
    finally:
        loop.remove_reader(GATE)


class PacedModel(ScriptedModel):
    """Waits before each word."""

    async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        async for one in super().respond(request, stream=stream):
            if isinstance(one, TextDelta):
                await let_through()
            yield one
        await let_through()


if __name__ == "__main__":
    setattr(scripted_file, "ScriptedModel", PacedModel)  # noqa: B010 - it is not theirs to give
    main(sys.argv[2:])
