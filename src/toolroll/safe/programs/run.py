"""Run a program that may hang, flood, fork or ignore being told to stop (XL12).

No shell: a fixed argument vector. The program gets a session of its own, an environment without secrets, no terminal,
and nothing of it stays behind: neither when it ends by itself, nor past its time, nor when the caller is cancelled.
"""

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Literal

from toolroll.errors import UsageError
from toolroll.safe.limits import (
    PROGRAM_DRAIN_S,
    PROGRAM_GRACE_S,
    PROGRAM_KILLED_S,
    PROGRAM_POLL_S,
    PROGRAM_READ_BYTES,
)
from toolroll.safe.text import one_line

if TYPE_CHECKING:
    from asyncio.subprocess import Process

_KEPT = frozenset({"HOME", "LANG", "LANGUAGE", "LOGNAME", "TMPDIR", "TZ", "USER"})
DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where programs are looked for when nobody says where."""
# Every process that the program starts inherits it, those included that leave the session to survive.
_MARK = "TOOLROLL_PROGRAM"
_SWEEPS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramResult:
    """How a program ended, and what it wrote until then; an exit code below zero is the signal that ended it."""

    ended: Literal["exited", "timeout", "output_limit"]
    exit_code: int | None
    stdout: bytes
    stderr: bytes


@dataclass(slots=True, kw_only=True)
class _Budget:
    left_bytes: int
    exceeded: bool = False

    def take(self, chunk: bytes) -> bytes:
        taken = chunk[: self.left_bytes]
        self.left_bytes -= len(taken)
        self.exceeded = self.exceeded or len(taken) < len(chunk)
        return taken


def minimal_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Keep what programs need to find things and speak the user's language: no keys, no settings of interpreters."""
    kept = {name: value for name, value in environment.items() if name in _KEPT or name.startswith("LC_")}
    # An empty or relative entry means the working folder: a workspace could bring its own `git`.
    folders = [folder for folder in environment.get("PATH", "").split(os.pathsep) if folder.startswith("/")]
    return {**kept, "PATH": os.pathsep.join(folders) or DEFAULT_PATH}


async def run_program(
    argv: Sequence[str],
    *,
    timeout_s: float,
    limit_output_bytes: int,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
) -> ProgramResult:
    """Run a program to its end, to its time limit, or to its limit of output, and leave no process behind.

    `env` is the whole environment (but for one mark of ours); by default the minimal one. A program that cannot be
    started is a UsageError; every other end is a value.
    """
    budget, outputs, exited = _Budget(left_bytes=limit_output_bytes), (bytearray(), bytearray()), False
    with ExitStack() as stack:
        environment = stack.enter_context(ended_at_exit(minimal_environment(os.environ) if env is None else env))
        process, readers = await _start(argv, cwd, environment, stdin, stack)
        try:
            async with asyncio.timeout(timeout_s) as clock, asyncio.TaskGroup() as tasks:
                for reader, output in zip(readers, outputs, strict=True):
                    tasks.create_task(_collect(reader, output, budget, clock))
                await process.wait()
                exited = True
                # Whoever still holds the pipe is a child that outlived the program.
                _shorten(clock, PROGRAM_DRAIN_S)
        except TimeoutError:
            pass
        finally:
            await end_group(process)
    ended: Literal["exited", "timeout", "output_limit"] = "exited" if exited else "timeout"
    stdout, stderr = map(bytes, outputs)
    return ProgramResult(
        ended="output_limit" if budget.exceeded else ended, exit_code=process.returncode, stdout=stdout, stderr=stderr
    )


