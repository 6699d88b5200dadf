"""Run `toolroll`, `ghostpen` and scripts as processes of their own, without the half second that Python takes to load.

A server has loaded all of the code once, and each command is a copy (a fork) of that process: it has its own session,
real exit codes and signals, and starts in some milliseconds. Shells reach the server through the programs in a folder
(`Starter.programs`). Where the environment changes how Python itself starts, so
that a copy would differ, a fresh process is used.
"""

import atexit
import fcntl
import gc
import json
import locale
import os
import select
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import termios
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from io import TextIOWrapper
from pathlib import Path
from types import ModuleType
from typing import IO, Any, Literal, NamedTuple, NoReturn, Self, TypeAlias

Program: TypeAlias = Literal["toolroll", "ghostpen", "code", "script"]
"""A command, or Python: the first argument is the code as after `python -c`, or the name of a file."""
Stream: TypeAlias = "int | str"
"""A descriptor, or the name of a file that the command opens itself: a terminal becomes its own that way."""

ROOT = Path(__file__).parents[2]
WAIT_S = 120.0
"""Only against what hangs: a busy machine may take half a minute to start a program."""
_CODE: Mapping[Program, str] = {
    "toolroll": "from toolroll.cli.entry import toolroll; toolroll()",
    "ghostpen": "from toolroll.cli.entry import ghostpen; ghostpen()",
}
_CLIENT = """#!{python} -IS
import json, os, signal, socket, sys
name, arguments, env = os.path.basename(sys.argv[0]), sys.argv[1:], dict(os.environ)
if name == "python":
    name = "script" if arguments and arguments[0].endswith(".py") else ""
if not name or "PYTHONPATH" in env:
    real = os.path.join({scripts!r}, os.path.basename(sys.argv[0]))
    os.execv(real, [real, *arguments])
asked = dict(program=name, arguments=arguments, env=env, cwd=os.getcwd(), names=[None] * 3)
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
    server.connect({address!r})
    socket.send_fds(server, [json.dumps(asked).encode()], [0, 1, 2])
    os.close(1)  # who reads it sees the end where the copy ends
    server.recv(64)  # its process id
    code = int(server.recv(64))
if code < 0:
    os.kill(os.getpid(), -code)
sys.stdout = None
sys.exit(code)
"""
"""A program that lets the server do its work: Python alone starts in a twentieth of the time."""
_AT_ONCE = {"TOOLROLL_QUESTION_PAUSE": "0"}
"""Questions take answers as soon as they are shown: a program knows when."""
_OPEN_FILES = 64
"""Descriptors that a copy closes: far more than the server has open."""
_MESSAGE_BYTES = 1 << 20


_SERVE = "import sys; from tests.support.programs import serve; serve(*sys.argv[1:])"


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
    return kept | {"TOOLROLL_HOME": str(home), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **_AT_ONCE} | more


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
        # It listens before the server runs: a shell may ask at once, and waits.
        shells = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        shells.bind(str(folder / "socket"))
        shells.listen()
        with theirs, shells:
            numbers = [theirs.fileno(), shells.fileno()]
            self._process = subprocess.Popen(
                [sys.executable, "-c", _SERVE, *map(str, numbers), "warm" if warm else ""],
                pass_fds=numbers,
                stdin=subprocess.DEVNULL,
                env=kept | {"PYTHONPATH": str(ROOT)},
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._socket.close()
        self._process.wait(timeout=30)

    @cached_property
    def programs(self) -> Path:
        """A folder with `toolroll`, `ghostpen` and `python` for the path of a shell."""
        folder = self._folder / "bin"
        folder.mkdir()
        for name in ("toolroll", "ghostpen", "python"):
            places = {"python": sys.executable, "scripts": sysconfig.get_path("scripts")}
            (folder / name).write_text(_CLIENT.format(**places, address=str(self._folder / "socket")))
            (folder / name).chmod(0o755)
        return folder

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
        out: Stream = "",
        err: Stream = "",
    ) -> int:
        """Start a command that writes to files, and return its process id; `out` and `err` are other files."""
        if self._last is not None:  # its test ran out of time
            self._last.kill()
        (self._folder / "in").write_bytes(stdin.encode() if isinstance(stdin, str) else stdin)
        for name in ("out", "err"):
            (self._folder / name).write_bytes(b"")
        files: list[Stream] = [
            str(self._folder / "in"),
            out or str(self._folder / "out"),
            err or str(self._folder / "err"),
        ]
        self._last = self.copy(program, arguments, files, env=env, cwd=cwd, before=before)
        return self._last.pid

    def wait(self) -> Done:
        """Return how the command ended that was started; one that does not end is killed, and its code is -9."""
        code, *written = self.wait_for_bytes()
        out, err = (one.decode(errors="backslashreplace") for one in written)
        return Done(code, out, err)

    def wait_for_bytes(self) -> tuple[int, bytes, bytes]:
        """Return the same as `wait`, with what was written as it is."""
        assert self._last is not None
        try:
            code = self._last.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            self._last.kill()
            code = self._last.wait()
        self._last = None
        return code, (self._folder / "out").read_bytes(), (self._folder / "err").read_bytes()

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


