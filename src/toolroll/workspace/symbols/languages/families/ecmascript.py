"""Read and resolve imports of JavaScript and TypeScript, with and without JSX: one grammar family, one reader.

Files are found as bundlers and the TypeScript compiler find them.
"""

import re
from collections.abc import Iterable, Iterator
from posixpath import dirname, splitext
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.imports.files import Files, certain, guess, join_path, resolve_path
from toolroll.workspace.symbols.imports.statement import EVERYTHING, ImportKind, ImportStatement, Resolved
from toolroll.workspace.symbols.imports.syntax import Source, ancestors, has_token, is_below
from toolroll.workspace.symbols.languages.families.npm import Package, Packages, package_name
from toolroll.workspace.symbols.languages.families.tsconfig import Configurations
from toolroll.workspace.symbols.languages.language import PRIVATE, GrammarFix, ImportResolver, Language

if TYPE_CHECKING:
    from tree_sitter import Node

FUNCTIONS_AND_CLASSES: Final = """
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(class_declaration name: (_) @name) @class
(class name: (_) @name) @class
(class_body (method_definition name: (_) @name) @method)
"""
"""The first patterns for definitions: where two meet the same name, the earlier wins."""
VARIABLES_AND_OBJECTS: Final = """
(variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @function
(variable_declarator name: (identifier) @name value: (class !name)) @class
(variable_declarator name: (identifier) @name) @variable
; Objects that a variable, a module or an assignment is given: their functions are what other files call.
(variable_declarator value: (object (method_definition name: (_) @name) @method))
(variable_declarator value: (object (pair key: (_) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @method))
(assignment_expression right: (object (method_definition name: (_) @name) @method))
(assignment_expression right: (object (pair key: (_) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @method))
(export_statement value: (object (method_definition name: (_) @name) @method))
(export_statement value: (object (pair key: (_) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @method))
(assignment_expression
  left: (member_expression object: (_) @parent property: (_) @name)
  right: [(arrow_function) (function_expression) (generator_function)]) @function
"""
LOCALS_AND_EXPORTS: Final = """
; What is inside of a function without a name is local to it.
(arrow_function body: (statement_block)) @local
(function_expression) @local
(class_static_block) @local
; Names that are passed on by a statement of their own.
(export_specifier name: (_) @exported)
(export_statement value: (identifier) @exported)
(assignment_expression left: (member_expression) right: (object (shorthand_property_identifier) @exported))
"""
_IMPORTS: Final = """
(import_statement) @statement
(export_statement source: (_)) @statement
(call_expression function: (import)) @statement
(call_expression function: (identifier) @called (#eq? @called "require")) @statement
"""

_DEFAULT: Final = "default"
_FUNCTIONS: Final = frozenset(
    {
        "arrow_function",
        "function_declaration",
        "function_expression",
        "generator_function",
        "generator_function_declaration",
        "method_definition",
    }
)
_CASES: Final = frozenset({"if_statement", "switch_statement", "ternary_expression", "try_statement"})
_TYPES: Final = frozenset({"type_alias_declaration", "type_annotation", "type_arguments", "type_query"})
_VALUES: Final = frozenset({"await_expression", "expression_statement", "variable_declarator"})
_STATEMENTS: Final = frozenset({"expression_statement", "lexical_declaration", "variable_declaration"})
_WRAPPERS: Final = frozenset({"await_expression", "member_expression", "variable_declarator"})

_Taken = dict[str, str]
"""Imported names, each with the name it gets here."""

_TYPED: Final = (".ts", ".tsx", ".mts", ".cts", ".d.ts", ".d.mts", ".d.cts")
_PLAIN: Final = (".js", ".jsx", ".mjs", ".cjs")
_OTHER: Final = (".json", ".vue", ".svelte", ".astro")
TYPED_FIRST: Final = (*_TYPED, *_PLAIN, *_OTHER)
PLAIN_FIRST: Final = (*_PLAIN, *_OTHER, *_TYPED)

# In a module specifier of TypeScript the ending is that of the compiled file.
COMPILED: Final[dict[str, tuple[str, ...]]] = {
    ".js": (".ts", ".tsx", ".d.ts"),
    ".jsx": (".tsx", ".d.ts"),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}
"""Endings of compiled files, each with those of the sources it may come from."""
_BUILT: Final = re.compile(r"(^|/)(?:dist|build|lib|out|es|esm|cjs)(?:/(?:esm|cjs|es|types|src))?/")
_INDEX_FILES: Final = tuple(f"index{ending}" for ending in (*_TYPED[:5], *_PLAIN, ".vue"))
_EXPORT: Final = re.compile(rb"\bexport\b")


