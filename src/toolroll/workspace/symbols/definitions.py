"""Find the definitions of a name in files that are not indexed yet, and choose among all that were found.

A search finds the files that hold the word; those with a line that may define it are parsed, and of languages that
nothing can parse, lines with a keyword before the name count.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, cast

from toolroll.errors import ToolrollError
from toolroll.safe.paths.names import RelativePath
from toolroll.workspace.symbols.describe import MAX_SIGNATURE_CHARACTERS, as_utf8
from toolroll.workspace.symbols.imports.statement import Edge
from toolroll.workspace.symbols.languages.language import is_installed
from toolroll.workspace.symbols.languages.registry import language_of, package_files
from toolroll.workspace.symbols.source_files import find_files_with, skip_reason
from toolroll.workspace.symbols.symbol import GROUPS, Group, Kind, Rows, Symbol, to_symbol
from toolroll.workspace.symbols.workers import Task, Workers
from toolroll.workspace.workspace import Workspace

MAX_NAME_CHARACTERS: Final = 400  # of what is asked for
MAX_FILES: Final = 200  # that look as if they defined it: real names have 1 to 40
MAX_FILES_WITH_WORD: Final = 5_000  # that are read: half a second
MAX_LINES_A_FILE: Final = 20
MAX_LEAD_BYTES: Final = 400  # of a line, on both sides of the name
_SEPARATOR: Final = re.compile(r"::|[#/]|->|\.")
_TESTS: Final = re.compile(
    r"(?:^|/)(?:tests?|testing|spec|__tests__|fixtures|examples?|vendor|third_party)(?:/|$)|[._-]test\."
)

_KEYWORDS: Final[dict[str, Kind]] = {
    "class": "class",
    "const": "variable",
    "def": "function",
    "define": "macro",
    "defmodule": "module",
    "defp": "function",
    "enum": "enum",
    "extension": "class",
    "fn": "function",
    "fun": "function",
    "func": "function",
    "function": "function",
    "interface": "interface",
    "let": "variable",
    "local": "variable",
    "macro_rules!": "macro",
    "mod": "module",
    "module": "module",
    "namespace": "module",
    "object": "object",
    "proc": "function",
    "protocol": "interface",
    "record": "class",
    "static": "variable",
    "struct": "struct",
    "sub": "function",
    "trait": "trait",
    "type": "type",
    "typedef": "type",
    "union": "struct",
    "val": "variable",
    "var": "variable",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One definition and its file."""

    path: str
    symbol: Symbol
    is_certain: bool = True
    """False where no parser has looked at it: a line that only looks like a definition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definitions:
    """The answer to where something is defined; most likely first."""

    found: tuple[Definition, ...]
    notes: tuple[str, ...] = ()
    """What the answer does not cover, and why."""
    suggestions: tuple[str, ...] = ()
    """Names that are nearly the one asked for, where that one is not defined."""


def split_name_path(text: str) -> tuple[tuple[str, ...], str]:
    """Return what the name stands in, outermost first, and the name: `Class.method`, `a::b`, `Class#method`."""
    parts = [part for part in _SEPARATOR.split(text.strip().removesuffix("()")[:MAX_NAME_CHARACTERS]) if part]
    return (tuple(parts[:-1]), parts[-1]) if parts else ((), "")


def choose_definitions(
    found: Iterable[Definition], around: Sequence[str], kind: Group | None
) -> tuple[Definition, ...]:
    """Return those of the kind whose path ends as asked, in the order of how likely they are meant."""
    kept = [one for one in found if _is_kind(one.symbol, kind) and _is_in(one, around)]
    return tuple(sorted(kept, key=_rank))


def import_as_definition(edge: Edge, name: str) -> Definition:
    """Return where a file takes the name in, as an answer like the others."""
    statement = edge.statement
    symbol = Symbol(
        name=name,
        kind="import",
        line=statement.line,
        column=1,
        start_line=statement.line,
        end_line=statement.end_line,
        parent=None,
        signature=" ".join(statement.text.split()),
        doc=None,
        exported=statement.passes_on,
    )
    return Definition(path=edge.importer, symbol=symbol)


def is_test_or_example(path: str) -> bool:
    """Return whether the file is a test, an example, or somebody else's: what is defined there is seldom meant."""
    return _TESTS.search(path) is not None


def _is_kind(symbol: Symbol, kind: Group | None) -> bool:
    return kind is None or symbol.kind in GROUPS[kind]


def _is_in(one: Definition, around: Sequence[str]) -> bool:
    """Return whether the definition is inside of these, which may be the file and its folders: `services.user.load`."""
    if not around:
        return True
    folder, _, name = one.path.rpartition("/")
    stem = folder if name in package_files() else one.path.rsplit(".", 1)[0]
    whole = [*stem.split("/"), *(one.symbol.parent or "").split(".")]
    parts = [part for part in whole if part]
    return parts[-len(around) :] == list(around)


