"""Kotlin: a declaration under its own or another name, or all of a package."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.imports.statement import EVERYTHING, ImportStatement
from toolroll.workspace.symbols.imports.syntax import Source, has_token
from toolroll.workspace.symbols.languages.families.jvm import JvmResolver
from toolroll.workspace.symbols.languages.language import PRIVATE, GrammarFix, Language, end_statement, exported_unless

if TYPE_CHECKING:
    from tree_sitter import Node

_DEFINITIONS: Final = """
(class_declaration "interface" name: (identifier) @name) @interface
(class_declaration (modifiers (class_modifier "enum")) name: (identifier) @name) @enum
(class_declaration name: (identifier) @name) @class
(object_declaration name: (identifier) @name) @object
(companion_object name: (identifier) @name) @object
(enum_entry (identifier) @name) @constant
(function_declaration name: (identifier) @name) @function
(property_declaration (variable_declaration . (identifier) @name)) @variable
(class_parameter ["val" "var"] (identifier) @name) @field
(type_alias type: (identifier) @name) @type
(lambda_literal) @local
(anonymous_initializer) @local
(secondary_constructor) @local
"""
_IMPORTS: Final = "(import (qualified_identifier)) @statement"

_BARE_FUNCTION: Final = GrammarFix(
    pattern=re.compile(rb"\bfun [^\n{}=]*\)(?:[ \t]*:[ \t]*[\w<>?., ]+?)?[ \t](?=\})"), replace=end_statement
)
"""A function without a body before a brace on its line (`interface I { fun f() }`): tree-sitter-kotlin 1.1 fails."""


def _read_import(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """Read the import statements of one captured node."""
    path = source.dotted(node.named_children[0]).replace("`", "")
    if has_token(node, EVERYTHING):
        yield source.statement(node, path, names=(EVERYTHING,))
        return
    module, _, name = path.rpartition(".")
    alias = next((child for child in node.named_children if child.type == "identifier"), None)
    bound = name if alias is None else source.text(alias)
    yield source.statement(node, module or path, names=(name,) if module else (), binds=(bound,))


LANGUAGES: Final = (
    Language(
        name="kotlin",
        title="Kotlin",
        extensions=(".kt", ".kts"),
        grammar="tree_sitter_kotlin",
        definitions=_DEFINITIONS,
        imports=_IMPORTS,
        read_import=_read_import,
        resolver=JvmResolver,
        importable=(".groovy",),
        imports_folders=True,
        is_exported=exported_unless(PRIVATE),
        fixes=(_BARE_FUNCTION,),
    ),
)
