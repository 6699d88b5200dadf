"""Check arguments by a JSON Schema that somebody else wrote: each of its keywords becomes a check of pydantic's.

What is checked is exactly what the model is told. A keyword that has no check here is refused when the tool is made, so
that nobody relies on a limit that does not hold. `oneOf` counts as `anyOf`, and `format` says something to the model
only.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, cast

from pydantic import GetCoreSchemaHandler, TypeAdapter
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from toolroll.kernel.data.serialize import canonical_json, to_plain
from toolroll.kernel.define.schema import JsonSchema, convert_schema

_NOTES: Final = frozenset(
    ("$comment", "$schema", "default", "definitions", "deprecated", "description", "examples", "format", "title")
)
"""Keywords that tell a model something and forbid nothing."""
_STRING: Final = {"minLength": "min_length", "maxLength": "max_length", "pattern": "pattern"}
_NUMBER: Final = {
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "exclusiveMaximum": "lt",
    "multipleOf": "multiple_of",
}
_LIST: Final = {"minItems": "min_length", "maxItems": "max_length"}
_MAP: Final = {"minProperties": "min_length", "maxProperties": "max_length"}
_KEYWORDS: Final[Mapping[str, Collection[str]]] = {
    "string": _STRING,
    "integer": _NUMBER,
    "number": _NUMBER,
    "array": {*_LIST, "items", "uniqueItems"},
    "object": {*_MAP, "additionalProperties", "properties", "required"},
}
_REFERENCE: Final = "#/definitions/"


class UncheckedKeyword(ValueError):
    """A keyword, or a value of one, that cannot be checked; `where` is its place in the schema."""

    def __init__(self, keyword: str, where: str) -> None:
        super().__init__(keyword)
        self.keyword = keyword
        self.where = where


def normalize_schema(schema: Mapping[str, object]) -> JsonSchema:
    """Return the schema in draft-07 words, every object closed; raise `UncheckedKeyword` or `OpenObject`."""
    given: dict[str, Any] = _modernize(to_plain(schema))
    given["$defs"] = {**given.pop("definitions", {}), **given.get("$defs", {})}
    if given.get("type") != "object":
        raise UncheckedKeyword(f"type {given.get('type')!r}", "")
    return convert_schema(given)


def _modernize(node: Any) -> Any:
    """Return the schema with its references as draft 2020-12 writes them, and {} for a property that takes anything."""
    if isinstance(node, list):
        return [_modernize(one) for one in node]
    if not isinstance(node, dict):
        return node
    found: dict[str, Any] = {key: _modernize(value) for key, value in node.items()}
    if isinstance(found.get("$ref"), str):
        found["$ref"] = found["$ref"].replace(_REFERENCE, "#/$defs/")
    if isinstance(found.get("properties"), dict):
        found["properties"] = {name: {} if one is True else one for name, one in found["properties"].items()}
    return found


def adapt_schema(schema: JsonSchema) -> TypeAdapter[dict[str, object]]:
    """Return the validator of what this draft-07 schema describes; raise `UncheckedKeyword`."""
    definitions = cast("Mapping[str, JsonSchema]", schema.get("definitions", {}))
    checks = _Checks(definitions)
    root = checks.read(schema, "")
    inner = [{**checks.read(one, name), "ref": name} for name, one in definitions.items()]
    whole = core_schema.definitions_schema(root, cast("list[CoreSchema]", inner)) if inner else root

    class Described:
        @classmethod
        def __get_pydantic_core_schema__(cls, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
            return whole

    return TypeAdapter(cast("type[dict[str, object]]", Described))


class _Checks:
    """Turns the parts of one schema into checks."""

    def __init__(self, definitions: Mapping[str, object]) -> None:
        self._definitions = definitions

    def read(self, node: object, where: str) -> CoreSchema:
        if node is True or node == {}:
            return core_schema.any_schema()
        if not isinstance(node, dict):
            raise UncheckedKeyword(repr(node), where)
        left = {key: value for key, value in node.items() if key not in _NOTES}
        for keyword, read in self._whole.items():
            if keyword in left:
                found = read(self, left.pop(keyword), where)
                if keyword in ("enum", "const"):
                    left.pop("type", None)  # the values say it
                self._refuse_rest(left, where)
                return found
        kinds = left.pop("type", None)
        if isinstance(kinds, list):
            known = {key for kind in kinds for key in _KEYWORDS.get(str(kind), ())}
            self._refuse_rest({key: value for key, value in left.items() if key not in known}, where)
            return core_schema.union_schema([self._one_of_several(kind, left, where) for kind in kinds])
        return self._of_type(kinds, left, where)

    def _one_of_several(self, kind: object, left: Mapping[str, Any], where: str) -> CoreSchema:
        own = _KEYWORDS.get(str(kind), ())  # a limit on numbers says nothing about a null beside them
        return self._of_type(kind, {key: value for key, value in left.items() if key in own}, where)

    def _of_type(self, kind: object, left: dict[str, Any], where: str) -> CoreSchema:
        match kind:
            case None if not left:
                return core_schema.any_schema()
            case "string":
                return core_schema.str_schema(**self._take(left, _STRING, where))
            case "integer":
                return core_schema.int_schema(**self._take(left, _NUMBER, where))
            case "number":
                return core_schema.float_schema(**self._take(left, _NUMBER, where), allow_inf_nan=False)
            case "boolean":
                return self._plain(core_schema.bool_schema(), left, where)
            case "null":
                return self._plain(core_schema.none_schema(), left, where)
            case "array":
                return self._list(left, where)
            case "object":
                return self._object(left, where)
            case _:
                raise UncheckedKeyword(f"type {kind!r}" if kind is not None else next(iter(left)), where)

    def _plain(self, check: CoreSchema, left: Mapping[str, object], where: str) -> CoreSchema:
        self._refuse_rest(left, where)
        return check

    def _take(self, left: dict[str, Any], names: Mapping[str, str], where: str) -> dict[str, Any]:
        taken = {names[key]: left.pop(key) for key in list(left) if key in names}
        self._refuse_rest(left, where)
        return taken

    def _refuse_rest(self, left: Mapping[str, object], where: str) -> None:
        if left:
            raise UncheckedKeyword(next(iter(left)), where)

    def _list(self, left: dict[str, Any], where: str) -> CoreSchema:
        unique, items = left.pop("uniqueItems", False), left.pop("items", True)
        if isinstance(items, list):
            raise UncheckedKeyword("a list of items", where)
        found: CoreSchema = core_schema.list_schema(self.read(items, f"{where}[]"), **self._take(left, _LIST, where))
        return core_schema.no_info_after_validator_function(_check_unique, found) if unique else found

    def _object(self, left: dict[str, Any], where: str) -> CoreSchema:
        more, properties = left.pop("additionalProperties", True), left.pop("properties", {})
        required = left.pop("required", [])
        if more is not False:  # a map: the schema has no properties beside it
            limits = self._take(left, _MAP, where)
            return core_schema.dict_schema(core_schema.str_schema(), self.read(more, f"{where}.*"), **limits)
        self._refuse_rest(left, where)
        fields = {
            name: core_schema.typed_dict_field(self.read(one, f"{where}.{name}".strip(".")), required=name in required)
            for name, one in properties.items()
        }
        return core_schema.typed_dict_schema(fields, extra_behavior="forbid")

    def _choice(self, choices: Sequence[object], where: str) -> CoreSchema:
        return core_schema.union_schema([self.read(one, where) for one in choices])

    def _all(self, parts: Sequence[object], where: str) -> CoreSchema:
        if len(parts) != 1:
            raise UncheckedKeyword("allOf", where)
        return self.read(parts[0], where)

    def _values(self, values: Sequence[object], _where: str) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(_one_of(values))

    def _value(self, value: object, where: str) -> CoreSchema:
        return self._values([value], where)

    def _reference(self, reference: object, where: str) -> CoreSchema:
        name = str(reference).removeprefix(_REFERENCE)
        if not str(reference).startswith(_REFERENCE) or name not in self._definitions:
            raise UncheckedKeyword(f"$ref {reference}", where)
        return core_schema.definition_reference_schema(name)

    _whole: Final = {
        "$ref": _reference,
        "enum": _values,
        "const": _value,
        "anyOf": _choice,
        "oneOf": _choice,
        "allOf": _all,
    }


def _check_unique(items: list[object]) -> list[object]:
    if len({canonical_json(item) for item in items}) < len(items):
        raise PydanticCustomError("unique_items", "Each item may stand there once")
    return items


def _one_of(values: Sequence[object]) -> Callable[[object], object]:
    allowed = {canonical_json(value): value for value in values}
    words = ", ".join(allowed)

    def check(given: object) -> object:
        if canonical_json(given) not in allowed:
            raise PydanticCustomError("literal_error", "Input should be one of {words}", {"words": words})
        return given

    return check
