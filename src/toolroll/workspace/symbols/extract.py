"""Read definitions, imports and occurrences of a name out of the bytes of one file.

Only bytes come in: a process that parses opens no file. Whatever the bytes are, this returns: the grammars recover from
broken code as well as they can, and what they cannot read is only missing. Positions are counted here (`Lines`), as
points of py-tree-sitter 0.26.0 free numbers above 256 that others still use, which ends in a crash.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, cast

from tree_sitter import Node, QueryCursor, Tree

from toolroll.workspace.symbols.describe import (
    as_utf8,
    hide_secrets,
    hide_values,
    join_names,
    leading_words,
    owner_path,
    read_comment_before,
    read_docstring,
    read_signature,
    split_name,
)
from toolroll.workspace.symbols.imports.statement import MAX_MODULE_CHARACTERS, MAX_STATEMENTS, ImportStatement
from toolroll.workspace.symbols.imports.syntax import Source
from toolroll.workspace.symbols.languages.language import Language
from toolroll.workspace.symbols.languages.registry import LANGUAGES
from toolroll.workspace.symbols.parser import (
    LOCAL,
    OUTER,
    SCOPE,
    Capture,
    Captures,
    compile_query,
    find_captures,
    fix_syntax,
    parse,
)
from toolroll.workspace.symbols.symbol import FileSymbols, Kind, Symbol

MAX_NAME_CHARACTERS: Final = 200
_TYPES: Final = frozenset({"class", "enum", "interface", "object", SCOPE, "struct", "trait", "type"})
_OPEN: Final = _TYPES | {"module"}
"""What a variable may stand in directly without being local."""
_LOCALS: Final = frozenset({"constant", "prototype", "variable"})
_VALUES: Final = frozenset({"constant", "field", "macro", "variable"})
_MEMBERS: Final = {"function": "method", "variable": "field"}
"""What a definition is called inside of a type."""

MAX_OCCURRENCES: Final = 1_000  # of one name in one file: generated tables have more, and nobody reads them
MAX_TEXT_CHARACTERS: Final = 200  # of the line around an occurrence
_TEXT: Final = re.compile(r"comment|string|text|content|char|regex|pattern_fragment|heredoc")
_WORD_PARENTS: Final = frozenset({"command_name", "function_definition"})


def extract(language: str, data: bytes) -> FileSymbols:
    """Return what a file in this language defines and imports; never fails on any bytes."""
    known, data = LANGUAGES[language], as_utf8(data)
    tree = parse(known, data)
    found = find_captures(known, tree.root_node)
    if tree.root_node.has_error and (better := fix_syntax(known, data)) is not None:
        again = parse(known, better)
        places = find_captures(known, again.root_node)
        if len(places.places) > len(found.places):
            tree, found = again, places
    return FileSymbols(
        symbols=tuple(_Reader(known, data, found.exported).read(found)),
        imports=read_imports(known, tree, data),
        has_error=tree.root_node.has_error,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scope:
    """What definitions stand in, up to the byte where it ends."""

    start: int
    end: int
    kind: str
    path: str | None
    exported: bool


class _Reader:
    """Makes symbols of places, knowing at each what it stands in."""

    def __init__(self, language: Language, data: bytes, exported: frozenset[bytes]) -> None:
        self._language = language
        self._data = data
        self._lines = Lines(data)
        self._exported = exported
        self._scopes: list[_Scope] = []
        self._outer: Node | None = None

    def read(self, found: Captures) -> Iterator[Symbol]:
        for place in found.places:
            around = self._around(place.node.start_byte, place.node.end_byte)
            if place.kind == OUTER:
                self._outer = place.node
            elif place.name is None:
                self._enter(place, LOCAL, around.path if around else None, exported=False)
            elif place.kind == SCOPE:
                path = join_names(around.path if around else None, owner_path(_text(place.name)))
                self._enter(place, SCOPE, path, exported=True)
            elif (symbol := self._symbol(place, place.name, around)) is not None:
                if self._language.variables_hold_definitions or place.kind not in _LOCALS:
                    self._enter(place, symbol.kind, symbol.name_path, exported=symbol.exported)
                yield symbol

    def _enter(self, place: Capture, kind: str, path: str | None, *, exported: bool) -> None:
        start, end = place.node.start_byte, place.node.end_byte
        self._scopes.append(_Scope(start=start, end=end, kind=kind, path=path, exported=exported))

    def _around(self, start: int, end: int) -> _Scope | None:
        """Return what this span stands in; the names of one declaration (`int a, b`) stand beside each other."""
        while self._scopes and (
            self._scopes[-1].end <= start or (self._scopes[-1].start, self._scopes[-1].end) == (start, end)
        ):
            self._scopes.pop()
        return self._scopes[-1] if self._scopes else None

    def _symbol(self, place: Capture, name_node: Node, around: _Scope | None) -> Symbol | None:
        if around is not None and place.kind in _LOCALS and around.kind not in _OPEN:
            return None
        qualifier, name = split_name(_text(name_node))
        if not name or len(name) > MAX_NAME_CHARACTERS:
            return None
        if place.parent is not None:
            qualifier = owner_path(_text(place.parent))
        node, body = place.node, place.node.child_by_field_name("body")
        start, line = self._start(node), self._lines.line(name_node.start_byte)
        return Symbol(
            name=name,
            kind=_kind(place.kind, around, qualifier),
            line=line,
            column=self._lines.column(name_node.start_byte),
            start_line=self._lines.line(start.start_byte),
            end_line=self._lines.last_line(name_node.start_byte, node.end_byte),
            parent=join_names(_path_for(name, around), qualifier),
            signature=self._signature(node, body, has_value=place.kind in _VALUES),
            doc=self._doc(start, body),
            exported=self._is_exported(place, name, name_node, around)
            or (qualifier is None and self._is_module_member(place, around)),
        )

    def _start(self, node: Node) -> Node:
        """Return where a definition begins, with its decorators."""
        outer, self._outer = self._outer, None
        return outer if outer is not None and outer.end_byte == node.end_byte else node

    def _signature(self, node: Node, body: Node | None, *, has_value: bool) -> str:
        end = node.end_byte if body is None else body.start_byte
        text = read_signature(self._data, node.start_byte, end, is_whole=body is None)
        return hide_values(text) if has_value else hide_secrets(text)

    def _doc(self, start: Node, body: Node | None) -> str | None:
        if self._language.has_docstrings and body is not None:
            doc = read_docstring(self._data, body.start_byte)
        else:
            doc = read_comment_before(self._data, start.start_byte, self._language.comment)
        return None if doc is None else hide_secrets(doc)

    def _is_exported(self, place: Capture, name: str, name_node: Node, around: _Scope | None) -> bool:
        if around is not None and not (around.exported and around.kind in _OPEN):
            return False
        if around is None and name.encode() in self._exported:
            return True
        start = place.node.start_byte
        before = leading_words(self._data, start) + self._data[start : name_node.start_byte]
        return self._language.is_exported(name, before, around.kind if around else None)

    def _is_module_member(self, place: Capture, around: _Scope | None) -> bool:
        """Return whether it is a function of the object that a module hands out."""
        is_handed_out = place.kind == "method" and self._language.exports_objects
        return around is None and (place.parent is not None or is_handed_out)


def _path_for(name: str, around: _Scope | None) -> str | None:
    """Return the path that a name stands in; in `typedef struct T {} T` the inner one is the same as the outer."""
    if around is None or around.path is None:
        return None
    above, _, last = around.path.rpartition(".")
    return above if around.kind == "type" and last == name else around.path


def _kind(kind: str, around: _Scope | None, qualifier: str | None) -> Kind:
    is_member = around.kind in _TYPES if around is not None else qualifier is not None
    return cast("Kind", _MEMBERS.get(kind, kind) if is_member else kind)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def read_imports(language: Language, tree: Tree, data: bytes) -> tuple[ImportStatement, ...]:
    """Return the imports of a parsed file in their order, at most `MAX_STATEMENTS`; never fails on any bytes."""
    if language.read_import is None:
        return ()
    captures = QueryCursor(compile_query(language, language.imports)).captures(tree.root_node)
    source = Source(data)
    found: list[ImportStatement] = []
    # In their order: captures come by pattern, and what is cut off at the limit must be the end.
    for node in sorted(captures.get("statement", []), key=lambda node: node.start_byte):
        found += [statement for statement in language.read_import(node, source) if _is_sound(statement)]
        if len(found) >= MAX_STATEMENTS:
            break
    return tuple(found[:MAX_STATEMENTS])


def _is_sound(statement: ImportStatement) -> bool:
    """Reject what broken code gives: modules without a name, and strings that hold a whole program."""
    module = statement.module
    return bool(module or statement.level) and len(module) <= MAX_MODULE_CHARACTERS and module.isprintable()


class Lines:
    """The lines of one text, which end at `\\n` and nowhere else; both counts begin at 1."""

    __slots__ = ("_data", "_starts")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._starts = list(accumulate([len(line) + 1 for line in data.split(b"\n")[:-1]], initial=0))

    def line(self, byte: int) -> int:
        """Return the line that the byte stands in."""
        return bisect_right(self._starts, byte)

    def last_line(self, start: int, end: int) -> int:
        """Return the line in which the span from `start` to before `end` ends, not counting a line end at its end."""
        return self.line(max(start, end - 1))

    def column(self, byte: int) -> int:
        """Return the column of the byte, in characters."""
        start = self._starts[self.line(byte) - 1]
        return len(self._data[start:byte].decode("utf-8", "replace")) + 1

    def text(self, line: int) -> bytes:
        """Return one line, without its end."""
        end = self._starts[line] - 1 if line < len(self._starts) else len(self._data)
        return self._data[self._starts[line - 1] : end]


def find_occurrences(language: str, data: bytes, name: str) -> list[tuple[int, int, str]]:
    """Return line, column and the text of the line of every place where the name is used or defined."""
    known, data = LANGUAGES[language], as_utf8(data)
    starts = [found.start() for found in re.finditer(_whole_word(name), data)][:MAX_OCCURRENCES]
    if not starts:
        return []
    root, lines, size = parse(known, data).root_node, Lines(data), len(name.encode())
    found = []
    for start in starts:
        if _is_name(root.descendant_for_byte_range(start, start + size), start, start + size):
            line = lines.line(start)
            text = lines.text(line).decode("utf-8", "replace").strip()[:MAX_TEXT_CHARACTERS]
            found.append((line, lines.column(start), text))
    return found


def _whole_word(name: str) -> bytes:
    return rb"(?<![\w\x80-\xff])" + re.escape(name.encode()) + rb"(?![\w\x80-\xff])"


def _is_name(node: Node | None, start: int, end: int) -> bool:
    """Return whether the node is exactly that span, and a name."""
    if node is None or (node.start_byte, node.end_byte) != (start, end) or _TEXT.search(node.type):
        return False
    # A word of a shell is a name where it is run or defined, and text everywhere else.
    return node.type != "word" or (node.parent is not None and node.parent.type in _WORD_PARENTS)
