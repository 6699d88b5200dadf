"""Imports of Rust: `use` trees made flat, modules declared in other files, and crates named the old way."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.imports.parse.source import Source, ancestors
from toolroll.workspace.symbols.imports.statement import EVERYTHING, ImportStatement

if TYPE_CHECKING:
    from tree_sitter import Node

QUERY: Final = """
(use_declaration) @statement
(mod_item !body) @statement
(extern_crate_declaration) @statement
"""

MAX_BRACES: Final = 32  # how deep a `use` tree may nest: no hand-written one reaches five

_Taken = tuple[str, str, str]
"""A module, a name out of it, and the name it gets here."""


def read(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """The statements one captured node stands for."""
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
    for module, name, bound in _flat("", node.child_by_field_name("argument"), source, 0):
        if module:
            by_module.setdefault(_from_file(module, inline), {})[name] = bound
        elif name != EVERYTHING:  # `use serde;` names a crate and takes nothing out of it.
            yield _used(node, name, {"": bound}, source, is_public=is_public)
    for module, taken in by_module.items():
        yield _used(node, module, taken, source, is_public=is_public)


def _used(node: "Node", module: str, taken: dict[str, str], source: Source, *, is_public: bool) -> ImportStatement:
    return source.statement(
        node,
        module,
        names=[name for name in taken if name],
        binds=[bound for bound in taken.values() if bound not in {EVERYTHING, "_"}],
        kind="reexport" if is_public else "static",
        passes_on=is_public,
    )


def _flat(prefix: str, node: "Node | None", source: Source, depth: int) -> Iterator[_Taken]:
    if node is None or depth > MAX_BRACES:
        return
    if node.type == "use_list":
        for child in node.named_children:
            yield from _flat(prefix, child, source, depth + 1)
    elif node.type == "scoped_use_list":
        inner = _joined(prefix, _path(source.field(node, "path")))
        yield from _flat(inner, node.child_by_field_name("list"), source, depth + 1)
    elif node.type == "use_wildcard":
        yield _joined(prefix, _path(source.text(node).rstrip("*").rstrip().rstrip(":"))), EVERYTHING, EVERYTHING
    elif node.type == "use_as_clause":
        yield *_split(_joined(prefix, _path(source.field(node, "path")))), source.field(node, "alias")
    elif node.type not in {"line_comment", "block_comment"}:
        module, name = _split(_joined(prefix, _path(source.text(node))))
        yield module, name, name


def _path(text: str) -> str:
    return "".join(text.split()).removeprefix("::").replace("r#", "")


def _joined(prefix: str, path: str) -> str:
    """`{self}` stands for the path before the brace."""
    if not prefix or not path:
        return prefix or path
    return prefix if path == "self" else f"{prefix}::{path}"


def _split(path: str) -> tuple[str, str]:
    module, _, name = path.rpartition("::")
    return module, name


def _inline(node: "Node", source: Source) -> list[str]:
    """The modules written out in this file that the node stands in, outermost first."""
    names = [source.field(above, "name") for above in ancestors(node) if above.type == "mod_item"]
    return names[::-1]


def _from_file(module: str, inline: list[str]) -> str:
    """The path as seen from the file's own module: `super` in an inline module is the file itself."""
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
    """The file that `#[path = "x.rs"]` names instead of the usual one."""
    before = node.prev_named_sibling
    while before is not None and before.type == "attribute_item":
        attribute = before.named_children[0]
        if attribute.named_children and source.text(attribute.named_children[0]) == "path":
            return source.literal(attribute.child_by_field_name("value"))
        before = before.prev_named_sibling
    return None
