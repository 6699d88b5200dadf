"""Nodes of a strict schema, as the converter makes them: fresh dictionaries with known keys only."""

import json
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

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
