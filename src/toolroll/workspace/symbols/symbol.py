"""Describe one definition, and all that one file defines and imports.

Both become rows of plain values: between processes, and in the tables of the index.
"""

import struct
from dataclasses import astuple, dataclass, fields
from typing import Final, Literal, cast, get_args

from toolroll.workspace.symbols.imports.statement import ImportStatement

Kind = Literal[
    "class",
    "constant",
    "constructor",
    "enum",
    "field",
    "function",
    "import",
    "interface",
    "macro",
    "method",
    "module",
    "object",
    "prototype",
    "struct",
    "trait",
    "type",
    "variable",
]
"""What a definition is, as its language has it; `prototype` is a function that is declared, and defined
elsewhere; `import` is where a name comes in from another file."""
KINDS: Final = frozenset(get_args(Kind))

Group = Literal["function", "class", "variable", "import"]
"""The coarse kinds that a search can be narrowed to; `import` means where a name is imported."""
GROUPS: Final[dict[Group, frozenset[str]]] = {
    "function": frozenset({"constructor", "function", "macro", "method", "prototype"}),
    "class": frozenset({"class", "enum", "interface", "module", "object", "struct", "trait", "type"}),
    "variable": frozenset({"constant", "field", "macro", "variable"}),
    "import": frozenset(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """One definition. Lines and columns count from 1, columns in characters; lines end at `\\n` and nowhere else."""

    name: str
    kind: Kind
    line: int
    """Where the name stands."""
    column: int
    start_line: int
    """Where the definition begins: its decorators come before its name."""
    end_line: int
    parent: str | None
    """What it is inside of, as a dotted path (`Outer.Inner`)."""
    signature: str
    """The definition without its body, on one line."""
    doc: str | None
    """The first line of what is written about it."""
    exported: bool
    """Whether its language lets other files use it."""

    @property
    def name_path(self) -> str:
        """Return the name with what it is inside of: `Class.method`."""
        return f"{self.parent}.{self.name}" if self.parent else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSymbols:
    """What one file defines and imports."""

    symbols: tuple[Symbol, ...] = ()
    imports: tuple[ImportStatement, ...] = ()
    has_error: bool = False
    """Whether some of it could not be parsed; what could is here all the same."""


Value = str | int | None
Row = list[Value]
"""One symbol: its fields in the order of `SYMBOL_COLUMNS`."""
ImportRow = list[object]
"""One import: its fields in their order; names are lists."""
Rows = tuple[list[Row], list[ImportRow], bool]
"""What one file has: symbols, imports, and whether some of it could not be parsed."""

REQUEST: Final = struct.Struct(">II")
"""How many bytes of JSON and how many of the file follow."""
REPLY: Final = struct.Struct(">I")
"""How many bytes of JSON follow."""

SYMBOL_COLUMNS: Final = tuple(field.name for field in fields(Symbol))
IMPORT_COLUMNS: Final = tuple(field.name for field in fields(ImportStatement))
_NAMES: Final = IMPORT_COLUMNS.index("names")
_BINDS: Final = IMPORT_COLUMNS.index("binds")
_TUPLES: Final = (_NAMES, _BINDS)


def to_rows(found: FileSymbols) -> Rows:
    """Return what a file has, as plain values that JSON can carry."""
    return (
        [symbol_row(symbol) for symbol in found.symbols],
        [list(astuple(one)) for one in found.imports],
        found.has_error,
    )


def symbol_row(symbol: Symbol) -> Row:
    """Return the fields of one symbol; `astuple` would copy every one of them and take ten times as long."""
    return [
        symbol.name,
        symbol.kind,
        symbol.line,
        symbol.column,
        symbol.start_line,
        symbol.end_line,
        symbol.parent,
        symbol.signature,
        symbol.doc,
        int(symbol.exported),
    ]


def to_symbol(row: "Row | tuple[Value, ...]") -> Symbol:
    """Return the symbol that was made a row."""
    name, kind, line, column, start_line, end_line, parent, signature, doc, exported = row
    return Symbol(
        name=cast("str", name),
        kind=cast("Kind", kind),
        line=cast("int", line),
        column=cast("int", column),
        start_line=cast("int", start_line),
        end_line=cast("int", end_line),
        parent=cast("str | None", parent),
        signature=cast("str", signature),
        doc=cast("str | None", doc),
        exported=bool(exported),
    )


def read_names(row: ImportRow) -> list[str]:
    """Return the names that an import takes out of its module."""
    return cast("list[str]", row[_NAMES])


def read_binds(row: ImportRow) -> list[str]:
    """Return the names that the file knows them by, where those are others: `np`, or the module itself."""
    return [name for name in cast("list[str]", row[_BINDS]) if name not in read_names(row)]


def to_statement(row: ImportRow) -> ImportStatement:
    """Return the import that was made a row."""
    values = dict(zip(IMPORT_COLUMNS, row, strict=True))
    for position in _TUPLES:
        name = IMPORT_COLUMNS[position]
        values[name] = tuple(cast("list[str]", values[name]))
    return ImportStatement(**values)  # type: ignore[arg-type]  # rows are made by `to_rows` alone