def program_in(command: Sequence[str]) -> tuple[Program, list[str]] | None:
    """Return what a command line runs, and its arguments, if a copy can do that."""
    if len(command) < 2 or command[0] != sys.executable:
        return None
    for name, code in _CODE.items():
        if list(command[1:3]) == ["-c", code]:
            return name, list(command[3:])
    if command[1] == "-c":
        return "code", list(command[2:])
    return ("script", list(command[1:])) if command[1].endswith(".py") else None


def run_toolroll(
    *arguments: str, env: Mapping[str, str], cwd: Path, stdin: str | bytes | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `toolroll` without a terminal to its end."""
    return run_program(toolroll(*arguments), env=env, cwd=cwd, stdin=stdin)


def run_program(
    command: Sequence[str], *, env: Mapping[str, str], cwd: Path, stdin: str | bytes | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command line without a terminal to its end."""
    done = run_raw(command, env=env, cwd=cwd, stdin=stdin)
    out, err = (one.decode(errors="backslashreplace") for one in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def run_raw(
    command: Sequence[str], *, env: Mapping[str, str], cwd: Path, stdin: str | bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Do the same, and return what was written as it is."""
    known, starter = program_in(command), shared_starter()
    if known is None or not starter.suits(env):
        given = stdin.encode() if isinstance(stdin, str) else stdin or b""
        return subprocess.run(command, env=env, cwd=cwd, input=given, capture_output=True, check=False, timeout=WAIT_S)
    program, arguments = known
    starter.start(*arguments, env=env, cwd=cwd, stdin=stdin or b"", program=program)
    return subprocess.CompletedProcess(command, *starter.wait_for_bytes())


def _seen_by_python(env: Mapping[str, str]) -> dict[str, str]:
    """Return what Python looks at once, when it starts, and a copy cannot look at again.

    A copy sets its zone, its locale and its streams anew, but not the encoding of file names. A keyring is looked for
    when it is needed.
    """
    looked_at = ("COVERAGE_PROCESS_", "PYTHON")
    anew = {"PYTHON_KEYRING_BACKEND", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"}
    seen = {name: env[name] for name in env if name.startswith(looked_at) and name not in anew}
    charset = (env.get("LC_ALL") or env.get("LC_CTYPE") or env.get("LANG") or "C").partition(".")[2]
    return seen | {"charset": charset.lower().replace("-", "")}


# --- In the server -------------------------------------------------------------------------------------


def serve(starter: str, listening: str, warm: str) -> None:
    """Start what each message asks for and write how it ended, until the other side is closed."""
    if warm:
        _load_all()
    gc.freeze()  # so that what is shared is not written to
    wakes, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    running: dict[int, int] = {}  # the descriptor that wants to know how a process ends
    with socket.socket(fileno=int(starter)) as asking, socket.socket(fileno=int(listening)) as shells:
        while True:
            ready, _, _ = select.select([asking.fileno(), shells.fileno(), wakes], [], [])
            if wakes in ready:
                os.read(wakes, 1024)
                _report(running)
            if shells.fileno() in ready:
                shell, _ = shells.accept()
                message, descriptors, *_ = socket.recv_fds(shell, _MESSAGE_BYTES, 3)
                _start(message, [shell.detach(), *descriptors], running)
            if asking.fileno() in ready:
                message, descriptors, *_ = socket.recv_fds(asking, _MESSAGE_BYTES, 4)
                if not message:
                    return
                _start(message, descriptors, running)


def _start(message: bytes, descriptors: list[int], running: dict[int, int]) -> None:
    """Start a command, which writes its process id to the first descriptor."""
    status, *given = descriptors
    pid = os.fork()
    if pid == 0:
        _become(json.loads(message), status, given)
    running[pid] = status
    for descriptor in given:
        os.close(descriptor)


def _report(running: dict[int, int]) -> None:
    """Write the exit code of each process that has ended."""
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with open(running.pop(pid), "wb", buffering=0) as asked, suppress(OSError):  # nobody wants to know
            asked.write(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _load_all() -> None:
    import importlib
    import pkgutil

    import toolroll

    for module in pkgutil.walk_packages(toolroll.__path__, "toolroll."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def _become(asked: dict[str, Any], status: int, given: list[int]) -> NoReturn:
    """Be the command from here on."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background of a shell
    made = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for number, (name, flags) in enumerate(zip(asked["names"], (os.O_RDONLY, made, made), strict=True)):
        os.dup2(given.pop(0) if name is None else os.open(name, flags, 0o600), number)
    os.write(status, f"{os.getpid()}\n".encode())  # only now can it be sent signals
    os.closerange(3, _OPEN_FILES)
    if asked.get("terminal"):
        fcntl.ioctl(2, termios.TIOCSCTTY, 0)
    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["cwd"])
    sys.stdin, sys.stdout, sys.stderr = _streams(unbuffered=bool(os.environ.get("PYTHONUNBUFFERED")))
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    time.tzset()
    with suppress(locale.Error):  # it is not installed: Python starts with "C" then, and so does a copy
        locale.setlocale(locale.LC_CTYPE, "")
    if asked["program"] in ("code", "script"):
        _run_python(asked["program"], asked["arguments"])
    _run_command(asked)


def _run_command(asked: dict[str, Any]) -> NoReturn:
    from toolroll.cli import entry

    sys.argv = [asked["program"], *asked["arguments"]]
    try:
        exec(asked.get("before", ""), {})
        if asked["program"] == "ghostpen":
            entry.ghostpen()
        entry.toolroll()
    except SystemExit as end:
        # All was written by then: `main` sees to that. Taking the loaded modules down would cost most of the time.
        if "loaded" in asked:
            Path(asked["loaded"]).write_text(" ".join(sys.modules))
        os._exit(int(end.code or 0))
    except BaseException:
        traceback.print_exc()
    os._exit(99)


def _run_python(kind: Literal["code", "script"], arguments: list[str]) -> NoReturn:
    """Do what `python -c` or `python file.py` does."""
    main = sys.modules["__main__"] = ModuleType("__main__")
    if kind == "code":
        sys.argv, code = ["-c", *arguments[1:]], compile(arguments[0], "<string>", "exec")
    else:
        sys.argv, main.__file__ = arguments, arguments[0]
        sys.path[0] = str(Path(arguments[0]).resolve().parent)
        code = compile(Path(arguments[0]).read_bytes(), arguments[0], "exec")
    ended: str | int | None = None
    try:
        exec(code, main.__dict__)
    except SystemExit as end:
        ended = end.code
    except KeyboardInterrupt:
        traceback.print_exc()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        traceback.print_exc()
        ended = 1
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    if isinstance(ended, str):
        print(ended, file=sys.stderr)
    sys.stdout.flush()
    os._exit(1 if isinstance(ended, str) else ended or 0)


def _streams(*, unbuffered: bool) -> Iterator[Any]:
    yield open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - open as long as the process
    for number, is_direct in ((1, unbuffered), (2, True)):
        written = open(number, "wb", buffering=0 if unbuffered else -1, closefd=False)  # noqa: SIM115 - as above
        errors = "strict" if number == 1 else "backslashreplace"
        lines = is_direct or os.isatty(number)
        yield TextIOWrapper(written, "utf-8", errors, line_buffering=lines, write_through=unbuffered)
