"""Imports of Lua: `require` and `dofile` with a literal name, protected or not."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.imports.parse.source import Source
from toolroll.workspace.symbols.imports.statement import ImportStatement

if TYPE_CHECKING:
    from tree_sitter import Node

QUERY: Final = """
(function_call name: (identifier) @called
  (#any-of? @called "require" "dofile" "loadfile" "pcall")) @statement
"""


def read(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """The statements one captured node stands for."""
    name, arguments = node.child_by_field_name("name"), node.child_by_field_name("arguments")
    given = [] if arguments is None else arguments.named_children
    if name is None or not given:
        return
    called = source.text(name)
    if called == "pcall":
        if source.text(given[0]) == "require" and (module := source.literal(given[-1])) is not None:
            yield source.statement(node, module, kind="conditional")
    elif (module := source.literal(given[0])) is not None:
        yield source.statement(node, module, form="module" if called == "require" else "system")
