"""C#: namespaces, the members of a class, and aliases. Where a namespace lies, no file says."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.imports.statement import EVERYTHING, ImportStatement
from toolroll.workspace.symbols.imports.syntax import Source, has_token
from toolroll.workspace.symbols.languages.language import PRIVATE, Language, exported_if

if TYPE_CHECKING:
    from tree_sitter import Node

_DEFINITIONS: Final = """
(namespace_declaration name: (_) @name) @module
(class_declaration name: (identifier) @name) @class
(record_declaration name: (identifier) @name) @class
(struct_declaration name: (identifier) @name) @struct
(interface_declaration name: (identifier) @name) @interface
(enum_declaration name: (identifier) @name) @enum
(enum_member_declaration name: (identifier) @name) @constant
(delegate_declaration name: (identifier) @name) @type
(method_declaration name: (identifier) @name) @method
(local_function_statement name: (identifier) @name) @function
(constructor_declaration name: (identifier) @name) @constructor
(destructor_declaration name: (identifier) @name) @method
(property_declaration name: (identifier) @name) @field
(event_declaration name: (identifier) @name) @field
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @field
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @field
"""
_IMPORTS: Final = "(using_directive) @statement"


def _read_import(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """Read the import statements of one captured node. A namespace gives all of its types without their names."""
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


_is_public = exported_if(re.compile(rb"\b(?:public|protected|internal)\b"))


def _is_exported(name: str, before: bytes, parent_kind: str | None) -> bool:
    if parent_kind in {None, "module"}:  # types are for the whole program
        return PRIVATE.search(before) is None
    return _is_public(name, before, parent_kind)


LANGUAGES: Final = (
    Language(
        name="csharp",
        title="C#",
        extensions=(".cs",),
        grammar="tree_sitter_c_sharp",
        definitions=_DEFINITIONS,
        imports=_IMPORTS,
        read_import=_read_import,
        is_exported=_is_exported,
    ),
)
