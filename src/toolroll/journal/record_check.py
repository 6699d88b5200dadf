"""A check that a record will read back, made before it is written and so before what it announces happens.

Nothing checks the types of a dataclass when it is made. A value of another type would be written as JSON all the same,
and only the reader would refuse it, when files have long been changed. The reader's own parser would do for the check,
but it takes 90 ms to build, which a run that only writes never pays; these checks take a millisecond.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from toolroll.errors import JournalRefused
from toolroll.journal.records import Record

Check: TypeAlias = Callable[[Any], bool]


def check_record(record: Record) -> None:
    """Raise `JournalRefused` for a record that could not be read back."""
    kind: type = type(record)
    for name, usual, check in _field_checks(kind):
        value = getattr(record, name)
        if type(value) not in usual and not check(value):
            fault = f"{name} holds a value that could not be read back"
            raise JournalRefused(f"What the run keeps ({record.kind}) cannot be stored: {fault}.")


@cache
def _field_checks(kind: type) -> tuple[tuple[str, frozenset[type], Check], ...]:
    """Each field with the types that need no further look, which most values are of, and the check for all others."""
    hints = {field.name: get_type_hints(kind)[field.name] for field in fields(kind)}
    return tuple((name, _plain_types(hint), _check_of(hint)) for name, hint in hints.items())


def _plain_types(hint: Any) -> frozenset[type]:
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return frozenset(kind for kind in kinds if kind in _PLAIN and kind is not object)


@cache
def _check_of(hint: Any) -> Check:
    if hint in _PLAIN:
        return _PLAIN[hint]
    if is_dataclass(hint) and isinstance(hint, type):
        return _dataclass_check(hint)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        words = frozenset(inner)
        return lambda value: type(value) is str and value in words
    if origin in (Union, UnionType):
        return _union_check(inner)
    if origin is tuple:
        return _tuple_check(inner)
    assert origin is not None
    assert issubclass(origin, Mapping), f"no check for {hint}"
    item = _check_of(inner[1])
    return lambda value: isinstance(value, Mapping) and all(map(item, value.values()))


def _dataclass_check(kind: type) -> Check:
    def check(value: Any) -> bool:
        if not isinstance(value, kind):
            return False
        for name, usual, is_good in _field_checks(kind):
            part = getattr(value, name)
            if type(part) not in usual and not is_good(part):
                return False
        return True

    return check


def _union_check(kinds: tuple[Any, ...]) -> Check:
    checks = {kind: _check_of(kind) for kind in kinds}

    def check(value: Any) -> bool:
        known = checks.get(type(value))
        return known(value) if known is not None else any(one(value) for one in checks.values())

    return check


def _tuple_check(inner: tuple[Any, ...]) -> Check:
    if inner[-1] is ...:
        item = _check_of(inner[0])
        return lambda value: isinstance(value, _LISTS) and all(map(item, value))
    items = tuple(map(_check_of, inner))
    return lambda value: (
        isinstance(value, _LISTS)
        and len(value) == len(items)
        and all(one(part) for one, part in zip(items, value, strict=True))
    )


_LISTS: Final = (tuple, list)
_PLAIN: Final[Mapping[Any, Check]] = {
    str: lambda value: isinstance(value, str),
    int: lambda value: isinstance(value, int),
    float: lambda value: isinstance(value, (float, int)),
    bool: lambda value: isinstance(value, bool),
    bytes: lambda value: isinstance(value, bytes),
    object: lambda _value: True,  # what has no JSON is stored as text, what is too deep is cut off
    NoneType: lambda value: value is None,
}
