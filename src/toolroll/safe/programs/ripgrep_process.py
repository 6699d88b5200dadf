"""The ripgrep process while it runs: read as it prints, its complaints collected, and never left behind.

Made of pipes and the event loop alone. The streams, transports and the watching thread of `asyncio.subprocess` cost a
millisecond of CPU for each start, which is as much as ripgrep itself takes for its own.
"""

import asyncio
import os
import resource
import subprocess
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolroll.errors import UsageError
from toolroll.safe.limits import PROGRAM_KILLED_S, PROGRAM_POLL_S, PROGRAM_READ_BYTES
from toolroll.safe.programs.run import DEFAULT_PATH
from toolroll.safe.text import one_line

if TYPE_CHECKING:
    from subprocess import Popen

MEMORY_BYTES: Final = 2 << 30
"""For the program: a line of a file that is searched is held whole, one for each core."""
MAX_STDERR_BYTES: Final = 65_536  # some hundred complaints: nobody reads more


class RipgrepProcess:
    """The program, which reads and prints and starts nothing; what it complains about is read whenever it does."""

    def __init__(self, process: "Popen[bytes]", loop: "asyncio.AbstractEventLoop") -> None:
        self._process = process
        self._complaints = bytearray()
        self._loop = loop
        self._is_silent: asyncio.Future[None] = loop.create_future()
        assert process.stderr is not None, "it complains to a pipe"
        self._stderr: Final = process.stderr.fileno()
        loop.add_reader(self._stderr, self._read_complaints, self._stderr)

    @property
    def exit_code(self) -> int | None:
        """Return the exit code; below zero, the signal that ended it."""
        return self._process.returncode

    @property
    def complaints(self) -> str:
        """Return what it wrote to stderr so far, or the beginning of it."""
        return self._complaints.decode("utf-8", "replace")

    async def read(self) -> bytes:
        """Return what it printed next; nothing at the end."""
        assert self._process.stdout is not None, "it prints to a pipe"
        fd = self._process.stdout.fileno()
        # Waited for also where there is something already: others get their turn between two reads.
        await _wait_until_readable(self._loop, fd)
        return os.read(fd, PROGRAM_READ_BYTES)

    async def wait(self) -> None:
        """Wait until it has ended, and all that it complained about is there."""
        await self._is_silent  # it closes stderr by ending, and in no other way
        await self._wait_for_exit()

    async def end(self) -> None:
        """Kill it, unless it has ended: it has nothing to clean up, so there is nothing to wait for before."""
        try:
            if self._process.poll() is None:
                self._process.kill()
                await self._wait_after_kill()
        finally:
            # A call of its own: Python 3.11 may not tell tracers of coroutines any more that were just cancelled.
            self._forget()

    def _forget(self) -> None:
        if self._process.poll() is None:  # we were cancelled once more, or a disk holds it up
            threading.Thread(target=self._process.wait, daemon=True).start()
        self._stop_reading()
        for pipe in filter(None, (self._process.stdout, self._process.stderr)):
            pipe.close()

    async def _wait_after_kill(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(PROGRAM_KILLED_S):
                await self._wait_for_exit()

    async def _wait_for_exit(self) -> None:
        if self._process.poll() is None and hasattr(os, "pidfd_open"):
            with suppress(OSError):  # a kernel before 5.3, or a container that does not let us
                await _wait_for_pid(self._loop, self._process.pid)
        while self._process.poll() is None:  # noqa: ASYNC110 -- where there is no event for it
            await asyncio.sleep(PROGRAM_POLL_S)

    def _read_complaints(self, fd: int) -> None:
        chunk = os.read(fd, PROGRAM_READ_BYTES)
        self._complaints += chunk[: MAX_STDERR_BYTES - len(self._complaints)]
        if not chunk:
            self._stop_reading()

    def _stop_reading(self) -> None:
        # Whether or not the future is done: whoever is cancelled while waiting for it cancels it.
        self._loop.remove_reader(self._stderr)
        _set_done(self._is_silent)


@asynccontextmanager
async def ripgrep_process(
    command: Sequence[str],
    *,
    cwd: str | Path | None,
    stdin: int | None = None,
    pass_fds: Sequence[int] = (),
) -> AsyncIterator[RipgrepProcess]:
    """Run it inside; on every way out it is ended."""
    process = start_ripgrep(command, cwd=cwd, stdin=stdin, pass_fds=pass_fds)
    running = RipgrepProcess(process, asyncio.get_running_loop())
    try:
        yield running
    finally:
        await running.end()


def start_ripgrep(
    command: Sequence[str],
    *,
    cwd: str | Path | None,
    stdin: int | None = None,
    stderr: int | None = None,
    pass_fds: Sequence[int] = (),
) -> "Popen[bytes]":
    """Start the program with bounded memory, or raise UsageError."""
    try:
        process = subprocess.Popen(  # noqa: S603 -- our own program, and a list
            command,
            bufsize=0,
            cwd=cwd,
            env=_environment(),
            pass_fds=pass_fds,
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if stderr is None else stderr,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise cannot_search(error) from error
    if hasattr(resource, "prlimit"):
        with suppress(OSError):  # it has ended already
            resource.prlimit(process.pid, resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    return process


def cannot_search(error: Exception) -> UsageError:
    """Return the error for a program that cannot be started: no such folder, too long an argument, no descriptor."""
    return UsageError(f"Cannot search: {one_line(str(error), 200)}. Check the folder and the pattern.")


def _environment() -> dict[str, str]:
    # It asks for the home folder, for what a user's Git ignores everywhere, and otherwise only for settings. Where `rg`
    # is a script, that finds its programs. To pick from all variables takes a tenth of a millisecond.
    return {name: os.environ[name] for name in ("HOME",) if name in os.environ} | {"PATH": DEFAULT_PATH}


async def _wait_until_readable(loop: "asyncio.AbstractEventLoop", fd: int) -> None:
    ready = loop.create_future()
    loop.add_reader(fd, _set_done, ready)
    try:
        await ready
    finally:
        loop.remove_reader(fd)


async def _wait_for_pid(loop: "asyncio.AbstractEventLoop", pid: int) -> None:
    fd = os.pidfd_open(pid)
    try:
        await _wait_until_readable(loop, fd)
    finally:
        os.close(fd)


def _set_done(ready: "asyncio.Future[None]") -> None:
    # The loop tells once more before whoever waits has had its turn; or nobody waits any more.
    if not ready.done():
        ready.set_result(None)
