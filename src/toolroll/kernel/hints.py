"""Annotations of a function as objects, also when they were written as strings inside another function."""

import sys
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from toolroll.errors import DefinitionError


def annotations_of(function: Callable[..., Any], names: Mapping[str, object] | None = None) -> dict[str, Any]:
    """The evaluated annotations by parameter; `names` adds what only the place of definition can see."""
    target = function.__init__ if isinstance(function, type) else function  # type: ignore[misc]  # only its hints are read
    try:
        return get_type_hints(target, localns={**_closure(function), **(names or {})}, include_extras=True)
    except (NameError, TypeError, AttributeError) as error:
        name = getattr(function, "__qualname__", repr(function))
        raise DefinitionError(
            f"{name}: an annotation cannot be evaluated ({error}). "
            "Define or import that type at module level, or without `if TYPE_CHECKING`.",
            tool=name,
        ) from None


def names_at(depth: int) -> dict[str, object]:
    """The local names `depth` calls up: where a decorated function was written."""
    return dict(sys._getframe(depth).f_locals)  # noqa: SLF001 - the documented way is a stack walk, 100 times dearer


def _closure(function: Callable[..., Any]) -> dict[str, object]:
    code = getattr(function, "__code__", None)
    cells = getattr(function, "__closure__", None) or ()
    found: dict[str, object] = {}
    for name, cell in zip(code.co_freevars if code else (), cells, strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return found
