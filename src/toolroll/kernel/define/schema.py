"""Write the JSON Schema (draft-07) of a tool's arguments: closed objects, stable bytes, nothing superfluous.

pydantic speaks draft 2020-12; here its schema is put into draft-07 words. Titles are dropped (they repeat the names),
and a definition that is used once stands where it is used: small schemas are read best, by models too.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from pydantic import TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind
from pydantic_core import PydanticSerializationError, to_jsonable_python

from toolroll.kernel.data.serialize import to_plain

JsonSchema: TypeAlias = dict[str, object]

_DEFINITIONS: Final = "#/$defs/"
# Where schemas stand in a schema: alone, in a list, under names. All else is data, and may look like a schema.
_SINGLE: Final = frozenset({"items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else"})
_LISTED: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_NAMED: Final = frozenset({"properties", "patternProperties"})
_DROPPED: Final = frozenset({"$defs", "contentSchema", "discriminator", "prefixItems", "title"})
_ORDER: Final = ("$ref", "type", "description", "properties", "required", "additionalProperties")


class OpenObject(ValueError):
    """A model that takes fields it does not name (`extra="allow"`); `where` is its place in the schema."""

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.where = where


def to_draft07(adapter: TypeAdapter[Any]) -> JsonSchema:
    """Return the draft-07 schema of what the adapter takes, every object closed."""
    return convert_schema(adapter.json_schema(mode="validation", schema_generator=_Generator))


def convert_schema(modern: JsonSchema) -> JsonSchema:
    """Return a schema of draft 2020-12 as a draft-07 one, every object closed."""
    modern = dict(modern)
    raw: Any = modern.pop("$defs", {})
    if _is_reference(modern):  # a recursive model: pydantic puts even the root among the definitions
        modern = raw[_name(modern)]
    uses = Counter(_references(modern))
    for definition in raw.values():
        uses.update(_references(definition))
    inline = {name for name in raw if uses[name] == 1 and not _is_recursive(name, raw)}
    converter = _Converter({name: raw[name] for name in inline})
    schema = converter.convert(modern, "")
    kept = sorted(name for name in raw if name not in inline and uses[name])
    if kept:
        schema["definitions"] = {name: converter.convert(raw[name], name) for name in kept}
    return schema


def to_json_default(value: object) -> object:
    """Return a default as JSON, the same in every process; `ValueError` for what JSON cannot carry."""
    try:
        json.dumps(to_jsonable_python(value), allow_nan=False)
    except PydanticSerializationError as error:
        raise ValueError(str(error)) from None
    return to_plain(value)


class _Generator(GenerateJsonSchema):
    def encode_default(self, dft: Any) -> Any:
        try:
            return to_json_default(dft)  # pydantic's own leaves a set inside a model in the order of this process
        except ValueError as error:
            raise PydanticInvalidForJsonSchema(f"JSON cannot carry the default {dft!r}: {error}") from None

    def emit_warning(self, kind: JsonSchemaWarningKind, detail: str) -> None:
        if kind != "skipped-discriminator":  # which is dropped from the schema anyway
            raise PydanticInvalidForJsonSchema(detail)


class _Converter:
    def __init__(self, inline: Mapping[str, JsonSchema]) -> None:
        self._inline = inline

    def convert(self, node: JsonSchema, where: str) -> JsonSchema:
        if _is_reference(node):
            return self._reference(node, where)
        result = {key: self._value(key, value, where) for key, value in node.items() if key not in _DROPPED}
        if "prefixItems" in node:
            result["additionalItems"] = result.get("items", False)
            result["items"] = self._value("prefixItems", node["prefixItems"], where)
        if node.get("type") == "object":
            _close(result, node, where)
        return _order_keys(result)

    def _reference(self, node: JsonSchema, where: str) -> JsonSchema:
        name = _name(node)
        beside = {key: value for key, value in node.items() if key != "$ref"}
        if name in self._inline:
            return self.convert({**self._inline[name], **beside}, where)
        pointer: JsonSchema = {"$ref": f"#/definitions/{name}"}
        # draft-07 ignores whatever stands beside a $ref
        return {"allOf": [pointer], **self.convert(beside, where)} if beside else pointer

    def _value(self, key: str, value: object, where: str) -> object:
        if key in _NAMED and isinstance(value, dict):
            return {name: self.convert(inner, f"{where}.{name}".strip(".")) for name, inner in value.items()}
        if key in _SINGLE and isinstance(value, dict):
            return self.convert(value, where)
        if key in _LISTED and isinstance(value, list):
            return [self.convert(inner, where) for inner in value]
        return value


def _close(result: JsonSchema, node: JsonSchema, where: str) -> None:
    allowed = node.get("additionalProperties")
    if allowed is None:
        result["additionalProperties"] = False
        result.setdefault("properties", {})
    elif allowed is not False and "properties" in node:
        raise OpenObject(where)


def _order_keys(schema: JsonSchema) -> JsonSchema:
    first = {key: schema[key] for key in _ORDER if key in schema}
    return first | schema


def _is_reference(node: JsonSchema) -> bool:
    return str(node.get("$ref")).startswith(_DEFINITIONS)  # another one is a user's own, and leads out of here


def _name(node: JsonSchema) -> str:
    return str(node["$ref"]).removeprefix(_DEFINITIONS)


def _references(node: JsonSchema) -> Iterator[str]:
    if _is_reference(node):
        yield _name(node)
    for key, value in node.items():
        for child in _children(key, value):
            yield from _references(child)


def _children(key: str, value: Any) -> Iterator[JsonSchema]:
    if key in _NAMED:
        yield from value.values()
    elif key in _LISTED:
        yield from value
    elif key in _SINGLE and isinstance(value, dict):
        yield value


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
