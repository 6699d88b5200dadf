"""Swift: modules, or one declaration out of a module. A module is a folder below `Sources`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.imports.files import certain, guess
from toolroll.workspace.symbols.imports.statement import ImportStatement, Resolved
from toolroll.workspace.symbols.imports.syntax import Source
from toolroll.workspace.symbols.languages.language import PRIVATE, ImportResolver, Language, exported_unless

if TYPE_CHECKING:
    from tree_sitter import Node

_DEFINITIONS: Final = """
(class_declaration declaration_kind: "extension" name: (_) @name) @scope
(class_declaration declaration_kind: "struct" name: (_) @name) @struct
(class_declaration declaration_kind: "enum" name: (_) @name) @enum
(class_declaration name: (_) @name) @class
(protocol_declaration name: (_) @name) @interface
(function_declaration name: (simple_identifier) @name) @function
(protocol_function_declaration name: (simple_identifier) @name) @method
(init_declaration "init" @name) @constructor
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @variable
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @field
(enum_entry name: (simple_identifier) @name) @constant
(typealias_declaration name: (type_identifier) @name) @type
(associatedtype_declaration name: (type_identifier) @name) @type
(lambda_literal) @local
(deinit_declaration) @local
(subscript_declaration) @local
"""
_IMPORTS: Final = "(import_declaration) @statement"

_DECLARATIONS: Final = frozenset({"class", "enum", "func", "let", "protocol", "struct", "typealias", "var"})


def _read_import(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """Read the import statements of one captured node."""
    places = [child for child in node.named_children if child.type == "identifier"]
    path = "".join(source.dotted(place) for place in places[:1])
    before = source.text(node).partition(path or "\n")[0].split()
    module, _, name = path.rpartition(".")
    takes_one = bool(module) and bool(_DECLARATIONS & set(before))
    is_exported = "@_exported" in before or "public" in before
    yield source.statement(
        node,
        module if takes_one else path,
        names=(name,) if takes_one else (),
        binds=(name,) if takes_one else (path.partition(".")[0],),
        kind="reexport" if is_exported else "static",
        passes_on=is_exported,
    )


class SwiftResolver(ImportResolver):
    """Find the folder of a module."""

    def resolve(self, importer: str, statement: ImportStatement) -> Iterator[Resolved]:
        """Yield the only folder below `Sources` with the name of the module."""
        del importer
        module = statement.module
        folders = self._files.folders_ending(f"Sources/{module}")
        yield certain(folders[0], module) if len(folders) == 1 else guess(None, module)


LANGUAGES: Final = (
    Language(
        name="swift",
        title="Swift",
        extensions=(".swift",),
        grammar="tree_sitter_swift",
        definitions=_DEFINITIONS,
        imports=_IMPORTS,
        read_import=_read_import,
        resolver=SwiftResolver,
        manifests=("Package.swift",),
        is_exported=exported_unless(PRIVATE),
    ),
)
