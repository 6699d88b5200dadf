"""Choose among the definitions of a name: which are meant, and which comes first."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from toolroll.workspace.symbols.definition_search import Definition
from toolroll.workspace.symbols.imports.statement import Edge
from toolroll.workspace.symbols.languages.registry import package_files
from toolroll.workspace.symbols.symbol import GROUPS, Group, Symbol

MAX_NAME_CHARACTERS: Final = 400  # of what is asked for
_SEPARATOR: Final = re.compile(r"::|[#/]|->|\.")
_TESTS: Final = re.compile(
    r"(?:^|/)(?:tests?|testing|spec|__tests__|fixtures|examples?|vendor|third_party)(?:/|$)|[._-]test\."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Definitions:
    """The answer to where something is defined; most likely first."""

    found: tuple[Definition, ...]
    notes: tuple[str, ...] = ()
    """What the answer does not cover, and why."""
    suggestions: tuple[str, ...] = ()
    """Names that are nearly the one asked for, where that one is not defined."""


def split_name_path(text: str) -> tuple[tuple[str, ...], str]:
    """Return what the name stands in, outermost first, and the name: `Class.method`, `a::b`, `Class#method`."""
    parts = [part for part in _SEPARATOR.split(text.strip().removesuffix("()")[:MAX_NAME_CHARACTERS]) if part]
    return (tuple(parts[:-1]), parts[-1]) if parts else ((), "")


def choose_definitions(
    found: Iterable[Definition], around: Sequence[str], kind: Group | None
) -> tuple[Definition, ...]:
    """Return those of the kind whose path ends as asked, in the order of how likely they are meant."""
    kept = [one for one in found if _is_kind(one.symbol, kind) and _is_in(one, around)]
    return tuple(sorted(kept, key=_rank))


def import_as_definition(edge: Edge, name: str) -> Definition:
    """Return where a file takes the name in, as an answer like the others."""
    statement = edge.statement
    symbol = Symbol(
        name=name,
        kind="import",
        line=statement.line,
        column=1,
        start_line=statement.line,
        end_line=statement.end_line,
        parent=None,
        signature=" ".join(statement.text.split()),
        doc=None,
        exported=statement.passes_on,
    )
    return Definition(path=edge.importer, symbol=symbol)


def is_test_or_example(path: str) -> bool:
    """Return whether the file is a test, an example, or somebody else's: what is defined there is seldom meant."""
    return _TESTS.search(path) is not None


def _is_kind(symbol: Symbol, kind: Group | None) -> bool:
    return kind is None or symbol.kind in GROUPS[kind]


def _is_in(one: Definition, around: Sequence[str]) -> bool:
    """Return whether the definition is inside of these, which may be the file and its folders: `services.user.load`."""
    if not around:
        return True
    folder, _, name = one.path.rpartition("/")
    stem = folder if name in package_files() else one.path.rsplit(".", 1)[0]
    whole = [*stem.split("/"), *(one.symbol.parent or "").split(".")]
    parts = [part for part in whole if part]
    return parts[-len(around) :] == list(around)


def _rank(one: Definition) -> tuple[bool, bool, bool, bool, int, str, int]:
    symbol = one.symbol
    is_test = is_test_or_example(one.path)
    is_inner = symbol.parent is not None
    return not one.is_certain, symbol.kind == "prototype", is_test, not symbol.exported, is_inner, one.path, symbol.line
