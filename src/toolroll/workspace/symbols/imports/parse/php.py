"""Imports of PHP: names taken out of namespaces, and files that are included."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.imports.parse.source import Source, is_below
from toolroll.workspace.symbols.imports.statement import ImportForm, ImportKind, ImportStatement

if TYPE_CHECKING:
    from tree_sitter import Node

QUERY: Final = """
(namespace_use_declaration) @statement
[(require_expression) (require_once_expression) (include_expression) (include_once_expression)] @statement
"""

_NAMES: Final = frozenset({"name", "namespace_name", "qualified_name"})
_CASES: Final = frozenset({"if_statement", "function_definition", "method_declaration"})
_OWN_FOLDER: Final = ("__DIR__", "dirname(__FILE__)")


def read(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """The statements one captured node stands for."""
    if node.type == "namespace_use_declaration":
        yield from _use(node, source)
    else:
        yield from _include(node, source)


def _use(node: "Node", source: Source) -> Iterator[ImportStatement]:
    group = node.child_by_field_name("body")
    prefix = next((child for child in node.named_children if child.type == "namespace_name"), None)
    start = "" if prefix is None else _name(prefix, source) + "\\"
    clauses = (node if group is None else group).named_children
    for clause in (each for each in clauses if each.type == "namespace_use_clause"):
        places = [child for child in clause.named_children if child.type in _NAMES]
        path = start + "".join(_name(place, source) for place in places[:1])
        module, _, name = path.rpartition("\\")
        bound = source.field(clause, "alias") or name
        yield source.statement(node, module or path, names=(name,) if module else (), binds=(bound,))


def _name(node: "Node", source: Source) -> str:
    return "".join(source.text(node).split()).lstrip("\\")


def _include(node: "Node", source: Source) -> Iterator[ImportStatement]:
    place = next(iter(node.named_children), None)
    while place is not None and place.type == "parenthesized_expression":
        place = next(iter(place.named_children), None)
    found = _path(place, source)
    if found is not None:
        module, form = found
        kind: ImportKind = "conditional" if is_below(node, _CASES) else "static"
        yield source.statement(node, module, kind=kind, form=form)


def _path(node: "Node | None", source: Source) -> tuple[str, ImportForm] | None:
    """A literal is looked for beside the file too; after a computed folder only its end is known."""
    if node is None or node.type != "binary_expression":
        module = source.literal(node)
        return None if module is None else (module, "file")
    module = source.literal(node.child_by_field_name("right"))
    left = node.child_by_field_name("left")
    if module is None or left is None:
        return None
    if source.dotted(left) in _OWN_FOLDER:
        return "./" + module.lstrip("/"), "file"
    return module.lstrip("/"), "system"
