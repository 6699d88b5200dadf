"""JSON Schema draft-07 of a tool's arguments: closed objects, stable bytes, nothing a model does not need.

pydantic speaks draft 2020-12; here its schema is put into draft-07 words. Titles are dropped (they repeat the names),
and a definition that is used once stands where it is used: small schemas are read best, by models too.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from pydantic import TypeAdapter

JsonSchema: TypeAlias = dict[str, object]

_DEFINITIONS: Final = "#/$defs/"
_NAMED: Final = ("properties", "definitions", "patternProperties")
_DROPPED: Final = frozenset({"$defs", "discriminator", "title", "prefixItems"})
_ORDER: Final = ("$ref", "type", "description", "properties", "required", "additionalProperties")


class OpenObject(ValueError):
    """A model that takes fields it does not name (`extra="allow"`); `where` is its place in the schema."""

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.where = where


def draft07(adapter: TypeAdapter[object]) -> JsonSchema:
    """The draft-07 schema of what the adapter takes, every object closed."""
    modern = adapter.json_schema(mode="validation")
    raw = modern.get("$defs", {})
    if "$ref" in modern:  # a recursive model: pydantic puts even the root among the definitions
        modern = {**raw[_name(modern["$ref"])], "$defs": raw}
    uses = Counter(_references({key: value for key, value in modern.items() if key != "$defs"}))
    for definition in raw.values():
        uses.update(_references(definition))
    inline = {name for name in raw if uses[name] == 1 and not _is_recursive(name, raw)}
    schema = _Converter(raw, inline).convert(modern, "")
    kept = {name: raw[name] for name in raw if name not in inline and uses[name]}
    if kept:
        converter = _Converter(raw, inline)
        schema["definitions"] = {name: converter.convert(body, name) for name, body in sorted(kept.items())}
    return schema


class _Converter:
    def __init__(self, definitions: Mapping[str, JsonSchema], inline: set[str]) -> None:
        self._definitions = definitions
        self._inline = inline

    def convert(self, node: JsonSchema, where: str) -> JsonSchema:
        if "$ref" in node:
            return self._reference(node, where)
        result = {key: self._value(key, value, where) for key, value in node.items() if key not in _DROPPED}
        if "prefixItems" in node:
            result["items"] = self._value("prefixItems", node["prefixItems"], where)
            result.setdefault("additionalItems", False)
        if node.get("type") == "object":
            _close(result, node, where)
        return _ordered(result)

    def _reference(self, node: JsonSchema, where: str) -> JsonSchema:
        name = _name(node["$ref"])
        beside = {key: value for key, value in node.items() if key not in ("$ref", "$defs")}
        if name in self._inline:
            return self.convert({**self._definitions[name], **beside}, where)
        pointer = {"$ref": f"#/definitions/{name}"}
        if not beside:
            return dict(pointer)
        # draft-07 ignores whatever stands beside a $ref
        return {"allOf": [pointer], **self.convert(beside, where)}

    def _value(self, key: str, value: object, where: str) -> object:
        if key in _NAMED and isinstance(value, dict):
            return {name: self.convert(inner, f"{where}.{name}".strip(".")) for name, inner in value.items()}
        if isinstance(value, dict) and key not in ("default", "const"):
            return self.convert(value, where)
        if isinstance(value, list) and key in ("anyOf", "oneOf", "allOf", "prefixItems"):
            return [self.convert(inner, where) for inner in value]
        return value


def _close(result: JsonSchema, node: JsonSchema, where: str) -> None:
    allowed = node.get("additionalProperties")
    if allowed is None:
        result["additionalProperties"] = False
        result.setdefault("properties", {})
    elif allowed is True and "properties" in node:
        raise OpenObject(where)


def _ordered(schema: JsonSchema) -> JsonSchema:
    first = {key: schema[key] for key in _ORDER if key in schema}
    return first | schema


def _name(reference: object) -> str:
    return str(reference).removeprefix(_DEFINITIONS)


def _references(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield _name(node["$ref"])
        for value in node.values():
            yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)


def _is_recursive(name: str, definitions: Mapping[str, JsonSchema]) -> bool:
    seen: set[str] = set()
    queue = list(_references(definitions[name]))
    while queue:
        current = queue.pop()
        if current == name:
            return True
        if current not in seen:
            seen.add(current)
            queue.extend(_references(definitions[current]))
    return False
