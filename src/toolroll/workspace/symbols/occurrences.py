"""Where a name stands in one file as a name: not in strings, not in comments, not inside of longer words."""

import re
from typing import TYPE_CHECKING, Final

from toolroll.workspace.symbols.extract import as_utf8, parse
from toolroll.workspace.symbols.languages import LANGUAGES
from toolroll.workspace.symbols.lines import Lines

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_OCCURRENCES: Final = 1_000  # of one name in one file: generated tables have more, and nobody reads them
_TEXT: Final = re.compile(r"comment|string|text|content|char|regex|pattern_fragment|heredoc")
_WORD_PARENTS: Final = frozenset({"command_name", "function_definition"})


def occurrences(language: str, data: bytes, name: str) -> list[tuple[int, int, str]]:
    """Line, column and the text of the line of every place where the name is used or defined."""
    known, data = LANGUAGES[language], as_utf8(data)
    starts = [found.start() for found in re.finditer(_whole_word(name), data)][:MAX_OCCURRENCES]
    if not starts:
        return []
    root, lines, size = parse(known, data).root_node, Lines(data), len(name.encode())
    found = []
    for start in starts:
        if _is_name(root.descendant_for_byte_range(start, start + size), start, start + size):
            line = lines.line(start)
            found.append((line, lines.column(start), lines.text(line).decode("utf-8", "replace").strip()))
    return found


def _whole_word(name: str) -> bytes:
    return rb"(?<![\w\x80-\xff])" + re.escape(name.encode()) + rb"(?![\w\x80-\xff])"


def _is_name(node: "Node | None", start: int, end: int) -> bool:
    """Whether the node is exactly that span, and a name."""
    if node is None or (node.start_byte, node.end_byte) != (start, end) or _TEXT.search(node.type):
        return False
    # A word of a shell is a name where it is run or defined, and text everywhere else.
    return node.type != "word" or (node.parent is not None and node.parent.type in _WORD_PARENTS)
