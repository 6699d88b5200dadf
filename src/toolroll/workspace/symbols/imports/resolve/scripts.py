"""Where a script of Ruby, PHP, Lua, Bash or Swift leads, as far as paths alone tell."""

from collections.abc import Iterator
from posixpath import dirname
from typing import Final, Literal

from toolroll.workspace.symbols.imports.resolve.composer import Composer
from toolroll.workspace.symbols.imports.resolve.files import Files, certain, guess, resolve_path
from toolroll.workspace.symbols.imports.statement import EVERYTHING, ImportStatement, Resolved

Script = Literal["bash", "lua", "php", "ruby", "swift"]

_ENDS: Final[dict[Script, tuple[str, ...]]] = {
    "bash": ("", ".sh", ".bash"),
    "lua": (".lua", "/init.lua"),
    "php": ("", ".php"),
    "ruby": (".rb", ""),
    "swift": (),
}


class ScriptResolver:
    """Finds files beside the script, from the root, and by the only path that ends so."""

    def __init__(self, files: Files, language: Script) -> None:
        self._files = files
        self._language = language
        self._ends = _ENDS[language]
        self._composer = Composer(files) if language == "php" else None
        self._known: dict[str, list[str]] = {}

    def resolve(self, importer: str, statement: ImportStatement) -> Iterator[Resolved]:
        """The file that is meant; a module of Swift is a folder."""
        module = statement.module
        if statement.form == "file":
            yield self._beside(importer, module)
        elif statement.form == "system":
            yield self._by_end(module, module)
        elif self._composer is not None:
            yield from self._classes(self._composer, statement)
        elif self._language == "swift":
            folders = self._files.folders_ending(f"Sources/{module}")
            yield certain(folders[0], module) if len(folders) == 1 else guess(None, module)
        else:
            yield self._by_end(module.replace(".", "/") if self._language == "lua" else module, module)

    def _beside(self, importer: str, module: str) -> Resolved:
        for folder in (dirname(importer), ""):
            path = resolve_path(folder, module)
            place = None if path is None else self._files.first(path + end for end in self._ends)
            if place is not None:
                return certain(place, module)
        return self._by_end(module, module)

    def _by_end(self, tail: str, module: str) -> Resolved:
        """The only file that ends so; below `lib`, where Ruby's load path begins, it is sure."""
        hits = self._ending(resolve_path("", tail.replace("../", "")) or "")
        in_lib = [path for path in hits if f"/lib/{tail}" in f"/{path}"]
        if len(in_lib) == 1 or (len(hits) == 1 and "/" in tail):
            return certain((in_lib or hits)[0], module)
        return guess(hits[0] if len(hits) == 1 else None, module)

    def _ending(self, tail: str) -> list[str]:
        if tail not in self._known:
            self._known[tail] = [path for end in self._ends for path in self._files.ending(tail + end)] if tail else []
        return self._known[tail]

    def _classes(self, composer: Composer, statement: ImportStatement) -> Iterator[Resolved]:
        for name in statement.names or (EVERYTHING,):
            full = statement.module if name == EVERYTHING else f"{statement.module}\\{name}"
            path = composer.find(full)
            yield guess(self._class_by_end(full), full) if path is None else certain(path, full)

    def _class_by_end(self, name: str) -> str | None:
        """By folder and name, where no manifest says which namespace a folder stands for."""
        hits = self._ending("/".join(name.split("\\")[-2:]))
        return hits[0] if len(hits) == 1 and "\\" in name else None
