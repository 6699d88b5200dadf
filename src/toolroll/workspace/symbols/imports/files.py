"""Look up the files of a workspace by path, by folder and by the end of a path."""

from collections.abc import Callable, Collection, Iterable
from posixpath import basename, dirname
from typing import Final

from toolroll.workspace.symbols.imports.statement import Resolved

MAX_CONFIG_BYTES: Final = 1 << 20  # of a manifest: the largest hand-written ones have some ten thousand
MAX_ENDINGS: Final = 1_000  # files of one name that are compared with an importer: enough for every `index.ts`


class Files:
    """Which files there are. Paths are relative to the root, with `/`; the root is the empty text."""

    def __init__(self, paths: Collection[str], read: Callable[[str], bytes | None]) -> None:
        self._paths = frozenset(path for path in paths if not path.startswith("/"))
        self._read = read
        self._by_name: dict[str, list[str]] = {}
        self._by_end: dict[str, list[str]] = {}
        self._in_folder: dict[str, list[str]] = {"": []}
        self._subfolders: dict[str, list[str]] = {}
        self._folders_by_name: dict[str, list[str]] = {}
        for path in sorted(self._paths):
            self._by_name.setdefault(basename(path), []).append(path)
            self._by_end.setdefault(_last_two(path), []).append(path)
            folder = dirname(path)
            if folder not in self._in_folder:
                self._add_folder(folder)
            self._in_folder[folder].append(path)

    def _add_folder(self, folder: str) -> None:
        while folder not in self._in_folder:
            self._in_folder[folder] = []
            self._folders_by_name.setdefault(basename(folder), []).append(folder)
            self._subfolders.setdefault(dirname(folder), []).append(basename(folder))
            folder = dirname(folder)

    def __contains__(self, path: object) -> bool:
        return path in self._paths

    def has_folder(self, path: str) -> bool:
        """Return whether a file lies in this folder or below it."""
        return path in self._in_folder

    def subfolders(self, folder: str) -> Iterable[str]:
        """Return the names of the folders in a folder."""
        return self._subfolders.get(folder, ())

    def inside(self, folder: str) -> Iterable[str]:
        """Return the files that lie directly in a folder."""
        return self._in_folder.get(folder, ())

    def named(self, name: str) -> list[str]:
        """Return the files with this name, in whatever folder."""
        return self._by_name.get(name, [])

    def ending(self, end: str) -> list[str]:
        """Return the files whose path ends with these components."""
        paths = self._by_end.get(_last_two(end), []) if "/" in end else self._by_name.get(end, [])
        return _filter_by_end(paths[:MAX_ENDINGS], end)

    def folders_ending(self, end: str) -> list[str]:
        """Return the folders whose path ends with these components."""
        return _filter_by_end(self._folders_by_name.get(basename(end), [])[:MAX_ENDINGS], end)

    def first(self, candidates: Iterable[str]) -> str | None:
        """Return the first of these paths that is a file."""
        return next((path for path in candidates if path in self._paths), None)

    def read(self, path: str) -> bytes | None:
        """Return what a manifest holds; None where there is none, or where it is too large to be one."""
        data = self._read(path) if path in self._paths else None
        return None if data is None or len(data) > MAX_CONFIG_BYTES else data


def _last_two(path: str) -> str:
    """Return the last two components: five thousand files are called `index.ts`, few of them in folders of one name."""
    return "/".join(path.rsplit("/", 2)[-2:])


def _filter_by_end(paths: list[str], end: str) -> list[str]:
    tail = "/" + end
    return [path for path in paths if path == end or path.endswith(tail)]


def resolve_path(folder: str, path: str) -> str | None:
    """Return the path as seen from a folder, without `.` and `..`; None where it leaves the workspace."""
    parts = folder.split("/") if folder else []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def join_path(folder: str, name: str) -> str:
    """Return the path of a name in a folder that is known to be clean."""
    return f"{folder}/{name}" if folder else name


def is_inside(path: str, folder: str) -> bool:
    """Return whether a path is a folder or lies in it."""
    return not folder or path == folder or path.startswith(folder + "/")


def folders_upward(folder: str) -> Iterable[str]:
    """Yield a folder, then the one it lies in, up to the root."""
    while folder:
        yield folder
        folder = dirname(folder)
    yield ""


def nearest(paths: Collection[str], importer: str) -> str | None:
    """Return the path that shares most of its folders with the importer: of twins in a monorepo, the one next door."""
    if not paths:
        return None
    own = importer.split("/")

    def distance(path: str) -> tuple[int, int, str]:
        shared = 0
        parts = path.split("/")
        for mine, other in zip(own, parts, strict=False):
            if mine != other:
                break
            shared += 1
        return -shared, len(parts), path

    return min(paths, key=distance)


def certain(path: str, module: str) -> Resolved:
    """Return a file the language would find."""
    return Resolved(path=path, module=module, certainty="resolved")


def guess(path: str | None, module: str) -> Resolved:
    """Return a file that only looks right, or none."""
    return Resolved(path=path, module=module, certainty="specifier")
