"""A command at a pseudo-terminal: keys are sent, the screen is read. Its stdout is a pipe, as before `| jq`."""

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import pyte
from tests.support.programs import WAIT_S, Copy, program_in, shared_starter

TOOLS = Path(__file__).parents[1] / "cli" / "sample_tools.py"
_SGR = re.compile(r"\x1b\[[0-9;]*m")


class Pseudo:
    """A program with a terminal for stdin and stderr, and a pipe for stdout."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        columns: int = 80,
        rows: int = 24,
        stdin: int | None = None,
        stdout_on_terminal: bool = False,
    ) -> None:
        self._master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        streams = [slave if stdin is None else stdin, slave if stdout_on_terminal else None, slave]
        self.process = _start(command, streams, env=env, cwd=cwd)
        os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()
        os.close(self._master)

    @property
    def text(self) -> str:
        """All that was ever written, without colours."""
        return _SGR.sub("", self.raw.decode("utf-8", "replace")).replace("\r\n", "\n")

    @property
    def display(self) -> list[str]:
        """The screen as it is now, without trailing blanks."""
        return [line.rstrip() for line in self.screen.display]

    @property
    def echoes(self) -> bool:
        """Whether what is typed is shown, as a shell wants it."""
        return bool(termios.tcgetattr(self._master)[3] & termios.ECHO)

    def resize(self, columns: int, rows: int) -> None:
        """Another size; the program gets SIGWINCH."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def see(self, *lines: str) -> None:
        """Read until each of these is a line of the screen."""
        self._read_until(lambda: set(lines) <= set(self.display), "\n".join(lines))

    def wait_for(self, text: str) -> None:
        """Read until this text has been written since the last key."""
        self._read_until(lambda: text in self.text[self._sent_at :], text)

    def waits_until(self, done: Callable[[], bool], what: str) -> None:
        """Read until something else is so."""
        self._read_until(done, what)

    def press(self, line: str, *then: str) -> None:
        """Type a line and Enter, and wait for what is answered, one after the other."""
        self.send(line.encode() + b"\r", *then)

    def send(self, keys: bytes, *then: str) -> None:
        """Type keys as they are."""
        self._drain_all()  # what stands there already is no answer to these
        self._sent_at = len(self.text)
        os.write(self._master, keys)
        for text in then:
            self.wait_for(text)

    _sent_at = 0

    def end(self) -> tuple[int, str]:
        """Read to the end: the exit code, and what went to stdout."""
        self._read_until(lambda: self.process.poll() is not None, "the end")
        self._drain_all()
        out = self.process.stdout.read().decode() if self.process.stdout else ""
        return self.process.wait(), out

    def _read_until(self, done: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + WAIT_S
        while not done():
            has_ended = self.process.poll() is not None  # looked at first: what it wrote before that is read below
            if time.monotonic() > deadline or not (self._drain(0.05) or not has_ended or done()):
                raise AssertionError(f"waited for {what!r}, on the screen:\n" + "\n".join(self.display))

    def _drain_all(self) -> None:
        """A terminal hands over some 4 KB at a time, and holds more."""
        while self._drain():
            pass

    def _drain(self, wait_s: float = 0.0) -> bool:
        if not select.select([self._master], [], [], wait_s)[0]:
            return False
        try:
            data = os.read(self._master, 65_536)
        except OSError:  # EIO: the other side is closed
            return False
        self.raw += data
        self._stream.feed(data)
        return bool(data)


def _start(
    command: Sequence[str], streams: Sequence[int | None], *, env: Mapping[str, str], cwd: Path
) -> "subprocess.Popen[bytes] | Copy":
    """Start a program at the terminal; what it writes to a stream that is None can be read."""
    known, starter = program_in(command), shared_starter()
    if known is None or not starter.suits(env):
        stdin, stdout, stderr = (subprocess.PIPE if one is None else one for one in streams)
        return subprocess.Popen(
            command,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
            preexec_fn=_take_terminal,  # noqa: PLW1509 - one system call: /dev/tty is then this terminal
        )
    mine, theirs = os.pipe()
    output = open(mine, "rb")  # noqa: SIM115 - closed with the terminal
    given = [theirs if one is None else one for one in streams]
    program, arguments = known
    try:
        return starter.copy(program, arguments, given, env=env, cwd=cwd, stdout=output, terminal=True)
    finally:
        os.close(theirs)


def _take_terminal() -> None:
    fcntl.ioctl(2, termios.TIOCSCTTY, 0)
