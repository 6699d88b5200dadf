"""Find out what module, file, package or name a text means, and who imports it."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from posixpath import basename, dirname, splitext
from typing import Final

from toolroll.workspace.symbols.imports.edges import MAX_EDGES, Resolver, StoredEdges
from toolroll.workspace.symbols.imports.files import Files, is_inside, resolve_path
from toolroll.workspace.symbols.imports.statement import EVERYTHING, Certainty, Edge, ImportKind
from toolroll.workspace.symbols.languages.families.ecmascript import COMPILED
from toolroll.workspace.symbols.languages.registry import importable_extensions, language_of, package_files

MAX_ASKED_CHARACTERS: Final = 1_000  # of what is asked for
MAX_PATHS: Final = 200  # that one text may mean: `index` means every one of them, and nobody wants that
_DOTS: Final = re.compile(r"^(?:\.{1,2}/)+")
_IDENTIFIER: Final = re.compile(r"[^\W\d][\w$]*")

Exports = Callable[[str], Collection[str]]
"""The names that a file gives to others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleMeaning:
    """What a text may mean, before anybody has looked who imports it."""

    paths: tuple[str, ...] = ()
    """Files and folders of the workspace."""
    module: str = ""
    """The text as a statement would write it; empty where none would."""
    name: str | None = None
    """A name that statements take out of modules: all of the text, or its last part."""
    owners: tuple[str, ...] = ()
    """The files that the name is taken from, where the text says so (`pkg.mod.Name`)."""
    likely: tuple[str, ...] = ()
    """Files whose path only ends like the text; worth a look where nothing else is found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Importer:
    """One statement that imports what was asked for."""

    path: str
    line: int
    end_line: int
    text: str
    names: tuple[str, ...]
    kind: ImportKind
    certainty: Certainty
    target: str | None
    """The file it leads to; None where only its text says what it means."""
    via: str | None = None
    """The file that passes on what was asked for, where this statement takes it from there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Importers:
    """The answer, and what the question was taken to mean."""

    found: tuple[Importer, ...]
    """In the order of path and line."""
    meaning: ModuleMeaning
    is_cut: bool = False
    """Whether there are more than were looked at (`MAX_EDGES`)."""


def find_importers(
    asked: str, edges: StoredEdges, resolver: Resolver, *, base: str | None = None, exports: Exports | None = None
) -> Importers:
    """Return every statement that imports it, those included that take it from a file that passes it on.

    `exports` tells what a file gives to others: with it, `export * from` is followed only for names from there.
    """
    meaning = interpret_module(asked, resolver, base=base)
    direct = _direct(meaning, edges)
    rows: dict[tuple[str, int, str], Importer] = {}
    for edge in sorted(direct[:MAX_EDGES], key=_is_resolved):
        rows[_key(edge)] = _with_names(_importer(edge), rows.get(_key(edge)))
    passed_on = _take_onward(direct[:MAX_EDGES], edges, exports)
    for via, onward in islice(passed_on, MAX_EDGES):
        rows.setdefault(_key(onward), replace(_importer(onward), via=via))
    return Importers(
        found=tuple(sorted(rows.values(), key=lambda row: (row.path, row.line, row.text))),
        meaning=meaning,
        is_cut=len(direct) > MAX_EDGES or next(passed_on, None) is not None,
    )


def _take_onward(direct: list[Edge], edges: StoredEdges, exports: Exports | None) -> Iterator[tuple[str, Edge]]:
    """Yield who takes it from files that pass it on, each with that file."""
    targets = {edge.target.path for edge in direct}
    for edge in filter(_passes_on, direct):
        for onward in _onward(edge, edges, exports):
            if onward.importer not in targets:
                yield edge.importer, onward


def _key(edge: Edge) -> tuple[str, int, str]:
    """One for each statement as it is written: `use super::net::{Conn, self}` leads to `net` in two ways."""
    return edge.importer, edge.statement.line, edge.statement.text


def _with_names(row: Importer, other: Importer | None) -> Importer:
    return row if other is None else replace(row, names=tuple(dict.fromkeys((*other.names, *row.names))))


def _is_resolved(edge: Edge) -> bool:
    return edge.target.certainty == "resolved"


def _direct(meaning: ModuleMeaning, edges: StoredEdges) -> list[Edge]:
    """Return those that import it themselves: one more than `MAX_EDGES` at most, which says that there are others."""
    all_ways = chain(_leading_to(meaning.paths, edges), _by_module_text(meaning, edges), _taking_name(meaning, edges))
    found = list(islice(all_ways, MAX_EDGES + 1))
    return found or list(islice(_leading_to(meaning.likely, edges), MAX_EDGES + 1))


def _taking_name(meaning: ModuleMeaning, edges: StoredEdges) -> Iterator[Edge]:
    """Yield who takes the name out of its owners, or out of whatever has it."""
    if meaning.owners:
        wanted = {meaning.name, EVERYTHING}
        yield from (edge for edge in _leading_to(meaning.owners, edges) if wanted & set(edge.statement.names))
    elif meaning.name is not None:
        yield from edges.taking(meaning.name)


