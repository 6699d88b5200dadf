"""Dependencies: what a tool is given besides its arguments, and how a provider is read."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar, get_args, get_origin

from toolroll.errors import DependencyCycle, DependencyError
from toolroll.kernel.hints import annotations_of

T = TypeVar("T")
Scope: TypeAlias = Literal["call", "run"]
Maker: TypeAlias = Callable[..., Any]
"""A provider: sync, async or generator, taking other dependencies or nothing. Its value is the user's own type."""

Kind: TypeAlias = Literal["sync", "async", "sync_generator", "async_generator"]


@dataclass(frozen=True, slots=True)
class DependencyKey(Generic[T]):
    """A dependency asked for by key: `await ctx.resolve(key)`. Overrides find it by its `id`."""

    id: str
    create: Callable[..., Any]
    scope: Scope = "call"


@dataclass(frozen=True, slots=True)
class Depends:
    """Marks an injected parameter: `db: Annotated[Db, Depends(get_db)]`.

    `scope="run"` makes the value once for a run instead of once for a call.
    """

    provider: Maker | DependencyKey[Any]
    scope: Scope = "call"


CONTEXT: Final = "context"
"""Stands for the `ToolContext` where a parameter wants it."""

Injection: TypeAlias = Depends | Literal["context"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider function as it was read: its name, its kind, and what it needs itself."""

    name: str
    make: Maker
    kind: Kind
    needs: tuple[tuple[str, Injection], ...]


Identity: TypeAlias = Maker | str
"""What a value is remembered under: the provider function, or the key's id."""


def identity_of(dependency: Depends) -> Identity:
    """What overrides and caches know this dependency by."""
    provider = dependency.provider
    return provider.id if isinstance(provider, DependencyKey) else provider


def maker_of(dependency: Depends) -> Maker:
    """The function that makes the value when nothing overrides it."""
    provider = dependency.provider
    return provider.create if isinstance(provider, DependencyKey) else provider


def scope_of(dependency: Depends) -> Scope:
    """How long the value lives."""
    provider = dependency.provider
    if isinstance(provider, DependencyKey) and provider.scope == "run":
        return "run"
    return dependency.scope


def name_of(identity: Identity) -> str:
    """How an error calls it."""
    return identity if isinstance(identity, str) else getattr(identity, "__qualname__", repr(identity))


def injection_of(annotation: object) -> Injection | None:
    """What a parameter with this annotation is injected with, if anything."""
    if get_origin(annotation) is not None and hasattr(annotation, "__metadata__"):
        found = next((mark for mark in annotation.__metadata__ if isinstance(mark, Depends)), None)
        return found or injection_of(get_args(annotation)[0])
    members = get_args(annotation) or (annotation,)
    # a mark on the class instead of an import: the context itself needs this module to resolve
    return CONTEXT if any(getattr(member, "is_tool_context", False) is True for member in members) else None


@lru_cache(maxsize=1024)
def read_provider(make: Maker) -> Provider:
    """The provider behind a function (or a class); every parameter must be injectable or have a default."""
    name = name_of(make)
    needs: list[tuple[str, Injection]] = []
    hints = annotations_of(make)
    for parameter in inspect.signature(make).parameters.values():
        injection = injection_of(hints.get(parameter.name))
        if injection is not None:
            needs.append((parameter.name, injection))
        elif parameter.default is parameter.empty and parameter.kind not in _VARIADIC:
            raise DependencyError(
                f"Provider {name}: nobody can provide its parameter '{parameter.name}'. "
                "Annotate it with Depends(...) or ToolContext, or give it a default."
            )
    return Provider(name=name, make=make, kind=_kind(make), needs=tuple(needs))


_VARIADIC: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _kind(make: Maker) -> Kind:
    if inspect.isasyncgenfunction(make):
        return "async_generator"
    if inspect.isgeneratorfunction(make):
        return "sync_generator"
    return "async" if inspect.iscoroutinefunction(make) else "sync"


def check_graph(dependency: Depends, path: tuple[Depends, ...] = ()) -> None:
    """Refuse cycles, and run-scoped values that stand on call-scoped ones, before anything runs."""
    known = [identity_of(step) for step in path]
    identity = identity_of(dependency)
    if identity in known:
        cycle = [*known[known.index(identity) :], identity]
        raise DependencyCycle(tuple(name_of(step) for step in cycle))
    if path and scope_of(path[-1]) == "run" and scope_of(dependency) == "call":
        raise scope_error(path[-1], dependency)
    for _, injection in read_provider(maker_of(dependency)).needs:
        if isinstance(injection, Depends):
            check_graph(injection, (*path, dependency))


def scope_error(outer: Depends, inner: Depends) -> DependencyError:
    """A value that lives for the run must not hold one that ends with the call."""
    return DependencyError(
        f"{name_of(identity_of(outer))} lives for the whole run but needs {name_of(identity_of(inner))}, "
        'which ends with each call. Give the inner one scope="run" too.'
    )
