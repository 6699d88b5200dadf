"""Start a program that is talked to line by line, such as a tool server; nothing of it stays behind.

No shell: a fixed argument vector. The program gets a session of its own and exactly the environment that it is given.
A line without end, and what it writes to stderr, cost no more memory than their limits.
"""

import asyncio
import os
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from toolroll.errors import UsageError
from toolroll.safe.limits import PROGRAM_GRACE_S, PROGRAM_POLL_S, PROGRAM_READ_BYTES
from toolroll.safe.programs.run import end_group, ended_at_exit, pipe_reader
from toolroll.safe.text import one_line

MAX_STDERR_BYTES: Final = 8_192
"""Of the end of what a program wrote to stderr: where it says why it ended."""


class Talk:
    """A program that runs: lines go in and come out."""

    def __init__(self, process: Process, stdout: asyncio.StreamReader) -> None:
        self._process = process
        self._stdout = stdout
        self._stderr: deque[int] = deque(maxlen=MAX_STDERR_BYTES)

    @property
    def stderr(self) -> str:
        """Return the end of what the program has written to stderr."""
        return bytes(self._stderr).decode("utf-8", "replace")

    async def read_line(self) -> bytes | None:
        """Return the next line; None at the end. A line over the limit raises ValueError."""
        try:
            return await self._stdout.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            return error.partial or None
        except asyncio.LimitOverrunError:
            raise ValueError("a line is longer than the limit") from None

    async def write_line(self, line: bytes) -> None:
        """Send a line; ConnectionError where the program takes none any more."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")
        await self._process.stdin.drain()

    async def collect_stderr(self, stderr: asyncio.StreamReader) -> None:
        """Keep the end of what comes, so that the program never waits for a reader."""
        while chunk := await stderr.read(PROGRAM_READ_BYTES):
            self._stderr.extend(chunk)

    async def end(self) -> None:
        """Close the program's input, give it a moment to end by itself, then end its whole group."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self.wait_end(PROGRAM_GRACE_S)
        await end_group(self._process)

    async def wait_end(self, seconds: float) -> int | None:
        """Wait for the end of the program, but no longer; return its exit code."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._process.returncode is None:  # noqa: ASYNC110 - waiting would wait for its children too
                    await asyncio.sleep(PROGRAM_POLL_S)
        return self._process.returncode


@asynccontextmanager
async def open_program(
    argv: Sequence[str], *, env: Mapping[str, str], limit_line_bytes: int, cwd: str | Path | None = None
) -> AsyncIterator[Talk]:
    """Start a program and talk to it; at the end of the block it is ended with all that it has started.

    A program that cannot be started is a UsageError.
    """
    with ExitStack() as stack:
        environment = stack.enter_context(ended_at_exit(env))
        ends = [_pipe(stack) for _ in range(2)]
        stdout = await pipe_reader(ends[0][0], stack, limit=limit_line_bytes)
        stderr = await pipe_reader(ends[1][0], stack)
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=PIPE,
                stdout=ends[0][1],
                stderr=ends[1][1],
                cwd=cwd,
                env=environment,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = one_line(getattr(error, "strerror", None) or str(error), 200)
            name = one_line(argv[0], 100)
            raise UsageError(f"Cannot start the program {name!r}: {reason}. Check its name and its folder.") from error
        for _, write_end in ends:
            write_end.close()
        talk = Talk(process, stdout)
        collecting = asyncio.ensure_future(talk.collect_stderr(stderr))
        try:
            yield talk
        finally:
            try:
                await talk.end()
            finally:
                collecting.cancel()


def _pipe(stack: ExitStack) -> tuple[int, BinaryIO]:
    # Pipes of our own: with asyncio's, waiting for the program means waiting for whoever holds its pipes.
    read_end, write_end = os.pipe()
    return read_end, stack.enter_context(os.fdopen(write_end, "wb", buffering=0))
