"""Validate the arguments of a tool, from JSON text to a checked value; refuse duplicate keys and infinite numbers."""

import dataclasses
from cmath import isfinite
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, to_json

from toolroll.errors import ArgumentsRefused
from toolroll.kernel.arguments.key_count import KeyCounter
from toolroll.kernel.arguments.parse import BLANKS, parse_object
from toolroll.kernel.data.serialize import dump_json, is_model
from toolroll.safe.limits import MAX_ARGUMENTS_BYTES, MAX_VALIDATION_ERRORS_SHOWN

if TYPE_CHECKING:
    from toolroll.kernel.define.schema import JsonSchema

Place: TypeAlias = tuple[int | str, ...]
_LISTS: Final = (list, tuple, set, frozenset, deque)
_NEVER: Final = frozenset(
    (
        *("str", "int", "bool", "none", "literal", "enum", "date", "datetime", "time", "timedelta", "uuid", "url"),
        *("list", "dict", "nullable", "default", "union", "definitions", "definition-ref", "typed-dict"),
        *("typed-dict-field", "model", "model-fields", "model-field"),
    )
)

_INNER: Final = ("schema", "items_schema", "keys_schema", "values_schema", "definitions", "fields", "choices")
MAX_VALUE_CHARACTERS: Final = 80
"""How much of a wrong value, or of a name, is repeated to the model; it knows what it wrote."""

MAX_REASON_CHARACTERS: Final = 300
"""How much is said about one fault: a validator's own words can be of any length."""

_EXTRA: Final = ("extra_forbidden", "unexpected_keyword_argument")
_WRONG_TYPE: Final = ("_type", "enum", "literal_error")
_MISSING: Final = ("missing", "missing_argument", "missing_keyword_only_argument")


class ArgumentValidator:
    """Validates the arguments of one tool; `parameters` is the plain schema that its model was given."""

    def __init__(self, tool: str, adapter: TypeAdapter[Any], parameters: "JsonSchema") -> None:
        self._tool = tool
        self._parameters = parameters
        self._validate_json = adapter.validator.validate_json
        self._keys = KeyCounter(adapter.core_schema)
        self._may_be_infinite = may_be_infinite(adapter.core_schema)

    def validate(self, raw: str) -> object:
        """Return the checked value; raise `JsonRefused` or `ArgumentsRefused`."""
        if not raw or (raw.isspace() and not raw.strip(BLANKS)):
            raw = "{}"  # no text at all counts as no arguments: some servers send that
        elif len(raw) * 4 > MAX_ARGUMENTS_BYTES:  # a character is up to four bytes
            parse_object(raw)
        try:
            # From the text, not from parsed values: a date in a strict field is a string in JSON, and only there.
            value: object = self._validate_json(raw, extra="forbid")
        except ValidationError as error:
            value = self._validate_without_nulls(raw, error)
        if not self._keys.proves_unambiguous(raw, value):
            parse_object(raw)
            if self._may_be_infinite and (found := find_infinite(value)):
                raise ArgumentsRefused(describe_infinite(self._tool, *found))
        return value

    def _validate_without_nulls(self, raw: str, first: ValidationError) -> object:
        from toolroll.kernel.arguments.nulls import drop_left_out_nulls, drop_nulls_at  # noqa: PLC0415 - most programs that import toolroll never need it

        # A strict provider makes a model write every parameter, and null for those it means to leave out. Where the
        # validator points at them they are dropped at once; walking the schema costs ten times as much.
        parsed = parse_object(raw)
        pointed_at = drop_nulls_at(parsed, find_refused_nulls(first))
        if pointed_at != parsed:
            with suppress(ValidationError):
                return self._validate_json(to_json(pointed_at), extra="forbid")
        without_nulls = drop_left_out_nulls(parsed, self._parameters)
        if without_nulls != parsed:
            try:
                return self._validate_json(to_json(without_nulls), extra="forbid")
            except ValidationError as second:
                first = second
        raise ArgumentsRefused(describe_errors(self._tool, first, self._parameters))


def may_be_infinite(node: object) -> bool:
    """Return whether a value of this core schema may hold such a number; asked once per tool."""
    if isinstance(node, (list, tuple)):
        return any(map(may_be_infinite, node))
    if not isinstance(node, Mapping):
        return False
    if not isinstance(node.get("type"), str):  # fields by their names
        return any(map(may_be_infinite, node.values()))
    return node["type"] not in _NEVER or any(may_be_infinite(node[key]) for key in _INNER if key in node)


