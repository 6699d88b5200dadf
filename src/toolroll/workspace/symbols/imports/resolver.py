"""From statements to files, whatever the language of the importing file."""

from collections.abc import Callable, Collection, Iterator
from posixpath import splitext
from typing import Final, Protocol

from toolroll.workspace.symbols.imports.resolve.ecmascript import EcmascriptResolver
from toolroll.workspace.symbols.imports.resolve.files import Files, guess
from toolroll.workspace.symbols.imports.resolve.go import GoResolver
from toolroll.workspace.symbols.imports.resolve.includes import IncludeResolver
from toolroll.workspace.symbols.imports.resolve.jvm import JvmResolver
from toolroll.workspace.symbols.imports.resolve.python import PythonResolver
from toolroll.workspace.symbols.imports.resolve.rust import RustResolver
from toolroll.workspace.symbols.imports.resolve.scripts import ScriptResolver
from toolroll.workspace.symbols.imports.statement import Edge, ImportStatement, Resolved


class Family(Protocol):
    """Languages that find files alike."""

    def resolve(self, importer: str, statement: ImportStatement) -> Iterator[Resolved]:
        """The places a statement leads to, surest first; none of them need be a file of the workspace."""
        ...


_MADE_BY: Final[dict[str, Callable[[Files], Family]]] = {
    "bash": lambda files: ScriptResolver(files, "bash"),
    "ecmascript": EcmascriptResolver,
    "go": GoResolver,
    "include": IncludeResolver,
    "jvm": JvmResolver,
    "lua": lambda files: ScriptResolver(files, "lua"),
    "php": lambda files: ScriptResolver(files, "php"),
    "python": PythonResolver,
    "ruby": lambda files: ScriptResolver(files, "ruby"),
    "rust": RustResolver,
    "swift": lambda files: ScriptResolver(files, "swift"),
}

_ENDINGS: Final = {
    "bash": ".sh .bash .zsh .ksh .bats",
    "ecmascript": ".js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte .astro",
    "go": ".go",
    "include": ".c .h .cc .cpp .cxx .c++ .hh .hpp .hxx .h++ .ipp .inl .inc .tcc .m .mm .cu .cuh .ino",
    "jvm": ".java .kt .kts .scala .sc .groovy",
    "lua": ".lua",
    "php": ".php .phtml",
    "python": ".py .pyi .pyw",
    "ruby": ".rb .rake .gemspec .ru",
    "rust": ".rs",
    "swift": ".swift",
}
FAMILY_OF: Final = {ending: family for family, endings in _ENDINGS.items() for ending in endings.split()}
"""Which languages find files alike, by the ending of the importing file."""


class Resolver:
    """Finds the files that statements mean. Made for one set of files: another set needs another resolver."""

    def __init__(self, files: Collection[str], read: Callable[[str], bytes | None]) -> None:
        self.files = Files(files, read)
        self._families: dict[str, Family] = {}

    def resolve(self, importer: str, statement: ImportStatement) -> tuple[Resolved, ...]:
        """Where a statement leads, one place at least: one without a file where nothing is found."""
        family = FAMILY_OF.get(splitext(importer)[1].lower())
        if family is None:
            return (guess(None, statement.module),)
        # The folder above `/` is `/` again: what climbs from an absolute path would never arrive.
        return tuple(self.family(family).resolve(importer.lstrip("/"), statement))

    def edges(self, importer: str, statements: Collection[ImportStatement]) -> Iterator[Edge]:
        """One row for each place that a statement of a file leads to."""
        for statement in statements:
            for target in self.resolve(importer, statement):
                yield Edge(importer=importer, statement=statement, target=target)

    def family(self, name: str) -> Family:
        """What resolves for a family; its manifests are read when it is first asked for."""
        if name not in self._families:
            self._families[name] = _MADE_BY[name](self.files)
        return self._families[name]
