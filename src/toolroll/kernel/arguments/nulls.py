"""Remove nulls that mean "left out" before validation, so that defaults apply.

A strict form has every parameter required and those that may be left out nullable, so a model says null where it means
nothing. Whether a null is such a one is read off the plain schema: the property is not required there, and null is not
among its values. Of alternatives the one counts that the value fits, with the fewest nulls removed: a null that some
alternative takes as it is stays.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from toolroll.kernel.strict.flatten import Schema, resolve_reference
from toolroll.kernel.strict.rules import is_scalar

# Below this, a value is left as it is: the validator says what is wrong with it. Four frames a level, of 1,000.
MAX_NULL_LEVELS: Final = 60
# Pairs of a value and a schema; a megabyte of arguments is some 200,000 values.
MAX_NULL_STEPS: Final = 1_000_000

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int, float),
    "number": (int, float),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}

T = TypeVar("T")


def drop_left_out_nulls(value: T, schema: Schema) -> T:
    """Return the value without the nulls that mean "left out" under the plain schema; change nothing in place."""
    if not _has_null(value):
        return value
    cleaned: T = _Cleaning(schema).clean(value, schema, 0).value  # type: ignore[assignment]
    return cleaned


def drop_nulls_at(value: dict[str, object], locations: Sequence[Sequence[int | str]]) -> dict[str, object]:
    """Return the value without the nulls at these places; skip what is no place in it (a validator's own words)."""
    cleaned = value
    for *above, last in locations:
        holder = _holder(cleaned, above)
        if isinstance(holder, dict) and last in holder and holder[last] is None:
            cleaned = _drop(cleaned, above, last)
    return cleaned


def _holder(value: object, path: Sequence[int | str]) -> object:
    for step in path:
        known: object = value if isinstance(value, dict) else dict(enumerate(value)) if isinstance(value, list) else {}
        assert isinstance(known, dict)
        value = known.get(step)
    return value


def _drop(value: object, path: Sequence[int | str], last: int | str) -> Any:
    """Return a copy along the path only: the given value is not changed."""
    if not path:
        assert isinstance(value, dict)
        return {name: item for name, item in value.items() if name != last}
    step, rest = path[0], path[1:]
    if isinstance(value, dict):
        return {name: _drop(item, rest, last) if name == step else item for name, item in value.items()}
    assert isinstance(value, list)
    return [_drop(item, rest, last) if number == step else item for number, item in enumerate(value)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cleaned:
    value: object
    removed: int = 0
    fits: bool = True


class _Cleaning:
    def __init__(self, root: Schema) -> None:
        self._root = root
        self._steps = 0
        # Schemas of several parts lead to the same pairs again and again; in a circle, to the same pair for ever. The
        # value is kept beside the answer: a number of an object that is gone may be given to another one.
        self._known: dict[tuple[int, int], tuple[object, _Cleaned]] = {}

    def clean(self, value: object, schema: object, level: int) -> _Cleaned:
        self._steps += 1
        if level > MAX_NULL_LEVELS or self._steps > MAX_NULL_STEPS or not isinstance(schema, Mapping):
            return _Cleaned(value=value, fits=schema is not False)
        if not schema.keys() & {"$ref", "allOf", "anyOf", "oneOf"}:
            return self._single(value, schema, level)
        key = (id(value), id(schema))
        if key not in self._known:
            self._known[key] = (value, _Cleaned(value=value, fits=False))
            self._known[key] = (value, self._clean_composed(value, schema, level))
        return self._known[key][1]

    def _clean_composed(self, value: object, schema: Schema, level: int) -> _Cleaned:
        result = self._single(value, schema, level)
        parts = _as_list(schema.get("allOf"))
        if isinstance(ref := schema.get("$ref"), str):
            parts = [resolve_reference(self._root, ref), *parts]
        for part in parts:
            result = _combine(result, self.clean(result.value, part, level + 1))
        for keyword in ("anyOf", "oneOf"):
            if alternatives := _as_list(schema.get(keyword)):
                each = [self.clean(result.value, one, level + 1) for one in alternatives]
                result = _combine(result, min(each, key=lambda one: (not one.fits, one.removed)))
        return result

    def _single(self, value: object, schema: Schema, level: int) -> _Cleaned:
        if not _is_among(value, schema):
            return _Cleaned(value=value, fits=False)
        if isinstance(value, dict):
            return self._object(value, schema, level)
        if isinstance(value, list):
            return self._array(value, schema, level)
        return _Cleaned(value=value)

    def _object(self, value: dict[str, object], schema: Schema, level: int) -> _Cleaned:
        properties, rest = schema.get("properties"), schema.get("additionalProperties", True)
        known: Schema = properties if isinstance(properties, Mapping) else {}
        required = _as_list(schema.get("required"))
        cleaned = {name: self.clean(item, known.get(name, rest), level + 1) for name, item in value.items()}
        left_out = {
            name
            for name, item in cleaned.items()
            if item.value is None and not item.fits and name in known and name not in required
        }
        stay = {name: item for name, item in cleaned.items() if name not in left_out}
        removed = len(left_out) + sum(item.removed for item in stay.values())
        return _Cleaned(
            value={name: item.value for name, item in stay.items()} if removed else value,
            removed=removed,
            fits=all(item.fits for item in stay.values()) and all(name in value for name in required),
        )

    def _array(self, value: list[object], schema: Schema, level: int) -> _Cleaned:
        items = schema.get("items", True)
        first = items if isinstance(items, list) else []
        rest = schema.get("additionalItems", True) if isinstance(items, list) else items
        each = [*first[: len(value)], *[rest] * (len(value) - len(first))]
        cleaned = [self.clean(item, one, level + 1) for item, one in zip(value, each, strict=True)]
        removed = sum(item.removed for item in cleaned)
        return _Cleaned(
            value=[item.value for item in cleaned] if removed else value,
            removed=removed,
            fits=all(item.fits for item in cleaned),
        )


def _combine(first: _Cleaned, then: _Cleaned) -> _Cleaned:
    return _Cleaned(value=then.value, removed=first.removed + then.removed, fits=first.fits and then.fits)


def _has_null(value: object) -> bool:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if item is None:
            return True
        if isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
    return False


def _is_among(value: object, schema: Schema) -> bool:
    """Return whether type and fixed values admit the value; other restrictions do not choose between alternatives."""
    named = schema.get("type")
    kinds = [named] if isinstance(named, str) else _as_list(named)
    if kinds and not any(_is_of(value, kind) for kind in kinds):
        return False
    if "const" in schema:
        return _same(value, schema["const"])
    return "enum" not in schema or any(_same(value, fixed) for fixed in _as_list(schema["enum"]))


def _is_of(value: object, kind: object) -> bool:
    if not isinstance(kind, str) or (isinstance(value, bool) and kind != "boolean"):
        return False
    return isinstance(value, _TYPES.get(kind, ())) and not (kind == "integer" and value != _whole(value))


def _whole(value: object) -> object:
    return value // 1 if isinstance(value, int | float) else value


def _same(one: object, other: object) -> bool:
    # Fixed values that are not scalars have no strict form, and comparing them recurses as deep as they are.
    if isinstance(one, bool) != isinstance(other, bool) or not is_scalar(one):
        return False
    return one == other


def _as_list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else []
