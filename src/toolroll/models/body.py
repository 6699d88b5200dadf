"""A provider's JSON, read fast and checked for being an object: everything else about it is the wire's business."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic_core import from_json

from toolroll.errors import ProviderFailed
from toolroll.safe.text import one_line

UNREADABLE: Final = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""What reading JSON of another shape than the promised one comes to."""

_SHOWN_CHARACTERS: Final = 100


def read_json(text: bytes | str) -> dict[str, Any]:
    """The object in an answer or an event. What is none is the provider's failure, not ours."""
    try:
        value = from_json(text)
    except ValueError as error:
        raise ProviderFailed(f"The provider sent text that is not JSON ({error}).") from None
    if not isinstance(value, dict):
        raise ProviderFailed("The provider sent JSON that is not an object.")
    return value


def unreadable_answer(error: Exception) -> ProviderFailed:
    """The failure behind an answer whose JSON is fine and whose shape is not."""
    said = one_line(f"{type(error).__name__}: {error}", _SHOWN_CHARACTERS)
    return ProviderFailed(f"The provider sent an answer of an unknown shape ({said}).")


def text_of(value: Mapping[str, Any], key: str) -> str:
    """A text that may be missing or null."""
    found = value.get(key)
    return found if isinstance(found, str) else ""


def count_of(value: Mapping[str, Any], key: str) -> int:
    """A number that may be missing or null; what is no whole number counts as none."""
    found = value.get(key)
    return found if isinstance(found, int) and found > 0 else 0
