"""Python: packages, namespace packages, `src` layouts, scripts and relative imports.

Imports are read wherever they stand, and calls that import a module by a literal name are, too.
"""

import re
import sys
from collections.abc import Iterator
from posixpath import dirname
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.imports.files import Files, certain, guess, is_inside, join_path, nearest, resolve_path
from toolroll.workspace.symbols.imports.manifests import as_table, as_text, as_texts, read_ini, read_toml, within
from toolroll.workspace.symbols.imports.statement import EVERYTHING, ImportKind, ImportStatement, Resolved
from toolroll.workspace.symbols.imports.syntax import Source, ancestors
from toolroll.workspace.symbols.languages.language import ImportResolver, Language

if TYPE_CHECKING:
    from tree_sitter import Node


_DEFINITIONS: Final = """
; A definition is captured under its kind, its name as @name. Where two patterns meet the same name, the earlier wins.
; Targets that may be nested, such as `a, (b, *c) = ...`, are captured as @names: every name in them is one.
(class_definition name: (identifier) @name) @class
(function_definition name: (identifier) @name) @function
(type_alias_statement left: (type [(identifier) @name (generic_type (identifier) @name)])) @type
(decorated_definition) @outer
(lambda) @local
; Only where a module or a class may have them: nine of ten assignments are local, and asking for all takes twice
; as long.
(module (expression_statement (assignment left: [
  (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable))
(class_definition body: (block (expression_statement (assignment left: [
  (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)))
([(if_statement (block (expression_statement (assignment left: [
    (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)))
  (elif_clause (block (expression_statement (assignment left: [
    (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)))
  (else_clause (block (expression_statement (assignment left: [
    (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)))
  (try_statement (block (expression_statement (assignment left: [
    (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)))
  (except_clause (block (expression_statement (assignment left: [
    (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)))
  (finally_clause (block (expression_statement (assignment left: [
    (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)))
  (with_statement (block (expression_statement (assignment left: [
    (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)))
  (for_statement (block (expression_statement (assignment left: [
    (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)))
  (while_statement (block (expression_statement (assignment left: [
    (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)))
  (case_clause (block (expression_statement (assignment left: [
    (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)))])
(assignment right: (assignment left: [
  (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)
(named_expression name: (identifier) @name) @variable
"""
_IMPORTS: Final = """
[(import_statement) (import_from_statement) (future_import_statement)] @statement
(call function: (identifier) @called (#any-of? @called "__import__" "import_module")) @statement
(call function: (attribute object: (identifier) @owner attribute: (identifier) @called)
  (#any-of? @owner "importlib" "builtins") (#any-of? @called "__import__" "import_module")) @statement
"""

_SUITES: Final = frozenset({"function_definition", "class_definition", "module"})
_TYPING: Final = frozenset({"TYPE_CHECKING", "typing.TYPE_CHECKING", "t.TYPE_CHECKING"})

_ENDS: Final = ("/__init__.py", ".py", "/__init__.pyi", ".pyi")  # the import system prefers a package to a module

PACKAGE_FILES = ("__init__.py", "__init__.pyi")
MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py")

_QUIET_LINES: Final = 100  # of comment in a row: they take a millisecond as they are
_COMMENTS: Final = re.compile(rb"^(?:[ \t]*#(?:(?!\"\"\"|''')[^\n])*+(?:\n|\Z))++", re.MULTILINE)
"""Lines of comment. One with three quotes may be the end of a string instead, and stays."""
_VISIBLE: Final = re.compile(rb"[^\r\n]")


