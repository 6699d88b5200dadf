"""Run `toolroll` and `ghostpen` as processes of their own, without the half second that Python takes to load them.

A server has loaded all of the code once, and each command is a copy (a fork) of that process: it has its own session,
real exit codes and signals, and starts in some milliseconds. Where the environment changes how Python itself starts, so
that a copy would differ, a fresh process is used.
"""

import atexit
import fcntl
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, NoReturn, Self, TypeAlias

Program: TypeAlias = Literal["toolroll", "ghostpen"]
Stream: TypeAlias = "int | str"
"""A descriptor, or the name of a file that the command opens itself: a terminal becomes its own that way."""

ROOT = Path(__file__).parents[2]
WAIT_S = 120.0
"""Only against what hangs: a busy machine may take half a minute to start a program."""
_CODE: Mapping[Program, str] = {
    "toolroll": "from toolroll.cli.entry import toolroll; toolroll()",
    "ghostpen": "from toolroll.cli.entry import ghostpen; ghostpen()",
}
_OPEN_FILES = 64
"""Descriptors that a copy closes: far more than the server has open."""


def toolroll(*arguments: str) -> list[str]:
    """Return the command line of `toolroll`, run by this Python."""
    return [sys.executable, "-c", _CODE["toolroll"], *arguments]


def ghostpen(*arguments: str) -> list[str]:
    """Return the command line of `ghostpen`, run by this Python."""
    return [sys.executable, "-c", _CODE["ghostpen"], *arguments]


def environment(home: Path, **more: str) -> dict[str, str]:
    """Return the environment of the tests without what would make it a machine, or change colours."""
    left_out = {"CI", "NO_COLOR", "FORCE_COLOR", "VISUAL", "EDITOR", "COLUMNS", "LINES"}
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return kept | {"TOOLROLL_HOME": str(home), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"} | more


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """What is on stdout, as JSON Lines."""
        return [json.loads(line) for line in self.out.splitlines()]


class Copy:
    """A running copy of the server; it is used like a `Popen`."""

    def __init__(self, status: int, stdout: IO[bytes] | None) -> None:
        self._status = open(status, "rb", buffering=0)  # noqa: SIM115 - closed when the command has ended
        self.pid = int(self._status.readline())
        self.returncode: int | None = None
        self.stdout = stdout

    def poll(self) -> int | None:
        """Return the exit code, or None while the command runs."""
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self._read()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code once there is one."""
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("a copy", timeout or 0.0)
            self._read()
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the command has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End the command at once."""
        self.send_signal(signal.SIGKILL)

    def _read(self) -> None:
        self.returncode = int(self._status.readline() or -signal.SIGKILL)
        self._status.close()


class Starter:
    """A server of commands. `warm`: it has loaded all of the code, else a command loads what it needs itself."""

    def __init__(self, folder: Path, *, warm: bool = True) -> None:
        self._folder = folder
        self._last: Copy | None = None
        kept = {name: value for name, value in environment(folder).items() if not name.startswith("COVERAGE_")}
        self._python = _seen_by_python({"PYTHONPATH": str(ROOT), **kept})
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"from tests.support.programs import serve; serve({theirs.fileno()}, {warm})"],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env=kept | {"PYTHONPATH": str(ROOT)},
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._socket.close()
        self._process.wait(timeout=30)

    def suits(self, env: Mapping[str, str]) -> bool:
        """Return whether a fresh Python would start in the same way: same paths and locale, not measured."""
        return _seen_by_python({"PYTHONPATH": str(ROOT), **env}) == self._python

    def copy(
        self,
        program: Program,
        arguments: Sequence[str],
        streams: Sequence[Stream],
        *,
        env: Mapping[str, str],
        cwd: Path,
        before: str = "",
        stdout: IO[bytes] | None = None,
        terminal: bool = False,
    ) -> Copy:
        """Start a command; `streams` are its stdin, stdout and stderr, `before` is Python that it runs first.

        With `terminal`, its stderr is the terminal that it belongs to.
        """
        mine, theirs = os.pipe()
        asked = {
            "program": program,
            "arguments": arguments,
            "env": dict(env),
            "cwd": str(cwd),
            "before": before,
            "terminal": terminal,
            "names": [one if isinstance(one, str) else None for one in streams],
            "loaded": str(self._folder / "loaded"),
        }
        descriptors = [theirs, *(one for one in streams if isinstance(one, int))]
        socket.send_fds(self._socket, [json.dumps(asked).encode()], descriptors)
        os.close(theirs)
        return Copy(mine, stdout)

    def start(
        self,
        *arguments: str,
        env: Mapping[str, str],
        cwd: Path,
        stdin: str | bytes = "",
        program: Program = "toolroll",
        before: str = "",
        out: str = "",
        err: str = "",
    ) -> int:
        """Start a command that writes to files, and return its process id; `out` and `err` name other files."""
        if self._last is not None:  # its test ran out of time
            self._last.kill()
        (self._folder / "in").write_bytes(stdin.encode() if isinstance(stdin, str) else stdin)
        for name in ("out", "err"):
            (self._folder / name).write_bytes(b"")
        files = [str(self._folder / "in"), out or str(self._folder / "out"), err or str(self._folder / "err")]
        self._last = self.copy(program, arguments, files, env=env, cwd=cwd, before=before)
        return self._last.pid

    def wait(self) -> Done:
        """Return how the command ended that was started; one that does not end is killed, and its code is -9."""
        assert self._last is not None
        try:
            code = self._last.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            self._last.kill()
            code = self._last.wait()
        self._last = None
        out, err = ((self._folder / name).read_text(errors="backslashreplace") for name in ("out", "err"))
        return Done(code, out, err)

    @property
    def loaded(self) -> set[str]:
        """The modules that the last command had loaded when it ended."""
        return set((self._folder / "loaded").read_text().split())


