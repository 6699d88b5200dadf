"""Where an include of C or C++ leads: beside the file for quotes, then in folders a build would name."""

from collections.abc import Iterator
from posixpath import dirname
from typing import Final

from toolroll.workspace.symbols.imports.resolve.files import Files, certain, guess, nearest, resolve_path
from toolroll.workspace.symbols.imports.statement import ImportStatement, Resolved

_INCLUDE_FOLDERS: Final = frozenset({"include", "includes", "inc", "headers", "public"})


class IncludeResolver:
    """Finds headers by the end of their path, since the folders to search are known to the build alone."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._known: dict[str, list[str]] = {}

    def resolve(self, importer: str, statement: ImportStatement) -> Iterator[Resolved]:
        """The one header that is meant."""
        module = statement.module
        beside = resolve_path(dirname(importer), module) if statement.form == "file" else None
        if beside is not None and beside in self._files:
            yield certain(beside, module)
            return
        tail = resolve_path("", module.removeprefix("./").replace("../", ""))
        hits = self._ending(tail or "")
        if statement.form == "system" and "/" not in module:
            # `<string.h>` is the system's, unless a folder for headers has it.
            hits = [path for path in hits if _INCLUDE_FOLDERS & set(path.split("/"))]
        is_sure = len(hits) == 1
        yield certain(hits[0], module) if is_sure else guess(nearest(hits, importer), module)

    def _ending(self, tail: str) -> list[str]:
        if tail not in self._known:
            self._known[tail] = self._files.ending(tail) if tail else []
        return self._known[tail]
