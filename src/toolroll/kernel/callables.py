"""Read what a function's author wrote: the plain function behind a callable, and its annotations as objects.

Annotations may be strings that only their place of definition can read: a type of the function around, under
`from __future__ import annotations`.
"""

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final, get_type_hints

from toolroll.errors import DefinitionError


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a function was made a tool: the module, and what can be seen there besides the module's own names."""

    module: Mapping[str, object]
    names: Mapping[str, object]


NOWHERE: Final = Place(module={}, names={})


def capture_place(depth: int) -> Place:
    """Return the place `depth` calls up."""
    frame = sys._getframe(depth)  # noqa: SLF001 - the documented way is a stack walk, 100 times dearer
    in_module = frame.f_locals is frame.f_globals
    return Place(module=frame.f_globals, names={} if in_module else dict(frame.f_locals))


def unwrap_callable(subject: Callable[..., Any]) -> Callable[..., Any]:
    """Return the subject in a form that tells `inspect` async from sync: objects become their `__call__`."""
    if isinstance(subject, staticmethod):
        return subject.__func__
    if inspect.isroutine(subject) or isinstance(subject, (type, partial)):
        return subject
    return subject.__call__  # type: ignore[no-any-return,operator]  # a bound method, of what type ever


def mark_async(subject: object, function: Callable[..., Any]) -> None:
    """Make `inspect.iscoroutinefunction(subject)` true of an object that hands on an async function's coroutine."""
    if mark := getattr(inspect, "markcoroutinefunction", None):
        mark(subject)
        return
    # Python 3.11 has no mark. It takes an object for a function that has what functions have, and reads its flags.
    while not hasattr(function, "__code__"):
        function = function.func if isinstance(function, partial) else unwrap_callable(function)
    for name in ("__code__", "__defaults__", "__kwdefaults__"):
        setattr(subject, name, getattr(function, name))
    for name in ("__name__", "__annotations__"):
        if not hasattr(subject, name):
            setattr(subject, name, getattr(function, name))


def find_written_function(subject: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that carries the annotations and the docstring, behind whatever is around it."""
    found = unwrap_callable(subject)
    if isinstance(found, partial):
        return find_written_function(found.func)
    if isinstance(found, type):
        maker: Callable[..., Any] = found.__init__  # type: ignore[misc]  # only its annotations are read
        if maker is object.__init__:  # a named tuple takes its values in __new__
            maker = found.__new__
        return maker
    innermost: Callable[..., Any] = inspect.unwrap(found)
    return innermost


def read_parameters(subject: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters that are still open; `ValueError` for a builtin that does not tell.

    What a partial has bound by name is settled. Python would let a caller replace it, and a model is such a caller.
    """
    bound = subject.keywords if isinstance(subject, partial) else {}
    found = inspect.signature(subject).parameters
    return {name: parameter for name, parameter in found.items() if name not in bound}


def read_annotations(
    subject: Callable[..., Any], parameters: Iterable[str], *, owner: str, place: Place = NOWHERE
) -> dict[str, Any]:
    """Return the evaluated annotations of these parameters; errors speak about the `owner`.

    The return annotation is left alone: it may well name a type that is only imported for type checkers.
    """
    function = find_written_function(subject)
    written = getattr(function, "__annotations__", {})
    names = _Names.collect(function, place)
    return {name: names.evaluate(name, written[name], owner) for name in parameters if name in written}


class _ContextByName:
    """Stands in for a `ToolContext` that was imported under `if TYPE_CHECKING`."""

    is_tool_context: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    outer: dict[str, Any]
    inner: dict[str, Any]

    @classmethod
    def collect(cls, function: Callable[..., Any], place: Place) -> "_Names":
        outer = getattr(function, "__globals__", {})
        inner: dict[str, Any] = {} if "ToolContext" in outer else {"ToolContext": _ContextByName}
        if place.module is outer:  # another module's names mean other things
            inner.update(place.names)
        return cls(outer=outer, inner=inner | _closure(function))

    def evaluate(self, parameter: str, annotation: object, owner: str) -> Any:
        def bearer() -> None: ...

        bearer.__annotations__ = {parameter: annotation}
        try:
            return get_type_hints(bearer, self.outer, self.inner, include_extras=True)[parameter]
        except (NameError, TypeError, AttributeError, SyntaxError) as error:
            raise DefinitionError(
                f"{owner}: the annotation of parameter '{parameter}' cannot be evaluated ({error}). "
                "Define or import that type at module level, and not under `if TYPE_CHECKING`.",
                tool=owner,
                parameter=parameter,
            ) from None


def _closure(function: Callable[..., Any]) -> dict[str, Any]:
    code = getattr(function, "__code__", None)
    cells = getattr(function, "__closure__", None) or ()
    found: dict[str, Any] = {}
    for name, cell in zip(code.co_freevars if code else (), cells, strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return found
