"""Imports of JavaScript and TypeScript, with and without JSX: one grammar family, one reader."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.imports.parse.source import Source, ancestors, has_token, is_below
from toolroll.workspace.symbols.imports.statement import EVERYTHING, ImportKind, ImportStatement

if TYPE_CHECKING:
    from tree_sitter import Node

QUERY: Final = """
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


def read(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """The statements one captured node stands for."""
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
    """What `x, * as y` or `x, {y as z}` takes; a namespace goes by `*`."""
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
    """A namespace takes no name out of the module: it is the module itself."""
    return [name for name in taken if name]


def _specifiers(node: "Node", source: Source) -> _Taken:
    taken: _Taken = {}
    for child in node.named_children:
        name = source.field(child, "name")
        taken[name] = source.field(child, "alias") or name
    taken.pop("", None)  # a comment between them
    return taken


def _all_for_types(clause: "Node | None") -> bool:
    """Whether each name is marked: the compiler then drops the statement as it drops `import type`."""
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
    taken = _destructured(node, source)
    whole = _enclosing(node)
    yield source.statement(whole, module, names=_names(taken), binds=taken.values(), kind=_call_kind(node))


def _call_kind(node: "Node") -> ImportKind:
    """`import()` runs when its line does; `require` at the top of a file always runs."""
    function = node.child_by_field_name("function")
    if function is not None and function.type == "import":
        return "type" if is_below(node, _TYPES, until=_VALUES | _FUNCTIONS) else "dynamic"
    if is_below(node, _FUNCTIONS):
        return "dynamic"
    return "conditional" if is_below(node, _CASES) else "static"


def _enclosing(node: "Node") -> "Node":
    """The declaration a call stands in: what a person takes for the import statement."""
    outer = next((above for above in ancestors(node) if above.type not in _WRAPPERS), node)
    return outer if outer.type in _STATEMENTS else node


def _destructured(node: "Node", source: Source) -> _Taken:
    """What `const {a, b: c} = require()` and `require().a` take."""
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
