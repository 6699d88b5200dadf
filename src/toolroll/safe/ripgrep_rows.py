"""All that ripgrep prints, read at once when it has ended: for short rows about very many files."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolroll.safe.ripgrep import Ended, RipgrepEnd, _collect, _command, _end, _start

if TYPE_CHECKING:
    from asyncio.subprocess import Process

_LOOK_S: Final = 0.05  # between two looks at how much was printed: some megabytes at most


async def gather_ripgrep(
    arguments: Sequence[str], *, cwd: str | Path | None = None, timeout_s: float, limit_bytes: int
) -> tuple[RipgrepEnd, bytes]:
    """All that it prints, at once: for short rows of many files, which one by one would wake us thousands of times.

    Ends as `run_ripgrep` does; what was printed until then is there.
    """
    import asyncio  # noqa: PLC0415 -- costs 5 interpreter starts, needed only here

    stderr = bytearray()
    ended: Ended = "timeout"
    with ExitStack() as stack:
        output = _nameless_file(stack)
        process, [reader] = await _start(_command(arguments), cwd, None, stack, stdout=output)
        try:
            async with asyncio.timeout(timeout_s), asyncio.TaskGroup() as tasks:
                tasks.create_task(_collect(reader, stderr))
                ended = await _watched(process, output, limit_bytes)
        except TimeoutError:
            pass
        finally:
            await _end(process)
        printed = os.pread(output, min(os.fstat(output).st_size, limit_bytes), 0)
    return RipgrepEnd(ended=ended, exit_code=process.returncode, stderr=stderr.decode("utf-8", "replace")), printed


def _nameless_file(stack: ExitStack) -> int:
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("toolroll", os.MFD_CLOEXEC)
        stack.callback(os.close, fd)
        return fd
    from tempfile import TemporaryFile  # noqa: PLC0415 -- 20 ms, and only where there is nothing better

    return stack.enter_context(TemporaryFile()).fileno()


async def _watched(process: "Process", output: int, limit_bytes: int) -> Ended:
    """Wait for its end, and look from time to time at how much it has printed."""
    import asyncio  # noqa: PLC0415 -- as above

    waiting = asyncio.ensure_future(process.wait())
    try:
        while not waiting.done() and os.fstat(output).st_size <= limit_bytes:
            await asyncio.wait([waiting], timeout=_LOOK_S)
        if waiting.done():
            return "exited" if os.fstat(output).st_size <= limit_bytes else "output_limit"
        process.kill()
        return "output_limit"
    finally:
        waiting.cancel()
