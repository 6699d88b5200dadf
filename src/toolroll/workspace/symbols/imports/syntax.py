"""Read parts of a syntax tree, and make import statements of them: what all languages share."""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.imports.statement import (
    MAX_NAMES,
    MAX_TEXT_CHARACTERS,
    ImportForm,
    ImportKind,
    ImportStatement,
)

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_ANCESTORS: Final = 64  # looked at above a node: hostile code nests a million deep, and each look starts at the root

_CONTENTS: Final = frozenset(
    {
        "escape_sequence",
        "interpreted_string_literal_content",
        "raw_string_literal_content",
        "string_content",
        "string_end",
        "string_fragment",
        "string_literal_content",
        "string_start",
    }
)
_QUOTES: Final = frozenset({"string_start", "string_end"})


class Source:
    """One file's bytes; nodes give only positions in them."""

    __slots__ = ("_data",)

    def __init__(self, data: bytes) -> None:
        self._data = data

    def text(self, node: "Node") -> str:
        """Return what stands at the node, whatever bytes it is made of."""
        return self._data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def field(self, node: "Node", name: str) -> str:
        """Return what stands in a field of the node; nothing where the grammar found none in broken code."""
        child = node.child_by_field_name(name)
        return "" if child is None else self.text(child)

    def dotted(self, node: "Node") -> str:
        """Return what stands at the node, without the blanks and line ends that may stand around dots."""
        return "".join(self.text(node).replace("\\", " ").split())

    def literal(self, node: "Node | None") -> str | None:
        """Return what a string says; None for no string, an empty one, and one that is computed."""
        if node is None:
            return None
        parts = node.named_children
        if not parts or any(part.type not in _CONTENTS for part in parts):
            return None
        return "".join(self.text(part) for part in parts if part.type not in _QUOTES) or None

    def statement(
        self,
        node: "Node",
        module: str,
        *,
        names: Collection[str] = (),
        binds: Collection[str] = (),
        kind: ImportKind = "static",
        form: ImportForm = "module",
        level: int = 0,
        passes_on: bool = False,
    ) -> ImportStatement:
        """Return a statement that stands at the node."""
        last = node.end_byte - (self._data[node.end_byte - 1 : node.end_byte] == b"\n")  # the C grammar takes it along
        beginning = self._data[node.start_byte : min(last, node.start_byte + 4 * MAX_TEXT_CHARACTERS)]
        # Points of py-tree-sitter 0.26.0 free numbers that others still use: rows above 256 end in a crash.
        line = self._data.count(b"\n", 0, node.start_byte) + 1
        return ImportStatement(
            module=module,
            names=tuple(names)[:MAX_NAMES],
            binds=tuple(binds)[:MAX_NAMES],
            line=line,
            end_line=line + self._data.count(b"\n", node.start_byte, last),
            text=beginning.decode("utf-8", "replace")[:MAX_TEXT_CHARACTERS].rstrip(),
            kind=kind,
            form=form,
            level=level,
            passes_on=passes_on,
        )


def ancestors(node: "Node") -> Iterator["Node"]:
    """Yield what the node lies in, nearest first, as far as it is worth to look."""
    above = node.parent
    for _ in range(MAX_ANCESTORS):
        if above is None:
            return
        yield above
        above = above.parent


def is_below(node: "Node", types: Collection[str], *, until: Collection[str] = ()) -> bool:
    """Return whether one of these types is above the node, and none of `until` comes first."""
    for above in ancestors(node):
        if above.type in types:
            return True
        if above.type in until:
            return False
    return False


def has_token(node: "Node", word: str) -> bool:
    """Return whether this word, which the grammar does not name, is a part of the node."""
    return any(child.type == word for child in node.children)
