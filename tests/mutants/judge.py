"""Run the tests that should notice a mutant, in a copy of the tree: the work tree never changes.

Each pytest runs in a fork of this process, which has imported what takes long to import, and nothing of toolroll.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from time import monotonic, sleep
from typing import Literal

import pytest
from hypothesis import Phase, settings
from tests.mutants.mutate import Mutant
from tests.mutants.testmap import TestMap

PRELOADED = ("asyncio", "click", "httpx2", "hypothesis.strategies", "pydantic", "rich.console", "sqlite3")
BUDGET_SECONDS = 60  # of tests for a mutant, the most likely first
PATIENCE = 5  # a mutant hangs when its tests take this many times as long as without it ...
START_SECONDS = 60  # ... and what a busy machine needs to start
POLL_SECONDS = 0.05
# Tests under strace, and those that repeat one thing thousands of times, are too slow to run for each mutant.
OPTIONS = ["-q", "--tb=line", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not strace and not slow"]
# pytest minds that its plugins were imported before it could rewrite their assertions.
QUIET = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
Ending = Literal["killed", "timed out", "survived"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How the tests took one mutant."""

    mutant: Mutant
    ending: Ending
    tests: int  # how many ran at most
    by: str = ""  # the first test that failed


@dataclass(slots=True, kw_only=True)
class Session:
    """A plugin of pytest: runs chosen tests in the given order, and adds up how long each takes."""

    chosen: Sequence[str] | None = None
    most_examples: int | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    unfit: set[str] = field(default_factory=set)  # a test that does not pass unchanged says nothing about a mutant

    def pytest_collection(self) -> None:
        """Let property tests stop at the first example that fails: how small one can be does not matter here."""
        few = {} if self.most_examples is None else {"max_examples": self.most_examples}
        settings.register_profile("mutants", settings.default, phases=[Phase.explicit, Phase.generate], **few)
        settings.load_profile("mutants")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the chosen tests, in the order of the list."""
        if self.chosen is not None:
            found = {item.nodeid: item for item in items}
            items[:] = [found[test] for test in self.chosen if test in found]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up the time of a test."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0) + report.duration
        if not report.passed:
            self.unfit.add(report.nodeid)

    def run(self, *arguments: str) -> int:
        """Run pytest with this plugin."""
        return pytest.main([*OPTIONS, *QUIET, *arguments], plugins=[self])


class TreeCopy:
    """A copy of the tree in a temporary folder, with an environment of its own that imports from the copy."""

    def __init__(self, original: Path, folder: Path) -> None:
        self.root = folder / "tree"
        self.scratch = folder / "tmp"
        self.output = folder / "output.txt"
        self.scratch.mkdir(parents=True)
        listed = subprocess.check_output(["git", "ls-files", "-coz", "--exclude-standard"], cwd=original, text=True)
        for name in filter(None, listed.split("\0")):
            if (original / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(original / name, self.root / name)
        self.python = self._make_environment()

    def _make_environment(self) -> Path:
        """Make a virtual environment: tests start programs with nothing but `sys.executable`, and mean this tree."""
        folder = self.root / ".venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        (packages,) = folder.glob("lib/python*/site-packages")
        installed = [path for path in sys.path if path.endswith("site-packages")]
        (packages / "tree.pth").write_text("\n".join([str(self.root / "src"), *installed]))
        return folder / "bin" / "python"

    def fork(self, run: Callable[[], int]) -> int:
        """Call a function in a process of its own that works in this copy; return the id of the process."""
        for name in PRELOADED:
            import_module(name)
        if child := os.fork():
            return child
        code = 1
        try:
            os.setsid()
            os.chdir(self.root)
            output = os.open(self.output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            for number in (1, 2):
                os.dup2(output, number)
            os.environ.update(CI="1", TMPDIR=str(self.scratch))
            sys.executable = str(self.python)
            sys.path[:0] = [str(self.root), str(self.root / "src")]
            for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
                del sys.modules[name]
            code = run()
        finally:
            sys.stdout.flush()
            os._exit(code)

    def write(self, path: Path, source: bytes) -> None:
        """Write a module, and remove its compiled form: two mutants of one second and size would look the same."""
        (self.root / path).write_bytes(source)
        for compiled in (self.root / path).parent.glob(f"__pycache__/{path.stem}.*.pyc"):
            compiled.unlink(missing_ok=True)


class Trial:
    """One mutant in one copy of the tree, while its tests run."""

    def __init__(self, copy: TreeCopy, mutant: Mutant, tests: TestMap) -> None:
        self.copy = copy
        self.mutant = mutant
        self.chosen = tests.take_seconds(tests.tests_for(mutant), BUDGET_SECONDS)
        self.original = (copy.root / mutant.path).read_bytes()
        copy.write(mutant.path, mutant.apply(self.original))
        files = dict.fromkeys(test.partition("::")[0] for test in self.chosen)
        self.process = copy.fork(lambda: Session(chosen=self.chosen).run("-x", *files))
        self.deadline = monotonic() + START_SECONDS + PATIENCE * sum(tests.seconds[test] for test in self.chosen)

    def verdict(self) -> Verdict | None:
        """Return how it ended, or None while it runs; nothing that its tests started stays behind."""
        ended, status = os.waitpid(self.process, os.WNOHANG)
        if not ended and monotonic() < self.deadline:
            return None
        self.end(reap=not ended)
        code = os.waitstatus_to_exitcode(status) if ended else None
        if code == pytest.ExitCode.NO_TESTS_COLLECTED and self.chosen:
            raise RuntimeError(f"pytest found none of {self.chosen}:\n{self.copy.output.read_text()}")
        ending: Ending = "killed" if ended else "timed out"
        if code == pytest.ExitCode.OK or not self.chosen:
            ending = "survived"
        failed = re.search(r"^(?:FAILED|ERROR) (.*)", self.copy.output.read_text(errors="replace"), re.MULTILINE)
        return Verdict(mutant=self.mutant, ending=ending, tests=len(self.chosen), by=failed[1] if failed else "")

    def end(self, *, reap: bool = True) -> None:
        """Kill what is left of it and restore the file."""
        with suppress(ProcessLookupError):
            os.killpg(self.process, signal.SIGKILL)
        if reap:
            os.waitpid(self.process, 0)
        self.copy.write(self.mutant.path, self.original)


def judge_all(mutants: Sequence[Mutant], copies: Sequence[TreeCopy], tests: TestMap) -> Iterator[Verdict]:
    """Yield a verdict on each mutant, in the order in which they come; one at a time in each copy of the tree."""
    waiting, free, running = list(reversed(mutants)), list(copies), list[Trial]()
    try:
        while waiting or running:
            while waiting and free:
                running.append(Trial(free.pop(), waiting.pop(), tests))
            sleep(POLL_SECONDS)
            for trial in running[:]:
                if verdict := trial.verdict():
                    running.remove(trial)
                    free.append(trial.copy)
                    yield verdict
    finally:
        for trial in running:
            trial.end()
