"""Serving one client over stdin and stdout, as long as it is there."""

import asyncio
import os
from typing import Final

from mcp.server.stdio import stdio_server

from toolroll.mcp.server.server import ToolServer

PARENT_SECONDS: Final = 1.0
"""How often the server looks whether the program that started it is still there."""


async def serve_stdio(server: ToolServer) -> None:
    """Serve until the end of the input, or until the program that started this one is gone.

    stdout is the SDK's: what a tool prints goes to stderr.
    """
    serving = asyncio.ensure_future(_serve(server))
    watching = asyncio.ensure_future(_wait_for_orphan(os.getppid()))
    done, _ = await asyncio.wait([serving, watching], return_when=asyncio.FIRST_COMPLETED)
    if serving in done:
        watching.cancel()
        await serving
        return
    await server.close()
    # The thread that waits for input cannot be ended while another process has the pipe open.
    os._exit(0)


async def _serve(server: ToolServer) -> None:
    protocol = server.protocol
    async with stdio_server() as (reader, writer):
        await protocol.run(reader, writer, protocol.create_initialization_options())


async def _wait_for_orphan(parent: int) -> None:
    while os.getppid() == parent:  # noqa: ASYNC110 - the system has no event for it
        await asyncio.sleep(PARENT_SECONDS)
