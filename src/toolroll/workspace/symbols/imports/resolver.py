"""Find the files that import statements mean, whatever the language of the importing file."""

from collections.abc import Callable, Collection, Iterator

from toolroll.workspace.symbols.imports.files import Files, guess
from toolroll.workspace.symbols.imports.statement import ImportStatement, Resolved
from toolroll.workspace.symbols.languages.language import ImportResolver
from toolroll.workspace.symbols.languages.registry import LANGUAGES, language_of


class Resolver:
    """Resolve statements with the resolver of their language. Another set of files needs another one."""

    def __init__(self, files: Collection[str], read: Callable[[str], bytes | None]) -> None:
        self.files = Files(files, read)
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
