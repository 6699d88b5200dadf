"""JavaScript, with and without JSX."""

from typing import Final

from toolroll.workspace.symbols.languages.families.ecmascript import (
    FUNCTIONS_AND_CLASSES,
    LOCALS_AND_EXPORTS,
    VARIABLES_AND_OBJECTS,
    make_language,
)

_FIELDS: Final = """
(class_body (field_definition property: (_) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @method)
(class_body (field_definition property: (_) @name) @field)
"""
_DEFINITIONS: Final = FUNCTIONS_AND_CLASSES + _FIELDS + VARIABLES_AND_OBJECTS + LOCALS_AND_EXPORTS

LANGUAGES: Final = (
    make_language(
        name="javascript",
        title="JavaScript",
        extensions=(".js", ".mjs", ".cjs"),
        grammar="tree_sitter_javascript",
        definitions=_DEFINITIONS,
    ),
    make_language(
        name="jsx",
        title="JSX",
        extensions=(".jsx",),
        grammar="tree_sitter_javascript",
        definitions=_DEFINITIONS,
    ),
)
