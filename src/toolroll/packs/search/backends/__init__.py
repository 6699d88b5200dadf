"""The search backends, in the order in which they are asked: to add one, write a module here and list its SPEC.

Everything else follows from the SPEC: the variables that are read, the keys that `toolroll config key` knows, and what
`toolroll doctor` shows.
"""

from collections.abc import Mapping
from typing import Final

from toolroll.packs.search.backend import BackendSpec
from toolroll.packs.search.backends import anthropic, brave, duckduckgo, searxng, tavily

BACKENDS: Final[tuple[BackendSpec, ...]] = (
    anthropic.SPEC,
    tavily.SPEC,
    brave.SPEC,
    searxng.SPEC,
    duckduckgo.SPEC,  # last, since it needs no key and so is always there
)


def search_keys() -> Mapping[str, str]:
    """Return the keys that backends use, by their variables, with what each is for."""
    return {spec.key_variable: f"search with {spec.title}" for spec in BACKENDS if spec.key_variable}
