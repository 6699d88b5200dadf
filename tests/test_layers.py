"""House rules that no linter knows: sizes, names, and that importing does nothing.

Which room may import which is in pyproject.toml, `[tool.importlinter]`.
"""

import ast
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
MAX_IMPORTS_IN_FUNCTIONS = 70
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "service", "misc"}

# A docstring that begins with one of these has no verb: "The agent of ...", "Whether it ...", "What is ...".
# fmt: off
NO_VERBS = frozenset({
    "a", "adds", "all", "an", "any", "as", "at", "blocks", "both", "bytes", "columns", "each", "every", "figures",
    "for", "from", "how", "if", "in", "inside", "is", "it", "its", "lines", "messages", "no", "nobody", "none",
    "nothing", "of", "on", "one", "only", "same", "several", "shows", "so", "some", "that", "the", "their", "there",
    "these", "this", "those", "three", "to", "tokens", "two", "what", "when", "where", "whether", "which", "who",
    "whose", "why", "with", "without",
})
# fmt: on

BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.TryStar, ast.With, ast.AsyncWith, ast.Match)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Together dearer than all of pydantic; each is imported by the function that needs it.
HEAVY = {"asyncio", "click", "httpx2", "platformdirs", "rich", "sqlite3", "ssl", "subprocess"}
# Most of what ours would cost on top of pydantic; the first tool needs some of it, the first call the rest.
LATER = {"importlib.metadata", "pydantic.fields", "pydantic.types", "toolroll.kernel.call.execute"}


def display(path: Path) -> str:
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
        place = f"{display(path)}:{node.lineno} {node.name}"
        if lines > MAX_LINES_FUNCTION:
            yield f"{place}: {lines} lines, at most {MAX_LINES_FUNCTION}"
        if nesting(node) > MAX_NESTING:
            yield f"{place}: nested {nesting(node)} deep, at most {MAX_NESTING}"


def test_no_module_grows_out_of_hand() -> None:
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in [*SOURCES, *TESTS]}
    assert {display(path): count for path, count in lines.items() if count > limit_of(path)} == {}


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


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


MODULES = {module_name(path): path for path in SOURCES}


@dataclass(frozen=True, slots=True)
class Imported:
    """One import of a module of ours, or of anybody's."""

    module: str
    line: int
    in_function: bool
    has_reason: bool


def imports_in(path: Path) -> Iterator[Imported]:
    """Every import of a module but those for type checkers alone."""
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()

    def visit(node: ast.AST, *, in_function: bool) -> Iterator[Imported]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.Import | ast.ImportFrom):
                text = "\n".join(lines[child.lineno - 1 : child.end_lineno])
                for module in modules_named(child):
                    yield Imported(
                        module, child.lineno, in_function, re.search(r"PLC0415\b[^-]*- \S", text) is not None
                    )
            else:
                yield from visit(child, in_function=in_function or isinstance(child, FUNCTIONS))

    yield from visit(ast.parse(source), in_function=False)


def modules_loaded(path: Path) -> set[str]:
    """Modules of ours that are loaded by name, as `module:name`."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    texts = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return {text.partition(":")[0] for text in texts if re.fullmatch(r"toolroll[.\w]*:\w+", text)}


def modules_named(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    names = [f"{node.module}.{alias.name}" for alias in node.names]
    return [name if name in MODULES else str(node.module) for name in names]


def cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Modules that import each other, directly or through others."""
    order: list[str] = []
    seen: set[str] = set()
    backwards: dict[str, set[str]] = {name: set() for name in graph}
    for name, targets in graph.items():
        for target in targets:
            backwards[target].add(name)

    def walk(start: str, edges: Mapping[str, set[str]], found: list[str]) -> None:
        stack = [(start, iter(sorted(edges[start])))]
        seen.add(start)
        while stack:
            name, targets = stack[-1]
            following = next((one for one in targets if one not in seen), None)
            if following is None:
                stack.pop()
                found.append(name)
            else:
                seen.add(following)
                stack.append((following, iter(sorted(edges[following]))))

    for name in sorted(graph):
        if name not in seen:
            walk(name, graph, order)
    seen.clear()
    found: list[list[str]] = []
    for name in reversed(order):
        if name not in seen:
            component: list[str] = []
            walk(name, backwards, component)
            found += [sorted(component)] if len(component) > 1 else []
    return found


