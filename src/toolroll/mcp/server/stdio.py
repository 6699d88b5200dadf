"""Serving one client over stdin and stdout, as long as it is there."""

import asyncio
import os
from typing import Final, TextIO

from anyio import wrap_file
from mcp.server.stdio import stdio_server

from toolroll.mcp.server.server import ToolServer

PARENT_SECONDS: Final = 1.0
"""How often the server looks whether the program that started it is still there."""


async def serve_stdio(server: ToolServer, out: TextIO | None = None) -> None:
    """Serve until the end of the input, or until the program that started this one is gone.

    stdout is the protocol's: what a tool prints goes to stderr. `out` is where stdout goes if it was put aside before,
    so that what is printed while tools are loaded goes to stderr, too.
    """
    serving = asyncio.ensure_future(_serve(server, out))
    watching = asyncio.ensure_future(_wait_for_orphan(os.getppid()))
    done, _ = await asyncio.wait([serving, watching], return_when=asyncio.FIRST_COMPLETED)
    if serving in done:
        watching.cancel()
        await serving
        return
    await server.close()
    # The thread that waits for input cannot be ended while another process has the pipe open.
    os._exit(0)


async def _serve(server: ToolServer, out: TextIO | None) -> None:
    protocol = server.protocol
    async with stdio_server(stdout=None if out is None else wrap_file(out)) as (reader, writer):
        await protocol.run(reader, writer, protocol.create_initialization_options())


async def _wait_for_orphan(parent: int) -> None:
    while os.getppid() == parent:  # noqa: ASYNC110 - the system has no event for it
        await asyncio.sleep(PARENT_SECONDS)
