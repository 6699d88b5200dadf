"""A tool's parameters for a reader: one line each, down into nested objects."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

Schema: TypeAlias = Mapping[str, object]

MAX_LEVELS: Final = 4
"""How deep the list goes; whoever needs more reads the schema itself."""

_BOUNDS: Final = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "matching {}",
    "format": "{}",
}

_PLURALS: Final = {kind: f"{kind}s" for kind in ("boolean", "integer", "number", "object", "string")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter: its path (`todos[].content`), its type in words, whether it must be there, what it is for."""

    name: str
    type: str
    is_required: bool
    description: str


def list_parameters(schema: Schema) -> list[Parameter]:
    """Every parameter of a tool, in the order of its schema."""
    return list(_properties(schema, schema, "", 0))


def _properties(schema: Schema, root: Schema, prefix: str, level: int) -> Iterator[Parameter]:
    properties, required = _mapping(schema.get("properties")), schema.get("required")
    for name, value in properties.items():
        own = _resolved(_mapping(value), root)
        yield Parameter(
            name=prefix + name,
            type=_type(own, root),
            is_required=isinstance(required, list) and name in required,
            description=str(_mapping(value).get("description") or own.get("description") or ""),
        )
        if level < MAX_LEVELS:
            yield from _inner(own, root, prefix + name, level + 1)


def _inner(schema: Schema, root: Schema, name: str, level: int) -> Iterator[Parameter]:
    for one in _alternatives(schema, root):
        items = _resolved(_mapping(one.get("items")), root)
        yield from _properties(items, root, f"{name}[].", level)
        yield from _properties(one, root, f"{name}.", level)


def _type(schema: Schema, root: Schema) -> str:
    if "enum" in schema or "const" in schema:
        values = schema["enum"] if "enum" in schema else [schema["const"]]
        return (
            " | ".join(json.dumps(value, ensure_ascii=False) for value in values) if isinstance(values, list) else "?"
        )
    several = _alternatives(schema, root)
    if len(several) > 1:
        return " or ".join(dict.fromkeys(_type(one, root) for one in several))
    bounds = [_bound(told, schema[key]) for key, told in _BOUNDS.items() if key in schema]
    return ", ".join([_base(schema, root), *bounds])


def _bound(told: str, value: object) -> str:
    return told.format(value).removesuffix("s") if value == 1 and told.endswith("s") else told.format(value)


def _base(schema: Schema, root: Schema) -> str:
    kind = schema.get("type")
    if kind == "array":
        items = _resolved(_mapping(schema.get("items")), root)
        kind = _base(items, root)
        return f"list of {_PLURALS.get(kind, kind)}"
    if isinstance(kind, list):
        return " or ".join(map(str, kind))
    return str(kind or "any value")


def _alternatives(schema: Schema, root: Schema) -> list[Schema]:
    found = schema.get("anyOf") or schema.get("oneOf")
    return [_resolved(_mapping(one), root) for one in found] if isinstance(found, list) else [schema]


def _resolved(schema: Schema, root: Schema) -> Schema:
    """The schema that a reference leads to, one step: definitions do not refer to nothing but each other."""
    ref = schema.get("$ref")
    if not isinstance(ref, str):
        return schema
    target: object = root
    for step in ref.removeprefix("#/").split("/"):
        target = _mapping(target).get(step)
    return _mapping(target)


def _mapping(value: object) -> Schema:
    return value if isinstance(value, dict) else {}
