"""Java: a class, a member of a class, or all of a package."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.imports.statement import EVERYTHING, ImportStatement
from toolroll.workspace.symbols.imports.syntax import Source
from toolroll.workspace.symbols.languages.families.jvm import JvmResolver
from toolroll.workspace.symbols.languages.language import PRIVATE, Language, exported_unless

if TYPE_CHECKING:
    from tree_sitter import Node

_DEFINITIONS: Final = """
(class_declaration name: (identifier) @name) @class
(record_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @interface
(annotation_type_declaration name: (identifier) @name) @interface
(enum_declaration name: (identifier) @name) @enum
(enum_constant name: (identifier) @name) @constant
(method_declaration name: (identifier) @name) @method
(annotation_type_element_declaration name: (identifier) @name) @method
(constructor_declaration name: (identifier) @name) @constructor
(compact_constructor_declaration name: (identifier) @name) @constructor
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @field
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @constant
"""
_IMPORTS: Final = "(import_declaration) @statement"


def _read_import(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """Read the import statements of one captured node."""
    kinds = {child.type: child for child in node.named_children}
    place = kinds.get("scoped_identifier") or kinds.get("identifier")
    path = "" if place is None else source.dotted(place)
    if "asterisk" in kinds:
        yield source.statement(node, path, names=(EVERYTHING,))
    else:
        module, _, name = path.rpartition(".")
        yield source.statement(node, module or path, names=(name,) if module else (), binds=(name,))


LANGUAGES: Final = (
    Language(
        name="java",
        title="Java",
        extensions=(".java",),
        grammar="tree_sitter_java",
        definitions=_DEFINITIONS,
        imports=_IMPORTS,
        read_import=_read_import,
        resolver=JvmResolver,
        imports_folders=True,
        is_exported=exported_unless(PRIVATE),
    ),
)
