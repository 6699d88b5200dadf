"""Markdown cut into blocks while it arrives: each is given out once nothing that follows can change it.

Line by line, with a memory of one block: what a piece of text costs does not depend on how much came before. The
blocks put together are the text, character by character, however it was cut into pieces.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

BlockKind: TypeAlias = Literal["text", "fence", "code"]
Shape: TypeAlias = Literal["none", "paragraph", "list", "quote", "indented"]

MAX_BLOCK_CHARACTERS: Final = 8_192
"""A block is given out in parts from here on, and so is a line: four screens of text, rendered in some 20 ms."""

_INDENTED: Final = 4
_FENCE: Final = re.compile(r" {0,3}(?:(`{3,})[^`\n]*|(~{3,}).*)$")
_HEADING: Final = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_RULE: Final = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_UNDERLINE: Final = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_QUOTE: Final = re.compile(r" {0,3}>")
_ITEM: Final = re.compile(r"( {0,3})([-*+]|\d{1,9}[.)])(?:([ \t]{1,4})(?=\S)|[ \t]*$|(?=[ \t]))")
_INTERRUPTING_ITEM: Final = re.compile(r" {0,3}(?:[-*+]|1[.)])[ \t]+\S")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A part of the text as it came: whole Markdown (`text`), or of a fenced code block its fences and lines."""

    kind: BlockKind
    text: str


class Blocks:
    """Takes text in pieces, gives blocks."""

    def __init__(self) -> None:
        self._line: list[str] = []
        self._line_size = 0
        self._lines: list[str] = []
        self._size = 0
        self._shape: Shape = "none"
        self._marker = ""
        self._offset = 0
        self._is_after_blank = False
        self._fence = ""

    @property
    def growing(self) -> Block:
        """Return what has come and was not given out yet; at most two times the largest block."""
        kind: BlockKind = "code" if self._fence else "text"
        return Block(kind=kind, text="".join([*self._lines, *self._line]))

    def feed(self, text: str) -> list[Block]:
        """Return the blocks that are complete with this piece."""
        found: list[Block] = []
        for piece in _lines(text):
            found += self._piece(piece)
        return found

    def close(self) -> list[Block]:
        """Return all that is left: nothing follows."""
        found = self._take(self._joined()) if self._line else []
        found += self._flush()
        self._fence = ""
        return found

    def _piece(self, piece: str) -> list[Block]:
        found: list[Block] = []
        while self._line_size + len(piece) > MAX_BLOCK_CHARACTERS:
            room = MAX_BLOCK_CHARACTERS - self._line_size
            self._add(piece[:room])
            piece = piece[room:]
            found += self._cut(self._joined())
        self._add(piece)
        if piece.endswith("\n"):
            found += self._take(self._joined())
        return found

    def _add(self, piece: str) -> None:
        if piece:
            self._line.append(piece)
            self._line_size += len(piece)

    def _joined(self) -> str:
        line = "".join(self._line)
        self._line.clear()
        self._line_size = 0
        return line

    def _cut(self, line: str) -> list[Block]:
        """A part of a line without an end."""
        if self._fence:
            return [Block(kind="code", text=line)]
        self._keep(line)
        return self._flush()

    def _take(self, line: str) -> list[Block]:
        """A whole line."""
        bare = line.rstrip("\r\n").expandtabs(_INDENTED)
        if self._fence:
            return [self._fenced(line, bare)]
        if not bare.strip():
            return self._blank(line)
        if self._shape != "none" and self._continues(bare):
            self._keep(line)
            is_over = self._shape == "paragraph" and _UNDERLINE.match(bare) is not None
            return self._flush() if is_over or self._size >= MAX_BLOCK_CHARACTERS else []
        return self._begin(line, bare)

    def _fenced(self, line: str, bare: str) -> Block:
        if len(bare) - len(bare.lstrip(" ")) < _INDENTED and _closes(bare.strip(), self._fence):
            self._fence = ""
            return Block(kind="fence", text=line)
        return Block(kind="code", text=line)

    def _blank(self, line: str) -> list[Block]:
        self._keep(line)
        self._is_after_blank = True
        is_open = self._shape in ("none", "list", "indented")
        return [] if is_open and self._size < MAX_BLOCK_CHARACTERS else self._flush()

    def _begin(self, line: str, bare: str) -> list[Block]:
        fence = _FENCE.match(bare)
        if fence:
            found = self._flush()
            self._fence = fence[1] or fence[2]
            return [*found, Block(kind="fence", text=line)]
        # Blank lines that nothing stood before go with what follows them.
        found = self._flush() if self._shape != "none" else []
        self._keep(line)
        self._shape = self._shape_of(bare)
        return [*found, *self._flush()] if _HEADING.match(bare) or _RULE.match(bare) else found

    def _shape_of(self, bare: str) -> Shape:
        if bare.startswith(" " * _INDENTED):
            return "indented"
        if _QUOTE.match(bare):
            return "quote"
        return "list" if self._is_item(bare) else "paragraph"

    def _is_item(self, bare: str) -> bool:
        """Whether an item of a list begins here; the list goes on with what is indented as far as its text."""
        item = _ITEM.match(bare)
        if item is None or _RULE.match(bare):
            return False
        self._marker = item[2][-1]
        self._offset = len(item[1]) + len(item[2]) + len(item[3] or " ")
        return True

    def _continues(self, bare: str) -> bool:
        match self._shape:
            case "indented":
                return bare.startswith(" " * _INDENTED)
            case "list":
                return self._continues_list(bare)
            case "quote":
                return _QUOTE.match(bare) is not None or not _starts(bare)
            case _:
                return _UNDERLINE.match(bare) is not None or not _starts(bare)

    def _continues_list(self, bare: str) -> bool:
        if bare.startswith(" " * self._offset):
            self._is_after_blank = False
            return True
        item = _ITEM.match(bare)
        if item and item[2][-1] == self._marker and self._is_item(bare):
            self._is_after_blank = False
            return True
        return not self._is_after_blank and not _starts(bare)

    def _keep(self, line: str) -> None:
        self._lines.append(line)
        self._size += len(line)

    def _flush(self) -> list[Block]:
        text = "".join(self._lines)
        self._lines.clear()
        self._size = 0
        self._shape = "none"
        self._is_after_blank = False
        return [Block(kind="text", text=text)] if text else []


def _lines(text: str) -> list[str]:
    """Not `splitlines`, which would split at other characters, too."""
    *whole, rest = text.split("\n")
    return [*(line + "\n" for line in whole), *([rest] if rest else [])]


def _starts(bare: str) -> bool:
    """Whether a line begins something new in the middle of a paragraph."""
    starters = (_FENCE, _HEADING, _RULE, _QUOTE, _INTERRUPTING_ITEM)
    return any(starter.match(bare) for starter in starters)


def _closes(bare: str, fence: str) -> bool:
    return len(bare) >= len(fence) and set(bare) == {fence[0]}
