"""Read packages of JavaScript: their names, and the files that `exports`, `imports` and `main` lead to."""

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain, islice
from posixpath import dirname
from typing import Final

from toolroll.workspace.symbols.imports.files import Files, folders_upward, join_path, resolve_path
from toolroll.workspace.symbols.imports.manifests import Table, as_table, as_text, as_texts, read_table
from toolroll.workspace.symbols.languages.families.tsconfig import match_pattern

MANIFEST: Final = "package.json"
MAX_DEPTH: Final = 16  # of conditions inside conditions
MAX_TARGETS: Final = 64  # files that one entry may lead to
MAX_GLOBS: Final = 500  # of all workspaces together: each is compared with each package

_Glob = tuple[str, tuple[str, ...]]
"""The folder of a workspace, and the components of one of its patterns, from the root."""

_MAIN_FIELDS: Final = ("source", "types", "typings", "module", "main", "browser")


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One package.json."""

    folder: str
    name: str | None
    manifest: Table
    is_member: bool
    """Whether a workspace of npm, Yarn or pnpm names it: other packages then find it by its name."""

    def exported(self, subpath: str) -> Iterator[str]:
        """Yield the files that stand for the package (`.`) or a path in it (`./x`), in order; they may not exist."""
        exports = self.manifest.get("exports")
        if exports is not None:
            entries = as_table(exports)
            has_subpaths = any(key.startswith(".") for key in entries)
            yield from self._placed(_targets(entries if has_subpaths else {".": exports}, subpath))
        elif subpath == ".":
            fields = [as_text(self.manifest.get(field)) for field in _MAIN_FIELDS]
            yield from self._placed([field for field in fields if field is not None])
            yield join_path(self.folder, "index")
            yield join_path(self.folder, "src/index")
        else:
            yield from self._placed([subpath])

    def imported(self, name: str) -> Iterator[str]:
        """Yield the files that a private name (`#x`) stands for."""
        yield from self._placed(_targets(as_table(self.manifest.get("imports")), name))

    def _placed(self, targets: list[str]) -> Iterator[str]:
        for target in targets:
            path = resolve_path(self.folder, target)
            if path is not None:
                yield path


def _targets(entries: Table, name: str) -> list[str]:
    """Return the targets of the entry that fits best: the exact one, else the longest pattern."""
    patterns = sorted(entries, key=lambda key: ("*" in key, -len(key.partition("*")[0])))
    for pattern in patterns:
        middle = match_pattern(pattern, name)
        if middle is None and pattern.endswith("/") and name.startswith(pattern):
            return [target + name.removeprefix(pattern) for target in _flat(entries[pattern], 0)][:MAX_TARGETS]
        if middle is not None:
            return [target.replace("*", middle) for target in _flat(entries[pattern], 0)][:MAX_TARGETS]
    return []


def _flat(value: object, depth: int) -> Iterator[str]:
    """Yield every target under all conditions: which condition holds depends on who asks, the source is the same."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth < MAX_DEPTH:
        for item in value:
            yield from _flat(item, depth + 1)
    elif isinstance(value, dict) and depth < MAX_DEPTH:
        for item in value.values():
            yield from _flat(item, depth + 1)


class Packages:
    """Every package.json of the workspace, read once."""

    def __init__(self, files: Files) -> None:
        self._files = files
        manifests = {dirname(path): read_table(files.read(path)) for path in files.named(MANIFEST)}
        globs = list(islice(chain(_workspaces(manifests), _pnpm(files)), MAX_GLOBS))
        self._by_folder = {folder: _package(folder, manifest, globs) for folder, manifest in manifests.items()}
        self._by_name: dict[str, list[Package]] = {}
        for package in self._by_folder.values():
            if package.name is not None:
                self._by_name.setdefault(package.name, []).append(package)
        self._around: dict[str, Package | None] = {}

    def at(self, folder: str) -> Package | None:
        """Return the package whose package.json lies right in this folder."""
        return self._by_folder.get(folder)

    def around(self, folder: str) -> Package | None:
        """Return the package a folder belongs to."""
        if folder not in self._around:
            above = (self._by_folder.get(each) for each in folders_upward(folder))
            self._around[folder] = next((package for package in above if package is not None), None)
        return self._around[folder]

    def named(self, name: str) -> list[Package]:
        """Return the packages with this name, members of a workspace first."""
        return sorted(self._by_name.get(name, []), key=lambda package: not package.is_member)


def package_name(specifier: str) -> tuple[str, str]:
    """Return the package of `@scope/name/sub/path`, and the path in it as `exports` writes it."""
    parts = specifier.split("/")
    count = 2 if specifier.startswith("@") else 1
    rest = "/".join(parts[count:])
    return "/".join(parts[:count]), f"./{rest}" if rest else "."


def _package(folder: str, manifest: Table, globs: list[_Glob]) -> Package:
    parts = folder.split("/")
    is_member = any(_fits(parts, glob) for root, glob in globs if root != folder)
    return Package(folder=folder, name=as_text(manifest.get("name")), manifest=manifest, is_member=is_member)


def _workspaces(manifests: dict[str, Table]) -> Iterator[_Glob]:
    for folder, manifest in manifests.items():
        declared = manifest.get("workspaces")
        for glob in as_texts(as_table(declared).get("packages") if isinstance(declared, dict) else declared):
            yield from _glob(folder, glob)


def _pnpm(files: Files) -> Iterator[_Glob]:
    """Yield the list under `packages:`; a reader for all of YAML would be a dependency for this one list."""
    for path in files.named("pnpm-workspace.yaml"):
        data = files.read(path) or b""
        is_list = False
        for line in data.decode("utf-8-sig", "replace").splitlines():
            bare = line.split(" #")[0].strip()
            if bare.startswith("- ") and is_list:
                yield from _glob(dirname(path), bare[2:].strip().strip("'\""))
            elif bare and not bare.startswith("#"):
                is_list = bare == "packages:"


def _glob(folder: str, glob: str) -> Iterator[_Glob]:
    place = None if glob.startswith("!") else resolve_path(folder, glob)
    if place is not None:
        yield folder, tuple(place.split("/"))


def _fits(parts: list[str], glob: tuple[str, ...]) -> bool:
    """Match component by component, each place at most once: unlike an expression, no text can make this slow."""
    places = {0}
    for piece in glob:
        if piece == "**":
            places = set(range(min(places), len(parts) + 1)) if places else set()
        else:
            places = {at + 1 for at in places if at < len(parts) and fnmatchcase(parts[at], piece)}
    return len(parts) in places
