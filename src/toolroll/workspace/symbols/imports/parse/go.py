"""Imports of Go: one specification each, alone or in parentheses."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.imports.parse.source import Source
from toolroll.workspace.symbols.imports.statement import EVERYTHING, ImportStatement

if TYPE_CHECKING:
    from tree_sitter import Node

QUERY: Final = "(import_spec) @statement"

_VERSION: Final = re.compile(r"(?:/v[0-9]+|\.v[0-9]+)$")  # no part of the package's name


def read(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """The statements one captured node stands for."""
    module = source.literal(node.child_by_field_name("path"))
    if module is None:
        return
    alias = node.child_by_field_name("name")
    if alias is None:
        yield source.statement(node, module, binds=(_VERSION.sub("", module).rpartition("/")[2],))
    elif alias.type == "dot":
        yield source.statement(node, module, names=(EVERYTHING,))
    elif alias.type == "blank_identifier":
        yield source.statement(node, module)
    else:
        yield source.statement(node, module, binds=(source.text(alias),))
