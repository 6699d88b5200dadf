"""A provider's JSON, read fast and checked for being an object: everything else about it is the wire's business."""

from typing import Any

from pydantic_core import from_json

from toolroll.errors import ProviderFailed


def read_json(text: bytes | str) -> dict[str, Any]:
    """The object in an answer or an event. What is none is the provider's failure, not ours."""
    try:
        value = from_json(text)
    except ValueError as error:
        raise ProviderFailed(f"The provider sent text that is not JSON ({error}).") from None
    if not isinstance(value, dict):
        raise ProviderFailed("The provider sent JSON that is not an object.")
    return value
