"""Imports of Swift: modules, or one declaration out of a module."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.imports.parse.source import Source
from toolroll.workspace.symbols.imports.statement import ImportStatement

if TYPE_CHECKING:
    from tree_sitter import Node

QUERY: Final = "(import_declaration) @statement"

_DECLARATIONS: Final = frozenset({"class", "enum", "func", "let", "protocol", "struct", "typealias", "var"})


def read(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """The statements one captured node stands for."""
    places = [child for child in node.named_children if child.type == "identifier"]
    path = "".join(source.dotted(place) for place in places[:1])
    before = source.text(node).partition(path or "\n")[0].split()
    module, _, name = path.rpartition(".")
    takes_one = bool(module) and bool(_DECLARATIONS & set(before))
    is_exported = "@_exported" in before or "public" in before
    yield source.statement(
        node,
        module if takes_one else path,
        names=(name,) if takes_one else (),
        binds=(name,) if takes_one else (path.partition(".")[0],),
        kind="reexport" if is_exported else "static",
        passes_on=is_exported,
    )
