"""C++. A header is in C++, and not in C, where its content says so."""

import re
from typing import Final

from toolroll.workspace.symbols.languages.families.includes import IMPORTS, IncludeResolver, read_import
from toolroll.workspace.symbols.languages.language import Language

_DEFINITIONS: Final = """
; The name of an out-of-line member is qualified (`Foo::run`): what stands before the last `::` is its parent.
(function_definition declarator: (function_declarator declarator: [
  (identifier) (field_identifier) (qualified_identifier) (destructor_name) (operator_name)] @name)) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: [
  (identifier) (field_identifier) (qualified_identifier) (operator_name)] @name))) @function
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator
  declarator: [(identifier) (field_identifier) (qualified_identifier)] @name)))) @function
(function_definition declarator: (reference_declarator (function_declarator declarator: [
  (identifier) (field_identifier) (qualified_identifier) (operator_name)] @name))) @function
(function_definition declarator: (operator_cast) @name) @function
(declaration declarator: (function_declarator declarator: [
  (identifier) (destructor_name) (operator_name)] @name)) @prototype
(declaration declarator: (pointer_declarator
  declarator: (function_declarator declarator: (identifier) @name))) @prototype
(declaration declarator: (reference_declarator (function_declarator declarator: [
  (identifier) (operator_name)] @name))) @prototype
(field_declaration declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name)) @prototype
(field_declaration declarator: (pointer_declarator
  declarator: (function_declarator declarator: (field_identifier) @name))) @prototype
(field_declaration declarator: (reference_declarator
  (function_declarator declarator: [(field_identifier) (operator_name)] @name))) @prototype
(class_specifier name: (_) @name body: (_)) @class
(struct_specifier name: (_) @name body: (_)) @struct
(union_specifier name: (_) @name body: (_)) @struct
(enum_specifier name: (_) @name body: (_)) @enum
(enumerator name: (identifier) @name) @constant
(namespace_definition name: (_) @name) @module
(concept_definition name: (identifier) @name) @type
(alias_declaration name: (type_identifier) @name) @type
(field_declaration declarator: (field_identifier) @name) @field
(field_declaration declarator: (pointer_declarator declarator: (field_identifier) @name)) @field
(field_declaration declarator: (reference_declarator (field_identifier) @name)) @field
(field_declaration declarator: (array_declarator declarator: (field_identifier) @name)) @field
(type_definition declarator: (type_identifier) @name) @type
(type_definition declarator: (pointer_declarator declarator: (type_identifier) @name)) @type
(type_definition declarator: (function_declarator
  declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @type
(declaration declarator: (identifier) @name) @variable
(declaration declarator: (pointer_declarator declarator: (identifier) @name)) @variable
(declaration declarator: (array_declarator declarator: (identifier) @name)) @variable
(declaration declarator: (init_declarator declarator: [(identifier) (qualified_identifier)] @name)) @variable
(declaration declarator: (init_declarator declarator: (pointer_declarator declarator: (identifier) @name))) @variable
(declaration declarator: (init_declarator declarator: (array_declarator declarator: (identifier) @name))) @variable
(preproc_def name: (identifier) @name) @macro
(preproc_function_def name: (identifier) @name) @macro
(lambda_expression) @local
"""
_HIDING: Final = re.compile(rb"\b(?:static|private|fileprivate)\b")
_SIGNS: Final = (b"\nclass ", b"\nnamespace ", b"\ntemplate", b"::", b"\npublic:", b"\nprivate:", b"#include <c")


def _is_exported(name: str, before: bytes, parent_kind: str | None) -> bool:
    del name
    return parent_kind is not None or _HIDING.search(before) is None


def _is_cpp(data: bytes) -> bool:
    return any(sign in data for sign in _SIGNS)


LANGUAGES: Final = (
    Language(
        name="cpp",
        title="C++",
        extensions=(".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".ipp", ".inl"),
        grammar="tree_sitter_cpp",
        definitions=_DEFINITIONS,
        imports=IMPORTS,
        read_import=read_import,
        resolver=IncludeResolver,
        importable=(".h++", ".tcc", ".mm", ".ino"),
        is_exported=_is_exported,
        shared_extensions=(".h",),
        recognizes=_is_cpp,
    ),
)