async def _start(
    argv: Sequence[str], cwd: str | Path | None, env: Mapping[str, str], stdin: bytes, stack: ExitStack
) -> "tuple[Process, list[asyncio.StreamReader]]":
    readers = []
    with ExitStack() as ours:
        writers = []
        for _ in range(2):
            # Pipes of our own: with asyncio's, waiting for the program means waiting for whoever holds its pipes.
            read_end, write_end = os.pipe()
            ours.callback(os.close, write_end)
            writers.append(write_end)
            readers.append(await pipe_reader(read_end, stack))
        try:
            process = await asyncio.create_subprocess_exec(
                *_check_command(argv),
                stdin=_source(stdin, ours),
                stdout=writers[0],
                stderr=writers[1],
                cwd=cwd,
                env=env,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            name = one_line(argv[0] if argv else "", 100)
            reason = one_line(getattr(error, "strerror", None) or str(error), 200)
            raise UsageError(f"Cannot start the program {name!r}: {reason}. Check its name and its folder.") from error
    return process, readers


@contextmanager
def ended_on_error(environment: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Give the environment for a program that a person uses; if the block is cut short, all that has it is killed."""
    mark = f"{_MARK}={token_hex(16)}"
    try:
        yield _marked(environment, mark)
    except BaseException:
        _kill_marked(mark.encode())
        raise


@contextmanager
def ended_at_exit(environment: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Give the environment for a program that runs inside the block; whatever has it at the end is killed."""
    mark = f"{_MARK}={token_hex(16)}"
    try:
        yield _marked(environment, mark)
    finally:
        _kill_marked(mark.encode())


def _marked(environment: Mapping[str, str], mark: str) -> dict[str, str]:
    return {**environment, _MARK: mark.partition("=")[2]}


def _check_command(argv: Sequence[str]) -> Sequence[str]:
    # A string is a sequence of strings too: "ls" would run `l` with the argument `s`.
    if isinstance(argv, str) or not argv or not argv[0]:
        raise ValueError("a list with the program and its arguments is needed")
    return argv


async def pipe_reader(read_end: int, stack: ExitStack, *, limit: int = PROGRAM_READ_BYTES) -> "asyncio.StreamReader":
    """Return a reader of that end of a pipe; the stack closes it, also when nobody read to the end."""
    reader = asyncio.StreamReader(limit=limit)
    file, loop = os.fdopen(read_end, "rb", buffering=0), asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), file)
    stack.callback(transport.close)
    return reader


def _source(stdin: bytes, stack: ExitStack) -> int:
    if not stdin:
        return subprocess.DEVNULL
    # A file without a name, not a pipe: nobody has to feed it, so a program that never reads cannot block us.
    file = stack.enter_context(TemporaryFile())  # noqa: SIM115 -- the stack closes it
    file.write(stdin)
    file.seek(0)
    return file.fileno()


async def _collect(
    reader: "asyncio.StreamReader", output: bytearray, budget: _Budget, clock: "asyncio.Timeout"
) -> None:
    while chunk := await reader.read(PROGRAM_READ_BYTES):
        output += budget.take(chunk)
        if budget.exceeded:
            _shorten(clock, 0)
            return


def _shorten(clock: "asyncio.Timeout", seconds: float) -> None:
    until, now = clock.when(), asyncio.get_running_loop().time()
    if until is not None and not clock.expired():
        clock.reschedule(min(until, now + seconds))


async def end_group(process: "Process") -> None:
    """End a program and all of its group: politely first, then for good."""
    try:
        if _signal_group(process.pid, signal.SIGTERM):
            await _group_gone(process.pid)
    finally:
        # Also when we are cancelled once more while being polite.
        _signal_group(process.pid, signal.SIGKILL)
    with suppress(TimeoutError):
        async with asyncio.timeout(PROGRAM_KILLED_S):
            await process.wait()


async def _group_gone(group: int) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(PROGRAM_GRACE_S):
            while _signal_group(group, 0):  # noqa: ASYNC110 -- a group sends no event
                await asyncio.sleep(PROGRAM_POLL_S)


def _signal_group(group: int, number: int) -> bool:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _kill_marked(mark: bytes) -> None:
    """Kill what left the session, as daemons do; where there is no /proc, only the group is killed."""
    if hasattr(os, "pidfd_open"):
        # A process that forks while we look shows its child the next time; the first look that finds none is the last.
        all(_sweep(mark) for _ in range(_SWEEPS))


def _sweep(mark: bytes) -> int:
    return sum(_kill_if_marked(int(entry.name), mark) for entry in Path("/proc").glob("[0-9]*"))


def _kill_if_marked(pid: int, mark: bytes) -> bool:
    with ExitStack() as stack, suppress(OSError):
        # A handle for the very process we look at, whoever gets its number afterwards.
        handle = os.pidfd_open(pid)
        stack.callback(os.close, handle)
        if mark in Path(f"/proc/{pid}/environ").read_bytes():
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            return True
    return False
