"""Say what a strict mode of tool calling accepts, and put restrictions that it does not accept into words.

The rules of each provider are in `models/strict.py`.

A strict schema never has `oneOf` (`anyOf` says enough, the executor checks the rest) or `allOf`: they are rewritten.
It refers to its own definitions by `$ref` without siblings, and its root is a plain closed object. What differs between
providers is below.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

# Ours, against hostile schemas (a server's tools are its own text). Five interpreter frames go to a level, of 1,000.
MAX_LEVELS: Final = 50
# Twice the largest limit of a provider; definitions count at each use, so that doubling references end here too.
MAX_PARTS: Final = 10_000
# A longer pattern or default tells a model nothing, and every request pays for it.
MAX_DESCRIBED_CHARACTERS: Final = 200
# JSON numbers beyond 64 bits are read differently by every parser; and Python refuses to print very long ones.
_LARGEST: Final = 2**63
_BOUNDS: Final = {
    "string": (("minLength", "maxLength", " character"),),
    "array": (("minItems", "maxItems", " item"),),
    "integer": (("minimum", "maximum", ""),),
    "number": (("minimum", "maximum", ""),),
}

_NUMBER: Final = (
    ("exclusiveMinimum", "more than {}"),
    ("exclusiveMaximum", "less than {}"),
    ("multipleOf", "a multiple of {}"),
)

_OTHERS: Final = {
    "string": (("pattern", "matching {}"), ("format", "format {}"), ("contentEncoding", "{} encoded")),
    "array": (("uniqueItems", "no repeats"),),
    "integer": _NUMBER,
    "number": _NUMBER,
}

_DESCRIBED: Final = frozenset(
    {"default"}
    | {keyword for bounds in _BOUNDS.values() for low, high, _ in bounds for keyword in (low, high)}
    | {keyword for others in _OTHERS.values() for keyword, _ in others}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StrictRules:
    """A strict mode: what a schema may say, how large it may be, what one request may hold."""

    name: str
    # Restrictions that may stay in the schema, with any value unless it is named below; all others are dropped and
    # told in the description, as `default` is in any case: a strict parameter is never left to it.
    keywords: frozenset[str] = frozenset()
    string_formats: frozenset[str] = frozenset()
    min_items: frozenset[int] = frozenset()
    # How a parameter that may be left out is said: required and nullable, or absent from `required`.
    optional: Literal["nullable", "absent"] = "nullable"
    # Whether the planner may say it the other way where that makes more tools fit.
    takes_absent: bool = False
    takes_recursion: bool = False
    # Alternatives of one union that are objects must differ in their first property, or in its fixed values.
    distinct_first_keys: bool = False
    definitions_key: Literal["$defs", "definitions"] = "$defs"
    max_depth: int | None = None
    max_properties: int | None = None
    max_enum_values: int | None = None
    max_name_characters: int | None = None
    large_enum_values: int | None = None
    max_large_enum_characters: int | None = None
    # Budgets of a whole request, over all its strict tools.
    max_strict_tools: int | None = None
    max_optional_parameters: int | None = None
    max_union_parameters: int | None = None
    # No vendor publishes how large a compiled grammar may be; whoever has met the ceiling can set it here.
    max_cost: int | None = None

    def keeps(self, keyword: str, value: object) -> bool:
        """Return whether the restriction may stay in the schema with that value."""
        if keyword not in self.keywords:
            return False
        if keyword == "format":
            return isinstance(value, str) and value in self.string_formats
        if keyword == "minItems" and self.min_items:
            return isinstance(value, int) and value in self.min_items
        return True


def keep_restrictions(schema: Mapping[str, object], kind: str, rules: StrictRules) -> dict[str, object]:
    """Return the restrictions of a value of that type that the provider takes as they are."""
    values = {keyword: schema[keyword] for keyword in _restrictions(kind) if keyword in schema}
    return {keyword: value for keyword, value in values.items() if is_scalar(value) and rules.keeps(keyword, value)}


def describe_restrictions(schema: Mapping[str, object], kind: str, rules: StrictRules) -> str:
    """Describe the restrictions of a value of that type that are dropped, and its default; "" if there are none."""
    dropped = {key: schema[key] for key in _DESCRIBED & schema.keys() if not rules.keeps(key, schema[key])}
    if not dropped:
        return ""
    restrictions = ", ".join((*_bounds(dropped, kind), *_others(dropped, kind)))
    parts = [part for part in (restrictions, _default(dropped)) if part]
    return f"({'; '.join(parts)})" if parts else ""


def is_scalar(value: object) -> bool:
    """Return whether it is a string, boolean, null, or a number that survives JSON."""
    if isinstance(value, int):
        return -_LARGEST <= value < 2 * _LARGEST
    return value is None or isinstance(value, str) or (isinstance(value, float) and math.isfinite(value))


def short_json(value: object) -> str | None:
    """Return the value as JSON, when it is flat and short."""
    flat = (
        is_scalar(value)
        or (isinstance(value, list) and all(map(is_scalar, value)))
        or (isinstance(value, dict) and all(map(is_scalar, (*value, *value.values()))))
    )
    text = json.dumps(value, ensure_ascii=False) if flat else ""
    return text if 0 < len(text) <= MAX_DESCRIBED_CHARACTERS else None


def _restrictions(kind: str) -> Iterator[str]:
    for low, high, _ in _BOUNDS.get(kind, ()):
        yield from (low, high)
    for keyword, _ in _OTHERS.get(kind, ()):
        yield keyword


def _bounds(schema: Mapping[str, object], kind: str) -> Iterator[str]:
    for low_keyword, high_keyword, unit in _BOUNDS.get(kind, ()):
        low, high = _number(schema.get(low_keyword)), _number(schema.get(high_keyword))
        if low is not None and low == high:
            yield f"exactly {low}{_pluralize(unit, low)}"
        else:
            parts = [f"{word} {bound}" for word, bound in (("at least", low), ("at most", high)) if bound]
            if parts:
                yield ", ".join(parts) + _pluralize(unit, high or low)


def _others(schema: Mapping[str, object], kind: str) -> Iterator[str]:
    for keyword, phrase in _OTHERS.get(kind, ()):
        value = schema.get(keyword)
        text = value if isinstance(value, str) else short_json(value)
        if value is not None and value is not False and text and len(text) <= MAX_DESCRIBED_CHARACTERS:
            yield phrase.format(text)


def _default(schema: Mapping[str, object]) -> str:
    # A default of null is what null means anyway.
    text = short_json(schema.get("default"))
    return f"default {text}" if text and text != "null" else ""


def _number(value: object) -> str | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return short_json(value) if is_number else None


def _pluralize(unit: str, number: str | None) -> str:
    return unit if not unit or number == "1" else unit + "s"
