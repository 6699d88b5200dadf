"""Ruby: calls that load a file by a literal name."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Final

from toolroll.workspace.symbols.imports.statement import ImportStatement
from toolroll.workspace.symbols.imports.syntax import Source
from toolroll.workspace.symbols.languages.families.scripts import ScriptResolver
from toolroll.workspace.symbols.languages.language import Language

if TYPE_CHECKING:
    from tree_sitter import Node

_DEFINITIONS: Final = """
(module name: (_) @name) @module
(class name: (_) @name) @class
(method name: (_) @name) @function
(singleton_method name: (_) @name) @method
(alias name: (_) @name) @function
(assignment left: [(constant) (global_variable)] @name) @constant
((call method: (identifier) @_call arguments: (argument_list (simple_symbol) @name)) @field
  (#any-of? @_call "attr_reader" "attr_writer" "attr_accessor"))
"""
_IMPORTS: Final = """
(call method: (identifier) @called (#any-of? @called "require" "require_relative" "load" "autoload")) @statement
"""


def _read_import(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """Read the import statements of one captured node."""
    method, arguments = node.child_by_field_name("method"), node.child_by_field_name("arguments")
    given = [] if arguments is None else arguments.named_children
    module = source.literal(given[-1]) if given else None
    if method is None or module is None:
        return
    called = source.text(method)
    if called == "require_relative":
        yield source.statement(node, module, form="file")
    elif called == "autoload":
        names = (source.text(given[0]).lstrip(":"),)
        yield source.statement(node, module, names=names, binds=names, kind="dynamic")
    else:
        yield source.statement(node, module, kind="dynamic" if called == "load" else "static")


class RubyResolver(ScriptResolver):
    """Find files by the written path, which seldom has its ending."""

    endings: ClassVar[tuple[str, ...]] = (".rb", "")


LANGUAGES: Final = (
    Language(
        name="ruby",
        title="Ruby",
        extensions=(".rb", ".rake", ".gemspec"),
        grammar="tree_sitter_ruby",
        definitions=_DEFINITIONS,
        imports=_IMPORTS,
        read_import=_read_import,
        resolver=RubyResolver,
        importable=(".ru",),
        comment=b"#",
    ),
)
