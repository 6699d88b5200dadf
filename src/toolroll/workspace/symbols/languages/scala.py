"""Scala: several paths in a statement, each with selectors, renames and wildcards; exports too."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.imports.statement import EVERYTHING, ImportStatement
from toolroll.workspace.symbols.imports.syntax import Source
from toolroll.workspace.symbols.languages.families.jvm import JvmResolver
from toolroll.workspace.symbols.languages.language import PRIVATE, Language, exported_unless

if TYPE_CHECKING:
    from tree_sitter import Node

_DEFINITIONS: Final = """
(class_definition name: (_) @name) @class
(object_definition name: (_) @name) @object
(package_object name: (_) @name) @object
(trait_definition name: (_) @name) @trait
(enum_definition name: (_) @name) @enum
(simple_enum_case name: (_) @name) @constant
(full_enum_case name: (_) @name) @constant
(function_definition name: (_) @name) @function
(function_declaration name: (_) @name) @function
(val_definition pattern: (identifier) @name) @variable
(var_definition pattern: (identifier) @name) @variable
(val_declaration name: (identifier) @name) @variable
(var_declaration name: (identifier) @name) @variable
(given_definition name: (_) @name) @variable
(type_definition name: (_) @name) @type
"""
_IMPORTS: Final = "[(import_declaration) (export_declaration)] @statement"

_RENAMED: Final = frozenset({"arrow_renamed_identifier", "as_renamed_identifier"})


def _read_import(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """Read the import statements of one captured node."""
    path: list[str] = []
    taken: dict[str, str] | None = None
    for child in [*node.children, None]:
        if child is None or child.type == ",":
            yield from _one(node, path, taken, source)
            path, taken = [], None
        elif child.type in {"identifier", "operator_identifier"}:
            path.append(source.text(child).strip("`"))
        elif child.type == "namespace_wildcard":
            taken = {EVERYTHING: EVERYTHING}
        elif child.type == "namespace_selectors":
            taken = _read_selectors(child, source)


def _one(node: "Node", path: list[str], taken: dict[str, str] | None, source: Source) -> Iterator[ImportStatement]:
    if path and path[0] == "_root_":
        path = path[1:]
    if taken is None and len(path) > 1:
        path, taken = path[:-1], {path[-1]: path[-1]}
    names = taken or {}
    is_export = node.type == "export_declaration"
    yield source.statement(
        node,
        ".".join(path),
        names=names,
        binds=[bound for bound in names.values() if bound not in {EVERYTHING, "_"}],
        kind="reexport" if is_export else "static",
        passes_on=is_export,
    )


def _read_selectors(node: "Node", source: Source) -> dict[str, str]:
    taken: dict[str, str] = {}
    for child in node.named_children:
        if child.type in _RENAMED:
            taken[source.field(child, "name")] = source.field(child, "alias") or "_"
        elif child.type == "namespace_wildcard":
            taken[EVERYTHING] = EVERYTHING
        else:
            taken[source.text(child)] = source.text(child)
    return taken


LANGUAGES: Final = (
    Language(
        name="scala",
        title="Scala",
        extensions=(".scala", ".sc"),
        grammar="tree_sitter_scala",
        definitions=_DEFINITIONS,
        imports=_IMPORTS,
        read_import=_read_import,
        resolver=JvmResolver,
        imports_folders=True,
        is_exported=exported_unless(PRIVATE),
    ),
)
