"""Names of modules in whatever language: their parts, and what lies below what."""

import re
from collections.abc import Iterator
from typing import Final

MAX_PARTS: Final = 12  # of a name that are looked at as the beginning of it: deeper modules are found by their files

_SEPARATOR: Final = re.compile(r"::|[./\\]")


def is_within(module: str, outer: str) -> bool:
    """Whether a module is another one or lies below it: `numpy.linalg` and `lodash/fp`, but not `numpydoc`."""
    if not outer or not module.startswith(outer):
        return False
    return len(module) == len(outer) or _SEPARATOR.match(module, len(outer)) is not None


def beginnings(module: str) -> Iterator[str]:
    """Every `outer` for which `is_within(module, outer)` holds, shortest first, at most `MAX_PARTS`."""
    ends = [match.start() for match in _SEPARATOR.finditer(module)][: MAX_PARTS - 1]
    yield from (module[:end] for end in ends if end)
    yield module
