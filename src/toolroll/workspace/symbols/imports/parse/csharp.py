"""Imports of C#: namespaces, the members of a class, and aliases."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.imports.parse.source import Source, has_token
from toolroll.workspace.symbols.imports.statement import EVERYTHING, ImportStatement

if TYPE_CHECKING:
    from tree_sitter import Node

QUERY: Final = "(using_directive) @statement"


def read(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """The statements one captured node stands for. A namespace gives all of its types without their names."""
    alias = node.child_by_field_name("name")
    places = [child for child in node.named_children if child != alias]
    is_global = has_token(node, "global")
    module = "".join(source.dotted(place) for place in places[-1:]).removeprefix("global::")
    yield source.statement(
        node,
        module,
        names=(EVERYTHING,) if alias is None else (),
        binds=() if alias is None else (source.text(alias),),
        kind="reexport" if is_global else "static",
        passes_on=is_global,
    )
