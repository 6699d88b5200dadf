"""Imports of Ruby: calls that load a file by a literal name."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.imports.parse.source import Source
from toolroll.workspace.symbols.imports.statement import ImportStatement

if TYPE_CHECKING:
    from tree_sitter import Node

QUERY: Final = """
(call method: (identifier) @called (#any-of? @called "require" "require_relative" "load" "autoload")) @statement
"""


def read(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """The statements one captured node stands for."""
    method, arguments = node.child_by_field_name("method"), node.child_by_field_name("arguments")
    given = [] if arguments is None else arguments.named_children
    module = source.literal(given[-1]) if given else None
    if method is None or module is None:
        return
    called = source.text(method)
    if called == "require_relative":
        yield source.statement(node, module, form="file")
    elif called == "autoload":
        names = (source.text(given[0]).lstrip(":"),)
        yield source.statement(node, module, names=names, binds=names, kind="dynamic")
    else:
        yield source.statement(node, module, kind="dynamic" if called == "load" else "static")
