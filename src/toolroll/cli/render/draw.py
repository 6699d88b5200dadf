"""Rows on a screen: folded to its width, so that no text is cut off and none reaches into the gutter."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal, TypeAlias

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from toolroll.cli.render.rows import Look, Row
from toolroll.lazy import load

MIN_TEXT_COLUMNS: Final = 8
"""What is left for text beside a wide gutter on a very narrow screen; wider characters still fit."""

_STYLES: Final[Mapping[Look, str]] = {
    "title": "bold",
    "text": "",
    "note": "dim",
    "warning": "bold yellow",
    "heading": "bold cyan",
    "added": "green",
    "removed": "red",
}
# Reverse rather than a colour of its own: it is there with NO_COLOR too.
_MARK: Final = "reverse"

Theme: TypeAlias = Literal["dark", "light", "plain", "none"]
"""Which colours can be read here: `plain` is those of the terminal alone, `none` is no colour of code."""

_TINTS: Final[Mapping[str, Mapping[str, str]]] = {
    "dark": {"added": "on color(22)", "removed": "on color(52)"},
    "light": {"added": "on color(194)", "removed": "on color(224)"},
}
_COLOURED: Final = ("256", "truecolor")
_LIGHT: Final = ("7", "15")


def find_theme(console: Console, wanted: str, environment: Mapping[str, str]) -> Theme:
    """Return the theme for a terminal: as `wanted`, or as the terminal says of its background where that is "auto"."""
    if console.color_system is None or console.no_color:
        return "none"
    if console.color_system not in _COLOURED:
        return "plain"
    if wanted in _TINTS:
        return "light" if wanted == "light" else "dark"
    background = environment.get("COLORFGBG", "").rpartition(";")[2]
    return "plain" if not background else "light" if background in _LIGHT else "dark"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenLine:
    """One line of the screen: a part of a row."""

    row: Row
    start: int
    end: int

    def render(self, theme: "Theme" = "plain") -> Text:
        """Return the line with its colours; marks are worked out here, for the lines that are really shown."""
        gutter = self.row.gutter if self.start == 0 else "┊ ".rjust(len(self.row.gutter)) if self.row.gutter else ""
        line = Text(gutter, style="dim" if self.row.look not in ("added", "removed") else _STYLES[self.row.look])
        text = self._text(theme)
        if self.row.other is not None:
            for start, end in _own_spans(self.row):
                text.stylize(_MARK, start, end)
        return Text.assemble(line, text[self.start : self.end])

    def _text(self, theme: "Theme") -> Text:
        """The whole text of the row: code in its colours, on a tint where a line is added or removed.

        Without a tint, what is added is green and what is removed is red, and has no other colours.
        """
        row = self.row
        tint = _TINTS.get(theme, {}).get(row.look, "")
        if not row.language or theme == "none" or (row.look != "text" and not tint):
            return Text(row.text, style=_STYLES[row.look])
        text: Text = load("toolroll.cli.render.highlight:Highlighter")(row.language).colour(row.text)
        text.stylize_before(tint)
        return text


def fold(rows: Sequence[Row], width: int) -> list[ScreenLine]:
    """Return the rows as lines of a screen of that width, wide characters counted as two."""
    return [line for row in rows for line in _fold_row(row, width)]


def _fold_row(row: Row, width: int) -> list[ScreenLine]:
    room = max(width - cell_len(row.gutter), MIN_TEXT_COLUMNS)
    if len(row.text) <= room and (row.text.isascii() or cell_len(row.text) <= room):
        return [ScreenLine(row=row, start=0, end=len(row.text))]
    found: list[ScreenLine] = []
    start = 0
    for piece in _pieces(row, room):
        found.append(ScreenLine(row=row, start=start, end=start + len(piece)))
        start += len(piece)
    return found


def _pieces(row: Row, room: int) -> Iterator[str]:
    """What fits on each line: of our own words whole ones where that can be, of all else as much as there is room."""
    if row.look not in ("note", "warning"):
        yield from chop_cells(row.text, room)
        return
    rest = row.text
    while rest:
        head = chop_cells(rest[: room + 1], room)[0]
        if len(head) < len(rest):
            head = head[: head.rfind(" ") + 1] or head
        yield head
        rest = rest[len(head) :]


def _own_spans(row: Row) -> list[tuple[int, int]]:
    assert row.other is not None
    if row.look == "removed":
        return changed_spans(row.text, row.other)[0]
    return changed_spans(row.other, row.text)[1]


def print_lines(console: Console, lines: Sequence[ScreenLine], theme: Theme = "none") -> None:
    """Print lines that already fit."""
    for line in lines:
        console.print(line.render(theme), soft_wrap=True)


Spans: TypeAlias = list[tuple[int, int]]

MAX_TOKENS: Final = 400
"""Words compared at most: the comparison is quadratic, and nobody reads marks in a line of several screens."""

MIN_SHARE: Final = 0.35
"""How much of the two lines must be the same: below that, marks are confetti on two different lines."""

# A character that `safe.text` has spelled out (`‹U+202E›`) is one token.
_TOKEN: Final = re.compile(r"‹[^‹›]{1,24}›|\w+|\s+|.", re.DOTALL)


def changed_spans(old: str, new: str) -> tuple[Spans, Spans]:
    """Return where the old and the new line differ, as character ranges; nothing where most of both is different."""
    before, after = _tokens(old), _tokens(new)
    if max(len(before), len(after)) > MAX_TOKENS:
        return [], []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    same = sum(
        len(token) for block in matcher.get_matching_blocks() for token in before[block.a : block.a + block.size]
    )
    if same * 2 < MIN_SHARE * (len(old) + len(new)):
        return [], []
    changes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return (
        _spans(before, [(start, end) for _, start, end, _, _ in changes]),
        _spans(after, [(start, end) for _, _, _, start, end in changes]),
    )


def _tokens(line: str) -> list[str]:
    return _TOKEN.findall(line)


def _spans(tokens: list[str], ranges: Spans) -> Spans:
    starts = [0]
    for token in tokens:
        starts.append(starts[-1] + len(token))
    return [(starts[start], starts[end]) for start, end in ranges if start < end]
