"""What the code pack's engines cost: search beside ripgrep, the symbol index beside universal-ctags and `ast`.

    python benchmarks/code.py [--files 15000] [--rounds 200] [--save]

The tree is the standard library and what is installed beside it, copied as often as it takes. CPU seconds are those of
this process and of all it started; on a busy machine compare these, and the ratios, not the times on the wall.
"""

import argparse
import ast
import asyncio
import os
import random
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median, quantiles

sys.path.insert(0, str(Path(__file__).parent.parent))  # a script's own folder is on the path, not the one above

from benchmarks.kit import save, table, where

from toolroll.safe.paths.names import RelativePath
from toolroll.safe.programs.ripgrep import ripgrep_path
from toolroll.workspace.search.search import search
from toolroll.workspace.symbols.index import Index
from toolroll.workspace.workspace import Workspace

MAX_BYTES = 1 << 20
AST_SAMPLE = 1_500
CHANGES = 30
SEARCH_ROUNDS = 31  # one alone spreads by a tenth
PATTERNS = {
    "a rare word": "ArgumentDefaultsHelpFormatter",
    "a common word": "return",
    "a regular expression": r"def \w+\(self, \w+: \w+\)",
    "no match": "xyzzy_is_nowhere",
}


@dataclass
class Spent:
    """What something took, in seconds."""

    wall: float = 0.0
    cpu: float = 0.0


def cpu_now() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


@contextmanager
def spending() -> Iterator[Spent]:
    """Processes count when they have ended: close them inside."""
    spent, wall, cpu = Spent(), time.perf_counter(), cpu_now()
    yield spent
    spent.wall, spent.cpu = time.perf_counter() - wall, cpu_now() - cpu


def sources() -> list[Path]:
    roots = (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"))
    found = {path for root in roots for path in Path(root).rglob("*.py") if path.stat().st_size < MAX_BYTES}
    return sorted(found)


def make_tree(folder: Path, count: int) -> int:
    """Copies of real files under names that no ignore rule fits; returns how many bytes."""
    base, size = sources(), 0
    for number in range(count):
        path = base[number % len(base)]
        target = folder / f"copy{number // len(base)}" / "_".join(path.parts[-3:-1]) / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target.with_name(f"m{number}_{path.name}") if target.exists() else target)
        size += path.stat().st_size
    return size


def ctags(folder: Path) -> Spent | None:
    if shutil.which("ctags") is None:
        return None
    with spending() as spent:
        subprocess.run(["ctags", "-R", "--languages=Python", "-f", os.devnull, str(folder)], check=True)
    return spent


def python_ast(files: list[Path]) -> Spent:
    """A sample of the files, brought to the number of all."""
    sample = random.Random(1).sample(files, min(AST_SAMPLE, len(files)))
    with spending() as spent:
        for path in sample:
            try:
                tree = ast.parse(path.read_bytes())
            except (SyntaxError, ValueError):
                continue
            sum(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for node in ast.walk(tree))
    scale = len(files) / len(sample)
    return Spent(wall=spent.wall * scale, cpu=spent.cpu * scale)


def times_of(asks: list[Callable[[], object]]) -> list[str]:
    """Milliseconds: the median, and what 95 of 100 stay below; on the wall, and of this process's CPU."""
    wall, cpu = [], []
    for ask in asks:
        began, used = time.perf_counter(), time.process_time()
        ask()
        wall.append((time.perf_counter() - began) * 1_000)
        cpu.append((time.process_time() - used) * 1_000)
    return [f"{figure:.2f}" for found in (wall, cpu) for figure in (median(found), quantiles(found, n=20)[-1])]


def changes(index: Index, folder: Path, files: list[Path]) -> list[Callable[[], object]]:
    def change(path: Path) -> Callable[[], object]:
        relative = RelativePath(parts=path.relative_to(folder).parts)

        def ask() -> object:
            return index.refresh([relative])

        with path.open("ab") as file:
            file.write(b"\ndef added_by_the_benchmark(): pass\n")
        return ask

    return [change(path) for path in files]


