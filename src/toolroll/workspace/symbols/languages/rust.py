"""Rust: modules are files beside or below the one that declares them; Cargo.toml names crates."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from posixpath import basename, dirname
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.imports.files import Files, certain, folders_upward, guess, join_path, resolve_path
from toolroll.workspace.symbols.imports.manifests import Table, as_table, as_text, read_toml
from toolroll.workspace.symbols.imports.statement import EVERYTHING, ImportStatement, Resolved
from toolroll.workspace.symbols.imports.syntax import Source, ancestors
from toolroll.workspace.symbols.languages.language import ImportResolver, Language, exported_if

if TYPE_CHECKING:
    from tree_sitter import Node


_DEFINITIONS: Final = """
(function_item name: (identifier) @name) @function
(function_signature_item name: (identifier) @name) @function
(struct_item name: (type_identifier) @name) @struct
(union_item name: (type_identifier) @name) @struct
(enum_item name: (type_identifier) @name) @enum
(enum_variant name: (identifier) @name) @constant
(trait_item name: (type_identifier) @name) @trait
(impl_item type: (_) @name) @scope
(mod_item name: (identifier) @name body: (_)) @module
(const_item name: (identifier) @name) @constant
(static_item name: (identifier) @name) @variable
(type_item name: (type_identifier) @name) @type
(associated_type name: (type_identifier) @name) @type
(macro_definition name: (identifier) @name) @macro
(field_declaration name: (field_identifier) @name) @field
"""
_IMPORTS: Final = """
(use_declaration) @statement
(mod_item !body) @statement
(extern_crate_declaration) @statement
"""

MAX_BRACES: Final = 32  # how deep a `use` tree may nest: no hand-written one reaches five

_Taken = tuple[str, str, str]
"""A module, a name out of it, and the name it gets here."""

_OWN_FOLDER: Final = frozenset({"build.rs", "lib.rs", "main.rs", "mod.rs"})  # their children lie beside them
_TARGET_FOLDERS: Final = frozenset({"benches", "bin", "examples", "tests"})  # each file there begins a crate


def _read_import(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """Read the import statements of one captured node."""
    if node.type == "use_declaration":
        yield from _use(node, source)
    elif node.type == "mod_item":
        yield from _module(node, source)
    else:
        name = source.field(node, "name")
        yield source.statement(node, name, binds=(source.field(node, "alias") or name,))


def _use(node: "Node", source: Source) -> Iterator[ImportStatement]:
    by_module: dict[str, dict[str, str]] = {}
    inline = _inline(node, source)
    is_public = any(child.type == "visibility_modifier" for child in node.named_children)
    for module, name, bound in _flatten("", node.child_by_field_name("argument"), source, 0):
        if module:
            by_module.setdefault(_from_file(module, inline), {})[name] = bound
        elif name != EVERYTHING:  # `use serde;` names a crate and takes nothing out of it.
            yield _make_statement(node, name, {"": bound}, source, is_public=is_public)
    for module, taken in by_module.items():
        yield _make_statement(node, module, taken, source, is_public=is_public)


def _make_statement(
    node: "Node", module: str, taken: dict[str, str], source: Source, *, is_public: bool
) -> ImportStatement:
    return source.statement(
        node,
        module,
        names=[name for name in taken if name],
        binds=[bound for bound in taken.values() if bound not in {EVERYTHING, "_"}],
        kind="reexport" if is_public else "static",
        passes_on=is_public,
    )


def _flatten(prefix: str, node: "Node | None", source: Source, depth: int) -> Iterator[_Taken]:
    if node is None or depth > MAX_BRACES:
        return
    if node.type == "use_list":
        for child in node.named_children:
            yield from _flatten(prefix, child, source, depth + 1)
    elif node.type == "scoped_use_list":
        inner = _join(prefix, _path(source.field(node, "path")))
        yield from _flatten(inner, node.child_by_field_name("list"), source, depth + 1)
    elif node.type == "use_wildcard":
        yield _join(prefix, _path(source.text(node).rstrip("*").rstrip().rstrip(":"))), EVERYTHING, EVERYTHING
    elif node.type == "use_as_clause":
        yield *_split(_join(prefix, _path(source.field(node, "path")))), source.field(node, "alias")
    elif node.type not in {"line_comment", "block_comment"}:
        module, name = _split(_join(prefix, _path(source.text(node))))
        yield module, name, name


def _path(text: str) -> str:
    return "".join(text.split()).removeprefix("::").replace("r#", "")


def _join(prefix: str, path: str) -> str:
    """`{self}` stands for the path before the brace."""
    if not prefix or not path:
        return prefix or path
    return prefix if path == "self" else f"{prefix}::{path}"


def _split(path: str) -> tuple[str, str]:
    module, _, name = path.rpartition("::")
    return module, name


def _inline(node: "Node", source: Source) -> list[str]:
    """Return the modules written out in this file that the node stands in, outermost first."""
    names = [source.field(above, "name") for above in ancestors(node) if above.type == "mod_item"]
    return names[::-1]


def _from_file(module: str, inline: list[str]) -> str:
    """Return the path as seen from the file's own module: `super` in an inline module is the file itself."""
    parts = module.split("::")
    if not inline or parts[0] not in {"self", "super"}:
        return module
    around = list(inline)
    rest = parts[1:] if parts[0] == "self" else parts
    while rest and rest[0] == "super" and around:
        rest = rest[1:]
        around.pop()
    return "::".join([*([] if rest and rest[0] == "super" else ["self"]), *around, *rest])


