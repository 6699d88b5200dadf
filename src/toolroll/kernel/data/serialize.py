"""Write any Python value as stable, compact JSON: the same value gives the same bytes in every process.

Order of insertion is kept and non-ASCII stays readable. Sets are sorted, because their order changes from one process
to the next and a provider's prompt cache would miss. What JSON has no word for becomes `str(value)`.
"""

import base64
import dataclasses
import json
import math
import re
from collections import deque
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from enum import Enum
from functools import cache, lru_cache
from io import IOBase
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

if TYPE_CHECKING:
    from pydantic.types import SecretBytes, SecretStr

MAX_RESULT_DEPTH: Final = 100
"""Levels of nesting kept as JSON; what lies deeper (or refers to itself) becomes text."""

_MAX_INTEGER: Final = 10**4300  # Python writes no longer ones in decimal, and nobody reads them back
_LISTS: Final = (list, tuple, deque, Iterator, KeysView, ItemsView, ValuesView)
_ADDRESS: Final = re.compile(" at 0x[0-9a-fA-F]+(?=>)")  # another one in every process, and of no use to a reader

# Kept: `json.dumps` makes an encoder for each call that wants another format than its own, half of its time.
_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_SORTED: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)

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
    """Return `value` as compact JSON text that is valid UTF-8."""
    if is_stable_model(type(value)):
        try:
            return to_json(value, inf_nan_mode="null").decode()
        except PydanticSerializationError:
            pass  # a value its own schema cannot serialize: the careful way can
    return dump_plain(to_plain(value))


def dump_plain(value: object) -> str:
    """Return what `to_plain` returned as compact JSON text that is valid UTF-8."""
    return replace_surrogates(_COMPACT.encode(value))


def canonical_json(value: object) -> str:
    """Return `value` as JSON with sorted keys: equal values give equal text, whatever their order."""
    return _sorted_json(to_plain(value))


def _sorted_json(value: object) -> str:
    return _SORTED.encode(value)


