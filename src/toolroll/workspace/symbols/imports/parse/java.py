"""Imports of Java: a class, a member of a class, or all of a package."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.imports.parse.source import Source
from toolroll.workspace.symbols.imports.statement import EVERYTHING, ImportStatement

if TYPE_CHECKING:
    from tree_sitter import Node

QUERY: Final = "(import_declaration) @statement"


def read(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """The statements one captured node stands for."""
    kinds = {child.type: child for child in node.named_children}
    place = kinds.get("scoped_identifier") or kinds.get("identifier")
    path = "" if place is None else source.dotted(place)
    if "asterisk" in kinds:
        yield source.statement(node, path, names=(EVERYTHING,))
    else:
        module, _, name = path.rpartition(".")
        yield source.statement(node, module or path, names=(name,) if module else (), binds=(name,))
