"""Where an import of JavaScript or TypeScript leads: as bundlers and the TypeScript compiler find files."""

import re
from collections.abc import Iterable, Iterator
from posixpath import dirname, splitext
from typing import Final

from toolroll.workspace.symbols.imports.resolve.files import Files, certain, guess, join_path, resolve_path
from toolroll.workspace.symbols.imports.resolve.packages import Package, Packages, package_name
from toolroll.workspace.symbols.imports.resolve.tsconfig import Configurations
from toolroll.workspace.symbols.imports.statement import ImportStatement, Resolved

_TYPED: Final = (".ts", ".tsx", ".mts", ".cts", ".d.ts", ".d.mts", ".d.cts")
_PLAIN: Final = (".js", ".jsx", ".mjs", ".cjs")
_OTHER: Final = (".json", ".vue", ".svelte", ".astro")
TYPED_FIRST: Final = (*_TYPED, *_PLAIN, *_OTHER)
PLAIN_FIRST: Final = (*_PLAIN, *_OTHER, *_TYPED)

# In a module specifier of TypeScript the ending is that of the compiled file.
_COMPILED: Final = {
    ".js": (".ts", ".tsx", ".d.ts"),
    ".jsx": (".tsx", ".d.ts"),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}
_BUILT: Final = re.compile(r"(^|/)(?:dist|build|lib|out|es|esm|cjs)(?:/(?:esm|cjs|es|types|src))?/")


class EcmascriptResolver:
    """Finds files for specifiers: relative ones, private names, mapped names, and packages of the workspace."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._packages = Packages(files)
        self._configurations = Configurations(files)
        self._known: dict[tuple[str, str, bool], Resolved] = {}

    def resolve(self, importer: str, statement: ImportStatement) -> Iterator[Resolved]:
        """The one file that a specifier leads to."""
        yield self.find(dirname(importer), statement.module, is_typed=importer.endswith(_TYPED))

    def find(self, folder: str, specifier: str, *, is_typed: bool = True) -> Resolved:
        """Where a specifier leads from a folder."""
        key = (folder, specifier, is_typed)
        if key not in self._known:
            self._known[key] = self._search(folder, specifier, TYPED_FIRST if is_typed else PLAIN_FIRST)
        return self._known[key]

    def _search(self, folder: str, specifier: str, endings: tuple[str, ...]) -> Resolved:
        bare = specifier.partition("?")[0]  # bundlers take settings there: `./logo.svg?url`
        if bare.startswith((".", "/")):
            path = resolve_path("" if bare.startswith("/") else folder, bare)
            place = None if path is None else self._file_or_folder(path, endings)
            return guess(None, specifier) if place is None else certain(place, specifier)
        if bare.startswith("#"):
            place = self._private(folder, bare, endings)
            if place is not None:
                return certain(place, specifier)
        for path in self._configurations.for_folder(folder).candidates(bare):
            place = self._file_or_folder(path, endings)
            if place is not None:
                return certain(place, specifier)
        return self._package(folder, bare, specifier, endings)

    def _private(self, folder: str, name: str, endings: tuple[str, ...]) -> str | None:
        package = self._packages.around(folder)
        return None if package is None else self._first(package.imported(name), endings)

    def _package(self, folder: str, bare: str, specifier: str, endings: tuple[str, ...]) -> Resolved:
        name, subpath = package_name(bare)
        own = self._packages.around(folder)
        for package in self._packages.named(name):
            is_found = package.is_member or package is own
            place = self._first(package.exported(subpath), endings)
            if place is not None:
                return certain(place, specifier) if is_found else guess(place, specifier)
            place = self._source_of(package, subpath, endings)
            if place is not None:
                return guess(place, specifier)
        return guess(None, specifier)

    def _first(self, paths: Iterable[str], endings: tuple[str, ...]) -> str | None:
        places = (self._file_or_folder(path, endings) for path in paths)
        return next((place for place in places if place is not None), None)

    def _source_of(self, package: Package, subpath: str, endings: tuple[str, ...]) -> str | None:
        """Where only the compiled file is named, which a workspace does not keep: the source it is made of."""
        start = len(package.folder)
        for path in package.exported(subpath):
            tail = path[start:]
            for folder in ("/src/", "/"):
                source = package.folder + _BUILT.sub(folder, tail, count=1)
                place = self._file(splitext(source.removesuffix(".d.ts"))[0], endings)
                if place is not None:
                    return place
        return self._file_or_folder(join_path(package.folder, "src" + subpath.removeprefix(".")), endings)

    def _file_or_folder(self, path: str, endings: tuple[str, ...]) -> str | None:
        place = self._file(path, endings)
        if place is not None or not self._files.has_folder(path):
            return place
        package = self._packages.at(path)
        if package is not None and package.manifest.get("exports") is None:
            main = (self._file(entry, endings) or self._index(entry, endings) for entry in package.exported("."))
            place = next((entry for entry in main if entry is not None), None)
        return place or self._index(path, endings)

    def _file(self, path: str, endings: tuple[str, ...]) -> str | None:
        stem, ending = splitext(path)
        compiled = [stem + each for each in _COMPILED.get(ending, ())]
        exact = [*compiled, path] if endings is TYPED_FIRST else [path, *compiled]
        return self._files.first([*exact, *(path + each for each in endings)])

    def _index(self, folder: str, endings: tuple[str, ...]) -> str | None:
        return self._files.first(join_path(folder, "index" + each) for each in endings)