def _module(node: "Node", source: Source) -> Iterator[ImportStatement]:
    bound = source.field(node, "name").removeprefix("r#")
    path = _path_attribute(node, source)
    is_public = any(child.type == "visibility_modifier" for child in node.named_children)
    if path is not None:
        yield source.statement(node, path, binds=(bound,), form="file", passes_on=is_public)
    else:
        module = "::".join([*_inline(node, source), bound])
        yield source.statement(node, module, binds=(bound,), form="child", passes_on=is_public)


def _path_attribute(node: "Node", source: Source) -> str | None:
    """Return the file that `#[path = "x.rs"]` names instead of the usual one."""
    before = node.prev_named_sibling
    while before is not None and before.type == "attribute_item":
        attribute = before.named_children[0]
        if attribute.named_children and source.text(attribute.named_children[0]) == "path":
            return source.literal(attribute.child_by_field_name("value"))
        before = before.prev_named_sibling
    return None


class RustResolver(ImportResolver):
    """Finds the file of a module, or of the module an item is in."""

    def __init__(self, files: Files) -> None:
        super().__init__(files)
        self._crates = Crates(files)

    def resolve(self, importer: str, statement: ImportStatement) -> Iterator[Resolved]:
        """Yield the file of each name that is a module of its own, else that of the module it is taken from."""
        module = statement.module
        if statement.form == "file":
            path = resolve_path(dirname(importer), module)
            yield certain(path, module) if path is not None and path in self._files else guess(None, module)
            return
        if statement.form == "child":
            path = self._descend(importer, module.split("::"), whole=True)
            yield guess(None, module) if path is None else certain(path, module)
            return
        targets: dict[str, str] = {}
        for name in statement.names or (EVERYTHING,):
            full = module if name == EVERYTHING else f"{module}::{name}"
            path = self.find(importer, full)
            if path is not None:
                targets.setdefault(path, full)
        yield from (certain(path, full) for path, full in targets.items())
        if not targets:
            yield guess(None, module)

    def find(self, importer: str, path: str) -> str | None:
        """Return the file a path leads to from a file: the last module on it that has one."""
        first, *rest = path.split("::")
        if first == "crate":
            return self._in_own_crate(importer, rest)
        if first in {"self", "super"}:
            return self._from_here(importer, [first, *rest])
        child = self._child(importer, first)
        if child is not None:
            return self._descend(child, rest)
        return self.in_crate(first, rest, dirname(importer))

    def find_modules(self, name: str) -> Iterator[str]:
        """Yield the files of a path such as `crate::a`, in which `crate` is every crate that has such a module."""
        if "::" not in name:
            return
        first, *parts = name.split("::")
        if first != "crate":
            path = self.in_crate(first, parts)
            yield from [] if path is None else [path]
            return
        for crate in self._crates.every():
            for begin in (crate.library, crate.program):
                path = None if begin is None else self._descend(begin, parts)
                if path is not None and path != begin:
                    yield path

    def in_crate(self, name: str, parts: list[str], folder: str = "") -> str | None:
        """Return the file of a module in a crate of the workspace, by the name it has for code in this folder."""
        own = self._crates.around(folder)
        crate = self._crates.named(name if own is None else own.renamed.get(name, name))
        begin = None if crate is None else crate.library or crate.program
        return None if begin is None else self._descend(begin, parts)

    def _in_own_crate(self, importer: str, parts: list[str]) -> str | None:
        crate = self._crates.around(dirname(importer))
        begins = [importer] if self._begins_crate(importer) else []
        begins += [] if crate is None else [each for each in (crate.library, crate.program) if each is not None]
        for begin in begins:
            path = self._descend(begin, parts)
            if path is not None and (path != begin or begin == begins[-1]):
                return path
        return None

    def _begins_crate(self, path: str) -> bool:
        return basename(path) in {"main.rs", "lib.rs", "build.rs"} or basename(dirname(path)) in _TARGET_FOLDERS

    def _from_here(self, importer: str, parts: list[str]) -> str | None:
        at: str | None = importer
        while parts and parts[0] in {"self", "super"}:
            at = at if at is None or parts[0] == "self" else self._parent(at)
            parts = parts[1:]
        return None if at is None else self._descend(at, parts)

    def _parent(self, path: str) -> str | None:
        """Return the file of the module that declares this one."""
        folder = dirname(path)
        if basename(path) == "mod.rs":
            folder = dirname(folder)
        around = [join_path(folder, name) for name in ("mod.rs", "lib.rs", "main.rs")]
        return self._files.first(each for each in [*around, folder + ".rs"] if each != path)

    def _descend(self, begin: str, parts: list[str], *, whole: bool = False) -> str | None:
        """Return as far down as there are files; what comes after is an item in the last one."""
        at = begin
        folder = self._children_of(begin)
        for part in parts:
            child = self._files.first((join_path(folder, f"{part}.rs"), join_path(folder, f"{part}/mod.rs")))
            folder = join_path(folder, part)
            if child is not None:
                at = child
            elif whole and part == parts[-1]:
                return None
            elif not whole:
                break
        return at

    def _child(self, path: str, name: str) -> str | None:
        folder = self._children_of(path)
        return self._files.first((join_path(folder, f"{name}.rs"), join_path(folder, f"{name}/mod.rs")))

    def _children_of(self, path: str) -> str:
        """Return the folder where the modules that a file declares lie."""
        return dirname(path) if basename(path) in _OWN_FOLDER or self._begins_crate(path) else path.removesuffix(".rs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Crate:
    """One Cargo.toml with a package in it."""

    folder: str
    name: str
    """As code writes it: with underscores."""
    library: str | None
    program: str | None
    """The files that the library and the program begin with, where there are such."""
    renamed: dict[str, str]
    """Dependencies that go by another name here, each with its own."""


class Crates:
    """Every crate of the workspace, read once."""

    def __init__(self, files: Files) -> None:
        self._by_folder: dict[str, Crate] = {}
        self._by_name: dict[str, Crate] = {}
        self._around: dict[str, Crate | None] = {}
        for path in files.named("Cargo.toml"):
            crate = _crate(files, dirname(path), read_toml(files.read(path)))
            if crate is not None:
                self._by_folder[crate.folder] = crate
                self._by_name.setdefault(crate.name, crate)

    def around(self, folder: str) -> Crate | None:
        """Return the crate a folder belongs to."""
        if folder not in self._around:
            above = (self._by_folder.get(each) for each in folders_upward(folder))
            self._around[folder] = next((crate for crate in above if crate is not None), None)
        return self._around[folder]

    def every(self) -> Iterable[Crate]:
        """Return all of them, by their folders."""
        return self._by_folder.values()

    def named(self, name: str) -> Crate | None:
        """Return the crate with this name."""
        return self._by_name.get(name)


def _crate(files: Files, folder: str, manifest: Table) -> Crate | None:
    library = as_table(manifest.get("lib"))
    name = as_text(library.get("name")) or as_text(as_table(manifest.get("package")).get("name"))
    if name is None:
        return None
    declared = resolve_path(folder, as_text(library.get("path")) or "src/lib.rs")
    return Crate(
        folder=folder,
        name=name.replace("-", "_"),
        library=declared if declared in files else None,
        program=files.first([join_path(folder, "src/main.rs")]),
        renamed=dict(_read_renamed(manifest)),
    )


def _read_renamed(manifest: Table) -> Iterator[tuple[str, str]]:
    for section in ("dependencies", "dev-dependencies", "build-dependencies"):
        for alias, settings in as_table(manifest.get(section)).items():
            package = as_text(as_table(settings).get("package"))
            if package is not None:
                yield alias.replace("-", "_"), package.replace("-", "_")


LANGUAGES: Final = (
    Language(
        name="rust",
        title="Rust",
        extensions=(".rs",),
        grammar="tree_sitter_rust",
        definitions=_DEFINITIONS,
        imports=_IMPORTS,
        read_import=_read_import,
        resolver=RustResolver,
        package_files=("mod.rs", "lib.rs"),
        manifests=("Cargo.toml",),
        is_exported=exported_if(re.compile(rb"\bpub\b")),
    ),
)
