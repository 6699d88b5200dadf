"""Read and resolve includes of C and C++.

Files in quotes are looked for beside the including one first, those in brackets are not; then in folders a build would
name.
"""

from collections.abc import Iterator
from posixpath import dirname
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.imports.files import Files, certain, guess, nearest, resolve_path
from toolroll.workspace.symbols.imports.statement import ImportKind, ImportStatement, Resolved
from toolroll.workspace.symbols.imports.syntax import Source, ancestors
from toolroll.workspace.symbols.languages.language import ImportResolver

if TYPE_CHECKING:
    from tree_sitter import Node


IMPORTS: Final = "(preproc_include) @statement"

_CASES: Final = frozenset({"preproc_elif", "preproc_elifdef", "preproc_else", "preproc_if", "preproc_ifdef"})
_INCLUDE_FOLDERS: Final = frozenset({"include", "includes", "inc", "headers", "public"})


def read_import(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """Read the import statements of one captured node; a macro in the place of a name is none."""
    place = node.child_by_field_name("path")
    if place is not None and place.type == "system_lib_string":
        yield source.statement(node, source.text(place)[1:-1], kind=_kind(node, source), form="system")
    elif (module := source.literal(place)) is not None:
        yield source.statement(node, module, kind=_kind(node, source), form="file")


def _kind(node: "Node", source: Source) -> ImportKind:
    cases = [above for above in ancestors(node) if above.type in _CASES]
    return "conditional" if any(not _is_guard(case, source) for case in cases) else "static"


def _is_guard(node: "Node", source: Source) -> bool:
    """Return whether it only keeps a header from being read twice: `#ifndef X`, and `#define X` right after."""
    parts = [child for child in node.named_children if child.type != "comment"][:2]
    if [part.type for part in parts[1:]] != ["preproc_def"]:
        return False
    defined = parts[1].child_by_field_name("name")
    return defined is not None and source.text(defined) in source.text(parts[0])


class IncludeResolver(ImportResolver):
    """Find headers by the end of their path, since the folders to search are known to the build alone."""

    def __init__(self, files: Files) -> None:
        super().__init__(files)
        self._known: dict[str, list[str]] = {}

    def resolve(self, importer: str, statement: ImportStatement) -> Iterator[Resolved]:
        """Yield the one header that is meant."""
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
