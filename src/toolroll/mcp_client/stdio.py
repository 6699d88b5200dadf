"""Speak MCP over the pipes of a program: one message a line, each within a limit.

The SDK's own transport reads a line of any length into memory, copies all of it for every piece that comes, and logs
each line that is no message. Here a line has a limit, and a server that prints other things is borne with for a while.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from toolroll.errors import UsageError
from toolroll.mcp_client.spec import ServerSpec
from toolroll.safe.limits import PROGRAM_DRAIN_S
from toolroll.safe.programs.talk import Talk, open_program
from toolroll.safe.text import one_line

MAX_MESSAGE_BYTES: Final = 16_777_216
"""Of one message: ten images of the size that models take."""
MAX_STRAY_LINES: Final = 1_000
"""That are no messages, such as a banner on stdout, before the server is given up."""

Streams = tuple["MemoryObjectReceiveStream[SessionMessage | Exception]", "MemoryObjectSendStream[SessionMessage]"]


class StdioEnd:
    """How a conversation with a program ended: set when it has."""

    def __init__(self) -> None:
        self.event: asyncio.Event = asyncio.Event()
        self.reason: str = ""
        self._callback: Callable[[str], None] | None = None

    def on_end(self, callback: Callable[[str], None]) -> None:
        """Call it with the reason as soon as there is one, before any waiting request is told."""
        self._callback = callback
        if self.event.is_set():
            callback(self.reason)

    def note(self, reason: str) -> None:
        """Note why; the first reason counts."""
        if self.event.is_set():
            return
        self.reason = reason
        self.event.set()
        if self._callback is not None:
            self._callback(reason)


@asynccontextmanager
async def open_stdio(spec: ServerSpec, environment: Mapping[str, str], end: StdioEnd) -> AsyncIterator[Streams]:
    """Start the server and give the streams to talk to it; it is ended with all that it has started."""
    command = [spec.command, *spec.args]
    async with open_program(command, env=environment, cwd=spec.cwd, limit_line_bytes=MAX_MESSAGE_BYTES) as talk:
        incoming_send, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, outgoing_receive = anyio.create_memory_object_stream[SessionMessage](0)
        async with incoming_send, incoming, outgoing, outgoing_receive, anyio.create_task_group() as tasks:
            tasks.start_soon(_read, talk, incoming_send, end)
            tasks.start_soon(_write, talk, outgoing_receive, end)
            try:
                yield incoming, outgoing
            finally:
                tasks.cancel_scope.cancel()


async def _read(talk: Talk, incoming: "MemoryObjectSendStream[SessionMessage | Exception]", end: StdioEnd) -> None:
    async with incoming:
        try:
            async for message in _read_messages(talk):
                await incoming.send(message)
            end.note(await describe_end(talk))
        except UsageError as error:
            end.note(error.message)
        except ValueError:
            end.note(f"it sent a message of over {MAX_MESSAGE_BYTES:,} bytes")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            end.note("the connection was closed")


async def _read_messages(talk: Talk) -> AsyncIterator[SessionMessage]:
    stray = 0
    while (line := await talk.read_line()) is not None:
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            stray += bool(line.strip())
            if stray > MAX_STRAY_LINES:
                raise UsageError(f"it printed over {MAX_STRAY_LINES:,} lines that are no MCP messages") from None
            continue
        yield SessionMessage(message)


async def _write(talk: Talk, outgoing: "MemoryObjectReceiveStream[SessionMessage]", end: StdioEnd) -> None:
    async with outgoing:
        async for one in outgoing:
            line = one.message.model_dump_json(by_alias=True, exclude_unset=True).encode()
            try:
                await talk.write_line(line)
            except OSError:
                end.note(await describe_end(talk))
                return


async def describe_end(talk: Talk) -> str:
    """Describe how a server ended, with the last line that it wrote to stderr."""
    code = await talk.wait_end(PROGRAM_DRAIN_S)
    how = "it closed its output" if code is None else f"it ended with exit code {code}"
    lines = [line for line in talk.stderr.splitlines() if line.strip()]
    return f"{how}. Its last words: {one_line(lines[-1], 300)}" if lines else how
