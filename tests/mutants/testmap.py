"""Choose the tests that should notice a mutant: those that run its line."""

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from coverage import CoverageData
from tests.mutants.mutate import Mutant

SOURCE = Path("src/toolroll")


class TestMap:
    """Which test runs which line, and how long each test takes; measured once for a state of the tree."""

    __test__ = False  # pytest would take it for a class of tests

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = root
        self.seconds: dict[str, float] = {}
        for file in folder.glob("*.json"):
            self.seconds |= json.loads(file.read_text())
        self._coverage = [CoverageData(basename=str(file.with_suffix(""))) for file in folder.glob("*.json")]
        for data in self._coverage:
            data.read()
        self._read_file = cache(self._read)

    def tests_for(self, mutant: Mutant) -> list[str]:
        """Return the tests that should notice a mutant, most likely and quickest first.

        A line that runs at import is judged by the tests of the lines that use its name. What no test runs may still
        run in a program that a test starts: there the tests of the same folder decide.
        """
        found = self._tests_of_lines(mutant.path, mutant.lines) if mutant.lines else self._tests_of_name(mutant.name)
        mirror = Path("tests") / mutant.path.relative_to(SOURCE)
        folder, module = f"{mirror.parent}/", f"{mirror.parent}/test_{mirror.name}::"
        tests = found & self.seconds.keys() or {test for test in self.seconds if test.startswith(folder)}
        return sorted(
            tests, key=lambda test: (not test.startswith(module), not test.startswith(folder), self.seconds[test])
        )

    def take_seconds(self, names: Sequence[str], seconds: float) -> list[str]:
        """Return the first tests that take so long together, and at least one."""
        chosen: list[str] = []
        for name in names:
            if not chosen or self.seconds[name] <= seconds:
                chosen.append(name)
                seconds -= self.seconds[name]
        return chosen

    def _tests_of_name(self, name: str) -> set[str]:
        word = re.compile(rf"\b{re.escape(name)}\b")
        found: set[str] = set()
        for file in (self.root / SOURCE).rglob("*.py"):
            lines = [number for number, line in enumerate(file.read_text().splitlines(), 1) if word.search(line)]
            found |= self._tests_of_lines(file.relative_to(self.root), lines) if lines else set()
        return found

    def _tests_of_lines(self, path: Path, lines: Iterable[int]) -> set[str]:
        tests = self._read_file(path)
        return {test for line in lines for test in tests.get(line, ())}

    def _read(self, path: Path) -> dict[int, set[str]]:
        tests: dict[int, set[str]] = {}
        for data in self._coverage:
            for line, contexts in data.contexts_by_lineno(str(path)).items():
                tests.setdefault(line, set()).update(context.rpartition("|")[0] for context in contexts)
        return tests
