"""The fault loop: run an operation once for every system call it makes, with that call killed or failing.

A child process does one operation between two marks. A first run under strace tells which calls that takes and how
often each was made before, for an interpreter makes hundreds of its own. Each further run lets one of them go wrong.
"""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"
ERRORS = ("ENOSPC", "EIO", "EACCES", "EROFS", "EMFILE")

# `getppid` is the mark: nothing else calls it. What is printed says how the operation ended and what it left open.
CHILD = """
import os, sys
sys.path.insert(0, {source!r})
from toolroll.errors import ToolrollError
from toolroll.safe.paths import openat2
from toolroll.safe.paths.names import parse_path as p
from toolroll.safe.paths.root import Root
openat2.is_available()
root = Root(sys.argv[1])
before = os.listdir("/proc/self/fd")
end = seen = None
os.getppid()
try:
    seen = {operation}
    end = "done"
except ToolrollError as error:
    end = error.code
os.getppid()
leaked = len(os.listdir("/proc/self/fd")) - len(before)
print(end, leaked, repr(seen), sep="\\n")
"""
MEMORY = {"brk", "mmap", "munmap", "mremap", "mprotect", "madvise", "futex"}
CALL = re.compile(r"(\w+)\(")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The nth use of one system call in the life of the child."""

    name: str
    nth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run ended: `killed`, `done`, or the code of a typed error; anything else is a traceback."""

    end: str
    leaked: int
    seen: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultLoop:
    """One operation, an expression of `root` and `p` (a path), and a folder for the logs of strace."""

    operation: str
    logs: Path

    def calls(self, folder: Path) -> list[Call]:
        """The system calls of the operation, in order."""
        self.run(folder.parent / "warm-up")  # it compiles what is not compiled yet
        log = self.logs / f"{folder.name}.log"
        assert self._run(folder, ["strace", "-o", str(log)]).end == "done"
        return list(_between_marks(log.read_text()))

    def run(self, folder: Path, call: Call | None = None, action: str = "") -> Outcome:
        """Do the operation in a folder, with one call going wrong: `signal=KILL` or `error=EIO`."""
        if call is None:
            return self._run(folder, [])
        inject = f"inject={call.name}:{action}:when={call.nth}"
        # Stopping the child at this call alone is faster, but then strace (6.1) sends no signal.
        fast = ["-f", "--seccomp-bpf"] if action.startswith("error") else []
        return self._run(folder, ["strace", *fast, "-o", os.devnull, "-e", f"trace={call.name}", "-e", inject])

    def _run(self, folder: Path, around: list[str]) -> Outcome:
        script = CHILD.format(source=str(SOURCE), operation=self.operation)
        python = [sys.executable, "-I", "-S", "-c", script, str(folder)]
        done = subprocess.run([*around, *python], capture_output=True, text=True, check=False, timeout=200)
        if done.returncode == -9:
            return Outcome(end="killed", leaked=0, seen="")
        if done.returncode or done.stderr:
            return Outcome(end=f"traceback: {done.stderr}", leaked=0, seen="")
        end, leaked, seen = done.stdout.splitlines()
        return Outcome(end=end, leaked=int(leaked), seen=seen)


def _between_marks(log: str) -> Iterator[Call]:
    count: Counter[str] = Counter()
    for line in log.splitlines():
        if match := CALL.match(line):
            name = match[1]
            count[name] += 1
            if count["getppid"] == 1 and name not in MEMORY | {"getppid"}:
                yield Call(name=name, nth=count[name])
