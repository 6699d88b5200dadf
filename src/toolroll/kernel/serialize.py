"""Any Python value as stable, compact JSON text: the same value gives the same bytes in every process.

Order of insertion is kept and non-ASCII stays readable. Sets are sorted, because their order changes from one process
to the next and a provider's prompt cache would miss. What JSON has no word for becomes `str(value)`.
"""

import base64
import dataclasses
import json
import math
from collections.abc import Callable, Mapping
from enum import Enum
from functools import lru_cache
from typing import Final

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

MAX_RESULT_DEPTH: Final = 100
"""Levels of nesting kept as JSON; what lies deeper (or refers to itself) becomes text."""

# Core-schema nodes whose JSON is the same in every process. A set, `Any`, or bytes inside takes the careful way.
_STABLE_NODES: Final = frozenset(
    [
        "model",
        "model-fields",
        "model-field",
        "nullable",
        "default",
        "str",
        "int",
        "float",
        "bool",
        "none",
        "list",
        "dict",
        "literal",
        "enum",
        "date",
        "datetime",
        "time",
        "timedelta",
        "decimal",
        "uuid",
        "url",
        "union",
        "tagged-union",
        "definitions",
        "definition-ref",
        "dataclass",
        "dataclass-args",
        "dataclass-field",
        "typed-dict",
        "typed-dict-field",
    ]
)


def dump_json(value: object) -> str:
    """`value` as compact JSON text that is valid UTF-8."""
    if _is_stable(type(value)):
        try:
            return to_json(value, inf_nan_mode="null").decode()
        except PydanticSerializationError:
            pass  # a value its own schema cannot serialize: the careful way can
    return well_formed(json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False))


def canonical_json(value: object) -> str:
    """`value` as JSON with sorted keys: equal values give equal text, whatever order they were written in."""
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def well_formed(text: str) -> str:
    """`text` with lone surrogates replaced, so that it can always be encoded."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def plain(value: object, depth: int = 0) -> object:
    """`value` made of nothing but dict, list, str, int, float, bool and None."""
    if value is None or type(value) in (str, int, bool):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if depth >= MAX_RESULT_DEPTH:
        return str(value)
    if isinstance(value, Mapping):
        return {_key(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item, depth + 1) for item in value), key=_sort_key)
    return _plain_object(value, depth)


def _plain_object(value: object, depth: int) -> object:
    if is_model(type(value)):
        assert isinstance(value, BaseModel)
        return plain(value.model_dump(by_alias=True, warnings=False), depth + 1)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return plain(fields, depth + 1)
    if isinstance(value, Enum):
        return plain(value.value, depth + 1)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _bytes_text(bytes(value))
    return to_jsonable_python(value, fallback=str, inf_nan_mode="null")


def _key(key: object) -> str:
    if isinstance(key, str):
        return str(key)
    simple = plain(key, MAX_RESULT_DEPTH)
    return simple if isinstance(simple, str) else json.dumps(simple)


def _sort_key(item: object) -> tuple[str, str]:
    return type(item).__name__, json.dumps(item, sort_keys=True)


def _bytes_text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return base64.b64encode(data).decode()


def _is_model(kind: type) -> bool:
    return issubclass(kind, BaseModel)


def _is_stable_model(kind: type) -> bool:
    return issubclass(kind, BaseModel) and _nodes_are_stable(kind.__pydantic_core_schema__)


def _nodes_are_stable(node: object) -> bool:
    if isinstance(node, list):
        return all(map(_nodes_are_stable, node))
    if isinstance(node, tuple):  # a union's choice with its label
        return _nodes_are_stable(node[0])
    if not isinstance(node, dict):
        return True
    if "type" in node and node["type"] not in _STABLE_NODES:
        return False
    if node.get("extra_behavior") == "allow" or "serialization" in node:
        return False
    return all(_nodes_are_stable(node[key]) for key in _INNER_NODES if key in node) and all(
        map(_nodes_are_stable, _named_nodes(node))
    )


_INNER_NODES: Final = ("schema", "items_schema", "keys_schema", "values_schema", "definitions", "choices")


def _named_nodes(node: Mapping[str, object]) -> list[object]:
    fields = node.get("fields")
    if isinstance(fields, dict):
        return list(fields.values())
    return list(fields) if isinstance(fields, list) else []


# Remembered by class: pydantic answers `isinstance(value, BaseModel)` in Python, half a microsecond each time.
is_model: Callable[[type], bool] = lru_cache(maxsize=1024)(_is_model)
_is_stable: Callable[[type], bool] = lru_cache(maxsize=1024)(_is_stable_model)