def _read_import(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """Read the import statements of one captured node."""
    if node.type == "import_statement":
        yield from _whole_modules(node, source)
    elif node.type == "import_from_statement":
        yield _from_module(node, source)
    elif node.type == "future_import_statement":
        names = tuple(_taken(node, source))
        yield source.statement(node, "__future__", names=names, binds=names)
    else:
        yield from _call(node, source)


def _whole_modules(node: "Node", source: Source) -> Iterator[ImportStatement]:
    kind = _kind(node, source)
    for child in node.named_children:
        if child.type == "dotted_name":
            module = source.dotted(child)
            yield source.statement(node, module, binds=(module.partition(".")[0],), kind=kind)
        elif child.type == "aliased_import":
            module, alias = _read_alias(child, source)
            yield source.statement(node, module, binds=(alias,), kind=kind, passes_on=module == alias)


def _from_module(node: "Node", source: Source) -> ImportStatement:
    place = node.child_by_field_name("module_name")
    written = "" if place is None else source.dotted(place)
    module = written.lstrip(".")
    kind = _kind(node, source)
    level = len(written) - len(module)
    if any(child.type == "wildcard_import" for child in node.named_children):
        return source.statement(node, module, names=(EVERYTHING,), kind=kind, level=level)
    taken = _taken(node, source)
    # `from x import y as y` is how a stub or a typed package says that it passes y on (PEP 484).
    return source.statement(
        node,
        module,
        names=taken,
        binds=taken.values(),
        kind=kind,
        level=level,
        passes_on=_repeats(node, source),
    )


def _taken(node: "Node", source: Source) -> dict[str, str]:
    """Return the imported names, each with the name it gets here."""
    taken: dict[str, str] = {}
    for child in node.children_by_field_name("name"):
        name, alias = _read_alias(child, source) if child.type == "aliased_import" else (source.dotted(child),) * 2
        taken[name] = alias
    return taken


def _read_alias(node: "Node", source: Source) -> tuple[str, str]:
    return "".join(source.field(node, "name").split()), source.field(node, "alias")


def _repeats(node: "Node", source: Source) -> bool:
    pairs = [_read_alias(child, source) for child in node.named_children if child.type == "aliased_import"]
    return any(name == alias for name, alias in pairs)


def _kind(node: "Node", source: Source) -> ImportKind:
    """Return whether it is for types, or for some cases only; a function is not a case, it runs sooner or later."""
    inner = node
    for above in ancestors(node):
        if above.type in _SUITES:
            break
        if above.type == "if_statement":
            is_typing = source.field(above, "condition") in _TYPING
            return "type" if is_typing and above.child_by_field_name("consequence") == inner else "conditional"
        if above.type == "try_statement" or (above.type == "with_statement" and "suppress" in _head(above, source)):
            return "conditional"
        inner = above
    return "static"


def _head(node: "Node", source: Source) -> str:
    return source.text(node.named_children[0])


def _call(node: "Node", source: Source) -> Iterator[ImportStatement]:
    arguments = node.child_by_field_name("arguments")
    given = [] if arguments is None else arguments.named_children
    module = source.literal(_argument(given, "name", 0))
    if module is None:
        return
    bare = module.lstrip(".")
    level = len(module) - len(bare)
    package = source.literal(_argument(given, "package", 1)) if level else None
    if package is not None:
        parents = package.split(".")
        bare, level = ".".join([*parents[: len(parents) - level + 1], *([bare] if bare else [])]), 0
    yield source.statement(node, bare, kind="dynamic", level=level)


def _argument(given: list["Node"], name: str, position: int) -> "Node | None":
    for argument in given:
        if argument.type == "keyword_argument":
            key = argument.child_by_field_name("name")
            if key is not None and key.text == name.encode():
                return argument.child_by_field_name("value")
    plain = [argument for argument in given if argument.type not in {"keyword_argument", "comment"}]
    return plain[position] if position < len(plain) else None


class PythonResolver(ImportResolver):
    """Finds modules as the import system would, given that each root were on its path."""

    def __init__(self, files: Files) -> None:
        super().__init__(files)
        self._roots = python_roots(files)
        self._roots_of: dict[str, list[str]] = {}
        self._known: dict[tuple[str, str], str | None] = {}
        for root in self._roots:
            for name in self._tops(root):
                self._roots_of.setdefault(name, []).append(root)

    def _tops(self, root: str) -> set[str]:
        """Return the names that a root gives: its modules, and its folders whether they are packages or not."""
        start = len(root) + 1 if root else 0
        files = [path[start:] for path in self._files.inside(root)]
        modules = {name.rpartition(".")[0] for name in files if name.endswith((".py", ".pyi"))}
        return modules | set(self._files.subfolders(root))

    def resolve(self, importer: str, statement: ImportStatement) -> Iterator[Resolved]:
        """Yield the module's own file, then each submodule that is taken out of it by name."""
        if statement.level:
            yield from self._relative(importer, statement)
            return
        path = self.find(statement.module, importer)
        taken = list(self._submodules(importer, statement))
        if path is not None:
            yield certain(path, statement.module)
        elif not taken:
            yield guess(self._by_end(statement.module), statement.module)
        yield from taken

    def _submodules(self, importer: str, statement: ImportStatement) -> Iterator[Resolved]:
        for name in statement.names:
            if name != EVERYTHING:
                module = f"{statement.module}.{name}"
                path = self.find(module, importer)
                if path is not None:
                    yield certain(path, module)

    def _relative(self, importer: str, statement: ImportStatement) -> Iterator[Resolved]:
        folder = dirname(importer)
        for _ in range(statement.level - 1):
            if not folder:
                yield guess(None, "." * statement.level + statement.module)
                return
            folder = dirname(folder)
        parts = statement.module.split(".") if statement.module else []
        base = "/".join([*([folder] if folder else []), *parts])
        module = self.dotted(base)
        path = self._at(base)
        taken = [(name, self._at(join_path(base, name))) for name in statement.names if name != EVERYTHING]
        if path is not None:
            yield certain(path, module)
        elif not any(inner for _, inner in taken):
            yield guess(None, module)
        yield from (certain(inner, f"{module}.{name}".lstrip(".")) for name, inner in taken if inner is not None)

    def dotted(self, path: str) -> str:
        """Return the name of a module or package by its path without an ending, from the nearest root above it."""
        folder = dirname(path)
        while folder.strip("/") and folder not in self._roots:  # above "/" there is "/" again
            folder = dirname(folder)
        return path[len(folder) :].strip("/").replace("/", ".")

    def find(self, module: str, importer: str) -> str | None:
        """Return the file of an absolute module, seen from an importer; None for what is not in the workspace."""
        folder = dirname(importer)
        key = (folder, module)
        if key not in self._known:
            self._known[key] = self._search(module, folder)
        return self._known[key]

    def find_modules(self, name: str) -> Iterator[str]:
        """Yield the file of a dotted name."""
        if all(part.isidentifier() for part in name.split(".")) and (path := self.find(name, "")) is not None:
            yield path

    def _search(self, module: str, folder: str) -> str | None:
        top = module.partition(".")[0]
        tail = module.replace(".", "/")
        roots = list(self._roots_reached(top, folder))
        around = sorted((root for root in roots if is_inside(folder, root)), key=len, reverse=True)
        beside = [] if is_package(self._files, folder) else [folder]  # the folder of a script is on its path
        for root in [*beside, *around]:
            path = self._at(join_path(root, tail))
            if path is not None:
                return path
        if top in sys.stdlib_module_names:
            return None  # what another project calls `types` is not what is meant here
        hits = {root: path for root in roots if (path := self._at(join_path(root, tail))) is not None}
        root_next_door = nearest(hits, folder)
        return None if root_next_door is None else hits[root_next_door]

    def _roots_reached(self, top: str, folder: str) -> Iterator[str]:
        """Yield the roots that may give a name: packages do not see their own modules by bare names."""
        is_standard, is_unnamed = top in sys.stdlib_module_names, is_inside_unnamed(self._files, folder)
        for root in self._roots_of.get(top, ()):
            if not (is_standard and is_package(self._files, root)) and (root or not is_unnamed):
                yield root

    def _at(self, base: str) -> str | None:
        if not base:
            return self._files.first(("__init__.py", "__init__.pyi"))
        return self._files.first(base + end for end in _ENDS)

    def _by_end(self, module: str) -> str | None:
        """Return a module below a root that nothing tells of: the only file whose path ends like it."""
        if "." not in module or module.partition(".")[0] in sys.stdlib_module_names:
            return None
        tail = module.replace(".", "/")
        hits = [path for end in _ENDS for path in self._files.ending(tail + end)]
        return hits[0] if len(hits) == 1 else None


def python_roots(files: Files) -> frozenset[str]:
    """Return folders above top packages, those that manifests name, `src` beside a manifest, and the root."""
    roots = {""}
    for name in PACKAGE_FILES:
        roots.update(_above_package(files, dirname(path)) for path in files.named(name))
    for manifest in MANIFESTS:
        for path in files.named(manifest):
            folder = dirname(path)
            declared = [resolve_path(folder, each) for each in ("", "src", *_read_declared(files, manifest, path))]
            roots.update(each for each in declared if each is not None and files.has_folder(each))
    return frozenset(roots)


def is_package(files: Files, folder: str) -> bool:
    """Return whether a folder is a regular package."""
    return any((f"{folder}/{name}" if folder else name) in files for name in PACKAGE_FILES)


def is_inside_unnamed(files: Files, folder: str) -> bool:
    """Return whether a folder is part of a package without a known name: the workspace itself, without a manifest."""
    if any(manifest in files for manifest in MANIFESTS):
        return False
    return is_package(files, folder) and is_package(files, _above_package(files, folder))


def _above_package(files: Files, folder: str) -> str:
    while folder and is_package(files, folder):
        folder = dirname(folder)
    return folder


def _read_declared(files: Files, manifest: str, path: str) -> list[str]:
    if manifest == "pyproject.toml":
        return _pyproject(files, path)
    return _setup_cfg(files, path) if manifest == "setup.cfg" else []


def _pyproject(files: Files, path: str) -> list[str]:
    """Return what setuptools, Poetry, Hatch, PDM, pytest and Pyright are told; one `package-dir` may name several."""
    tool = as_table(read_toml(files.read(path)).get("tool"))
    setuptools = as_table(tool.get("setuptools"))
    wheel = within(tool, "hatch", "build", "targets", "wheel")
    poetry = as_table(tool.get("poetry")).get("packages")
    return [
        *as_texts(as_table(setuptools.get("package-dir")).get("")),
        *as_texts(within(setuptools, "packages", "find").get("where")),
        *(
            each
            for item in (poetry if isinstance(poetry, list) else [])
            if (each := as_text(as_table(item).get("from")))
        ),
        *(dirname(each) for each in as_texts(wheel.get("packages"))),
        *as_texts(wheel.get("sources")),
        *as_texts(within(tool, "pdm", "build").get("package-dir")),
        *as_texts(within(tool, "pytest", "ini_options").get("pythonpath")),
        *as_texts(as_table(tool.get("pyright")).get("extraPaths")),
    ]


def _setup_cfg(files: Files, path: str) -> list[str]:
    sections = read_ini(files.read(path))
    pairs = [line.partition("=") for line in sections.get("options", {}).get("package_dir", "").splitlines()]
    where = sections.get("options.packages.find", {}).get("where", "").split()
    return [*(folder.strip() for package, _, folder in pairs if not package.strip() and folder.strip()), *where]


def _is_exported(name: str, before: bytes, parent_kind: str | None) -> bool:
    del before, parent_kind
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))


def blank_long_comments(data: bytes) -> bytes:
    """Return the same bytes without long runs of comment, of the same length, for a parse in linear time.

    The scanner of tree-sitter-python 0.25 looks for the next statement from each comment anew: 20,000 lines of them
    after a statement took 32 s.
    """
    return _COMMENTS.sub(_blank_if_long, data)


def _blank_if_long(found: re.Match[bytes]) -> bytes:
    return found[0] if found[0].count(b"\n") < _QUIET_LINES else _VISIBLE.sub(b" ", found[0])


LANGUAGES: Final = (
    Language(
        name="python",
        title="Python",
        extensions=(".py", ".pyi", ".pyw"),
        grammar="tree_sitter_python",
        definitions=_DEFINITIONS,
        imports=_IMPORTS,
        read_import=_read_import,
        resolver=PythonResolver,
        package_files=PACKAGE_FILES,
        package_files_reexport=True,
        manifests=MANIFESTS,
        comment=b"#",
        is_exported=_is_exported,
        has_docstrings=True,
        variables_hold_definitions=False,  # `a = b = 1` is two of one kind
        prepare=blank_long_comments,
    ),
)
