"""Includes of C and C++: files in quotes are looked for beside the including one first, those in brackets are not."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.imports.parse.source import Source, ancestors
from toolroll.workspace.symbols.imports.statement import ImportKind, ImportStatement

if TYPE_CHECKING:
    from tree_sitter import Node

QUERY: Final = "(preproc_include) @statement"

_CASES: Final = frozenset({"preproc_elif", "preproc_elifdef", "preproc_else", "preproc_if", "preproc_ifdef"})


def read(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """The statements one captured node stands for; a macro in the place of a name is none."""
    place = node.child_by_field_name("path")
    if place is not None and place.type == "system_lib_string":
        yield source.statement(node, source.text(place)[1:-1], kind=_kind(node, source), form="system")
    elif (module := source.literal(place)) is not None:
        yield source.statement(node, module, kind=_kind(node, source), form="file")


def _kind(node: "Node", source: Source) -> ImportKind:
    cases = [above for above in ancestors(node) if above.type in _CASES]
    return "conditional" if any(not _is_guard(case, source) for case in cases) else "static"


def _is_guard(node: "Node", source: Source) -> bool:
    """Whether it only keeps a header from being read twice: `#ifndef X`, and `#define X` right after."""
    parts = [child for child in node.named_children if child.type != "comment"][:2]
    if [part.type for part in parts[1:]] != ["preproc_def"]:
        return False
    defined = parts[1].child_by_field_name("name")
    return defined is not None and source.text(defined) in source.text(parts[0])
