"""Interpret what a person means by a module: a path, a relative path, a dotted name, a package, or just a name."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from posixpath import basename, dirname, splitext
from typing import Final

from toolroll.workspace.symbols.imports.files import Files, resolve_path
from toolroll.workspace.symbols.imports.resolver import Resolver
from toolroll.workspace.symbols.languages.families.ecmascript import COMPILED
from toolroll.workspace.symbols.languages.registry import importable_extensions, package_files

MAX_ASKED_CHARACTERS: Final = 1_000  # of what is asked for
MAX_PATHS: Final = 200  # that one text may mean: `index` means every one of them, and nobody wants that

_DOTS: Final = re.compile(r"^(?:\.{1,2}/)+")
_IDENTIFIER: Final = re.compile(r"[^\W\d][\w$]*")


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
