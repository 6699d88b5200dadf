"""What a person means by a module: a path, a relative path, a dotted name, a package, or just a name."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from posixpath import basename, dirname, splitext
from typing import Final, cast

from toolroll.workspace.symbols.imports.resolve.ecmascript import EcmascriptResolver
from toolroll.workspace.symbols.imports.resolve.files import Files, resolve_path
from toolroll.workspace.symbols.imports.resolve.go import GoResolver
from toolroll.workspace.symbols.imports.resolve.jvm import JvmResolver
from toolroll.workspace.symbols.imports.resolve.python import PythonResolver
from toolroll.workspace.symbols.imports.resolve.rust import RustResolver
from toolroll.workspace.symbols.imports.resolver import FAMILY_OF, Resolver

MAX_ASKED_CHARACTERS: Final = 1_000  # of what is asked for
MAX_PATHS: Final = 200  # that one text may mean: `index` means every one of them, and nobody wants that

_FOLDER_FILES: Final = ("__init__.py", "__init__.pyi", "mod.rs", "lib.rs", "init.lua")
_INDEX_ENDINGS: Final = (".ts", ".tsx", ".mts", ".cts", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".vue")
_CODE: Final = (*FAMILY_OF, ".d.ts", ".json", ".css", ".scss")
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
    """What a text may mean; `base` is the file from which a relative path is meant, where that is known."""
    asked = text.strip().strip("'\"`").partition("?")[0][:MAX_ASKED_CHARACTERS]
    asked = asked.rstrip("/") if asked.strip("/.") else asked
    if not asked:
        return ModuleMeaning()
    files = resolver.files
    if asked.startswith(("./", "../")):
        return _relative(asked, files, base)
    exact = _unique([*_at(files, asked.strip("/")), *_as_module(asked, resolver)])
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
    """The file or folder at a path, with or without its ending; a folder goes with the file that speaks for it."""
    if path in files:
        return [path, *([dirname(path)] if basename(path) in _FOLDER_FILES else [])]
    stems = [path, *([splitext(path)[0]] if splitext(path)[1] in {".js", ".jsx", ".mjs", ".cjs"} else [])]
    hits = [stem + ending for stem in stems for ending in _CODE if stem + ending in files]
    if files.has_folder(path):
        hits += [path, *(inner for inner in _speakers(path) if inner in files)]
    return hits


def _speakers(folder: str) -> Iterator[str]:
    yield from (f"{folder}/{name}" for name in _FOLDER_FILES)
    yield from (f"{folder}/index{ending}" for ending in _INDEX_ENDINGS)


def _by_end(files: Files, end: str) -> list[str]:
    """Files whose path ends so, with or without an ending, or that speak for a folder that does."""
    tail = end.strip("/.")
    if not tail:
        return []
    stems = [tail, *([splitext(tail)[0]] if splitext(tail)[1] in {".js", ".jsx", ".mjs", ".cjs"} else [])]
    hits = [path for stem in stems for ending in ("", *_CODE) for path in files.ending(stem + ending)]
    hits += [path for name in _speakers(tail) for path in files.ending(name)]
    return list(_unique(hits))[:MAX_PATHS]


def _as_module(asked: str, resolver: Resolver) -> Iterator[str]:
    """What the languages would find under this name, asked from the root of the workspace."""
    if "::" in asked:
        first, *rest = asked.split("::")
        yield from cast("RustResolver", resolver.family("rust")).modules(first, rest)
        return
    for path in (_python(asked, resolver), _package(asked, resolver), _go(asked, resolver)):
        yield from [] if path is None else [path]
    if "." in asked and "/" not in asked:
        jvm = cast("JvmResolver", resolver.family("jvm"))
        path = jvm.find(asked, "")
        yield from jvm.folders(asked) if path is None else [path]


def _python(asked: str, resolver: Resolver) -> str | None:
    if not all(part.isidentifier() for part in asked.split(".")):
        return None
    return cast("PythonResolver", resolver.family("python")).find(asked, "")


def _package(asked: str, resolver: Resolver) -> str | None:
    return cast("EcmascriptResolver", resolver.family("ecmascript")).find("", asked).path


def _go(asked: str, resolver: Resolver) -> str | None:
    return cast("GoResolver", resolver.family("go")).folder(asked)


def _owner(asked: str, resolver: Resolver) -> tuple[tuple[str, ...], str | None]:
    """The file and the name in `pkg.mod.Name`, `crate::mod::Name` and `src/mod.py:Name`."""
    for separator in ("::", ":", "#", "."):
        module, found, name = asked.rpartition(separator)
        if found and module and _IDENTIFIER.fullmatch(name):
            paths = _unique([*_at(resolver.files, module), *_as_module(module, resolver)])
            if paths:
                return paths, name
    return (), None


def _unique(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(paths))
