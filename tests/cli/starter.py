"""Programs that start at once: one Python has loaded all of the code, and each command is a copy of that process.

Every command is a process of its own, in a session without a terminal, with real exit codes and signals; a start costs
some milliseconds instead of half a second.
"""

import atexit
import gc
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, NoReturn, Self, TypeAlias

from tests.cli.pseudo import WAIT_S, environment, toolroll

Program: TypeAlias = Literal["toolroll", "ghostpen"]

ROOT = Path(__file__).parents[2]


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """What is on stdout, as JSON Lines."""
        return [json.loads(line) for line in self.out.splitlines()]


class Starter:
    """`warm` has loaded everything beforehand; else a command loads what it needs itself."""

    def __init__(self, folder: Path, *, warm: bool = True) -> None:
        self._folder, self._pid = folder, 0
        self._untold = 0
        kept = {name: value for name, value in environment(folder).items() if not name.startswith("COVERAGE_")}
        self._of_python = _of_python({"PYTHONPATH": str(ROOT), **kept})
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from tests.cli.starter import serve; serve()", "warm" if warm else "cold"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env=kept | {"PYTHONPATH": str(ROOT)},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()

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
        """The process id of a command; `before` is Python that it runs first, `out` and `err` where it writes to."""
        self._end_last()
        (self._folder / "in").write_bytes(stdin.encode() if isinstance(stdin, str) else stdin)
        for name in ("out", "err"):
            (self._folder / name).write_bytes(b"")
        asked = {"arguments": arguments, "env": dict(env), "cwd": str(cwd), "program": program}
        asked |= {"before": before, "out": out, "err": err}
        assert self._process.stdin is not None
        self._untold = 2
        self._process.stdin.write(json.dumps({**asked, "folder": str(self._folder)}).encode() + b"\n")
        self._pid = self._number()
        return self._pid

    def suits(self, env: Mapping[str, str]) -> bool:
        """Whether a Python of its own would start in the same way: same paths and locale, not measured."""
        return _of_python({"PYTHONPATH": str(ROOT), **env}) == self._of_python

    @property
    def loaded(self) -> set[str]:
        """The modules that the last command had loaded when it ended."""
        return set((self._folder / "loaded").read_text().split())

    def wait(self) -> Done:
        """The end of the command that was started; one that does not come to it is ended, and its code is -9."""
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], WAIT_S)[0]:
            self._kill_command()
        code = self._number()
        out, err = ((self._folder / name).read_text(errors="backslashreplace") for name in ("out", "err"))
        return Done(code, out, err)

    def _end_last(self) -> None:
        """End a command whose test ran out of time: else each test is told how the one before it ended."""
        if self._untold == 2:
            self._pid = self._number()
        if self._untold:
            self._kill_command()
            self._number()

    def _kill_command(self) -> None:
        with suppress(ProcessLookupError):  # it has just ended
            os.kill(self._pid, signal.SIGKILL)

    def _number(self) -> int:
        assert self._process.stdout is not None
        number = int(self._process.stdout.readline())
        self._untold -= 1
        return number


@cache
def shared_starter() -> Starter:
    """The one of this process: to load all of the code takes seconds."""
    folder = tempfile.TemporaryDirectory(prefix="starter-")
    starter = Starter(Path(folder.name))
    atexit.register(folder.cleanup)
    atexit.register(starter.__exit__)
    return starter


def called(
    *arguments: str, env: Mapping[str, str], cwd: Path, stdin: str | bytes | None = None
) -> subprocess.CompletedProcess[str]:
    """A command without a terminal, at its end."""
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


def _of_python(env: Mapping[str, str]) -> dict[str, str]:
    """What Python and the C library look at once, when they start; a keyring is looked for when it is needed."""
    looked_at = ("COVERAGE_PROCESS_", "LANG", "LC_", "PYTHON", "TZ")
    return {name: env[name] for name in env if name.startswith(looked_at) and name != "PYTHON_KEYRING_BACKEND"}


def serve() -> None:
    """Start what each line on stdin asks for, one after the other."""
    if sys.argv[1] == "warm":
        _load_all()
    gc.freeze()  # so that what is shared is not written to
    for line in sys.stdin:
        asked = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _become(asked)
        print(pid, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


def _load_all() -> None:
    import importlib
    import pkgutil

    import toolroll

    for module in pkgutil.walk_packages(toolroll.__path__, "toolroll."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def _become(asked: dict[str, Any]) -> NoReturn:
    """This process is the command from here on."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background of a shell
    folder = asked["folder"]
    made = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for number, name, flags in ((0, "in", os.O_RDONLY), (1, "out", made), (2, "err", made)):
        os.dup2(os.open(asked.get(name) or f"{folder}/{name}", flags, 0o600), number)
    sys.stdin, sys.stdout, sys.stderr = _streams()
    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["cwd"])
    sys.argv = [asked["program"], *asked["arguments"]]
    exec(asked["before"], {})
    try:
        _run(asked["program"], asked["arguments"])
    except SystemExit as end:
        Path(folder, "loaded").write_text(" ".join(sys.modules))
        # All was written by then: `main` sees to that. Taking the loaded modules down would cost most of the time.
        os._exit(int(end.code or 0))
    os._exit(99)


def _run(program: Program, arguments: list[str]) -> NoReturn:
    if program == "ghostpen":
        from toolroll.cli.ghostpen.main import main as ghostpen_main

        ghostpen_main(arguments)
    from toolroll.cli.main import main

    main(arguments)


def _streams() -> Iterator[Any]:
    yield open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - open as long as the process
    yield open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - as above
    yield open(2, "w", encoding="utf-8", buffering=1, closefd=False)  # noqa: SIM115 - as above
