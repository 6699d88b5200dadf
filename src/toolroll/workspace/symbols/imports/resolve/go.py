"""Where an import of Go leads: a package is a folder, and go.mod says which path its module's folder has."""

import re
from collections.abc import Iterator
from posixpath import dirname
from typing import Final

from toolroll.workspace.symbols.imports.resolve.files import Files, certain, guess, join_path, resolve_path
from toolroll.workspace.symbols.imports.statement import ImportStatement, Resolved

_MODULE: Final = re.compile(r'^module[ \t]+"?([^\s"]+)', re.MULTILINE)
_REPLACE: Final = re.compile(r"^(?:replace)?[ \t]*([^\s=>(]+)(?:[ \t]+v\S+)?[ \t]+=>[ \t]+(\.\S*)", re.MULTILINE)


class GoResolver:
    """Finds the folder of a package."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._folders: dict[str, str] = {}
        for path in files.named("go.mod"):
            text = (files.read(path) or b"").decode("utf-8", "replace")
            self._add_module(dirname(path), text)

    def _add_module(self, folder: str, text: str) -> None:
        declared = _MODULE.search(text)
        if declared is not None:
            self._folders.setdefault(declared[1], folder)
        for module, place in _REPLACE.findall(text):
            target = resolve_path(folder, place)
            if target is not None:
                self._folders.setdefault(module, target)

    def resolve(self, importer: str, statement: ImportStatement) -> Iterator[Resolved]:
        """The folder of the one package that a path names."""
        path = statement.module
        folder = resolve_path(dirname(importer), path) if path.startswith("./") else self.folder(path)
        yield guess(None, path) if folder is None or not self._has_code(folder) else certain(folder, path)

    def folder(self, path: str) -> str | None:
        """The folder an import path stands for: that of the longest module it lies in, and on from there."""
        module = path.strip("/")  # the folder above `/` is `/` again, for ever
        while module not in self._folders:
            module = dirname(module)
            if not module:
                return None
        return join_path(self._folders[module], path[len(module) + 1 :]).rstrip("/")

    def _has_code(self, folder: str) -> bool:
        return any(path.endswith(".go") for path in self._files.inside(folder))