def _rank(one: Definition) -> tuple[bool, bool, bool, bool, int, str, int]:
    symbol = one.symbol
    is_test = is_test_or_example(one.path)
    is_inner = symbol.parent is not None
    return not one.is_certain, symbol.kind == "prototype", is_test, not symbol.exported, is_inner, one.path, symbol.line


def search_definitions(
    workspace: Workspace, workers: Workers, name: str, *, is_known: Callable[[str], bool]
) -> tuple[list[Definition], bool]:
    """Return the definitions of a name in files that are not known, and whether there were more files to look at."""
    words = ["--word-regexp", "--fixed-strings", f"--regexp={name}"]
    files, is_whole = find_files_with(workspace, words, MAX_FILES_WITH_WORD + 1)
    unknown = [path for path in files[:MAX_FILES_WITH_WORD] if not is_known(str(path))]
    search = _Search(workspace=workspace, name=name)
    found: list[Definition] = []
    for path, reply in workers.map(search.tasks(unknown), expected=min(len(unknown), MAX_FILES)):
        if reply.failure is not None:
            search.take_lines(path)
            continue
        symbols, _, _ = cast("Rows", reply.value)
        found += (Definition(path=path, symbol=to_symbol(row)) for row in symbols if row[0] == name)
    return [*found, *search.texts], search.is_cut or len(files) > MAX_FILES_WITH_WORD or not is_whole


@dataclass(slots=True, kw_only=True)
class _Search:
    """One look through files that have the word."""

    workspace: Workspace
    name: str
    texts: list[Definition] = field(default_factory=list)
    is_cut: bool = False

    def tasks(self, files: list[RelativePath]) -> Iterator[tuple[str, Task]]:
        """Yield the files to parse; lines of others go to `texts`."""
        parsed = 0
        for path in files:
            data = self._read(path)
            language = language_of(str(path), data)
            if language is None or not is_installed(language):
                self.texts += _find_lines(str(path), data, self.name)
            elif parsed == MAX_FILES:
                self.is_cut = True
            elif looks_defined(data, self.name):
                parsed += 1
                yield str(path), Task(operation="extract", language=language.name, data=data)

    def take_lines(self, path: str) -> None:
        """Take the lines of a file at which its parser failed: what they look like is better than nothing."""
        data = self._read(RelativePath(parts=tuple(path.split("/"))))
        self.texts += _find_lines(path, data, self.name)

    def _read(self, path: RelativePath) -> bytes:
        try:
            data = self.workspace.without_links().read(path).data
        except ToolrollError:
            return b""
        return b"" if skip_reason(data) is not None else data


def looks_defined(data: bytes, name: str) -> bool:
    """Return whether a line may define the name: a keyword before it, or an assignment, type or parameters after it.

    An assignment to several names at once may have brackets between.
    """
    shapes, word, at = _definition_patterns(name), name.encode(), -1
    while (at := data.find(word, at + 1)) >= 0:
        end = data.find(b"\n", at)
        start = max(data.rfind(b"\n", 0, at) + 1, at - MAX_LEAD_BYTES)
        line = data[start : min(end if end >= 0 else len(data), at + len(word) + MAX_LEAD_BYTES)]
        if any(shape.search(line) for shape in shapes):
            return True
    return False


def _definition_patterns(name: str) -> "tuple[re.Pattern[bytes], ...]":
    word, keywords = re.escape(name.encode()), b"|".join(re.escape(keyword.encode()) for keyword in _KEYWORDS)
    return (
        re.compile(rb"(?:^|[^\w$.])(?:" + keywords + rb")\b[^;={}]*[^\w$]" + word + rb"(?![\w$])"),
        re.compile(rb"(?:^|[^\w$])" + word + rb"[ \t]*(?:[?!]?[=:(<,;{]|$)"),
        re.compile(rb"(?:^|[^\w$])" + word + rb"[)\]][\w \t,*()\[\]]*=(?!=)"),  # `a, (b, *c) = ...`
    )


def _find_lines(path: str, data: bytes, name: str) -> Iterator[Definition]:
    """Find lines that a keyword makes a definition; without one, a line of an unknown language may be anything."""
    pattern, word = _definition_patterns(name)[0], name.encode()
    lines = ((number, line) for number, line in enumerate(as_utf8(data).split(b"\n"), start=1) if word in line)
    matching = ((number, line) for number, line in lines if pattern.search(line[:MAX_LEAD_BYTES]))
    for number, line in islice(matching, MAX_LINES_A_FILE):
        yield Definition(
            path=path, symbol=_guess_symbol(name, line.decode("utf-8", "replace"), number), is_certain=False
        )


def _guess_symbol(name: str, line: str, number: int) -> Symbol:
    found = re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", line)
    column = (found.start() if found else line.index(name)) + 1
    words = re.findall(r"[\w!]+", line[: column - 1])
    kind: Kind = next((_KEYWORDS[word] for word in reversed(words) if word in _KEYWORDS), "variable")
    return Symbol(
        name=name,
        kind=kind,
        line=number,
        column=column,
        start_line=number,
        end_line=number,
        parent=None,
        signature=line.strip()[:MAX_SIGNATURE_CHARACTERS],
        doc=None,
        exported=True,
    )
