"""Whether the alternatives of a union can be told apart by what comes first, as a decoder reads them."""

from collections.abc import Iterable, Iterator, Mapping

from toolroll.kernel.strict.nodes import Node, branches
from toolroll.kernel.strict.size import fixed_values, properties_of


def alike(nodes: Iterable[Node], definitions: Mapping[str, Node]) -> Iterator[str]:
    """The names that two alternatives of one union both start with; `definitions` are by address."""
    for node in nodes:
        if "anyOf" in node:
            yield from _shared_starts(node, definitions)


def _shared_starts(node: Node, definitions: Mapping[str, Node]) -> Iterator[str]:
    seen: dict[str, set[tuple[type, object]] | None] = {}
    for alternative in _objects(node, definitions):
        for name, first in list(properties_of(alternative).items())[:1]:
            fixed = fixed_values(first)
            values = {(type(value), value) for value in fixed} if fixed else None
            before = seen.setdefault(name, set())
            if before is None or (before and values is None) or (values and values & before):
                yield name
            seen[name] = None if values is None else values | (before or set())


def _objects(node: Node, definitions: Mapping[str, Node]) -> Iterator[Node]:
    waiting, followed = [node], set[str]()
    while waiting:
        node = waiting.pop(0)
        ref = node.get("$ref")
        if isinstance(ref, str) and ref not in followed:
            followed.add(ref)
            waiting.append(definitions[ref])
        waiting.extend(branches(node))
        if node.get("type") == "object":
            yield node