def _leading_to(paths: Iterable[str], edges: StoredEdges) -> Iterator[Edge]:
    for path in paths:
        yield from edges.leading_to(path)
        language = language_of(path)
        if language is not None and language.imports_folders:
            yield from edges.leading_to(dirname(path))  # whoever imports the package imports each of its files


def _by_module_text(meaning: ModuleMeaning, edges: StoredEdges) -> Iterator[Edge]:
    """Yield edges by their text alone, unless that text is known to mean another file where it stands."""
    for edge in edges.of_module(meaning.module) if meaning.module else ():
        is_elsewhere = edge.target.certainty == "resolved" and edge.target.path not in meaning.paths
        if not (is_elsewhere and meaning.paths and edge.target.module == meaning.module):
            yield edge


def _passes_on(edge: Edge) -> bool:
    return edge.statement.passes_on or _is_package_front(edge)


def _is_package_front(edge: Edge) -> bool:
    """Return whether it is a name that a package takes from its own modules, for its users to find."""
    statement, language = edge.statement, language_of(edge.importer)
    if language is None or not (language.package_files_reexport and statement.names):
        return False
    if basename(edge.importer) not in language.package_files:
        return False
    return statement.level > 0 or is_inside(edge.target.path or "/", dirname(edge.importer))


def _onward(edge: Edge, edges: StoredEdges, exports: Exports | None) -> Iterator[Edge]:
    """Yield who takes from the passing file one of the names it passes on."""
    passed = set(edge.statement.binds)
    if EVERYTHING in edge.statement.names:
        known = exports(edge.target.path) if exports is not None and edge.target.path is not None else None
        passed = {EVERYTHING} if known is None else passed | set(known)
    for onward in edges.leading_to(edge.importer):
        names = set(onward.statement.names)
        if names and (EVERYTHING in passed or EVERYTHING in names or names & passed):
            yield onward


def _importer(edge: Edge) -> Importer:
    statement = edge.statement
    is_front = statement.kind == "static" and _is_package_front(edge)
    return Importer(
        path=edge.importer,
        line=statement.line,
        end_line=statement.end_line,
        text=statement.text,
        names=statement.names,
        kind="reexport" if is_front else statement.kind,
        certainty=edge.target.certainty,
        target=edge.target.path,
    )


def interpret_module(text: str, resolver: Resolver, *, base: str | None = None) -> ModuleMeaning:
    """Return what a text may mean; `base` is the file from which a relative path is meant, where that is known."""
    asked = text.strip().strip("'\"`").partition("?")[0][:MAX_ASKED_CHARACTERS]
    asked = asked.rstrip("/") if asked.strip("/.") else asked
    if not asked:
        return ModuleMeaning()
    files = resolver.files
    if asked.startswith(("./", "../")):
        return _relative(asked, files, base)
    exact = _unique([*_at(files, asked.strip("/")), *resolver.find_modules(asked)])
    by_end = [] if exact or "/" not in asked else _by_end(files, asked)
    owner, name = _owner(asked, resolver) if not exact else ((), None)
    return ModuleMeaning(
        paths=exact or tuple(by_end),
        module=asked,
        name=name or (asked if not exact and _IDENTIFIER.fullmatch(asked) else None),
        owners=owner,
        likely=() if exact or by_end else tuple(_by_end(files, asked)),
    )


def _relative(asked: str, files: Files, base: str | None) -> ModuleMeaning:
    if base is not None:
        path = resolve_path(dirname(base), asked)
        here = _at(files, path) if path else []
        if here:
            return ModuleMeaning(paths=tuple(here), module=asked)
    return ModuleMeaning(paths=tuple(_by_end(files, _DOTS.sub("", asked))), module=asked)


def _at(files: Files, path: str) -> list[str]:
    """Return the file or folder at a path, with or without ending; a folder comes with the file that stands for it."""
    if path in files:
        return [path, *([dirname(path)] if basename(path) in package_files() else [])]
    hits = [stem + ending for stem in _stems(path) for ending in importable_extensions() if stem + ending in files]
    if files.has_folder(path):
        hits += [path, *(inner for name in package_files() if (inner := f"{path}/{name}") in files)]
    return hits


def _stems(path: str) -> list[str]:
    """Return the path, and without the ending of a compiled file, which is how TypeScript names a source."""
    stem, ending = splitext(path)
    return [path, stem] if ending in COMPILED else [path]


def _by_end(files: Files, end: str) -> list[str]:
    """Return files whose path ends so, with or without an ending, or that stand for a folder that does."""
    tail = end.strip("/.")
    if not tail:
        return []
    endings = ("", *importable_extensions())
    hits = [path for stem in _stems(tail) for ending in endings for path in files.ending(stem + ending)]
    hits += [path for name in package_files() for path in files.ending(f"{tail}/{name}")]
    return list(_unique(hits))[:MAX_PATHS]


def _owner(asked: str, resolver: Resolver) -> tuple[tuple[str, ...], str | None]:
    """Return the file and the name in `pkg.mod.Name`, `crate::mod::Name` and `src/mod.py:Name`."""
    for separator in ("::", ":", "#", "."):
        module, found, name = asked.rpartition(separator)
        if found and module and _IDENTIFIER.fullmatch(name):
            paths = _unique([*_at(resolver.files, module), *resolver.find_modules(module)])
            if paths:
                return paths, name
    return (), None


def _unique(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(paths))
