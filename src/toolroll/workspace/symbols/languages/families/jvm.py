"""Resolve imports of Java, Kotlin and Scala: a class is a file in the folder of its package."""

from collections.abc import Iterator
from typing import Final

from toolroll.workspace.symbols.imports.files import Files, certain, guess, nearest
from toolroll.workspace.symbols.imports.statement import EVERYTHING, ImportStatement, Resolved
from toolroll.workspace.symbols.languages.language import ImportResolver

ENDINGS: Final = (".java", ".kt", ".scala", ".kts", ".groovy")
MAX_FOLDERS: Final = 16  # that one package may be spread over: main and test sources of a few languages
MAX_INNER: Final = 3  # classes inside classes


class JvmResolver(ImportResolver):
    """Finds classes by the end of their path: source folders need not be known."""

    def __init__(self, files: Files) -> None:
        super().__init__(files)
        self._known: dict[str, list[str]] = {}
        self._known_packages: dict[str, list[str]] = {}

    def resolve(self, importer: str, statement: ImportStatement) -> Iterator[Resolved]:
        """Yield the file of each class; the folders of a package, for `*` and for what is no class."""
        for name in statement.names or (EVERYTHING,):
            full = statement.module if name == EVERYTHING else f"{statement.module}.{name}"
            path = self.find(full, importer)
            if path is not None:
                yield certain(path, full)
                continue
            package = full if name == EVERYTHING else statement.module
            folders = self.folders(package)
            yield from (certain(folder, full) for folder in folders)
            if not folders:
                yield guess(None, full)

    def find(self, name: str, importer: str) -> str | None:
        """Return the file of a class, or of the class it is written in; of twins, the one nearest to the importer."""
        if name not in self._known:
            self._known[name] = self._search(name)
        return nearest(self._known[name], importer)

    def find_modules(self, name: str) -> Iterator[str]:
        """Yield the file of a class, or else the folders of a package."""
        if "." in name and "/" not in name and "::" not in name:
            path = self.find(name, "")
            yield from self.folders(name) if path is None else (path,)

    def _search(self, name: str) -> list[str]:
        parts = name.split(".")
        for inner in range(min(MAX_INNER, len(parts) - 1)):
            kept = parts[: len(parts) - inner]
            if inner and not parts[len(kept)][:1].isalpha():
                break
            hits = [path for ending in ENDINGS for path in self._files.ending("/".join(kept) + ending)]
            if hits:
                return hits
        return []

    def folders(self, package: str) -> list[str]:
        """Return the folders with code of a package."""
        if package not in self._known_packages:
            places = self._files.folders_ending(package.replace(".", "/"))
            with_code = [place for place in places if any(path.endswith(ENDINGS) for path in self._files.inside(place))]
            self._known_packages[package] = with_code[:MAX_FOLDERS]
        return self._known_packages[package]
