"""Parse a file with the grammar of its language, and capture its definitions and what they stand in.

Only processes that parse import this: tree-sitter is a compiled library.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Final

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Query, QueryCursor, Tree

from toolroll.workspace.symbols.languages.language import Language
from toolroll.workspace.symbols.symbol import KINDS

SCOPE: Final = "scope"
"""A place with a name that others stand in, but no definition: `impl Foo`, `extension Foo`."""

LOCAL: Final = "local"
"""A function without a name: what is inside belongs to it alone."""

OUTER: Final = "outer"
"""A definition with its decorators."""

_PATTERNS: Final = frozenset({"list_pattern", "list_splat_pattern", "pattern_list", "tuple_pattern"})
_KINDS: Final = KINDS | {SCOPE, LOCAL, OUTER}


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """One match of a query."""

    kind: str
    pattern: int
    """Which pattern of the query it was; where two meet the same name, the earlier wins."""
    node: Node
    name: Node | None
    parent: Node | None
    """What the definition says it belongs to: a receiver, a prototype, a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Captures:
    """All of one file, from its top, outer before inner."""

    places: tuple[Capture, ...]
    exported: frozenset[bytes]
    """Names that the file passes on by a statement of their own: `export { a }`."""


def parse(language: Language, data: bytes) -> Tree:
    """Return the tree of these bytes, which are UTF-8."""
    return Parser(load_grammar(language)).parse(language.prepare(data) if language.prepare else data)


@cache
def load_grammar(language: Language) -> Grammar:
    """Load the grammar, once a process."""
    return Grammar(getattr(import_module(language.grammar), language.grammar_function)())


@cache
def compile_query(language: Language, text: str) -> Query:
    """Compile a query for a language, once a process."""
    return Query(load_grammar(language), text)


def fix_syntax(language: Language, data: bytes) -> bytes | None:
    """Return the bytes with what the grammar does not know replaced, of the same length; None where nothing is.

    One unknown word can cost all definitions of a file: everything after it becomes one error.
    """
    fixed = data
    for fix in language.fixes:
        fixed = fix.pattern.sub(fix.replace, fixed)
    return None if fixed == data else fixed


def find_captures(language: Language, root: Node) -> Captures:
    """Return the places below a node; each name stands for one of them."""
    named: dict[int, Capture] = {}
    others: list[Capture] = []
    exported: set[bytes] = set()
    for pattern, captures in QueryCursor(compile_query(language, language.definitions)).matches(root):
        if "exported" in captures:
            exported.update(node.text or b"" for node in captures["exported"])
            continue
        for place in _expand_match(pattern, captures):
            if place.name is None:
                others.append(place)
            elif (rival := named.get(place.name.start_byte)) is None or pattern < rival.pattern:
                named[place.name.start_byte] = place
    places = [*named.values(), *others]
    places.sort(key=_order)
    return Captures(places=tuple(places), exported=frozenset(exported))


def _order(place: Capture) -> tuple[int, int, int]:
    start = place.node.start_byte
    return start, -place.node.end_byte, place.name.start_byte if place.name else start


def _expand_match(pattern: int, captures: dict[str, list[Node]]) -> Iterator[Capture]:
    kind = next(key for key in captures if key in _KINDS)
    parent = captures.get("parent")
    names = _targets(captures["names"][0]) if "names" in captures else captures.get("name", [None])[:1]
    for name in names:
        yield Capture(
            kind=kind, pattern=pattern, node=captures[kind][0], name=name, parent=parent[0] if parent else None
        )


def _targets(node: Node) -> Iterator[Node]:
    """Yield the names that a target of Python binds, however deep they are nested; not what only a member of is set."""
    left = [node]
    while left:
        one = left.pop()
        if one.type == "identifier":
            yield one
        elif one.type in _PATTERNS:
            left += one.named_children
