"""Declare dependencies: what a tool is given besides its arguments, and how a provider is read."""

import dis
import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Hashable, Mapping
from dataclasses import dataclass
from types import CodeType, FrameType, MethodType, UnionType
from typing import Any, Final, Generic, Literal, NoReturn, TypeAlias, TypeVar, Union, get_args, get_origin
from weakref import WeakKeyDictionary, WeakValueDictionary

from toolroll.errors import DependencyCycle, DependencyError
from toolroll.kernel.callables import NOWHERE, Place, read_annotations, read_parameters, unwrap_callable

T = TypeVar("T")
Scope: TypeAlias = Literal["call", "run"]
Maker: TypeAlias = Callable[..., Any]
"""A provider: sync, async or generator, taking other dependencies or nothing. Its value is the user's own type."""

Kind: TypeAlias = Literal["sync", "async", "sync_generator", "async_generator"]


class _NeverFilled:
    """Stops pydantic from taking an injected value for one that a model may send (a list of them, a model's field)."""

    __slots__ = ()

    def __get_pydantic_core_schema__(self, source: object, handler: object) -> NoReturn:
        from pydantic.errors import PydanticUserError  # noqa: PLC0415 - only on the way to an error

        raise PydanticUserError(
            "only a parameter itself can be injected: name: Annotated[..., Depends(...)]", code=None
        )


# By id of the object: of two equal keys, one that is thrown away must not take the other with it.
_keys: "WeakValueDictionary[int, DependencyKey[Any]]" = WeakValueDictionary()


def find_keys() -> "list[DependencyKey[Any]]":
    """Return every key that the program has made: a tool can resolve each of them."""
    return list(_keys.values())


@dataclass(frozen=True)  # without slots: with them, Python 3.11 fails on DependencyKey[Db](...)
class DependencyKey(_NeverFilled, Generic[T]):
    """A dependency asked for by key: `await ctx.resolve(key)`. Overrides find it by its `id`."""

    id: str
    """The name that overrides use."""
    create: Callable[..., Any]
    """The provider of the value."""
    scope: Scope = "call"
    """`call` or `run`: how long the value lives."""

    def __post_init__(self) -> None:
        if not self.id:
            raise DependencyError("A DependencyKey needs an id: overrides find it by that.")
        _check_provider("DependencyKey", self.create)
        _check_scope(self.scope)
        _keys[id(self)] = self


@dataclass(frozen=True, slots=True)
class Depends(_NeverFilled):
    """Marks an injected parameter: `db: Annotated[Db, Depends(get_db)]`.

    `scope="run"` makes the value once for a run instead of once for a call.
    """

    provider: Maker | DependencyKey[Any]
    """The function, class or key that provides the value."""
    scope: Scope = "call"
    """`call` or `run`: how long the value lives."""

    def __post_init__(self) -> None:
        if not isinstance(self.provider, DependencyKey):
            _check_provider("Depends", self.provider)
        _check_scope(self.scope)


def _check_provider(taker: str, provider: object) -> None:
    if not callable(provider):
        raise DependencyError(
            f"{taker} takes the function that makes the value, not {provider!r}. Leave out the call: (get_db), "
            "not (get_db())."
        )
    if not isinstance(provider, Hashable):
        raise DependencyError(f"{taker} remembers values by provider, and {provider!r} has no hash. Use a function.")


def _check_scope(scope: object) -> None:
    if scope not in get_args(Scope):
        raise DependencyError(f"A scope is 'call' or 'run', not {scope!r}.")


CONTEXT: Final = "context"
"""Stands for the `ToolContext` where a parameter wants it."""

