"""Types of imports: a statement as it stands in a file, and where it leads.

Plain data: a statement is made in a worker process, kept in the index, and resolved later, when the whole tree is
known.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

ImportKind = Literal["static", "dynamic", "type", "reexport", "conditional"]
"""How it takes effect: always; when a call runs; for types only; passed on to importers; inside `if` or `try`."""

ImportForm = Literal["module", "file", "system", "child"]
"""What `module` is: a name the language looks up, a path from the importing file, a path in some folder that the file
does not name (`<x.h>`, `"$DIR/x.sh"`), or a module declared to lie below the importing one (`mod x;`)."""

Certainty = Literal["resolved", "specifier"]
"""Whether the file was found as the language finds it, or only the text of the statement says so."""

EVERYTHING: Final = "*"
"""Stands among `names` for all that a module has to give."""

MAX_TEXT_CHARACTERS: Final = 400  # of a statement's text: two hundred imported names are shown by their beginning
MAX_NAMES: Final = 1_000  # of one statement; generated code has thousands, and each is a row of the index
MAX_MODULE_CHARACTERS: Final = 1_000  # of one module's name: more is data in a string, such as a `data:` address
MAX_STATEMENTS: Final = 10_000  # of one file: a hundred times what the largest hand-written one has


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportStatement:
    """One module that one statement imports; `import a, b` is two of them, with the same text."""

    module: str
    """As written, without quotes and without the leading dots of Python: `pkg.mod`, `./x`, `crate::a`, `stdio.h`."""
    names: tuple[str, ...] = ()
    """What is taken out of the module, by its name there; `*` for everything; empty for the module itself."""
    binds: tuple[str, ...] = ()
    """The names this file knows them by."""
    line: int
    """The first line of the statement, counted from 1."""
    end_line: int
    text: str
    """The statement as written, cut after `MAX_TEXT_CHARACTERS`."""
    kind: ImportKind = "static"
    form: ImportForm = "module"
    level: int = 0
    """How many leading dots a relative import of Python has."""
    passes_on: bool = False
    """Whether importers of this file can take the names from here: `export from`, `pub use`, `import a as a`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """One place a statement leads to."""

    path: str | None
    """The file from the root of the workspace, or the folder where a language imports whole folders (Go, `a.b.*`);
    None where it is nothing of the workspace."""
    module: str
    """The module in its full form: relative imports of Python are made absolute, the rest stays as written."""
    certainty: Certainty


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One statement of one file and one place it leads to: a row of the index."""

    importer: str
    statement: ImportStatement
    target: Resolved


_SEPARATOR: Final = re.compile(r"::|[./\\]")


def is_within(module: str, outer: str) -> bool:
    """Return whether a module is another one or lies below it: `numpy.linalg` and `lodash/fp`, but not `numpydoc`."""
    if not outer or not module.startswith(outer):
        return False
    return len(module) == len(outer) or _SEPARATOR.match(module, len(outer)) is not None
