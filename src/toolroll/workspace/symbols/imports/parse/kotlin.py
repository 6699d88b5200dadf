"""Imports of Kotlin: a declaration under its own or another name, or all of a package."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.imports.parse.source import Source, has_token
from toolroll.workspace.symbols.imports.statement import EVERYTHING, ImportStatement

if TYPE_CHECKING:
    from tree_sitter import Node

QUERY: Final = "(import (qualified_identifier)) @statement"


def read(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """The statements one captured node stands for."""
    path = source.dotted(node.named_children[0]).replace("`", "")
    if has_token(node, EVERYTHING):
        yield source.statement(node, path, names=(EVERYTHING,))
        return
    module, _, name = path.rpartition(".")
    alias = next((child for child in node.named_children if child.type == "identifier"), None)
    bound = name if alias is None else source.text(alias)
    yield source.statement(node, module or path, names=(name,) if module else (), binds=(bound,))
