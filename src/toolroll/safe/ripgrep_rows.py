"""All that ripgrep prints, read at once when it has ended: for short rows about very many files."""

import fcntl
import os
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

from toolroll.safe.ripgrep import Ended, RipgrepEnd, _command
from toolroll.safe.ripgrep_process import MAX_STDERR_BYTES, RipgrepProcess, cannot_search, ripgrep_process

_LOOK_S: Final = 0.05  # between two looks at how much was printed: some megabytes at most


async def gather_ripgrep(
    arguments: Sequence[str],
    *,
    cwd: str | Path | None = None,
    timeout_s: float,
    limit_bytes: int,
    stderr_bytes: int = MAX_STDERR_BYTES,
) -> tuple[RipgrepEnd, bytes]:
    """All that it prints, at once: for short rows of many files, which one by one would wake us thousands of times.

    Ends as `run_ripgrep` does; what was printed until then is there, and of its complaints the first bytes.
    """
    import asyncio  # noqa: PLC0415 -- costs 5 interpreter starts, needed only here

    ended: Ended = "timeout"
    with ExitStack() as stack:
        output, complaints = _nameless_file(stack), _nameless_file(stack)
        async with ripgrep_process(_command(arguments), cwd=cwd, stdout=output, stderr=complaints) as process:
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    ended = await _watched(process, output, limit_bytes, complaints, stderr_bytes)
        printed, stderr = _read(output, limit_bytes), _read(complaints, stderr_bytes)
    return RipgrepEnd(ended=ended, exit_code=process.exit_code, stderr=stderr.decode("utf-8", "replace")), printed


def _nameless_file(stack: ExitStack) -> int:
    fd = _new_file(stack)
    # What is written goes to the end, wherever that is: so the file can be cut while it is written to.
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_APPEND)
    return fd


def _new_file(stack: ExitStack) -> int:
    if hasattr(os, "memfd_create"):
        try:
            fd = os.memfd_create("toolroll", os.MFD_CLOEXEC)
        except OSError as error:
            raise cannot_search(error) from error
        stack.callback(os.close, fd)
        return fd
    from tempfile import TemporaryFile  # noqa: PLC0415 -- 20 ms, and only where there is nothing better

    return stack.enter_context(TemporaryFile()).fileno()


def _read(file: int, limit_bytes: int) -> bytes:
    return os.pread(file, min(os.fstat(file).st_size, limit_bytes), 0)


async def _watched(process: RipgrepProcess, output: int, limit_bytes: int, complaints: int, stderr_bytes: int) -> Ended:
    """Wait for its end, and look from time to time at how much it has printed."""
    import asyncio  # noqa: PLC0415 -- as above

    waiting = asyncio.ensure_future(process.exited())
    try:
        while not waiting.done() and os.fstat(output).st_size <= limit_bytes:
            await asyncio.wait([waiting], timeout=_LOOK_S)
            _cut(complaints, stderr_bytes)
        return "exited" if os.fstat(output).st_size <= limit_bytes else "output_limit"
    finally:
        waiting.cancel()


def _cut(file: int, limit_bytes: int) -> None:
    """Complaints are no reason to end it; their memory is given back."""
    if os.fstat(file).st_size > limit_bytes:
        os.ftruncate(file, limit_bytes)
