"""Where an import of Python leads: packages, namespace packages, `src` layouts, scripts, relative imports."""

import sys
from collections.abc import Iterator
from posixpath import dirname
from typing import Final

from toolroll.workspace.symbols.imports.resolve.files import Files, certain, guess, is_inside, join_path, nearest
from toolroll.workspace.symbols.imports.resolve.roots import is_inside_unnamed, is_package, python_roots
from toolroll.workspace.symbols.imports.statement import EVERYTHING, ImportStatement, Resolved

_ENDS: Final = ("/__init__.py", ".py", "/__init__.pyi", ".pyi")  # the import system prefers a package to a module


class PythonResolver:
    """Finds modules as the import system would, given that each root were on its path."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._roots = python_roots(files)
        self._roots_of: dict[str, list[str]] = {}
        self._known: dict[tuple[str, str], str | None] = {}
        for root in self._roots:
            for name in self._tops(root):
                self._roots_of.setdefault(name, []).append(root)

    def _tops(self, root: str) -> set[str]:
        """The names that a root gives: its modules, and its folders whether they are packages or not."""
        start = len(root) + 1 if root else 0
        files = [path[start:] for path in self._files.inside(root)]
        modules = {name.rpartition(".")[0] for name in files if name.endswith((".py", ".pyi"))}
        return modules | set(self._files.subfolders(root))

    def resolve(self, importer: str, statement: ImportStatement) -> Iterator[Resolved]:
        """The module's own file, then each submodule that is taken out of it by name."""
        if statement.level:
            yield from self._relative(importer, statement)
            return
        path = self.find(statement.module, importer)
        taken = list(self._submodules(importer, statement))
        if path is not None:
            yield certain(path, statement.module)
        elif not taken:
            yield guess(self._by_end(statement.module), statement.module)
        yield from taken

    def _submodules(self, importer: str, statement: ImportStatement) -> Iterator[Resolved]:
        for name in statement.names:
            if name != EVERYTHING:
                module = f"{statement.module}.{name}"
                path = self.find(module, importer)
                if path is not None:
                    yield certain(path, module)

    def _relative(self, importer: str, statement: ImportStatement) -> Iterator[Resolved]:
        folder = dirname(importer)
        for _ in range(statement.level - 1):
            if not folder:
                yield guess(None, "." * statement.level + statement.module)
                return
            folder = dirname(folder)
        parts = statement.module.split(".") if statement.module else []
        base = "/".join([*([folder] if folder else []), *parts])
        module = self.dotted(base)
        path = self._at(base)
        taken = [(name, self._at(join_path(base, name))) for name in statement.names if name != EVERYTHING]
        if path is not None:
            yield certain(path, module)
        elif not any(inner for _, inner in taken):
            yield guess(None, module)
        yield from (certain(inner, f"{module}.{name}".lstrip(".")) for name, inner in taken if inner is not None)

    def dotted(self, path: str) -> str:
        """The name of a module or package by its path without an ending, from the nearest root above it."""
        folder = dirname(path)
        while folder and folder not in self._roots:
            folder = dirname(folder)
        return path[len(folder) :].strip("/").replace("/", ".")

    def find(self, module: str, importer: str) -> str | None:
        """The file of an absolute module, seen from an importer; None for what is not in the workspace."""
        folder = dirname(importer)
        key = (folder, module)
        if key not in self._known:
            self._known[key] = self._search(module, folder)
        return self._known[key]

    def _search(self, module: str, folder: str) -> str | None:
        top = module.partition(".")[0]
        tail = module.replace(".", "/")
        roots = list(self._roots_reached(top, folder))
        around = sorted((root for root in roots if is_inside(folder, root)), key=len, reverse=True)
        beside = [] if is_package(self._files, folder) else [folder]  # the folder of a script is on its path
        for root in [*beside, *around]:
            path = self._at(join_path(root, tail))
            if path is not None:
                return path
        if top in sys.stdlib_module_names:
            return None  # what another project calls `types` is not what is meant here
        hits = {root: path for root in roots if (path := self._at(join_path(root, tail))) is not None}
        root_next_door = nearest(hits, folder)
        return None if root_next_door is None else hits[root_next_door]

    def _roots_reached(self, top: str, folder: str) -> Iterator[str]:
        """The roots that may give a name: imports are absolute, so a package does not see its modules by bare names."""
        is_standard, is_unnamed = top in sys.stdlib_module_names, is_inside_unnamed(self._files, folder)
        for root in self._roots_of.get(top, ()):
            if not (is_standard and is_package(self._files, root)) and (root or not is_unnamed):
                yield root

    def _at(self, base: str) -> str | None:
        if not base:
            return self._files.first(("__init__.py", "__init__.pyi"))
        return self._files.first(base + end for end in _ENDS)

    def _by_end(self, module: str) -> str | None:
        """A module below a root that nothing tells of: the only file whose path ends like it."""
        if "." not in module or module.partition(".")[0] in sys.stdlib_module_names:
            return None
        tail = module.replace(".", "/")
        hits = [path for end in _ENDS for path in self._files.ending(tail + end)]
        return hits[0] if len(hits) == 1 else None
