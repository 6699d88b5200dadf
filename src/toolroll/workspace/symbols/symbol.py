"""Types of the index: one definition, and all that one file defines and imports."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

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
