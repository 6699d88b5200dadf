"""Describe validation errors so that a model can repair its call: which field, what was wrong, what was expected."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from toolroll.kernel.data.serialize import dump_json
from toolroll.safe.limits import MAX_VALIDATION_ERRORS_SHOWN

if TYPE_CHECKING:
    from toolroll.kernel.define.schema import JsonSchema

MAX_VALUE_CHARACTERS: Final = 80
"""How much of a wrong value, or of a name, is repeated to the model; it knows what it wrote."""

MAX_REASON_CHARACTERS: Final = 300
"""How much is said about one fault: a validator's own words can be of any length."""

_EXTRA: Final = ("extra_forbidden", "unexpected_keyword_argument")
_WRONG_TYPE: Final = ("_type", "enum", "literal_error")
_MISSING: Final = ("missing", "missing_argument", "missing_keyword_only_argument")


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
        return f"{place}: there is no such parameter{_known(_schema_at(location[:-1], parameters))}"
    if detail["type"] in _MISSING:
        return f"{place}: missing, and required{_kind(_schema_at(location, parameters))}"
    return f"{place}: {_cut(detail['msg'], MAX_REASON_CHARACTERS)} (got {_shown(detail['input'])})"


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
        inner = _resolved(found, parameters)
        properties = inner.get("properties")
        found = inner.get("items") if isinstance(step, int) else isinstance(properties, dict) and properties.get(step)
    return _resolved(found, parameters)


def _resolved(schema: object, parameters: "JsonSchema") -> Mapping[str, object]:
    if not isinstance(schema, dict):
        return {}
    reference, definitions = schema.get("$ref"), parameters.get("definitions")
    if isinstance(reference, str) and isinstance(definitions, dict):
        return _resolved(definitions.get(reference.removeprefix("#/definitions/")), {})
    choices = schema.get("anyOf")
    if isinstance(choices, list):
        given = [choice for choice in choices if choice != {"type": "null"}]
        return _resolved(given[0], parameters) if len(given) == 1 else schema
    return schema


def _known(schema: Mapping[str, object]) -> str:
    names = schema.get("properties")
    if not isinstance(names, dict):
        return ""
    return f"; it takes: {', '.join(names)}" if names else "; it takes none"


def _kind(schema: Mapping[str, object]) -> str:
    return f" ({schema['type']})" if isinstance(schema.get("type"), str) else ""


def _shown(value: object) -> str:
    return _cut(dump_json(value))


def _cut(text: str, limit: int = MAX_VALUE_CHARACTERS) -> str:
    return text if len(text) <= limit else text[:limit] + "…"
