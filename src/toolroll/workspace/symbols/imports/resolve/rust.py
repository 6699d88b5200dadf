"""Where a `use` or `mod` of Rust leads: modules are files beside or below the one that declares them."""

from collections.abc import Iterator
from posixpath import basename, dirname
from typing import Final

from toolroll.workspace.symbols.imports.resolve.cargo import Crates
from toolroll.workspace.symbols.imports.resolve.files import Files, certain, guess, join_path, resolve_path
from toolroll.workspace.symbols.imports.statement import EVERYTHING, ImportStatement, Resolved

_OWN_FOLDER: Final = frozenset({"build.rs", "lib.rs", "main.rs", "mod.rs"})  # their children lie beside them
_TARGET_FOLDERS: Final = frozenset({"benches", "bin", "examples", "tests"})  # each file there begins a crate


class RustResolver:
    """Finds the file of a module, or of the module an item is in."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._crates = Crates(files)

    def resolve(self, importer: str, statement: ImportStatement) -> Iterator[Resolved]:
        """The file of each name that is a module of its own, else that of the module it is taken from."""
        module = statement.module
        if statement.form == "file":
            path = resolve_path(dirname(importer), module)
            yield certain(path, module) if path is not None and path in self._files else guess(None, module)
            return
        if statement.form == "child":
            path = self._descend(importer, module.split("::"), whole=True)
            yield guess(None, module) if path is None else certain(path, module)
            return
        targets: dict[str, str] = {}
        for name in statement.names or (EVERYTHING,):
            full = module if name == EVERYTHING else f"{module}::{name}"
            path = self.find(importer, full)
            if path is not None:
                targets.setdefault(path, full)
        yield from (certain(path, full) for path, full in targets.items())
        if not targets:
            yield guess(None, module)

    def find(self, importer: str, path: str) -> str | None:
        """The file a path leads to from a file: the last module on it that has one."""
        first, *rest = path.split("::")
        if first == "crate":
            return self._in_own_crate(importer, rest)
        if first in {"self", "super"}:
            return self._from_here(importer, [first, *rest])
        child = self._child(importer, first)
        if child is not None:
            return self._descend(child, rest)
        return self.in_crate(first, rest, dirname(importer))

    def modules(self, name: str, parts: list[str]) -> Iterator[str]:
        """The files that a path may mean to who stands in none: `crate` is every crate that has such a module."""
        if name != "crate":
            path = self.in_crate(name, parts)
            yield from [] if path is None else [path]
            return
        for crate in self._crates.every():
            for begin in (crate.library, crate.program):
                path = None if begin is None else self._descend(begin, parts)
                if path is not None and path != begin:
                    yield path

    def in_crate(self, name: str, parts: list[str], folder: str = "") -> str | None:
        """The file of a module in a crate of the workspace, by the name it has for code in this folder."""
        own = self._crates.around(folder)
        crate = self._crates.named(name if own is None else own.renamed.get(name, name))
        begin = None if crate is None else crate.library or crate.program
        return None if begin is None else self._descend(begin, parts)

    def _in_own_crate(self, importer: str, parts: list[str]) -> str | None:
        crate = self._crates.around(dirname(importer))
        begins = [importer] if self._begins_crate(importer) else []
        begins += [] if crate is None else [each for each in (crate.library, crate.program) if each is not None]
        for begin in begins:
            path = self._descend(begin, parts)
            if path is not None and (path != begin or begin == begins[-1]):
                return path
        return None

    def _begins_crate(self, path: str) -> bool:
        return basename(path) in {"main.rs", "lib.rs", "build.rs"} or basename(dirname(path)) in _TARGET_FOLDERS

    def _from_here(self, importer: str, parts: list[str]) -> str | None:
        at: str | None = importer
        while parts and parts[0] in {"self", "super"}:
            at = at if at is None or parts[0] == "self" else self._parent(at)
            parts = parts[1:]
        return None if at is None else self._descend(at, parts)

    def _parent(self, path: str) -> str | None:
        """The file of the module that declares this one."""
        folder = dirname(path)
        if basename(path) == "mod.rs":
            folder = dirname(folder)
        around = [join_path(folder, name) for name in ("mod.rs", "lib.rs", "main.rs")]
        return self._files.first(each for each in [*around, folder + ".rs"] if each != path)

    def _descend(self, begin: str, parts: list[str], *, whole: bool = False) -> str | None:
        """As far down as there are files; what comes after is an item in the last one."""
        at = begin
        folder = self._children_of(begin)
        for part in parts:
            child = self._files.first((join_path(folder, f"{part}.rs"), join_path(folder, f"{part}/mod.rs")))
            folder = join_path(folder, part)
            if child is not None:
                at = child
            elif whole and part == parts[-1]:
                return None
            elif not whole:
                break
        return at

    def _child(self, path: str, name: str) -> str | None:
        folder = self._children_of(path)
        return self._files.first((join_path(folder, f"{name}.rs"), join_path(folder, f"{name}/mod.rs")))

    def _children_of(self, path: str) -> str:
        """The folder where the modules that a file declares lie."""
        return dirname(path) if basename(path) in _OWN_FOLDER or self._begins_crate(path) else path.removesuffix(".rs")
