"""The import statements of one parsed file, whatever its language."""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol, cast

from toolroll.workspace.symbols.imports.parse.source import Source
from toolroll.workspace.symbols.imports.statement import MAX_MODULE_CHARACTERS, MAX_STATEMENTS, ImportStatement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Language, Node, Query, Tree

MODULES: Final = {
    "bash": "shell",
    "c": "includes",
    "cpp": "includes",
    "csharp": "csharp",
    "go": "go",
    "java": "java",
    "javascript": "ecmascript",
    "jsx": "ecmascript",
    "kotlin": "kotlin",
    "lua": "lua",
    "php": "php",
    "python": "python",
    "ruby": "ruby",
    "rust": "rust",
    "scala": "scala",
    "swift": "swift",
    "tsx": "ecmascript",
    "typescript": "ecmascript",
}
"""Which module of `parse` reads a language. A language that is missing has no statements that can be read."""


class _Reader(Protocol):
    """What a module of `parse` has."""

    QUERY: str

    def read(self, node: "Node", source: Source) -> "Iterator[ImportStatement]": ...


def read_imports(language: str, tree: "Tree", data: bytes) -> tuple[ImportStatement, ...]:
    """The imports of a parsed file in their order, at most `MAX_STATEMENTS`; never fails on any bytes."""
    module = MODULES.get(language)
    if module is None:
        return ()
    from tree_sitter import QueryCursor  # noqa: PLC0415 - a compiled library that only parsing processes need

    reader = _reader(module)
    captures = QueryCursor(_query(tree.language, reader.QUERY)).captures(tree.root_node)
    source = Source(data)
    found: list[ImportStatement] = []
    # In their order: captures come by pattern, and what is cut off at the limit must be the end.
    for node in sorted(captures.get("statement", []), key=lambda node: node.start_byte):
        found += [statement for statement in reader.read(node, source) if _is_sound(statement)]
        if len(found) >= MAX_STATEMENTS:
            break
    return tuple(found[:MAX_STATEMENTS])


def _is_sound(statement: ImportStatement) -> bool:
    """Broken code gives modules without a name, and strings that hold no name but a whole program."""
    module = statement.module
    return bool(module or statement.level) and len(module) <= MAX_MODULE_CHARACTERS and module.isprintable()


@cache
def _reader(module: str) -> _Reader:
    return cast("_Reader", import_module(f"toolroll.workspace.symbols.imports.parse.{module}"))


@cache
def _query(language: "Language", text: str) -> "Query":
    from tree_sitter import Query  # noqa: PLC0415 - see `imports_of`

    return Query(language, text)
