"""Convert symbols and imports to rows of plain values: between processes, and in the tables of the index."""

import struct
from dataclasses import astuple, fields
from typing import Final, cast

from toolroll.workspace.symbols.imports.statement import ImportStatement
from toolroll.workspace.symbols.symbol import FileSymbols, Kind, Symbol

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
