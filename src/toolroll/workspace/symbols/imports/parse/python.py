"""Imports of Python: statements wherever they stand, and calls that import a module by a literal name."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.imports.parse.source import Source, ancestors
from toolroll.workspace.symbols.imports.statement import EVERYTHING, ImportKind, ImportStatement

if TYPE_CHECKING:
    from tree_sitter import Node

QUERY: Final = """
[(import_statement) (import_from_statement) (future_import_statement)] @statement
(call function: (identifier) @called (#any-of? @called "__import__" "import_module")) @statement
(call function: (attribute object: (identifier) @owner attribute: (identifier) @called)
  (#any-of? @owner "importlib" "builtins") (#any-of? @called "__import__" "import_module")) @statement
"""

_SUITES: Final = frozenset({"function_definition", "class_definition", "module"})
_TYPING: Final = frozenset({"TYPE_CHECKING", "typing.TYPE_CHECKING", "t.TYPE_CHECKING"})


def read(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """The statements one captured node stands for."""
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
            module, alias = _renamed(child, source)
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
    """The imported names, each with the name it gets here."""
    taken: dict[str, str] = {}
    for child in node.children_by_field_name("name"):
        name, alias = _renamed(child, source) if child.type == "aliased_import" else (source.dotted(child),) * 2
        taken[name] = alias
    return taken


def _renamed(node: "Node", source: Source) -> tuple[str, str]:
    return "".join(source.field(node, "name").split()), source.field(node, "alias")


def _repeats(node: "Node", source: Source) -> bool:
    pairs = [_renamed(child, source) for child in node.named_children if child.type == "aliased_import"]
    return any(name == alias for name, alias in pairs)


def _kind(node: "Node", source: Source) -> ImportKind:
    """Whether it is for types, or for some cases only; a function is not a case, it runs sooner or later."""
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
