"""All keys that toolroll uses: those of models and services, and those of the search backends."""

from collections.abc import Mapping

from toolroll.errors import UsageError
from toolroll.home.keys import KEYS
from toolroll.packs.search.backends import search_keys
from toolroll.safe.paths.names import quote_path


def all_keys() -> Mapping[str, str]:
    """Return the keys by their variables, with what each is for."""
    return {**KEYS, **{name: use for name, use in search_keys().items() if name not in KEYS}}


def check_key_name(name: str) -> None:
    """Raise UsageError for a name that is not one of the keys."""
    keys = all_keys()
    if name not in keys:
        raise UsageError(f"'{quote_path(name)}' is not a key that toolroll uses. They are: {', '.join(keys)}.")
