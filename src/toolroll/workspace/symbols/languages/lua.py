"""Lua: `require` and `dofile` with a literal name, protected or not."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Final

from toolroll.workspace.symbols.imports.statement import ImportStatement, Resolved
from toolroll.workspace.symbols.imports.syntax import Source
from toolroll.workspace.symbols.languages.families.scripts import ScriptResolver
from toolroll.workspace.symbols.languages.language import Language, exported_unless

if TYPE_CHECKING:
    from tree_sitter import Node

_DEFINITIONS: Final = """
(function_declaration name: (identifier) @name) @function
(function_declaration name: (dot_index_expression table: (_) @parent field: (identifier) @name)) @function
(function_declaration name: (method_index_expression table: (_) @parent method: (identifier) @name)) @method
(assignment_statement
  (variable_list . name: (identifier) @name) (expression_list . value: (function_definition))) @function
(assignment_statement
  (variable_list . name: (dot_index_expression table: (_) @parent field: (identifier) @name))
  (expression_list . value: (function_definition))) @function
(assignment_statement (variable_list name: (identifier) @name)) @variable
(field name: (identifier) @name value: (function_definition)) @method
(function_definition) @local
"""
_IMPORTS: Final = """
(function_call name: (identifier) @called
  (#any-of? @called "require" "dofile" "loadfile" "pcall")) @statement
"""


def _read_import(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """Read the import statements of one captured node."""
    name, arguments = node.child_by_field_name("name"), node.child_by_field_name("arguments")
    given = [] if arguments is None else arguments.named_children
    if name is None or not given:
        return
    called = source.text(name)
    if called == "pcall":
        if source.text(given[0]) == "require" and (module := source.literal(given[-1])) is not None:
            yield source.statement(node, module, kind="conditional")
    elif (module := source.literal(given[0])) is not None:
        yield source.statement(node, module, form="module" if called == "require" else "system")


class LuaResolver(ScriptResolver):
    """Find modules by their dotted name."""

    endings: ClassVar[tuple[str, ...]] = (".lua", "/init.lua")

    def resolve_module(self, statement: ImportStatement) -> Iterator[Resolved]:
        """Yield the file that `require` would load."""
        yield self.find_by_end(statement.module.replace(".", "/"), statement.module)


LANGUAGES: Final = (
    Language(
        name="lua",
        title="Lua",
        extensions=(".lua",),
        grammar="tree_sitter_lua",
        definitions=_DEFINITIONS,
        imports=_IMPORTS,
        read_import=_read_import,
        resolver=LuaResolver,
        package_files=("init.lua",),
        comment=b"--",
        is_exported=exported_unless(re.compile(rb"\blocal\b")),
    ),
)
