"""Go: a package is a folder, and go.mod says which path the folder of its module has."""

import re
from collections.abc import Iterator
from posixpath import dirname
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.imports.files import Files, certain, guess, join_path, resolve_path
from toolroll.workspace.symbols.imports.statement import EVERYTHING, ImportStatement, Resolved
from toolroll.workspace.symbols.imports.syntax import Source
from toolroll.workspace.symbols.languages.language import ImportResolver, Language

if TYPE_CHECKING:
    from tree_sitter import Node


_DEFINITIONS: Final = """
(function_declaration name: (identifier) @name) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: (_) @parent))
  name: (field_identifier) @name) @method
(type_spec name: (type_identifier) @name type: (struct_type)) @struct
(type_spec name: (type_identifier) @name type: (interface_type)) @interface
(type_spec name: (type_identifier) @name) @type
(type_alias name: (type_identifier) @name) @type
(interface_type (method_elem name: (field_identifier) @name) @method)
(field_declaration (field_identifier) @name) @field
(const_spec (identifier) @name) @constant
(var_spec (identifier) @name) @variable
"""
_IMPORTS: Final = "(import_spec) @statement"

_VERSION: Final = re.compile(r"(?:/v[0-9]+|\.v[0-9]+)$")  # no part of the package's name

_MODULE: Final = re.compile(r'^module[ \t]+"?([^\s"]+)', re.MULTILINE)
_REPLACE: Final = re.compile(r"^(?:replace)?[ \t]*([^\s=>(]+)(?:[ \t]+v\S+)?[ \t]+=>[ \t]+(\.\S*)", re.MULTILINE)


def _read_import(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """Read the import statements of one captured node."""
    module = source.literal(node.child_by_field_name("path"))
    if module is None:
        return
    alias = node.child_by_field_name("name")
    if alias is None:
        yield source.statement(node, module, binds=(_VERSION.sub("", module).rpartition("/")[2],))
    elif alias.type == "dot":
        yield source.statement(node, module, names=(EVERYTHING,))
    elif alias.type == "blank_identifier":
        yield source.statement(node, module)
    else:
        yield source.statement(node, module, binds=(source.text(alias),))


class GoResolver(ImportResolver):
    """Finds the folder of a package."""

    def __init__(self, files: Files) -> None:
        super().__init__(files)
        self._folders: dict[str, str] = {}
        for path in files.named("go.mod"):
            text = (files.read(path) or b"").decode("utf-8", "replace")
            self._add_module(dirname(path), text)

    def _add_module(self, folder: str, text: str) -> None:
        declared = _MODULE.search(text)
        if declared is not None:
            self._folders.setdefault(declared[1], folder)
        for module, place in _REPLACE.findall(text):
            target = resolve_path(folder, place)
            if target is not None:
                self._folders.setdefault(module, target)

    def resolve(self, importer: str, statement: ImportStatement) -> Iterator[Resolved]:
        """Yield the folder of the one package that a path names."""
        path = statement.module
        folder = resolve_path(dirname(importer), path) if path.startswith("./") else self.folder(path)
        yield guess(None, path) if folder is None or not self._has_code(folder) else certain(folder, path)

    def folder(self, path: str) -> str | None:
        """Return the folder an import path stands for: that of the longest module it lies in, and on from there."""
        module = path.strip("/")  # the folder above `/` is `/` again, for ever
        while module not in self._folders:
            module = dirname(module)
            if not module:
                return None
        return join_path(self._folders[module], path[len(module) + 1 :]).rstrip("/")

    def find_modules(self, name: str) -> Iterator[str]:
        """Yield the folder of an import path."""
        folder = self.folder(name)
        yield from () if folder is None else (folder,)

    def _has_code(self, folder: str) -> bool:
        return any(path.endswith(".go") for path in self._files.inside(folder))


def _is_exported(name: str, before: bytes, parent_kind: str | None) -> bool:
    del before, parent_kind
    return name[:1].isupper()


LANGUAGES: Final = (
    Language(
        name="go",
        title="Go",
        extensions=(".go",),
        grammar="tree_sitter_go",
        definitions=_DEFINITIONS,
        imports=_IMPORTS,
        read_import=_read_import,
        resolver=GoResolver,
        imports_folders=True,
        manifests=("go.mod", "go.work"),
        is_exported=_is_exported,
    ),
)
