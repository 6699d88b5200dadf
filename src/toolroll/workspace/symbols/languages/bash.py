"""Bash: scripts that a script reads in with `source x` and `. x`."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Final

from toolroll.workspace.symbols.imports.statement import ImportKind, ImportStatement
from toolroll.workspace.symbols.imports.syntax import Source, is_below
from toolroll.workspace.symbols.languages.families.scripts import ScriptResolver
from toolroll.workspace.symbols.languages.language import Language

if TYPE_CHECKING:
    from tree_sitter import Node

_DEFINITIONS: Final = """
(function_definition name: (word) @name) @function
(variable_assignment name: (variable_name) @name) @variable
"""
_IMPORTS: Final = '(command name: (command_name) @called (#any-of? @called "source" ".")) @statement'

_CASES: Final = frozenset({"case_statement", "function_definition", "if_statement", "list"})
_OWN_FOLDER: Final = re.compile(r"""\$\(\s*dirname[^)]*\)|\$\{BASH_SOURCE(?:\[0\])?%/\*\}|\$\{0%/\*\}""")


def _read_import(node: "Node", source: Source) -> Iterator[ImportStatement]:
    """Read the import statements of one captured node; of a computed folder only what follows it is known."""
    argument = node.child_by_field_name("argument")
    if argument is None:
        return
    written = source.text(argument).strip("\"'")
    kind: ImportKind = "conditional" if is_below(node, _CASES) else "static"
    known = _OWN_FOLDER.sub(".", written)
    if "$" not in known and "`" not in known:
        yield source.statement(node, known, kind=kind, form="file")
        return
    end = re.split(r"[}$`)]\w*", known)[-1].strip("\"'/")
    if end:
        yield source.statement(node, end, kind="dynamic", form="system")


class BashResolver(ScriptResolver):
    """Find scripts by the written path, with or without an ending."""

    endings: ClassVar[tuple[str, ...]] = ("", ".sh", ".bash")


LANGUAGES: Final = (
    Language(
        name="bash",
        title="Bash",
        extensions=(".sh", ".bash"),
        grammar="tree_sitter_bash",
        definitions=_DEFINITIONS,
        imports=_IMPORTS,
        read_import=_read_import,
        resolver=BashResolver,
        importable=(".zsh", ".ksh", ".bats"),
        comment=b"#",
    ),
)
