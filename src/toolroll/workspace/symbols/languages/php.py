"""PHP: names taken out of namespaces, and files that are included; composer.json maps namespaces (PSR-4)."""

from collections.abc import Iterator
from posixpath import dirname
from typing import TYPE_CHECKING, ClassVar, Final

from toolroll.workspace.symbols.imports.files import Files, certain, guess, join_path, resolve_path
from toolroll.workspace.symbols.imports.manifests import as_table, as_texts, read_table
from toolroll.workspace.symbols.imports.statement import EVERYTHING, ImportForm, ImportKind, ImportStatement, Resolved
from toolroll.workspace.symbols.imports.syntax import Source, is_below
from toolroll.workspace.symbols.languages.families.scripts import ScriptResolver
from toolroll.workspace.symbols.languages.language import PRIVATE, Language, exported_unless

if TYPE_CHECKING:
    from tree_sitter import Node


_DEFINITIONS: Final = """
(namespace_definition name: (_) @name body: (_)) @module
(class_declaration name: (name) @name) @class
(interface_declaration name: (name) @name) @interface
(trait_declaration name: (name) @name) @trait
(enum_declaration name: (name) @name) @enum
(enum_case name: (name) @name) @constant
(function_definition name: (name) @name) @function
(method_declaration name: (name) @name) @method
(const_declaration (const_element . (name) @name)) @constant
(property_declaration (property_element name: (variable_name (name) @name))) @field
(property_promotion_parameter name: (variable_name (name) @name)) @field
((function_call_expression function: (name) @_call
  arguments: (arguments . (argument (string (string_content) @name)))) @constant
  (#eq? @_call "define"))
"""
_IMPORTS: Final = """
(namespace_use_declaration) @statement
[(require_expression) (require_once_expression) (include_expression) (include_once_expression)] @statement
"""

_NAMES: Final = frozenset({"name", "namespace_name", "qualified_name"})
_CASES: Final = frozenset({"if_statement", "function_definition", "method_declaration"})
_OWN_FOLDER: Final = ("__DIR__", "dirname(__FILE__)")


def _read_import(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """Read the import statements of one captured node."""
    if node.type == "namespace_use_declaration":
        yield from _use(node, source)
    else:
        yield from _include(node, source)


def _use(node: "Node", source: Source) -> Iterator[ImportStatement]:
    group = node.child_by_field_name("body")
    prefix = next((child for child in node.named_children if child.type == "namespace_name"), None)
    start = "" if prefix is None else _name(prefix, source) + "\\"
    clauses = (node if group is None else group).named_children
    for clause in (each for each in clauses if each.type == "namespace_use_clause"):
        places = [child for child in clause.named_children if child.type in _NAMES]
        path = start + "".join(_name(place, source) for place in places[:1])
        module, _, name = path.rpartition("\\")
        bound = source.field(clause, "alias") or name
        yield source.statement(node, module or path, names=(name,) if module else (), binds=(bound,))


def _name(node: "Node", source: Source) -> str:
    return "".join(source.text(node).split()).lstrip("\\")


def _include(node: "Node", source: Source) -> Iterator[ImportStatement]:
    place = next(iter(node.named_children), None)
    while place is not None and place.type == "parenthesized_expression":
        place = next(iter(place.named_children), None)
    found = _path(place, source)
    if found is not None:
        module, form = found
        kind: ImportKind = "conditional" if is_below(node, _CASES) else "static"
        yield source.statement(node, module, kind=kind, form=form)


def _path(node: "Node | None", source: Source) -> tuple[str, ImportForm] | None:
    """Return a literal is looked for beside the file too; after a computed folder only its end is known."""
    if node is None or node.type != "binary_expression":
        module = source.literal(node)
        return None if module is None else (module, "file")
    module = source.literal(node.child_by_field_name("right"))
    left = node.child_by_field_name("left")
    if module is None or left is None:
        return None
    if source.dotted(left) in _OWN_FOLDER:
        return "./" + module.lstrip("/"), "file"
    return module.lstrip("/"), "system"


class Composer:
    """Every composer.json of the workspace, read once."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._folders: dict[str, list[str]] = {}
        for path in files.named("composer.json"):
            for prefix, folder in _read_mappings(dirname(path), files.read(path)):
                self._folders.setdefault(prefix, []).append(folder)

    def find(self, name: str) -> str | None:
        """Return the file of a class by its full name, under the longest namespace that is mapped."""
        parts = name.split("\\")
        for count in range(len(parts) - 1, -1, -1):
            tail = "/".join(parts[count:]) + ".php"
            folders = self._folders.get("\\".join(parts[:count]), ())
            path = self._files.first(join_path(folder, tail) for folder in folders)
            if path is not None:
                return path
        return None


def _read_mappings(folder: str, data: bytes | None) -> Iterator[tuple[str, str]]:
    manifest = read_table(data)
    for section in ("autoload", "autoload-dev"):
        for prefix, targets in as_table(as_table(manifest.get(section)).get("psr-4")).items():
            for target in as_texts(targets):
                place = resolve_path(folder, target)
                if place is not None:
                    yield prefix.strip("\\"), place


class PhpResolver(ScriptResolver):
    """Find included files by their path, and classes by the namespaces that composer.json maps."""

    endings: ClassVar[tuple[str, ...]] = ("", ".php")

    def __init__(self, files: Files) -> None:
        super().__init__(files)
        self._composer = Composer(files)

    def resolve_module(self, statement: ImportStatement) -> Iterator[Resolved]:
        """Yield the file of each class."""
        for name in statement.names or (EVERYTHING,):
            full = statement.module if name == EVERYTHING else f"{statement.module}\\{name}"
            path = self._composer.find(full)
            yield guess(self._class_by_end(full), full) if path is None else certain(path, full)

    def _class_by_end(self, name: str) -> str | None:
        """Find a class by folder and name, where no manifest says which namespace a folder stands for."""
        hits = self.files_ending("/".join(name.split("\\")[-2:]))
        return hits[0] if len(hits) == 1 and "\\" in name else None


LANGUAGES: Final = (
    Language(
        name="php",
        title="PHP",
        extensions=(".php", ".phtml"),
        grammar="tree_sitter_php",
        grammar_function="language_php",
        definitions=_DEFINITIONS,
        imports=_IMPORTS,
        read_import=_read_import,
        resolver=PhpResolver,
        manifests=("composer.json",),
        is_exported=exported_unless(PRIVATE),
    ),
)
