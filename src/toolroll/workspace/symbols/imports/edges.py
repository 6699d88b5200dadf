"""Resolve imports to files, and store these edges; resolve them again where files come and go."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from posixpath import basename, dirname, splitext
from typing import TYPE_CHECKING, Final, cast

from toolroll.workspace.symbols.imports.files import Files, guess
from toolroll.workspace.symbols.imports.statement import Certainty, Edge, ImportStatement, Resolved, is_within
from toolroll.workspace.symbols.languages.language import ImportResolver
from toolroll.workspace.symbols.languages.registry import LANGUAGES, language_of
from toolroll.workspace.symbols.symbol import Value, to_statement

if TYPE_CHECKING:
    from toolroll.workspace.symbols.store import Store

MAX_EDGES: Final = 10_000  # statements that one answer looks at: some 20 MB
BATCH: Final = 5_000  # statements that are written down at once: about 50 ms
_QUERY: Final = (
    "select importer.path, body, edges.path, module, certainty from edges "
    "join imports on imports.id = import join files as importer on importer.id = edges.file where "
)
_FIRST: Final = f" order by importer.path, import limit {MAX_EDGES + 1}"


class Resolver:
    """Resolve statements with the resolver of their language. Another set of files needs another one."""

    def __init__(self, files: Collection[str], read: Callable[[str], bytes | None]) -> None:
        self.files: Files = Files(files, read)
        self._resolvers: dict[Callable[[Files], ImportResolver], ImportResolver] = {}

    def resolve(self, importer: str, statement: ImportStatement) -> tuple[Resolved, ...]:
        """Return where a statement leads, one place at least: one without a file where nothing is found."""
        language = language_of(importer)
        if language is None or language.resolver is None:
            return (guess(None, statement.module),)
        # The folder above `/` is `/` again: what climbs from an absolute path would never arrive.
        return tuple(self._open(language.resolver).resolve(importer.lstrip("/"), statement))

    def find_modules(self, name: str) -> Iterator[str]:
        """Yield what each language would find under this name, asked from the root of the workspace."""
        makers = dict.fromkeys(one.resolver for one in LANGUAGES.values() if one.resolver is not None)
        for make in makers:
            yield from self._open(make).find_modules(name)

    def _open(self, make: Callable[[Files], ImportResolver]) -> ImportResolver:
        """Return what was made for these files; its manifests are read when it is first asked for."""
        if make not in self._resolvers:
            self._resolvers[make] = make(self.files)
        return self._resolvers[make]


class StoredEdges:
    """The edges of an index, as `importers` asks for them: the first `MAX_EDGES` by path, and one more if there are."""

    def __init__(self, store: "Store") -> None:
        self._store = store

    def leading_to(self, path: str) -> Iterable[Edge]:
        """Return every edge that was resolved to this file."""
        return self._edges("edges.path = ?", path)

    def of_module(self, module: str) -> Iterable[Edge]:
        """Return every edge whose target's module is this one or lies below it."""
        # A range of the index: all that begins with the text, and of these what a separator follows.
        found = self._edges("module >= ? and module < ?", module, f"{module}\U0010ffff")
        return (edge for edge in found if is_within(edge.target.module, module))

    def taking(self, name: str) -> Iterable[Edge]:
        """Return every edge whose statement has this among its `names`."""
        return self._edges("import in (select import from names where name = ?)", name)

    def binding(self, name: str) -> Iterable[Edge]:
        """Return every edge whose statement has this among its `names`, or binds it (`import x as name`)."""
        those = "select import from names where name = ? union select import from binds where name = ?"
        return self._edges(f"import in ({those})", name, name)

    def _edges(self, condition: str, *values: str) -> Iterable[Edge]:
        return map(_edge, self._store.all(f"{_QUERY}{condition}{_FIRST}", values))


def resolve_imports(
    store: "Store", resolver: "Resolver", statements: "Iterable[tuple[int, str, ImportStatement]]"
) -> int:
    """Store where these statements lead, and return how many there were."""
    count, rest = 0, iter(statements)
    while batch := list(islice(rest, BATCH)):
        edges = [(number, to) for number, path, one in batch for to in resolver.resolve(path, one)]
        store.put_edges([number for number, _, _ in batch], edges)
        count += len(batch)
    return count


def affected_files(store: "Store", added: Collection[str], removed: Collection[str]) -> "Iterator[int]":
    """Yield the files with statements that may lead elsewhere, now that these files are new or gone."""
    for path in removed:
        yield from _numbers(store, "select file from edges where path in (?, ?)", (path, dirname(path)))
    for path in {*added, *removed}:
        stem, folder = splitext(basename(path))[0], basename(dirname(path))
        for word in {stem.partition(".")[0], folder} - {""}:
            yield from _numbers(store, "select file from edges where instr(module, ?)", (word,))
            yield from _numbers(
                store, "select file from imports where id in (select import from names where name = ?)", (word,)
            )


def _numbers(store: "Store", query: str, values: tuple[Value, ...]) -> Iterator[int]:
    return (cast("int", number) for (number,) in store.all(query, values))


def _edge(row: "tuple[Value, ...]") -> Edge:
    importer, body, path, module, certainty = row
    return Edge(
        importer=cast("str", importer),
        statement=to_statement(json.loads(cast("str", body))),
        target=Resolved(
            path=cast("str | None", path), module=cast("str", module), certainty=cast("Certainty", certainty)
        ),
    )