@cache
def shared_starter() -> Starter:
    """Return the server of this process: to load all of the code takes seconds."""
    folder = tempfile.TemporaryDirectory(prefix="starter-")
    starter = Starter(Path(folder.name))
    atexit.register(folder.cleanup)
    atexit.register(starter.__exit__)
    return starter


def program_in(command: Sequence[str]) -> Program | None:
    """Return which program a command line runs, if it is one of ours as it is."""
    for name, code in _CODE.items():
        if list(command[:3]) == [sys.executable, "-c", code]:
            return name
    return None


def run_toolroll(
    *arguments: str, env: Mapping[str, str], cwd: Path, stdin: str | bytes | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command without a terminal to its end."""
    starter = shared_starter()
    if not starter.suits(env):
        given = stdin.encode() if isinstance(stdin, str) else stdin or b""
        done = subprocess.run(
            toolroll(*arguments), env=env, cwd=cwd, input=given, capture_output=True, check=False, timeout=60
        )
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())
    starter.start(*arguments, env=env, cwd=cwd, stdin=stdin or "")
    code, out, err = starter.wait()
    return subprocess.CompletedProcess(["toolroll", *arguments], code, out, err)


def _seen_by_python(env: Mapping[str, str]) -> dict[str, str]:
    """Return what Python and the C library look at once, when they start; a keyring is looked for when it is needed."""
    looked_at = ("COVERAGE_PROCESS_", "LANG", "LC_", "PYTHON", "TZ")
    return {name: env[name] for name in env if name.startswith(looked_at) and name != "PYTHON_KEYRING_BACKEND"}


# --- In the server -------------------------------------------------------------------------------------


def serve(number: int, warm: bool) -> None:
    """Start what each message asks for, until the other side is closed."""
    if warm:
        _load_all()
    gc.freeze()  # so that what is shared is not written to
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the watchers
    with socket.socket(fileno=number) as asking:
        while True:
            message, descriptors, *_ = socket.recv_fds(asking, 1 << 20, 4)
            if not message:
                return
            if os.fork() == 0:
                _watch(json.loads(message), descriptors)
            for descriptor in descriptors:
                os.close(descriptor)


def _load_all() -> None:
    import importlib
    import pkgutil

    import toolroll

    for module in pkgutil.walk_packages(toolroll.__path__, "toolroll."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def _watch(asked: dict[str, Any], descriptors: list[int]) -> NoReturn:
    """Start the command, which writes its process id to the first descriptor, and write its exit code there."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    status, *given = descriptors
    pid = os.fork()
    if pid == 0:
        _become(asked, status, given)
    for descriptor in given:
        os.close(descriptor)
    with suppress(BrokenPipeError):  # nobody wants to know any more
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.write(status, f"{code}\n".encode())
    os._exit(0)


def _become(asked: dict[str, Any], status: int, given: list[int]) -> NoReturn:
    """Be the command from here on."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background of a shell
    made = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for number, (name, flags) in enumerate(zip(asked["names"], (os.O_RDONLY, made, made), strict=True)):
        os.dup2(given.pop(0) if name is None else os.open(name, flags, 0o600), number)
    os.write(status, f"{os.getpid()}\n".encode())  # only now can it be sent signals
    os.closerange(3, _OPEN_FILES)
    if asked["terminal"]:
        fcntl.ioctl(2, termios.TIOCSCTTY, 0)
    sys.stdin, sys.stdout, sys.stderr = _streams()
    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["cwd"])
    sys.argv = [asked["program"], *asked["arguments"]]
    try:
        exec(asked["before"], {})
        _run(asked["program"])
    except SystemExit as end:
        # All was written by then: `main` sees to that. Taking the loaded modules down would cost most of the time.
        Path(asked["loaded"]).write_text(" ".join(sys.modules))
        os._exit(int(end.code or 0))
    except BaseException:
        traceback.print_exc()
    os._exit(99)


def _run(program: Program) -> NoReturn:
    from toolroll.cli import entry

    if program == "ghostpen":
        entry.ghostpen()
    entry.toolroll()


def _streams() -> Iterator[Any]:
    yield open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - open as long as the process
    yield open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - as above
    yield open(2, "w", encoding="utf-8", buffering=1, closefd=False)  # noqa: SIM115 - as above
