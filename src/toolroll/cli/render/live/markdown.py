"""Markdown on a terminal: nothing of the text gets lost, and nothing in it reaches the terminal but as text.

What Markdown could hide is shown: HTML as it stands, the target and the title of a link behind its label, images as
links, definitions of references as lines. What an entity such as `&#x202E;` stands for is spelled out like the
character itself: the text is made safe before it is parsed and again after.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len, chop_cells
from rich.style import Style
from rich.table import Table
from rich.text import Text

from toolroll.cli.render.live.blocks import Block, Blocks
from toolroll.lazy import load
from toolroll.safe.text import terminal_safe

if TYPE_CHECKING:
    from rich.console import Console

    from toolroll.cli.render.highlight import Highlighter

MIN_COLUMNS: Final = 8
"""What is left for text beside deep nesting on a narrow screen."""

_MAX_NESTING: Final = 40
"""A list in a list counts two. Each level takes some frames of the stack, of which Python has a thousand."""

_MIN_CELL_COLUMNS: Final = 6
_TAB_COLUMNS: Final = 4
_BAR: Final = re.compile(r"(?<!\\)\|")
_CODE_INDENT: Final = "  "
_CODE: Final = Style(color="cyan")
_DIM: Final = Style(dim=True)
_STYLES: Final = {
    "strong": Style(bold=True),
    "em": Style(italic=True),
    "s": Style(strike=True),
    "link": Style(underline=True),
}
_HEADINGS: Final = {"h1": Style(bold=True, underline=True), "h2": Style(bold=True)}
_OTHER_HEADING: Final = Style(bold=True, italic=True)


class Flow:
    """Lay out blocks in their order, each with the blank line that separates it from what is above."""

    def __init__(self, console: "Console", *, is_first: bool = True) -> None:
        self._console = console
        self._is_first = is_first
        self._is_in_code = False
        self._highlighter: Highlighter | None = None

    def lines(self, blocks: Iterable[Block], width: int) -> list[Text]:
        """Return the lines of these blocks, after those before."""
        return [line for block in blocks for line in self._block(block, width)]

    def peek(self, block: Block, width: int) -> list[Text]:
        """Return the lines that a block would have if it ended here."""
        is_first, is_in_code, highlighter = self._is_first, self._is_in_code, self._highlighter
        try:
            return self._block(block, width, is_growing=True)
        finally:
            self._is_first, self._is_in_code, self._highlighter = is_first, is_in_code, highlighter

    def _block(self, block: Block, width: int, *, is_growing: bool = False) -> list[Text]:
        if block.kind == "code":
            return code_lines(block.text, width, self._highlighter, is_growing=is_growing)
        if block.kind == "fence":
            self._is_in_code = not self._is_in_code
            info = block.text.strip().lstrip("`~")
            self._highlighter = _find_highlighter(info) if self._is_in_code else None
            return self._gap() + _info(info) if self._is_in_code else []
        self._is_in_code = False
        lines = markdown_lines(block.text, width, self._console)
        return self._gap() + lines if lines else []

    def _gap(self) -> list[Text]:
        gap: list[Text] = [] if self._is_first else [Text()]
        self._is_first = False
        return gap


def render_markdown(text: str, width: int, console: "Console") -> list[Text]:
    """Return the lines of a whole text."""
    blocks = Blocks()
    return Flow(console).lines([*blocks.feed(text), *blocks.close()], width)


def markdown_lines(text: str, width: int, console: "Console") -> list[Text]:
    """Return the lines of Markdown at that width."""
    safe = terminal_safe(text.replace("\r\n", "\n"))
    tokens = _parser().parse(safe)
    writer = _Writer(console, safe.split("\n"))
    if any(token.level >= _MAX_NESTING - 1 for token in tokens):  # the parser drops what is deeper
        return writer.wrapped(Text(safe.rstrip("\n")), width)
    return writer.blocks(SyntaxTreeNode(tokens).children, width)


def code_lines(
    text: str, width: int, highlighter: "Highlighter | None" = None, *, is_growing: bool = False
) -> list[Text]:
    """Return lines of code as they are, folded at the width of the screen, between words where there are any."""
    room = max(width - len(_CODE_INDENT), MIN_COLUMNS)
    shown = terminal_safe(text.replace("\r\n", "\n")).removesuffix("\n").expandtabs(_TAB_COLUMNS)
    lines: list[Text] = []
    for line in shown.split("\n"):
        coloured = Text(line, style=_CODE) if highlighter is None else highlighter.colour(line, is_growing=is_growing)
        at = 0
        for piece in _folded(line, room):
            lines.append(Text.assemble(_CODE_INDENT, coloured[at : at + len(piece)] if piece else ""))
            at += len(piece)
    return lines


def _find_highlighter(info: str) -> "Highlighter | None":
    """What colours code of the language behind a fence; None where none is named, or it is not known."""
    language = info.strip().partition(" ")[0]
    found: Highlighter | None = load("toolroll.cli.render.highlight:Highlighter")(language) if language else None
    return found if found is not None and found.is_known else None


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _MAX_NESTING})
    return parser.enable(["table", "strikethrough"]).disable(["image", "reference"])


class _Writer:
    def __init__(self, console: "Console", source: Sequence[str]) -> None:
        self._console = console
        self._source = source

    def blocks(self, nodes: Sequence[SyntaxTreeNode], width: int, *, is_tight: bool = False) -> list[Text]:
        lines: list[Text] = []
        for node in nodes:
            more = self._block(node, max(width, MIN_COLUMNS))
            lines += [Text(), *more] if lines and more and not is_tight else more
        return lines

    def _block(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        match node.type:
            case "heading":
                text = _inline(node)
                text.stylize_before(_HEADINGS.get(node.tag, _OTHER_HEADING))
                return self.wrapped(text, width)
            case "bullet_list" | "ordered_list":
                return self._list(node, width)
            case "blockquote":
                return [Text.assemble(("│ ", _DIM), line) for line in self.blocks(node.children, width - 2)]
            case "fence" | "code_block":
                return [*_info(node.info), *code_lines(node.content, width, _find_highlighter(node.info))]
            case "hr":
                return [Text("─" * width, style=_DIM)]
            case "table":
                return self._table(node, width)
            case _:
                return self.wrapped(_inline(node), width)

    def _list(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        items = node.children
        first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
        markers = ["•"] * len(items) if first is None else [f"{first + place}." for place in range(len(items))]
        room = max(map(len, markers), default=0) + 1
        is_tight = all(child.hidden for item in items for child in item.children if child.type == "paragraph")
        lines: list[Text] = []
        for marker, item in zip(markers, items, strict=True):
            body = self.blocks(item.children, width - room, is_tight=is_tight) or [Text()]
            heads = [marker.rjust(room - 1) + " ", *([" " * room] * (len(body) - 1))]
            gap = [Text()] if lines and not is_tight else []
            lines += [*gap, *(Text.assemble((head, _DIM), line) for head, line in zip(heads, body, strict=True))]
        return lines

    def _table(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        rows = [[_inline(cell) for cell in row.children] for part in node.children for row in part.children]
        head, body = rows[0], rows[1:]
        source = self._source[slice(*node.map)] if node.map else ()
        if any(len(_BAR.findall(line.strip().strip("|"))) >= len(head) for line in source):
            return self.wrapped(Text("\n".join(source)), width)  # the parser drops cells that have no heading
        if len(head) * (_MIN_CELL_COLUMNS + 3) > width:
            return self._records(head, body, width)
        return self._grid(head, body, width)

    def _records(self, head: list[Text], body: list[list[Text]], width: int) -> list[Text]:
        """A table on a screen that it does not fit: each row as lines of its own."""
        lines: list[Text] = []
        for number, row in enumerate(body or [[]]):
            lines += [Text()] if number else []
            for place, name in enumerate(head):
                value = row[place] if place < len(row) else Text()
                lines += self.wrapped(Text.assemble((name.plain, "bold"), ": ", value), width)
        return lines

    def _grid(self, head: list[Text], body: list[list[Text]], width: int) -> list[Text]:
        table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, border_style="dim")
        for cell in head:
            table.add_column(cell, overflow="fold")
        for row in body:
            table.add_row(*row)
        options = self._console.options.update(width=width, max_width=width, height=None, no_wrap=False)
        lines = self._console.render_lines(table, options, pad=False)
        return [_stripped(Text.assemble(*((part.text, part.style or "") for part in line))) for line in lines]

    def wrapped(self, text: Text, width: int) -> list[Text]:
        return [_stripped(line) for line in text.wrap(self._console, width, tab_size=_TAB_COLUMNS)]


def _inline(node: SyntaxTreeNode) -> Text:
    text = Text()
    for part, style in _spans(node, Style()):
        text.append(part, style)
    return text


def _spans(node: SyntaxTreeNode, style: Style) -> Iterator[tuple[str, Style]]:
    match node.type:
        case "text":
            yield terminal_safe(node.content), style
        case "code_inline":
            yield terminal_safe(node.content), style + _CODE
        case "softbreak":
            yield " ", style
        case "hardbreak":
            yield "\n", style
        case "link":
            yield from _link(node, style)
        case kind:
            for child in node.children:
                yield from _spans(child, style + _STYLES.get(kind, Style()))


def _link(node: SyntaxTreeNode, style: Style) -> Iterator[tuple[str, Style]]:
    spans = [span for child in node.children for span in _spans(child, style + _STYLES["link"])]
    yield from spans
    target, title = (terminal_safe(str(node.attrs.get(name, ""))) for name in ("href", "title"))
    told = f'{target} "{title}"' if title else target
    if told != "".join(part for part, _ in spans):
        yield f" ({told})", style + _DIM


def _info(info: str) -> list[Text]:
    """What stands behind the opening fence: mostly the language."""
    return [Text(_CODE_INDENT + terminal_safe(info.strip()), style=_DIM)] if info.strip() else []


def _folded(line: str, room: int) -> list[str]:
    """A line of code in pieces that fit, all of it; between two words where that can be."""
    if len(line) <= room and (line.isascii() or cell_len(line) <= room):
        return [line]

    pieces: list[str] = []
    while line:
        head = chop_cells(line[: room + 1], room)[0]
        words, follows = head[: head.rfind(" ") + 1], line[len(head) : len(head) + 1]
        if words.strip() and follows not in ("", " "):
            head = words
        pieces.append(head)
        line = line[len(head) :]
    return pieces


def _stripped(line: Text) -> Text:
    line.rstrip()
    return line
