"""Readers for the JSON that a provider sends: each returns a value of the type we rely on.

What is needed (a name, arguments, text) and has another type raises a `ShapeFault`, which names the place. What only
decorates an answer (citations, counts) and has another type is left out. So whatever enters a message can be stored,
read back and sent again.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from pydantic_core import from_json

from toolroll.errors import AnswerTooLarge, ProviderFailed
from toolroll.messages import MODEL_TOO_MANY_BLOCKS
from toolroll.safe.text import one_line

T = TypeVar("T")

MAX_COUNT: Final = 10**12
"""Tokens or searches in one turn: a million times what the largest models take. More is no count."""
MAX_BLOCKS: Final = 10_000
"""Blocks, calls or items of one turn, which has at most some hundred."""

_SHOWN_CHARACTERS: Final = 100
_KINDS: Final[Mapping[type, str]] = {
    type(None): "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "an object",
}
# Both halves of a pair together stay; a backslash that is escaped itself begins no escape.
_HALF: Final = re.compile(
    rb"\\(?:[^u]|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2}))"
)


class ShapeFault(ProviderFailed):
    """A value of an answer has another type than the provider documents: where, what it must be, and what it is."""

    def __init__(self, path: str, wanted: str, found: str) -> None:
        self.path: str = path
        self.wanted: str = wanted
        self.found: str = found
        said = one_line(f"{path} must be {wanted}, not {found}", _SHOWN_CHARACTERS)
        super().__init__(f"The provider sent an answer of an unknown shape ({said}).")

    def below(self, place: str) -> "ShapeFault":
        """Return the same fault, seen from the value that holds its place."""
        return ShapeFault(f"{place}.{self.path}", self.wanted, self.found)


def read_json(data: bytes | str) -> dict[str, Any]:
    """Return the object in an answer or an event. What is none is the provider's failure, not ours."""
    try:
        value = from_json(data)
    except ValueError as error:
        value = _read_without_halves(data, error)
    if not isinstance(value, dict):
        raise ProviderFailed("The provider sent JSON that is not an object.")
    return value


def _read_without_halves(data: bytes | str, error: ValueError) -> object:
    """Read JSON with half of a surrogate pair in it, where a server has cut a text inside a character."""
    data = data if isinstance(data, bytes) else data.encode("utf-8", "replace")
    mended = _HALF.sub(lambda found: b"\\ufffd" if found[1] else found[0], data)
    if mended != data:
        try:
            return from_json(mended)
        except ValueError as still:
            error = still
    raise ProviderFailed(f"The provider sent text that is not JSON ({error}).") from None


def without_infinities(value: Any) -> Any:
    """Return the value with null for numbers that JSON does not have: some servers write NaN."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: without_infinities(item) for key, item in value.items()}
    return [without_infinities(item) for item in value] if isinstance(value, list) else value


def text(of: Mapping[str, Any], key: str) -> str:
    """Return a text that is needed."""
    found = of.get(key)
    if type(found) is str:
        return found
    raise _fault(of, key, "text")


def text_of(of: Mapping[str, Any], key: str) -> str:
    """Return a text that may be missing; what is none counts as none."""
    found = of.get(key)
    return found if isinstance(found, str) else ""


def nullable_text(of: Mapping[str, Any], key: str) -> str:
    """Return a text that may be missing or null, and nothing else."""
    return "" if of.get(key) is None else text(of, key)


def count_of(of: Mapping[str, Any], key: str) -> int:
    """Return a count that may be missing; what is no whole number, or absurd, counts as none."""
    found = of.get(key)
    return found if type(found) is int and 0 < found <= MAX_COUNT else 0


def index(of: Mapping[str, Any], key: str) -> int:
    """Return the place of something in a list."""
    found = of.get(key)
    if type(found) is int and 0 <= found <= MAX_BLOCKS:
        return found
    raise _fault(of, key, f"a whole number up to {MAX_BLOCKS:,}")


def mapping(of: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return an object that is needed."""
    found = of.get(key)
    if isinstance(found, dict):
        return found
    raise _fault(of, key, "an object")


def mapping_of(of: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return an object that may be missing; what is none counts as empty."""
    found = of.get(key)
    return found if isinstance(found, dict) else {}


def items(of: Mapping[str, Any], key: str, read: Callable[[dict[str, Any]], T]) -> tuple[T, ...]:
    """Return what `read` makes of each object of a list that is needed."""
    found = of.get(key)
    if not isinstance(found, list):
        raise _fault(of, key, "a list")
    if len(found) > MAX_BLOCKS:
        raise AnswerTooLarge(MODEL_TOO_MANY_BLOCKS(limit=f"{MAX_BLOCKS:,}"))
    return tuple(_item(item, f"{key}.{number}", read) for number, item in enumerate(found))


def nullable_items(of: Mapping[str, Any], key: str, read: Callable[[dict[str, Any]], T]) -> tuple[T, ...]:
    """Return the same of a list that may be missing or null."""
    return () if of.get(key) is None else items(of, key, read)


def items_of(
    of: Mapping[str, Any], key: str, read: Callable[[dict[str, Any]], T | None], dropped: list[str]
) -> tuple[T, ...]:
    """Return what `read` makes of the objects of a list that may be missing.

    One that it refuses is left out, and its place added to `dropped`; one that it returns None for is left out.
    """
    found = of.get(key)
    if not isinstance(found, list):
        dropped += [] if found is None else [key]
        return ()
    good: list[T] = []
    for number, item in enumerate(found):
        try:
            one = _item(item, f"{key}.{number}", read)
        except ShapeFault as fault:
            dropped.append(fault.path)
        else:
            good += [] if one is None else [one]
    return tuple(good)


def _item(item: object, place: str, read: Callable[[dict[str, Any]], T]) -> T:
    if not isinstance(item, dict):
        raise ShapeFault(place, "an object", _kind(item))
    try:
        return read(item)
    except ShapeFault as fault:
        raise fault.below(place) from None


def _fault(of: Mapping[str, Any], key: str, wanted: str) -> ShapeFault:
    return ShapeFault(key, wanted, _kind(of[key]) if key in of else "missing")


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "another value")
