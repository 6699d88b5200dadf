"""Describe one language: its files, its grammar, and how its definitions and imports are read and resolved."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, TypeAlias

from toolroll.workspace.symbols.imports.files import Files
from toolroll.workspace.symbols.imports.statement import ImportStatement, Resolved

if TYPE_CHECKING:
    from tree_sitter import Node

    from toolroll.workspace.symbols.imports.syntax import Source

IsExported: TypeAlias = Callable[[str, bytes, str | None], bool]
"""Decides by the name of a definition, the words before it, and the kind of what it stands in, if anything.

What it stands in decides as well: nothing is exported from what is not.
"""

PRIVATE: Final = re.compile(rb"\b(?:private|fileprivate)\b")

_OPEN_PARENTS: Final = frozenset({"enum", "interface", "trait"})
"""What belongs to these is as open as they are."""

ReadImport: TypeAlias = "Callable[[Node, Source], Iterator[ImportStatement]]"
"""Reads the statements that one captured node stands for."""


def always_exported(name: str, before: bytes, parent_kind: str | None) -> bool:
    """Export everything."""
    del name, before, parent_kind
    return True


class ImportResolver:
    """Find the files that imports of a language lead to. It is made for one set of files, which it may index."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def resolve(self, importer: str, statement: ImportStatement) -> Iterator[Resolved]:
        """Yield the places a statement leads to, surest first; none of them need be a file of the workspace."""
        raise NotImplementedError

    def find_modules(self, name: str) -> Iterator[str]:
        """Yield the files or folders that a module name means where nobody says from which file it is asked."""
        del name
        return iter(())


@dataclass(frozen=True, slots=True, kw_only=True)
class GrammarFix:
    """Syntax that a grammar does not know yet, and what replaces it, byte for byte, so that the rest can be read."""

    pattern: re.Pattern[bytes]
    replace: Callable[[re.Match[bytes]], bytes]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Language:
    """One language. Only the first five fields are needed to find definitions; the next ones are about imports."""

    name: str
    title: str
    """As people write it."""
    extensions: tuple[str, ...]
    grammar: str
    """The module of the grammar's wheel."""
    definitions: str
    """The tree-sitter query for its definitions.

    A definition is captured under its kind (see `symbol.Kind`), its name as `@name`; `@names` holds targets in which
    every name is one. Where two patterns meet the same name, the earlier wins. `@parent` is what the definition says it
    belongs to, `@scope` something with a name that is no definition (`impl Foo`), `@local` a function without a name,
    `@outer` a definition with its decorators, and `@exported` a name that a statement of its own passes on.
    """

    # --- Imports ---------------------------------------------------------------------------------------

    imports: str = ""
    """The tree-sitter query that captures each import as `@statement`; empty where imports are not read."""
    read_import: "ReadImport | None" = None
    resolver: Callable[[Files], ImportResolver] | None = None
    """What finds the files of imports; languages that share one share its object."""
    importable: tuple[str, ...] = ()
    """Extensions of other files that its imports may name."""
    package_files: tuple[str, ...] = ()
    """Names of files that stand for their folder."""
    package_files_reexport: bool = False
    """Whether names that a package file takes from its own modules are for users of the package."""
    imports_folders: bool = False
    """Whether an import may lead to a folder: then it imports each file of that folder."""
    manifests: tuple[str, ...] = ()
    """Names, with `*`, of files that say where modules are: when one changes, every import may lead elsewhere."""

    # --- Details of the syntax -------------------------------------------------------------------------

    grammar_function: str = "language"
    """The function of the grammar's module that hands the grammar out."""
    comment: bytes = b"//"
    """How a line of comment begins."""
    is_exported: IsExported = always_exported
    """Whether other files may use a definition."""
    has_docstrings: bool = False
    """Whether the documentation of a definition is the first string of its body, and not a comment above it."""
    variables_hold_definitions: bool = True
    """Whether what is defined inside of the value of a variable belongs to that variable."""
    exports_objects: bool = False
    """Whether a module hands out an object whose functions are its own."""
    fixes: tuple[GrammarFix, ...] = ()
    """Tried where a file has errors."""
    prepare: Callable[[bytes], bytes] | None = None
    """Makes bytes ready to be parsed; every byte that is left keeps its place."""
    shared_extensions: tuple[str, ...] = ()
    """Extensions of another language whose files are in this one where `recognizes` says so."""
    recognizes: Callable[[bytes], bool] | None = None


@cache
def is_installed(language: Language) -> bool:
    """Return whether the wheel of its grammar is there; most come with the extra `languages`."""
    return find_spec(language.grammar) is not None


def exported_unless(hiding: re.Pattern[bytes]) -> IsExported:
    """Return the rule that exports a definition unless one of these words stands before it."""

    def is_exported(name: str, before: bytes, parent_kind: str | None) -> bool:
        del name
        return parent_kind in _OPEN_PARENTS or hiding.search(before) is None

    return is_exported


def exported_if(showing: re.Pattern[bytes]) -> IsExported:
    """Return the rule that exports a definition where one of these words stands before it."""

    def is_exported(name: str, before: bytes, parent_kind: str | None) -> bool:
        del name
        return parent_kind in _OPEN_PARENTS or showing.search(before) is not None

    return is_exported


def blank(found: re.Match[bytes]) -> bytes:
    """Replace all of a match by blanks."""
    return b" " * len(found[0])


def end_statement(found: re.Match[bytes]) -> bytes:
    """Replace the last byte of a match by a semicolon."""
    return found[0][:-1] + b";"


def rename(found: re.Match[bytes]) -> bytes:
    """Replace a match by another name."""
    return b"T" * len(found[0])