def _read_import(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """Read the import statements of one captured node."""
    if node.type == "import_statement":
        yield from _import(node, source)
    elif node.type == "export_statement":
        yield from _export(node, source)
    else:
        yield from _call(node, source)


def _import(node: "Node", source: Source) -> Iterator[ImportStatement]:
    clause = next((child for child in node.named_children if child.type.endswith("_clause")), None)
    place = node.child_by_field_name("source")
    if clause is not None and place is None:
        place = clause.child_by_field_name("source")
    module = source.literal(place)
    if module is None:
        return
    taken = _clause(clause, source)
    is_type = has_token(node, "type") or has_token(node, "typeof") or _all_for_types(clause)
    yield source.statement(
        node, module, names=_names(taken), binds=taken.values(), kind="type" if is_type else "static"
    )


def _clause(clause: "Node | None", source: Source) -> _Taken:
    """Return what `x, * as y` or `x, {y as z}` takes; a namespace goes by `*`."""
    taken: _Taken = {}
    for child in [] if clause is None else clause.named_children:
        if child.type == "identifier":
            # In `import x = require()` the name stands for the whole module.
            taken[_DEFAULT if clause is not None and clause.type == "import_clause" else ""] = source.text(child)
        elif child.type == "namespace_import":
            taken[""] = source.text(child.named_children[-1])
        elif child.type == "named_imports":
            taken |= _specifiers(child, source)
    return taken


def _names(taken: _Taken) -> list[str]:
    """Return a namespace takes no name out of the module: it is the module itself."""
    return [name for name in taken if name]


def _specifiers(node: "Node", source: Source) -> _Taken:
    taken: _Taken = {}
    for child in node.named_children:
        name = source.field(child, "name")
        taken[name] = source.field(child, "alias") or name
    taken.pop("", None)  # a comment between them
    return taken


def _all_for_types(clause: "Node | None") -> bool:
    """Return whether each name is marked: the compiler then drops the statement as it drops `import type`."""
    parts = [] if clause is None else clause.named_children
    if [part.type for part in parts] != ["named_imports"]:
        return False
    names = [child for child in parts[0].named_children if child.type == "import_specifier"]
    return bool(names) and all(has_token(name, "type") for name in names)


def _export(node: "Node", source: Source) -> Iterator[ImportStatement]:
    module = source.literal(node.child_by_field_name("source"))
    if module is None:
        return
    clause = next((child for child in node.named_children if child.type == "export_clause"), None)
    taken = {EVERYTHING: EVERYTHING} if clause is None else _specifiers(clause, source)
    binds = [] if clause is None else taken.values()
    kind: ImportKind = "type" if _is_type_export(node) else "reexport"
    yield source.statement(node, module, names=taken, binds=binds, kind=kind, passes_on=True)


def _is_type_export(node: "Node") -> bool:
    """`export type * from` is newer than the grammar, which takes the word for an error."""
    return has_token(node, "type") or any(child.is_error and has_token(child, "type") for child in node.children)


def _call(node: "Node", source: Source) -> Iterator[ImportStatement]:
    arguments = node.child_by_field_name("arguments")
    first = next((each for each in arguments.named_children if each.type != "comment"), None) if arguments else None
    module = source.literal(first)
    if module is None:
        return
    taken = _read_destructured(node, source)
    whole = _find_statement(node)
    yield source.statement(whole, module, names=_names(taken), binds=taken.values(), kind=_call_kind(node))


def _call_kind(node: "Node") -> ImportKind:
    """`import()` runs when its line does; `require` at the top of a file always runs."""
    function = node.child_by_field_name("function")
    if function is not None and function.type == "import":
        return "type" if is_below(node, _TYPES, until=_VALUES | _FUNCTIONS) else "dynamic"
    if is_below(node, _FUNCTIONS):
        return "dynamic"
    return "conditional" if is_below(node, _CASES) else "static"


def _find_statement(node: "Node") -> "Node":
    """Return the declaration a call stands in: what a person takes for the import statement."""
    outer = next((above for above in ancestors(node) if above.type not in _WRAPPERS), node)
    return outer if outer.type in _STATEMENTS else node


def _read_destructured(node: "Node", source: Source) -> _Taken:
    """Return what `const {a, b: c} = require()` and `require().a` take."""
    outer = next((above for above in ancestors(node) if above.type != "await_expression"), node)
    if outer.type == "member_expression":
        field = source.field(outer, "property")
        return {field: field}
    return _pattern(outer.child_by_field_name("name"), source) if outer.type == "variable_declarator" else {}


def _pattern(node: "Node | None", source: Source) -> _Taken:
    if node is not None and node.type == "identifier":
        return {"": source.text(node)}
    taken: _Taken = {}
    for child in [] if node is None else node.named_children:
        key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
        if child.type == "shorthand_property_identifier_pattern":
            taken[source.text(child)] = source.text(child)
        elif key is not None and value is not None:
            taken[source.text(key)] = source.text(value)
    return taken


class EcmascriptResolver(ImportResolver):
    """Find files for specifiers: relative ones, private names, mapped names, and packages of the workspace."""

    def __init__(self, files: Files) -> None:
        super().__init__(files)
        self._packages = Packages(files)
        self._configurations = Configurations(files)
        self._known: dict[tuple[str, str, bool], Resolved] = {}

    def resolve(self, importer: str, statement: ImportStatement) -> Iterator[Resolved]:
        """Yield the one file that a specifier leads to."""
        yield self.find(dirname(importer), statement.module, is_typed=importer.endswith(_TYPED))

    def find(self, folder: str, specifier: str, *, is_typed: bool = True) -> Resolved:
        """Return where a specifier leads from a folder."""
        key = (folder, specifier, is_typed)
        if key not in self._known:
            self._known[key] = self._search(folder, specifier, TYPED_FIRST if is_typed else PLAIN_FIRST)
        return self._known[key]

    def find_modules(self, name: str) -> Iterator[str]:
        """Yield the file of a package or of a mapped name."""
        path = self.find("", name).path
        yield from () if path is None else (path,)

    def _search(self, folder: str, specifier: str, endings: tuple[str, ...]) -> Resolved:
        bare = specifier.partition("?")[0]  # bundlers take settings there: `./logo.svg?url`
        if bare.startswith((".", "/")):
            path = resolve_path("" if bare.startswith("/") else folder, bare)
            place = None if path is None else self._file_or_folder(path, endings)
            return guess(None, specifier) if place is None else certain(place, specifier)
        if bare.startswith("#"):
            place = self._private(folder, bare, endings)
            if place is not None:
                return certain(place, specifier)
        for path in self._configurations.for_folder(folder).candidates(bare):
            place = self._file_or_folder(path, endings)
            if place is not None:
                return certain(place, specifier)
        return self._package(folder, bare, specifier, endings)

    def _private(self, folder: str, name: str, endings: tuple[str, ...]) -> str | None:
        package = self._packages.around(folder)
        return None if package is None else self._first(package.imported(name), endings)

    def _package(self, folder: str, bare: str, specifier: str, endings: tuple[str, ...]) -> Resolved:
        name, subpath = package_name(bare)
        own = self._packages.around(folder)
        for package in self._packages.named(name):
            is_found = package.is_member or package is own
            place = self._first(package.exported(subpath), endings)
            if place is not None:
                return certain(place, specifier) if is_found else guess(place, specifier)
            place = self._source_of(package, subpath, endings)
            if place is not None:
                return guess(place, specifier)
        return guess(None, specifier)

    def _first(self, paths: Iterable[str], endings: tuple[str, ...]) -> str | None:
        places = (self._file_or_folder(path, endings) for path in paths)
        return next((place for place in places if place is not None), None)

    def _source_of(self, package: Package, subpath: str, endings: tuple[str, ...]) -> str | None:
        """Return where only the compiled file is named, which a workspace does not keep: the source it is made of."""
        start = len(package.folder)
        for path in package.exported(subpath):
            tail = path[start:]
            for folder in ("/src/", "/"):
                source = package.folder + _BUILT.sub(folder, tail, count=1)
                place = self._file(splitext(source.removesuffix(".d.ts"))[0], endings)
                if place is not None:
                    return place
        return self._file_or_folder(join_path(package.folder, "src" + subpath.removeprefix(".")), endings)

    def _file_or_folder(self, path: str, endings: tuple[str, ...]) -> str | None:
        place = self._file(path, endings)
        if place is not None or not self._files.has_folder(path):
            return place
        package = self._packages.at(path)
        if package is not None and package.manifest.get("exports") is None:
            main = (self._file(entry, endings) or self._index(entry, endings) for entry in package.exported("."))
            place = next((entry for entry in main if entry is not None), None)
        return place or self._index(path, endings)

    def _file(self, path: str, endings: tuple[str, ...]) -> str | None:
        stem, ending = splitext(path)
        compiled = [stem + each for each in COMPILED.get(ending, ())]
        exact = [*compiled, path] if endings is TYPED_FIRST else [path, *compiled]
        return self._files.first([*exact, *(path + each for each in endings)])

    def _index(self, folder: str, endings: tuple[str, ...]) -> str | None:
        return self._files.first(join_path(folder, "index" + each) for each in endings)


def _is_exported(name: str, before: bytes, parent_kind: str | None) -> bool:
    if parent_kind is not None:
        return parent_kind in {"enum", "interface", "trait"} or not (name.startswith("#") or PRIVATE.search(before))
    return _EXPORT.search(before) is not None


def make_language(
    *,
    name: str,
    title: str,
    extensions: tuple[str, ...],
    grammar: str,
    definitions: str,
    grammar_function: str = "language",
    fixes: tuple[GrammarFix, ...] = (),
) -> Language:
    """Make a language of the family: all of them import and export alike."""
    return Language(
        name=name,
        title=title,
        extensions=extensions,
        grammar=grammar,
        grammar_function=grammar_function,
        definitions=definitions,
        imports=_IMPORTS,
        read_import=_read_import,
        resolver=EcmascriptResolver,
        importable=(".vue", ".svelte", ".astro", ".d.ts", ".json", ".css", ".scss"),
        package_files=_INDEX_FILES,
        manifests=("package.json", "pnpm-workspace.yaml", "jsconfig.json", "tsconfig*.json"),
        is_exported=_is_exported,
        exports_objects=True,
        fixes=fixes,
    )