def test_no_modules_import_each_other_also_not_inside_functions() -> None:
    graph = {
        name: {one.module for one in imports_in(path) if one.module in MODULES and one.module != name}
        for name, path in MODULES.items()
    }
    assert cycles(graph) == []
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == [["b", "c"]], "the rule sees what breaks it"


def test_what_is_loaded_by_name_exists_and_is_no_way_around_the_rules() -> None:
    """A name in a table is an import as well: of a module that is there, and of none that leads back."""
    loaded = {name: modules_loaded(path) for name, path in MODULES.items()}
    assert sum(map(len, loaded.values())) > 50, "the names are found"
    assert {name: missing for name, found in loaded.items() if (missing := found - MODULES.keys())} == {}
    imported = {
        name: {one.module for one in imports_in(path) if one.module in MODULES and one.module != name}
        for name, path in MODULES.items()
    }
    # `ghostpen` is `toolroll write`: each of the two programs can run the other's commands.
    programs = [["toolroll.cli.ghostpen.main", "toolroll.cli.main"]]
    assert cycles({name: imported[name] | loaded[name] - {name} for name in MODULES}) == programs


def test_imports_inside_functions_are_few_and_say_why() -> None:
    """Start-up is kept light by where modules are cut; what is left has a measured reason, or is an optional extra."""
    inside = {
        f"{display(path)}:{one.line}": one.has_reason for path in SOURCES for one in imports_in(path) if one.in_function
    }
    assert [place for place, has_reason in inside.items() if not has_reason] == []
    assert len(inside) <= MAX_IMPORTS_IN_FUNCTIONS


def test_modules_are_named_after_what_they_hold() -> None:
    assert [
        display(path) for path in SOURCES if EMPTY_NAMES & {path.stem, *path.relative_to(PACKAGE).parent.parts}
    ] == []


def public_functions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method that somebody outside may call; functions inside functions are nobody's business."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and child.name.startswith("_"):
            continue
        if isinstance(child, FUNCTIONS):
            yield child
        else:
            yield from public_functions(child)


def without_verb(source: str) -> Iterator[str]:
    for function in public_functions(ast.parse(source)):
        text = ast.get_docstring(function) or "Do."
        word = text.split(maxsplit=1)[0].rstrip(",:;.")
        if word.lower() in NO_VERBS or not word[0].isupper():
            yield f"{function.lineno} {function.name}: {text.splitlines()[0]}"


def test_docstrings_of_functions_begin_with_a_verb() -> None:
    found = [f"{display(path)}:{one}" for path in SOURCES for one in without_verb(path.read_text(encoding="utf-8"))]
    assert found == []
    assert list(without_verb('def f():\n    """The name."""\ndef g():\n    """Return the name."""')) == [
        "1 f: The name."
    ]


def run_python(code: str, *arguments: str) -> str:
    """What a fresh interpreter prints; a failure shows why."""
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    # Measuring coverage in there would load modules and open files of its own.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("module", ["stats", "runs.listing"])
def test_run_logs_are_listed_and_counted_without_an_agent(module: str) -> None:
    code = """
        import sys
        import toolroll.cli.actions.{module}
        heavy = ("pydantic", "asyncio", "toolroll.agent", "toolroll.kernel", "toolroll.packs", "toolroll.workspace")
        print([name for name in heavy if name in sys.modules])
    """
    assert run_python(code.replace("{module}", module)) == "[]\n"


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
                # OpenTelemetry's SDK imports psutil, which reads /proc/stat then.
                if writes or not (os.path.realpath(path).startswith(homes) or path == "/proc/stat"):
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