Injection: TypeAlias = Depends | Literal["context"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider function as it was read: its name, its kind, and what it needs itself."""

    name: str
    kind: Kind
    needs: tuple[tuple[str, Injection], ...]


Identity: TypeAlias = Maker | str
"""What a value is remembered under: the provider function, or the key's id."""


Replaced: TypeAlias = Maker | str | DependencyKey[Any]
"""What an override names: the provider that it replaces, or the key or its id."""

Overrides: TypeAlias = Mapping[Replaced, Maker]
"""Providers that replace others in a run."""


def get_identity(dependency: Depends) -> Identity:
    """Return what overrides and caches know this dependency by."""
    provider = dependency.provider
    return provider.id if isinstance(provider, DependencyKey) else provider


def get_maker(dependency: Depends) -> Maker:
    """Return the function that makes the value when nothing overrides it."""
    provider = dependency.provider
    return provider.create if isinstance(provider, DependencyKey) else provider


def get_scope(dependency: Depends) -> Scope:
    """Return how long the value lives."""
    provider = dependency.provider
    if isinstance(provider, DependencyKey) and provider.scope == "run":
        return "run"
    return dependency.scope


def get_name(identity: Replaced) -> str:
    """Return how an error calls it."""
    identity = identity.id if isinstance(identity, DependencyKey) else identity
    return identity if isinstance(identity, str) else getattr(identity, "__qualname__", repr(identity))


def find_injection(annotation: object) -> Injection | None:
    """Return what a parameter with this annotation is injected with, if anything."""
    if hasattr(annotation, "__metadata__"):
        mark = next((mark for mark in annotation.__metadata__ if isinstance(mark, Depends)), None)
        return mark or find_injection(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return next((found for member in get_args(annotation) if (found := find_injection(member))), None)
    # a mark on the class instead of an import: the context itself needs this module to resolve
    return CONTEXT if getattr(annotation, "is_tool_context", False) is True else None


# Weak, and without the provider in the value: a provider made for one request must not live on in here.
_known: "WeakKeyDictionary[Maker, Provider]" = WeakKeyDictionary()


def read_provider(make: Maker, place: Place = NOWHERE) -> Provider:
    """Return the provider behind a function or class; every parameter must be injectable or have a default.

    It is read once: what `place` adds for local types need not be known again when a tool runs.
    """
    source = unwrap_callable(make)
    key = source.__func__ if isinstance(source, MethodType) else source  # a bound method is a new object each time
    found = _known.get(key)
    if found is None:
        found = _known[key] = _read(make, source, place)
    return found


def _read(make: Maker, source: Maker, place: Place) -> Provider:
    name = get_name(make)
    parameters = _parameters(source)
    hints = read_annotations(source, parameters, owner=f"Provider {name}", place=place)
    needs: list[tuple[str, Injection]] = []
    for parameter in parameters.values():
        injection = find_injection(hints.get(parameter.name))
        if injection is not None and parameter.kind in _BY_NAME:
            needs.append((parameter.name, injection))
        elif injection is not None or (parameter.default is parameter.empty and parameter.kind not in _VARIADIC):
            raise DependencyError(
                f"Provider {name}: nobody can provide its parameter '{parameter.name}'. "
                "Annotate it with Depends(...) or ToolContext (no '*' before, no '/' after it), or give it a default."
            )
    return Provider(name=name, kind=_kind(source), needs=tuple(needs))


_BY_NAME: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_VARIADIC: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _parameters(source: Maker) -> dict[str, inspect.Parameter]:
    try:
        return read_parameters(source)
    except ValueError:  # `dict` and some other builtins do not tell; they are called with nothing
        return {}


def _kind(make: Maker) -> Kind:
    if inspect.isasyncgenfunction(make):
        return "async_generator"
    if inspect.isgeneratorfunction(make):
        return "sync_generator"
    return "async" if inspect.iscoroutinefunction(make) else "sync"


def takes_errors(generator: AsyncGenerator[object, None] | Generator[object, None, None]) -> bool:
    """Return whether an error thrown in where the generator waits would reach a `try` or a `with` of its own.

    If not, the lines after its `yield` would be lost to the error.
    """
    step: object = generator
    while step is not None:
        frame: FrameType | None = getattr(step, "gi_frame", None) or getattr(step, "ag_frame", None)
        if frame is not None and _is_in_try(frame.f_code, frame.f_lasti):
            return True
        step = getattr(step, "gi_yieldfrom", None)
    return False


def _is_in_try(code: CodeType, offset: int) -> bool:
    entries = dis.Bytecode(code).exception_entries  # type: ignore[attr-defined]  # typeshed does not know it
    # From handler to handler outwards: some only put the stack right (the end of an `except`; from Python 3.12 on, a
    # StopIteration around the whole generator). Those of `try` and `with` begin with this instruction.
    handler: int | None = offset
    while handler is not None and (handler == offset or code.co_code[handler] != dis.opmap["PUSH_EXC_INFO"]):
        handler = next((entry.target for entry in entries if entry.start <= handler < entry.end), None)
    return handler is not None


def check_graph(dependency: Depends, place: Place = NOWHERE) -> None:
    """Refuse cycles, and run-scoped values that stand on call-scoped ones, before anything runs."""
    _check(dependency, (), set(), place)


def _check(dependency: Depends, path: tuple[Depends, ...], sound: set[tuple[Identity, Scope]], place: Place) -> None:
    known = [get_identity(step) for step in path]
    identity = get_identity(dependency)
    if identity in known:
        cycle = [*known[known.index(identity) :], identity]
        raise DependencyCycle(tuple(get_name(step) for step in cycle))
    if path and get_scope(path[-1]) == "run" and get_scope(dependency) == "call":
        raise scope_error(path[-1], dependency)
    if (identity, get_scope(dependency)) in sound:  # a value that many need is looked at once, not once for each way
        return
    for _, injection in read_provider(get_maker(dependency), place).needs:
        if isinstance(injection, Depends):
            _check(injection, (*path, dependency), sound, place)
    sound.add((identity, get_scope(dependency)))


def scope_error(outer: Depends, inner: Depends) -> DependencyError:
    """Return the error for a value of the run that holds one that ends with the call."""
    return DependencyError(
        f"{get_name(get_identity(outer))} lives for the whole run but needs {get_name(get_identity(inner))}, "
        'which ends with each call. Give the inner one scope="run" too.'
    )
