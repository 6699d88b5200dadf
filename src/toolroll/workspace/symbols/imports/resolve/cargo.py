"""Crates of a workspace: their names, the files they begin with, and what they call their dependencies."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from posixpath import dirname

from toolroll.workspace.symbols.imports.resolve.files import Files, folders_upward, join_path, resolve_path
from toolroll.workspace.symbols.imports.resolve.jsonc import Table, as_table, as_text
from toolroll.workspace.symbols.imports.resolve.toml import read_toml


@dataclass(frozen=True, slots=True, kw_only=True)
class Crate:
    """One Cargo.toml with a package in it."""

    folder: str
    name: str
    """As code writes it: with underscores."""
    library: str | None
    program: str | None
    """The files that the library and the program begin with, where there are such."""
    renamed: dict[str, str]
    """Dependencies that go by another name here, each with its own."""


class Crates:
    """Every crate of the workspace, read once."""

    def __init__(self, files: Files) -> None:
        self._by_folder: dict[str, Crate] = {}
        self._by_name: dict[str, Crate] = {}
        self._around: dict[str, Crate | None] = {}
        for path in files.named("Cargo.toml"):
            crate = _crate(files, dirname(path), read_toml(files.read(path)))
            if crate is not None:
                self._by_folder[crate.folder] = crate
                self._by_name.setdefault(crate.name, crate)

    def around(self, folder: str) -> Crate | None:
        """The crate a folder belongs to."""
        if folder not in self._around:
            above = (self._by_folder.get(each) for each in folders_upward(folder))
            self._around[folder] = next((crate for crate in above if crate is not None), None)
        return self._around[folder]

    def every(self) -> Iterable[Crate]:
        """All of them, by their folders."""
        return self._by_folder.values()

    def named(self, name: str) -> Crate | None:
        """The crate with this name."""
        return self._by_name.get(name)


def _crate(files: Files, folder: str, manifest: Table) -> Crate | None:
    library = as_table(manifest.get("lib"))
    name = as_text(library.get("name")) or as_text(as_table(manifest.get("package")).get("name"))
    if name is None:
        return None
    declared = resolve_path(folder, as_text(library.get("path")) or "src/lib.rs")
    return Crate(
        folder=folder,
        name=name.replace("-", "_"),
        library=declared if declared in files else None,
        program=files.first([join_path(folder, "src/main.rs")]),
        renamed=dict(_renamed(manifest)),
    )


def _renamed(manifest: Table) -> Iterator[tuple[str, str]]:
    for section in ("dependencies", "dev-dependencies", "build-dependencies"):
        for alias, settings in as_table(manifest.get(section)).items():
            package = as_text(as_table(settings).get("package"))
            if package is not None:
                yield alias.replace("-", "_"), package.replace("-", "_")
