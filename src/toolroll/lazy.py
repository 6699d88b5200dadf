"""What is named as `module:name`, and imported when it is used: for tables whose rows load different modules."""

from importlib import import_module
from typing import Any


def load(place: str) -> Any:
    """Import `module:name`, and return what has that name."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
