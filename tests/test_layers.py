"""House rules that no linter knows: sizes, names, and that importing does nothing.

Which room may import which is in pyproject.toml, `[tool.importlinter]`.
"""

import ast
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "toolroll"
SAMPLE = PACKAGE / "packs" / "code" / "sample"  # somebody else's project, for the demo: no module of ours
SOURCES = sorted(path for path in PACKAGE.rglob("*.py") if not path.is_relative_to(SAMPLE))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

MAX_LINES = 500
MAX_LINES_SAFE = 250
MAX_LINES_TEST = 800
MAX_LINES_FUNCTION = 60
MAX_NESTING = 4
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "service", "misc"}

BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.TryStar, ast.With, ast.AsyncWith, ast.Match)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Together dearer than all of pydantic; each is imported by the function that needs it.
HEAVY = {"asyncio", "click", "httpx2", "platformdirs", "rich", "sqlite3", "ssl", "subprocess"}
# Most of what ours would cost on top of pydantic; the first tool needs some of it, the first call the rest.
LATER = {"importlib.metadata", "pydantic.fields", "pydantic.types", "toolroll.kernel.call.execute"}


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def limit_of(path: Path) -> int:
    if ROOT / "tests" in path.parents:
        return MAX_LINES_TEST
    return MAX_LINES_SAFE if PACKAGE / "safe" in path.parents else MAX_LINES


def nesting(node: ast.AST) -> int:
    """How many blocks deep the code below `node` goes; `elif` is no deeper than its `if`."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FUNCTIONS):
            continue
        chained = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        deepest = max(deepest, nesting(child) + (isinstance(child, BLOCKS) and not chained))
    return deepest


def function_problems(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, FUNCTIONS):
            continue
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        place = f"{shown(path)}:{node.lineno} {node.name}"
        if lines > MAX_LINES_FUNCTION:
            yield f"{place}: {lines} lines, at most {MAX_LINES_FUNCTION}"
        if nesting(node) > MAX_NESTING:
            yield f"{place}: nested {nesting(node)} deep, at most {MAX_NESTING}"


def test_no_module_grows_out_of_hand() -> None:
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in [*SOURCES, *TESTS]}
    assert {shown(path): count for path, count in lines.items() if count > limit_of(path)} == {}


def test_no_function_grows_out_of_hand() -> None:
    assert [problem for path in [*SOURCES, *TESTS] for problem in function_problems(path)] == []


def test_the_size_rules_see_what_breaks_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    long, deep, fine = (tmp_path / name for name in ("long.py", "deep.py", "fine.py"))
    long.write_text("def f():\n" + "    x = 1\n" * MAX_LINES_FUNCTION)
    deep.write_text("def f():\n" + "".join("    " * n + "if x:\n" for n in range(1, 6)) + "    " * 6 + "y\n")
    fine.write_text("def f():\n    if a: b\n" + "    elif a: b\n" * 9)
    assert list(function_problems(long)) == ["long.py:1 f: 61 lines, at most 60"]
    assert list(function_problems(deep)) == ["deep.py:1 f: nested 5 deep, at most 4"]
    assert list(function_problems(fine)) == []


def test_modules_are_named_after_what_they_hold() -> None:
    assert [shown(path) for path in SOURCES if EMPTY_NAMES & {path.stem, *path.relative_to(PACKAGE).parent.parts}] == []


def run_python(code: str, *arguments: str) -> str:
    """What a fresh interpreter prints; a failure shows why."""
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    # Measuring coverage in there would load modules and open files of its own.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_does_nothing() -> None:
    """No file outside of Python's own folders is opened, nothing is written, connected or started."""
    names = [path.relative_to(PACKAGE.parent).with_suffix("").as_posix() for path in SOURCES]
    modules = [name.removesuffix("/__init__").replace("/", ".") for name in names if "__main__" not in name]
    code = """
        import importlib, os, sys
        *modules, own = sys.argv[1:]
        homes = tuple(map(os.path.realpath, (sys.prefix, sys.base_prefix, own)))
        changes = ("os.mkdir", "os.remove", "os.rename", "os.link", "os.symlink", "os.chmod", "os.putenv")
        starts = ("socket.", "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.system", "sqlite3.")
        seen = []
        def watch(event, args):
            if event == "open":
                path, mode, flags = args
                writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
                if writes or not os.path.realpath(path).startswith(homes):
                    seen.append(f"{event} {path}")
            elif event in changes or event.startswith(starts):
                seen.append(f"{event} {args}")
        sys.dont_write_bytecode = True
        sys.addaudithook(watch)
        for name in modules:
            importlib.import_module(name)
            if seen:
                print(name, seen)
                seen.clear()
    """
    assert run_python(code, *modules, str(PACKAGE)) == ""


def test_importing_the_package_loads_nothing_heavy() -> None:
    """The part of the import budget that needs no clock; `benchmarks/start.py` has the rest."""
    code = """
        import sys
        import pydantic
        before = set(sys.modules)
        import toolroll
        from toolroll import Depends, ToolContext, tool
        print(*sorted(set(sys.argv[1:]) & (set(sys.modules) - before)))
    """
    assert run_python(code, *HEAVY, *LATER).split() == []
