"""Make, change and measure the nodes of a strict schema, and find where a schema is larger than its rules allow.

The converter makes nodes as fresh dictionaries with known keys only.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from toolroll.kernel.strict.rules import MAX_PARTS, StrictRules

Node: TypeAlias = dict[str, object]
SCALARS: Final = frozenset({"string", "integer", "number", "boolean", "null"})


def null_node() -> Node:
    """Return the node that takes null only."""
    return {"type": "null"}


def branches(node: Mapping[str, object]) -> Sequence[Node]:
    """Return the alternatives of a union; none for any other node."""
    found = node.get("anyOf", [])
    assert isinstance(found, list)
    return found


def types(node: Mapping[str, object]) -> list[str]:
    """Return the types a node names; none for a union or a reference."""
    named = node.get("type", [])
    return [named] if isinstance(named, str) else list(named) if isinstance(named, list) else []


def is_union(node: Mapping[str, object]) -> bool:
    """Return whether a provider counts it as union-typed: alternatives, or a list of types."""
    return "anyOf" in node or isinstance(node.get("type"), list)


def takes_null(node: Mapping[str, object]) -> bool:
    """Return whether null is plainly among what it takes; a reference is not followed."""
    return "null" in types(node) or any(map(takes_null, branches(node)))


def make_nullable(node: Node) -> Node:
    """Return the same node, taking null as well."""
    if takes_null(node):
        return node
    if "anyOf" in node:
        return {**node, "anyOf": [*branches(node), null_node()]}
    if set(types(node)) & SCALARS:
        return _nullable_scalar(node)
    inner = {key: value for key, value in node.items() if key != "description"}
    outer: Node = {"anyOf": [inner, null_node()]}
    return add_description(outer, node.get("description"))


def _nullable_scalar(node: Node) -> Node:
    result: Node = {**node, "type": [*types(node), "null"]}
    if "const" in result:
        result["enum"] = [result.pop("const")]
    if isinstance(values := result.get("enum"), list):
        result["enum"] = [*values, None]
    return result


def drop_null(node: Node) -> Node:
    """Return the same node without description, no longer taking null where that was plain to see."""
    if "anyOf" in node:
        return make_union([branch for branch in branches(node) if types(branch) != ["null"]])
    named = [name for name in types(node) if name != "null"]
    result: Node = {**node, "type": named[0] if len(named) == 1 else named}
    if isinstance(values := result.get("enum"), list):
        result["enum"] = [value for value in values if value is not None]
    return result


def make_union(alternatives: Sequence[Node]) -> Node:
    """Return one node for several alternatives: nested unions spread out, equal ones once, null last."""
    spread: dict[str, Node] = {}
    for alternative in alternatives:
        inner = branches(alternative) if set(alternative) == {"anyOf"} else [alternative]
        for node in inner:
            # Python's equality takes 1 for True; the text does not.
            spread.setdefault(json.dumps(node, sort_keys=True), node)
    rest = [node for node in spread.values() if types(node) != ["null"]]
    if not rest:
        return null_node()
    joined: Node = rest[0] if len(rest) == 1 else {"anyOf": rest}
    return make_nullable(joined) if len(rest) < len(spread) else joined


def add_description(node: Node, *texts: object) -> Node:
    """Return the node with the texts before its own description."""
    words = [text for text in (*texts, node.get("description")) if isinstance(text, str) and text]
    return {**node, "description": " ".join(words)} if words else node


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What a node weighs with everything below it; a definition weighs at each use what it holds.

    How vendors count a definition that is used twice is not documented; the grammar they compile holds it twice.
    """

    parts: int = 1
    optional: int = 0
    unions: int = 0
    depth: int = 0


_LEADS_BACK: Final = Size()


def measure(node: Node, definitions: Mapping[str, Size]) -> Size:
    """Return the size of a node; a reference to a definition that is not in `definitions` leads back."""
    if "$ref" in node:
        return definitions.get(str(node["$ref"]), _LEADS_BACK)
    properties = get_properties(node)
    below = [measure(child, definitions) for child in children(node)]
    required = node.get("required", [])
    assert isinstance(required, list)
    return Size(
        # Cut: definitions that double one another give numbers of thousands of digits.
        parts=min(1 + sum(size.parts for size in below), MAX_PARTS + 1),
        optional=min(len(properties) - len(required) + sum(size.optional for size in below), MAX_PARTS),
        unions=min(is_union(node) + sum(size.unions for size in below), MAX_PARTS),
        depth=(node.get("type") in ("object", "array")) + max((size.depth for size in below), default=0),
    )


def children(node: Node) -> Iterator[Node]:
    """Yield the nodes directly below."""
    yield from get_properties(node).values()
    if isinstance(items := node.get("items"), dict):
        yield items
    yield from branches(node)


def get_properties(node: Node) -> dict[str, Node]:
    """Return the properties of an object; none for any other node."""
    properties = node.get("properties", {})
    assert isinstance(properties, dict)
    return properties


def find_excesses(root: Node, definitions: Mapping[str, Node], size: Size, rules: StrictRules) -> Iterator[str]:
    """Yield the limits of one schema that it breaks, in plain words; `definitions` are by name."""
    nodes = list(written_nodes(root, definitions))
    enums = [values for node in nodes if isinstance(values := node.get("enum"), list)]
    names = _named_characters(nodes, definitions)
    counts = (
        ("nested levels", size.depth, rules.max_depth),
        ("parts", size.parts, MAX_PARTS),
        ("properties", sum(len(get_properties(node)) for node in nodes), rules.max_properties),
        ("enum values", sum(map(len, enums)), rules.max_enum_values),
        ("characters in names and fixed values", names, rules.max_name_characters),
        ("characters in one long enum", _longest_enum(enums, rules), rules.max_large_enum_characters),
    )
    for what, count, limit in counts:
        if limit is not None and count > limit:
            yield f"more than {limit} {what}, {_whose(what, rules)} limit"


def _whose(what: str, rules: StrictRules) -> str:
    return "our own" if what == "parts" else f"the {rules.name}"


def written_nodes(root: Node, definitions: Mapping[str, Node]) -> Iterator[Node]:
    """Yield every node as it stands in the schema, definitions once."""
    waiting = [root, *definitions.values()]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(children(node))


def _named_characters(nodes: list[Node], definitions: Mapping[str, Node]) -> int:
    fixed = [value for node in nodes for value in fixed_values(node) or () if isinstance(value, str)]
    properties = [name for node in nodes for name in get_properties(node)]
    return sum(map(len, (*definitions, *properties, *fixed)))


def _longest_enum(enums: list[list[object]], rules: StrictRules) -> int:
    large = [values for values in enums if rules.large_enum_values and len(values) > rules.large_enum_values]
    return max((sum(len(value) for value in values if isinstance(value, str)) for values in large), default=0)


def fixed_values(node: Node) -> list[object] | None:
    """Return the values of `const` or `enum`; None where neither is set."""
    if "const" in node:
        return [node["const"]]
    values = node.get("enum")
    return values if isinstance(values, list) else None


def find_alike(nodes: Iterable[Node], definitions: Mapping[str, Node]) -> Iterator[str]:
    """Yield the names that two alternatives of one union both start with; `definitions` are by address."""
    for node in nodes:
        if "anyOf" in node:
            yield from _shared_starts(node, definitions)


def _shared_starts(node: Node, definitions: Mapping[str, Node]) -> Iterator[str]:
    seen: dict[str, set[tuple[type, object]] | None] = {}
    for alternative in _objects(node, definitions):
        for name, first in list(get_properties(alternative).items())[:1]:
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