def find_infinite(value: object, place: Place = ()) -> tuple[Place, object] | None:
    """Return the first number that is not finite, and where; defaults of a model were not sent and do not count."""
    if isinstance(value, (float, complex)):
        return None if isfinite(value) else (place, value)
    if isinstance(value, Decimal):
        return None if value.is_finite() else (place, value)
    for step, inner in _inner(value):
        found = find_infinite(inner, (*place, step))
        if found is not None:
            return found
    return None


def _inner(value: object) -> Iterable[tuple[int | str, object]]:
    if isinstance(value, Mapping):
        return ((str(key), inner) for key, item in value.items() for inner in (key, item))
    if isinstance(value, _LISTS):
        return enumerate(value)
    if is_model(type(value)):
        assert isinstance(value, BaseModel)
        return ((name, getattr(value, name)) for name in value.model_fields_set)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return ((field.name, getattr(value, field.name, None)) for field in dataclasses.fields(value))
    return ()


def describe_errors(tool: str, error: ValidationError, parameters: "JsonSchema") -> str:
    """Return all errors of one call, one per line."""
    details = error.errors(include_url=False, include_context=False)
    lines = [f"- {_fault(detail, parameters)}" for detail in details[:MAX_VALIDATION_ERRORS_SHOWN]]
    if len(details) > len(lines):
        lines.append(f"- ...and {len(details) - len(lines)} more")
    return f"Invalid arguments for {tool}:\n" + "\n".join(lines)


def find_refused_nulls(error: ValidationError) -> list[tuple[int | str, ...]]:
    """Return where a null was refused for its type alone; what a validator of the user's refuses does not count."""
    details = error.errors(include_url=False, include_context=False)
    return [one["loc"] for one in details if one["input"] is None and one["type"].endswith(_WRONG_TYPE)]


def _fault(detail: ErrorDetails, parameters: "JsonSchema") -> str:
    location = detail["loc"]
    place = _place(location)
    if detail["type"] in _EXTRA:
        return f"{place}: there is no such parameter{_list_parameters(_schema_at(location[:-1], parameters))}"
    if detail["type"] in _MISSING:
        return f"{place}: missing, and required{_kind(_schema_at(location, parameters))}"
    return f"{place}: {_cut(detail['msg'], MAX_REASON_CHARACTERS)} (got {_show_value(detail['input'])})"


def describe_infinite(tool: str, location: tuple[int | str, ...], value: object) -> str:
    """Return the error about a number that is not finite."""
    return f"Invalid arguments for {tool}:\n- {_place(location)}: a number must be finite, not {_cut(str(value))}"


def _place(location: tuple[int | str, ...]) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{_cut(step)}" for step in location)
    return _cut("".join(steps).removeprefix("."), MAX_REASON_CHARACTERS) or "arguments"


def _schema_at(location: tuple[int | str, ...], parameters: "JsonSchema") -> Mapping[str, object]:
    """Return what the schema says of that place; nothing where it gives a choice."""
    found: object = parameters
    for step in location:
        inner = _resolve(found, parameters)
        properties = inner.get("properties")
        found = inner.get("items") if isinstance(step, int) else isinstance(properties, dict) and properties.get(step)
    return _resolve(found, parameters)


def _resolve(schema: object, parameters: "JsonSchema") -> Mapping[str, object]:
    if not isinstance(schema, dict):
        return {}
    reference, definitions = schema.get("$ref"), parameters.get("definitions")
    if isinstance(reference, str) and isinstance(definitions, dict):
        return _resolve(definitions.get(reference.removeprefix("#/definitions/")), {})
    choices = schema.get("anyOf")
    if isinstance(choices, list):
        given = [choice for choice in choices if choice != {"type": "null"}]
        return _resolve(given[0], parameters) if len(given) == 1 else schema
    return schema


def _list_parameters(schema: Mapping[str, object]) -> str:
    names = schema.get("properties")
    if not isinstance(names, dict):
        return ""
    return f"; it takes: {', '.join(names)}" if names else "; it takes none"


def _kind(schema: Mapping[str, object]) -> str:
    return f" ({schema['type']})" if isinstance(schema.get("type"), str) else ""


def _show_value(value: object) -> str:
    return _cut(dump_json(value))


def _cut(text: str, limit: int = MAX_VALUE_CHARACTERS) -> str:
    return text if len(text) <= limit else text[:limit] + "…"
