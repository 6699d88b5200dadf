"""How right the imports of Python are: statements against `ast`, and the files they lead to against importlib.

    python benchmarks/imports_accuracy.py [--save] [--files N] [--packages NAME ...]

The truth for statements is `ast` over the standard library and site-packages; for files it is what
importlib finds for the same module, and for each submodule that is taken out by name.
"""

import argparse
import ast
import random
import sys
import sysconfig
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from pathlib import Path

import tree_sitter
import tree_sitter_python

sys.path.insert(0, str(Path(__file__).parent.parent))  # a script's own folder is on the path, not the one above

from benchmarks.kit import save, table, where

from toolroll.workspace.symbols.extract import read_imports
from toolroll.workspace.symbols.imports.edges import Resolver
from toolroll.workspace.symbols.imports.statement import ImportStatement
from toolroll.workspace.symbols.languages.registry import LANGUAGES

LEAST = 0.995
PYTHON = LANGUAGES["python"]
PACKAGES = ("_pytest", "anthropic", "click", "hypothesis", "idna", "mypy", "openai", "pip", "pydantic", "rich", "uv")

Key = tuple[str, int, int, tuple[str, ...]]
"""Module, level, line, names."""


def expected(tree: ast.Module) -> Counter[Key]:
    found: Counter[Key] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update((alias.name, 0, node.lineno, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = tuple(sorted({alias.name for alias in node.names}))
            found[node.module or "", node.level, node.lineno, names] += 1
    return found


def actual(statements: tuple[ImportStatement, ...]) -> Counter[Key]:
    plain = (each for each in statements if each.kind != "dynamic")
    return Counter((each.module, each.level, each.line, tuple(sorted(each.names))) for each in plain)


def parsed(path: Path, parser: tree_sitter.Parser) -> tuple[ast.Module, tuple[ImportStatement, ...]] | None:
    """None for what is no Python of this version: test data, templates, Python 2."""
    data = path.read_bytes()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree, read_imports(PYTHON, parser.parse(data), data)


def measure_statements(paths: list[Path], parser: tree_sitter.Parser) -> tuple[list[float], list[str]]:
    right = extra = missing = files = 0
    started = time.process_time()
    for path in paths:
        both = parsed(path, parser)
        if both is None:
            continue
        truth, ours = expected(both[0]), actual(both[1])
        right += (truth & ours).total()
        extra += (ours - truth).total()
        missing += (truth - ours).total()
        files += 1
        for key in [*(truth - ours), *(ours - truth)][:1]:
            print(f"  differs: {path}: {key}", file=sys.stderr)
    precision, recall = right / (right + extra), right / (right + missing)
    spent = time.process_time() - started
    print(f"statements: {files} files, {right + missing} imports, precision {precision:.5f}, recall {recall:.5f}")
    print(f"            {spent:.1f} CPU-s, with ast and parsing")
    row = ["statements", "ast", f"{files:,} files", f"{right + missing:,}", f"{precision:.5f}", f"{recall:.5f}"]
    return [precision, recall], row


@cache
def found_by_importlib(module: str, site: str) -> ModuleSpec | None:
    """Step by step and nothing imported: `find_spec` of importlib.util would run each package above."""
    package, _, name = module.rpartition(".")
    above = found_by_importlib(package, site) if package else None
    if package and (above is None or above.submodule_search_locations is None):
        return None
    places = list(above.submodule_search_locations or ()) if above is not None else [site]
    finders = (FileFinder(place, (SourceFileLoader, SOURCE_SUFFIXES)) for place in places)
    specs = (finder.find_spec(module) for finder in finders if name.isidentifier())
    return next((spec for spec in specs if spec is not None), None)


def file_of(module: str, site: str) -> str:
    spec = found_by_importlib(module, site) if module else None
    return spec.origin if spec is not None and spec.has_location and spec.origin is not None else ""


def questions(root: Path, package: str, parser: tree_sitter.Parser) -> Iterator[tuple[str, ImportStatement, str]]:
    """Every statement of a package, and the module it means in full."""
    for path in sorted((root / package).rglob("*.py")):
        both = parsed(path, parser)
        own = path.relative_to(root).with_suffix("").parts[:-1]
        for statement in () if both is None else both[1]:
            start = list(own[: len(own) - statement.level + 1]) if statement.level else []
            yield path.relative_to(root).as_posix(), statement, ".".join(filter(None, [*start, statement.module]))


def measure_files(root: Path, packages: list[str], parser: tree_sitter.Parser) -> tuple[float, list[str]]:
    paths = [path.relative_to(root).as_posix() for path in root.rglob("*.py")]
    resolver = Resolver(paths, lambda path: (root / path).read_bytes())
    known = {str((root / path).resolve()): path for path in paths}
    right = asked = 0
    for package in packages:
        for importer, statement, module in questions(root, package, parser):
            modules = [module, *(f"{module}.{name}" for name in statement.names)]
            wanted = {known[file] for each in modules if (file := file_of(each, str(root))) in known}
            ours = {each.path for each in resolver.resolve(importer, statement) if each.path is not None}
            asked += 1
            right += wanted == ours
            if wanted != ours and asked - right < 40:
                print(f"  differs: {importer}:{statement.line} {statement.text!r}: {wanted ^ ours}", file=sys.stderr)
    share = right / max(asked, 1)
    print(f"files:      {len(packages)} packages, {asked} imports, {share:.5f} lead where importlib goes")
    row = ["files they lead to", "importlib", f"{len(packages)} packages", f"{asked:,}", f"{share:.5f}", f"{share:.5f}"]
    return share, row


def measure_speed(root: Path, paths: list[Path], parser: tree_sitter.Parser) -> None:
    texts = [path.relative_to(root).as_posix() for path in paths]
    read = [(text, path.read_bytes()) for text, path in zip(texts, paths, strict=True)]
    statements = [(text, read_imports(PYTHON, parser.parse(data), data)) for text, data in read]
    started = time.process_time()
    resolver = Resolver(texts, lambda path: (root / path).read_bytes())
    count = sum(1 for text, each in statements for one in each for _ in resolver.resolve(text, one))
    print(f"speed:      {len(texts)} files, {count} edges resolved in {time.process_time() - started:.2f} CPU-s")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--files", type=int, default=1_000_000, help="how many files, drawn by chance")
    arguments.add_argument("--packages", nargs="*", default=[], help="packages in site-packages to resolve")
    arguments.add_argument("--save", action="store_true", help="write the section of RESULTS.md")
    options = arguments.parse_args()
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))
    library, site = Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("purelib"))
    paths = sorted({*library.rglob("*.py"), *site.rglob("*.py")})
    random.Random(5).shuffle(paths)
    figures, statements = measure_statements(paths[: options.files], parser)
    packages = options.packages or [name for name in PACKAGES if (site / name).is_dir()]
    share, files = measure_files(site, packages, parser)
    figures.append(share)
    measure_speed(site, [path for path in paths if path.is_relative_to(site)], parser)
    if options.save:
        rows = table(["imports of Python", "truth", "of", "in them", "precision", "recall"], [statements, files])
        save("imports", f"{where()}.\n\n{rows}\nA set of files that is not exactly importlib's counts as wrong.\n")
    if min(figures) < LEAST:
        raise SystemExit(f"below {LEAST}")


if __name__ == "__main__":
    main()