def replace_surrogates(text: str) -> str:
    """Return `text` with lone surrogates replaced, so that it can always be encoded."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def to_plain(value: object) -> object:
    """Return `value` made of nothing but dict, list, str, int, float, bool and None."""
    return _Plainer().convert(value)


def to_plain_unfiltered(value: object) -> object:
    """Do as `to_plain`, with every field of every model under its own name: also those excluded from its JSON."""
    return _Whole().convert(value)


def dump_sealed(value: object) -> str:
    """Return `to_plain_unfiltered` with its secrets as canonical JSON: to hash, never to show."""
    return _sorted_json(_Revealed().convert(value))


class _Plainer:
    """Walks one value; knows which containers it is inside of, so that one that holds itself ends as text."""

    def __init__(self) -> None:
        self._inside: set[int] = set()

    def convert(self, value: object, depth: int = 0) -> object:
        if value is None or type(value) in (str, bool):
            return value
        if type(value) is int:
            return value if -_MAX_INTEGER < value < _MAX_INTEGER else hex(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else None
        if depth >= MAX_RESULT_DEPTH or id(value) in self._inside:
            return safe_str(value)
        self._inside.add(id(value))
        try:
            return self._convert_container(value, depth + 1)
        finally:
            self._inside.discard(id(value))

    def _convert_container(self, value: object, depth: int) -> object:
        if isinstance(value, Mapping):
            return {self._key(key, depth): self.convert(item, depth) for key, item in value.items()}
        if isinstance(value, (set, frozenset)):
            return sorted((self.convert(item, depth) for item in value), key=_sort_key)
        if isinstance(value, _LISTS) and not isinstance(value, IOBase):  # an open file yields its lines
            return [self.convert(item, depth) for item in value]
        if is_model(type(value)):
            assert isinstance(value, BaseModel)
            return self.convert(self._model(value), depth)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return self.convert(
                _set_fields(value, ((field.name, field.name) for field in dataclasses.fields(value))), depth
            )
        return self._single(value, depth)

    def _model(self, model: BaseModel) -> Mapping[str, object]:
        try:
            return model.model_dump(by_alias=True, warnings=False)
        except (ValueError, RecursionError):  # it holds itself, is too deep, or its own serializer failed
            return _all_fields(model)

    def _single(self, value: object, depth: int) -> object:
        if isinstance(value, Enum):
            return self.convert(value.value, depth)
        if isinstance(value, (bytes, bytearray, memoryview)):
            return _bytes_text(bytes(value))
        if isinstance(value, int):
            return self.convert(int(value), depth)
        if isinstance(value, str):
            return str.__str__(value)
        return safe_str(value) if isinstance(value, IOBase) else to_jsonable_python(value, fallback=safe_str)

    def _key(self, key: object, depth: int) -> str:
        if type(key) is str:
            return key
        simple = self.convert(key, depth)
        return simple if isinstance(simple, str) else json.dumps(simple, separators=(",", ":"))


class _Whole(_Plainer):
    def _convert_container(self, value: object, depth: int) -> object:
        # What is given to a tool must still be there when it runs; only what came out of one may be used up.
        return safe_str(value) if isinstance(value, Iterator) else super()._convert_container(value, depth)

    def _model(self, model: BaseModel) -> Mapping[str, object]:
        return _all_fields(model)


class _Revealed(_Whole):
    def _single(self, value: object, depth: int) -> object:
        if isinstance(value, _secret_kinds()):
            return self.convert(value.get_secret_value(), depth)
        return super()._single(value, depth)


@cache
def _secret_kinds() -> "tuple[type[SecretStr], type[SecretBytes]]":
    from pydantic.types import SecretBytes, SecretStr  # noqa: PLC0415 - a quarter of pydantic, and only to seal a call

    return SecretStr, SecretBytes


def _all_fields(model: BaseModel) -> dict[str, object]:
    names = ((name, field.serialization_alias or name) for name, field in type(model).model_fields.items())
    return _set_fields(model, names) | (model.__pydantic_extra__ or {})


def _set_fields(value: object, names: Iterable[tuple[str, str]]) -> dict[str, object]:
    return {shown: getattr(value, name) for name, shown in names if hasattr(value, name)}


def safe_str(value: object) -> str:
    """Return `str(value)`, whatever it is, and the same in every process."""
    try:
        text = str(value)
    except Exception:  # noqa: BLE001 - foreign code that cannot even name itself is no reason to lose a result
        text = f"<{type(value).__qualname__}>"
    return _ADDRESS.sub("", text)


def _sort_key(item: object) -> tuple[str, float, str]:
    if isinstance(item, (int, float)) and not isinstance(item, bool):
        return "number", item, ""
    return type(item).__name__, 0, json.dumps(item, sort_keys=True, ensure_ascii=False)


def _bytes_text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return base64.b64encode(data).decode()


def _is_model(kind: type) -> bool:
    return issubclass(kind, BaseModel)


def _is_stable(kind: type) -> bool:
    return issubclass(kind, BaseModel) and _nodes_are_stable(kind.__pydantic_core_schema__)


def _nodes_are_stable(node: object) -> bool:
    if isinstance(node, list):
        return all(map(_nodes_are_stable, node))
    if isinstance(node, tuple):  # a union's choice with its label
        return _nodes_are_stable(node[0])
    if not isinstance(node, dict) or node["type"] not in _STABLE_NODES or _is_custom(node):
        return False
    return all(_nodes_are_stable(node[key]) for key in _INNER_NODES if key in node) and all(
        map(_nodes_are_stable, _named_nodes(node))
    )


def _is_custom(node: Mapping[str, object]) -> bool:
    """Return whether it writes something that its schema does not say."""
    config = node.get("config")
    extra = config.get("extra_fields_behavior") if isinstance(config, dict) else None
    return "allow" in (extra, node.get("extra_behavior")) or any(node.get(key) for key in _CUSTOM)


_CUSTOM: Final = ("serialization", "computed_fields", "root_model")
_INNER_NODES: Final = ("schema", "items_schema", "keys_schema", "values_schema", "definitions")


def _named_nodes(node: Mapping[str, object]) -> list[object]:
    """Return the nodes under names: a model's fields, and the choices of a union, which may be a list too."""
    named = node.get("fields") or node.get("choices") or ()
    assert isinstance(named, (dict, list, tuple))
    nodes = named.values() if isinstance(named, dict) else named
    return [node for node in nodes if not isinstance(node, str)]  # a dataclass lists its fields by name as well


# Remembered by class: pydantic answers `isinstance(value, BaseModel)` in Python, half a microsecond each time.
is_model: Callable[[type], bool] = lru_cache(maxsize=1024)(_is_model)
is_stable_model: Callable[[type], bool] = lru_cache(maxsize=1024)(_is_stable)
