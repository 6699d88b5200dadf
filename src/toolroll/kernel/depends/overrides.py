"""Providers that replace others in a run: read from what a program gives, and checked against what its tools need."""

import difflib
from collections.abc import Iterable

from toolroll.errors import DependencyError
from toolroll.kernel.depends.dependency import (
    DependencyKey,
    Depends,
    Injection,
    Maker,
    Overrides,
    Replaced,
    find_keys,
    get_identity,
    get_maker,
    get_name,
    read_provider,
)


def read_overrides(given: Overrides) -> dict[Replaced, Maker]:
    """Return the overrides by provider or id; one that is the value itself is refused."""
    found: dict[Replaced, Maker] = {}
    for key, make in given.items():
        identity = key.id if isinstance(key, DependencyKey) else key
        if not callable(make):
            raise DependencyError(
                f"The override of {get_name(identity)} must be a function that makes the value, not {make!r}. "
                "Write lambda: ..."
            )
        found[identity] = make
    return found


def check_matched(overrides: Overrides, needs: Iterable[Injection]) -> None:
    """Refuse an override that no dependency is found by: the real one would run in its place.

    Whatever has the context can resolve any key there is, so every key of the program counts.
    """
    declared: set[Replaced] = set()
    _collect(needs, declared)
    _collect((Depends(make) for make in overrides.values()), declared)
    known = declared.union(*((key.id, key.create) for key in find_keys()))
    for identity in overrides:
        if identity not in known:
            raise DependencyError(_no_match(identity, declared))


def _collect(needs: Iterable[Injection], declared: set[Replaced]) -> None:
    for need in needs:
        if isinstance(need, Depends) and get_identity(need) not in declared:
            declared |= {get_identity(need), get_maker(need)}
            _collect((inner for _, inner in read_provider(get_maker(need)).needs), declared)


def _no_match(identity: Replaced, declared: set[Replaced]) -> str:
    names = sorted({get_name(one) for one in declared})
    near = difflib.get_close_matches(get_name(identity), names, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    known = ", ".join(names) or "none"
    return f"The override of {get_name(identity)} matches no dependency.{hint} Dependencies of the tools: {known}."