def measure_index(count: int, rounds: int) -> str:
    """The index: build, sweep, changes, answers."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "tree"
        size = make_tree(folder, count)
        files = sorted(folder.rglob("*.py"))
        by_ctags, by_ast = ctags(folder), python_ast(files)
        with Workspace(folder, state=Path(name) / "state") as workspace:
            with spending() as cold, Index.open(workspace) as index:
                index.definitions("ArgumentParser")
            with spending() as build, Index.open(workspace) as index:
                refreshed = index.refresh()
            with spending() as sweep, Index.open(workspace) as index:
                index.refresh()
            with Index.open(workspace) as index:
                answers = measure_answers(index, folder, files, rounds)
            disk = sum(path.stat().st_size for path in workspace.state.rglob("*") if path.is_file())
    floor = by_ctags.cpu if by_ctags else build.cpu
    rows = [
        built("toolroll, all of the index", build, floor, count),
        built("`ast` and a walk (sampled)", by_ast, floor, count),
    ]
    if by_ctags:
        rows.append(built("universal-ctags", by_ctags, floor, count))
    own, workers = (
        resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return (
        f"{where()}; {refreshed.parsed:,} files of Python parsed, {size / 1e6:.0f} MB; "
        f"load {os.getloadavg()[0]:.1f} while it ran.\n\n"
        f"{table(['', 'CPU × ctags', 'CPU s', 'files a CPU second', 'files a second'], rows)}\n{answers}\n"
        f"A sweep that finds nothing changed: {sweep.cpu:.2f} CPU s, {100 * sweep.cpu / build.cpu:.2f} % of the build. "
        f"A first answer without an index: {cold.wall:.1f} s. Peak memory: {own} MB here, {workers} MB in the largest "
        f"worker. On disk: {disk / 1e6:.0f} MB.\n"
    )


def built(name: str, spent: Spent, floor: float, count: int) -> list[str]:
    """A line of the table of builds."""
    ratio, each, wall = spent.cpu / floor, count / spent.cpu, count / spent.wall
    return [name, f"{ratio:.1f}", f"{spent.cpu:.1f}", f"{each:,.0f}", f"{wall:,.0f}"]


def measure_answers(index: Index, folder: Path, files: list[Path], rounds: int) -> str:
    chance = random.Random(2)
    paths = [path.relative_to(folder).as_posix() for path in chance.sample(files, rounds)]
    names = [symbol.name for path in paths for symbol in index.outline(RelativePath(parts=tuple(path.split("/"))))]
    names = chance.sample(sorted(set(names)), rounds)
    index.importers("argparse")
    index.definitions(names[0])
    changed = changes(index, folder, chance.sample(files, CHANGES + 1))
    changed.pop()()
    rows = [
        ["find_definition", *times_of([partial(index.definitions, name) for name in names])],
        ["find_importers", *times_of([partial(index.importers, path) for path in paths])],
        ["one changed file", *times_of(changed)],
    ]
    return table(["warm, ms", "median", "95 of 100 below", "CPU median", "CPU 95 of 100 below"], rows)


def measure_search(count: int) -> str:
    """`search_files` beside ripgrep alone, in turns; both find every matching line, ripgrep prints them all."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "tree"
        size = make_tree(folder, count)
        with Workspace(folder, state=Path(name) / "state") as workspace:
            rows = [_search_row(workspace, told, pattern) for told, pattern in PATTERNS.items()]
    heading = ["pattern", "matching lines", "CPU × rg", "wall × rg", "rg CPU ms"]
    return (
        f"{where()}; {count:,} files, {size / 1e6:.0f} MB; load {os.getloadavg()[0]:.1f}.\n\n{table(heading, rows)}\n"
    )


def _search_row(workspace: Workspace, told: str, pattern: str) -> list[str]:
    cpu, wall, floors = [], [], []
    total = 0
    for _ in range(SEARCH_ROUNDS):
        with spending() as ours:
            total = asyncio.run(search(workspace, pattern)).total
        with spending() as theirs:
            subprocess.run(
                [ripgrep_path(), "--no-config", "-n", "-e", pattern, "--", "./"],
                cwd=workspace.root,
                stdout=subprocess.DEVNULL,
                check=False,
            )
        cpu.append(ours.cpu / theirs.cpu)
        wall.append(ours.wall / theirs.wall)
        floors.append(theirs.cpu * 1000)
    return [told, f"{total:,}", f"{median(cpu):.2f}", f"{median(wall):.2f}", f"{median(floors):.0f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=15_000)
    parser.add_argument("--rounds", type=int, default=200, help="so many answers of each kind")
    parser.add_argument("--only", choices=["search", "symbol index"], help="measure this alone")
    parser.add_argument("--save", action="store_true", help="write the section of RESULTS.md")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    parts: dict[str, Callable[[], str]] = {
        "search": lambda: measure_search(options.files),
        "symbol index": lambda: measure_index(options.files, options.rounds),
    }
    for name, measure in parts.items() if options.only is None else [(options.only, parts[options.only])]:
        text = measure()
        print(text)
        if options.save:
            save(name, text)


if __name__ == "__main__":
    main()
