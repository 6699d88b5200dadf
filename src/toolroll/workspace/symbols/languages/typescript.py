"""TypeScript, with and without JSX."""

import re
from typing import Final

from toolroll.workspace.symbols.languages.families.ecmascript import (
    FUNCTIONS_AND_CLASSES,
    LOCALS_AND_EXPORTS,
    VARIABLES_AND_OBJECTS,
    make_language,
)
from toolroll.workspace.symbols.languages.language import GrammarFix, blank, end_statement, rename

_FIELDS: Final = """
(class_body (public_field_definition name: (_) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @method)
(class_body (public_field_definition name: (_) @name) @field)
; After an error in the file, the type parameters of a function (`<T>(x: T) => x`) are read as a type assertion.
((variable_declarator name: (identifier) @name value: (_ (arrow_function)) @_value) @function (#match? @_value "^<"))
"""
_TYPES: Final = """
(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (_) @name) @enum
(enum_body name: (_) @name @constant)
(enum_body (enum_assignment name: (_) @name) @constant)
(internal_module name: (_) @name) @module
(module name: (_) @name) @module
(function_signature name: (identifier) @name) @function
(class_body (method_signature name: (_) @name) @method)
(class_body (abstract_method_signature name: (_) @name) @method)
(interface_body (method_signature name: (_) @name) @method)
(interface_body (property_signature name: (_) @name) @field)
"""
_DEFINITIONS: Final = FUNCTIONS_AND_CLASSES + _FIELDS + VARIABLES_AND_OBJECTS + _TYPES + LOCALS_AND_EXPORTS

_VARIANCE: Final = GrammarFix(
    pattern=re.compile(rb"(?<=[<,\n ])(?:in\s+out|in|out)(?=[ \t]+[A-Z]\w*\b[^;{}()]{0,80}[,>=])"), replace=blank
)
"""`interface Cache<in out Key>`: tree-sitter-typescript 0.23 reads it as an error."""
_CALL_SIGNATURE: Final = GrammarFix(pattern=re.compile(rb"\n[ \t]*[ \t](?=<)"), replace=end_statement)
"""A member of an interface that begins with `<`, after one without a semicolon: read as a comparison."""
_ESCAPED_TICK: Final = GrammarFix(pattern=re.compile(rb"\\`"), replace=blank)
"""In the type of a template, where the grammar knows no escapes."""
_KEYWORD_NAME: Final = GrammarFix(
    pattern=re.compile(rb"(?<=\()(?:abstract|declare|module|namespace|type)(?=\s+extends\s)"), replace=rename
)
"""`(type extends string ? 1 : 2)`, where `type` is what a parameter is called: read as the beginning of an alias."""

LANGUAGES: Final = (
    make_language(
        name="typescript",
        title="TypeScript",
        extensions=(".ts", ".mts", ".cts"),
        grammar="tree_sitter_typescript",
        grammar_function="language_typescript",
        definitions=_DEFINITIONS,
        fixes=(_VARIANCE, _CALL_SIGNATURE, _ESCAPED_TICK, _KEYWORD_NAME),
    ),
    make_language(
        name="tsx",
        title="TSX",
        extensions=(".tsx",),
        grammar="tree_sitter_typescript",
        grammar_function="language_tsx",
        definitions=_DEFINITIONS,
        fixes=(_VARIANCE, _ESCAPED_TICK, _KEYWORD_NAME),
    ),
)
