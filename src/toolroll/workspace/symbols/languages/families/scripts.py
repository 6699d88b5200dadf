"""Resolve imports of script languages, as far as paths alone tell."""

from collections.abc import Iterator
from posixpath import dirname
from typing import ClassVar

from toolroll.workspace.symbols.imports.files import Files, certain, guess, resolve_path
from toolroll.workspace.symbols.imports.statement import ImportStatement, Resolved
from toolroll.workspace.symbols.languages.language import ImportResolver


class ScriptResolver(ImportResolver):
    """Find files beside the script, from the root, and by the only path that ends so."""

    endings: ClassVar[tuple[str, ...]] = ("",)
    """What may follow the written path, the most likely first."""

    def __init__(self, files: Files) -> None:
        super().__init__(files)
        self._known: dict[str, list[str]] = {}

    def resolve(self, importer: str, statement: ImportStatement) -> Iterator[Resolved]:
        """Yield the file that is meant."""
        if statement.form == "file":
            yield self._find_beside(importer, statement.module)
        elif statement.form == "system":
            yield self.find_by_end(statement.module, statement.module)
        else:
            yield from self.resolve_module(statement)

    def resolve_module(self, statement: ImportStatement) -> Iterator[Resolved]:
        """Yield the file of a name that the language looks up."""
        yield self.find_by_end(statement.module, statement.module)

    def _find_beside(self, importer: str, module: str) -> Resolved:
        for folder in (dirname(importer), ""):
            path = resolve_path(folder, module)
            place = None if path is None else self._files.first(path + end for end in self.endings)
            if place is not None:
                return certain(place, module)
        return self.find_by_end(module, module)

    def find_by_end(self, tail: str, module: str) -> Resolved:
        """Return the only file that ends so; below `lib`, where Ruby's load path begins, it is sure."""
        hits = self.files_ending(resolve_path("", tail.replace("../", "")) or "")
        in_lib = [path for path in hits if f"/lib/{tail}" in f"/{path}"]
        if len(in_lib) == 1 or (len(hits) == 1 and "/" in tail):
            return certain((in_lib or hits)[0], module)
        return guess(hits[0] if len(hits) == 1 else None, module)

    def files_ending(self, tail: str) -> list[str]:
        """Return the files whose path ends so, with one of the endings."""
        if tail not in self._known:
            found = (path for end in self.endings for path in self._files.ending(tail + end)) if tail else ()
            self._known[tail] = list(found)
        return self._known[tail]
