"""The packages that only checks need, which come with the extra `testing`."""

from importlib import import_module
from typing import Final

from toolroll.errors import UsageError

PACKAGES: Final = ("hypothesis", "hypothesis_jsonschema", "jsonschema")


def require_extra() -> None:
    """Refuse to go on without the packages of the extra, and say how to get them."""
    for name in PACKAGES:
        try:
            import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:  # it is there, but something it needs itself is not
                raise
            told = "install the extra: pip install 'toolroll[testing]', or '.[testing]' in a checkout"
            raise UsageError(f"check_tool needs {name}: {told}.") from None
