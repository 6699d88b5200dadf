"""Which folder a namespace of PHP stands for: `autoload` in composer.json (PSR-4)."""

from collections.abc import Iterator
from posixpath import dirname

from toolroll.workspace.symbols.imports.resolve.files import Files, join_path, resolve_path
from toolroll.workspace.symbols.imports.resolve.jsonc import as_table, as_texts, read_table


class Composer:
    """Every composer.json of the workspace, read once."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._folders: dict[str, list[str]] = {}
        for path in files.named("composer.json"):
            for prefix, folder in _mapped(dirname(path), files.read(path)):
                self._folders.setdefault(prefix, []).append(folder)

    def find(self, name: str) -> str | None:
        """The file of a class by its full name, under the longest namespace that is mapped."""
        parts = name.split("\\")
        for count in range(len(parts) - 1, -1, -1):
            tail = "/".join(parts[count:]) + ".php"
            folders = self._folders.get("\\".join(parts[:count]), ())
            path = self._files.first(join_path(folder, tail) for folder in folders)
            if path is not None:
                return path
        return None


def _mapped(folder: str, data: bytes | None) -> Iterator[tuple[str, str]]:
    manifest = read_table(data)
    for section in ("autoload", "autoload-dev"):
        for prefix, targets in as_table(as_table(manifest.get(section)).get("psr-4")).items():
            for target in as_texts(targets):
                place = resolve_path(folder, target)
                if place is not None:
                    yield prefix.strip("\\"), place
