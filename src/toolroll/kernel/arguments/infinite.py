"""Find numbers that are not finite: a model may write "inf", "nan" or "1e999" as text where a float is wanted.

Pydantic turns such text into a float, JSON has no word for it, and a person would be shown null. So it is refused.
"""

import dataclasses
from cmath import isfinite
from collections import deque
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final, TypeAlias

from pydantic import BaseModel

from toolroll.kernel.data.serialize import is_model

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
