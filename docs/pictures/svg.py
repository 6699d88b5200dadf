"""A terminal's screen as an SVG: text on a dark ground. No script, no font from elsewhere, every character escaped."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final
from xml.sax.saxutils import escape, quoteattr

import pyte

FONT: Final = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
FONT_SIZE: Final = 14
CELL_WIDTH: Final = 8.43
"""Of a character in most monospaced fonts at this size; where a font differs, its glyphs are moved into the grid."""
LINE_HEIGHT: Final = 19
MARGIN: Final = 16

GROUND: Final = "#0d1117"
INK: Final = "#e6edf3"
PALETTE: Final = {
    "black": "#484f58",
    "red": "#ff7b72",
    "green": "#7ee787",
    "brown": "#e3b341",
    "blue": "#79c0ff",
    "magenta": "#d2a8ff",
    "cyan": "#76e3ea",
    "white": "#b1bac4",
    "brightblack": "#8b949e",
    "brightred": "#ffa198",
    "brightgreen": "#aff5b4",
    "brightbrown": "#f2cc60",
    "brightblue": "#a5d6ff",
    "brightmagenta": "#e2c5ff",
    "brightcyan": "#b3f0ff",
    "brightwhite": "#ffffff",
}

# pyte knows no faint text. It becomes grey, unless it has a colour of its own.
_SGR: Final = re.compile(rb"\x1b\[([0-9;]*)m")
_FAINT_AS_GREY: Final = b"90"
_COLOURED: Final = re.compile(rb"(?:^|;)(?:3[0-8]|9[0-7])(?:;|$)")
# Control characters have no place in XML, most not even escaped, and none on a screen.
_NO_XML: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One place of the screen; the second one of a wide character is empty."""

    text: str
    ink: str = INK
    ground: str = GROUND
    bold: bool = False
    underline: bool = False


Row = Sequence[Cell]


def read_screen(raw: bytes, *, columns: int, rows: int) -> list[list[Cell]]:
    """The screen that these bytes leave, without empty rows at its end."""
    screen = pyte.Screen(columns, rows)
    pyte.ByteStream(screen).feed(_SGR.sub(_without_faint, raw))
    found = [[_cell(screen.buffer[row][column]) for column in range(columns)] for row in range(rows)]
    while found and not text_of(found[-1]).strip():
        found.pop()
    return found


def _without_faint(match: re.Match[bytes]) -> bytes:
    words = match[1].split(b";")
    if b"2" not in words or b"38" in words or b"48" in words:
        return match[0]
    grey = [] if _COLOURED.search(match[1]) else [_FAINT_AS_GREY]
    return b"\x1b[" + b";".join([*(word for word in words if word != b"2"), *grey]) + b"m"


def _cell(char: pyte.screens.Char) -> Cell:
    ink, ground = _colour(char.fg, INK), _colour(char.bg, GROUND)
    if char.reverse:
        ink, ground = ground, ink
    return Cell(text=char.data, ink=ink, ground=ground, bold=char.bold, underline=char.underscore)


def _colour(name: str, default: str) -> str:
    if name == "default":
        return default
    return PALETTE.get(name) or f"#{name}"


def row_of(text: str, **style: str | bool) -> list[Cell]:
    """A row of text in one style."""
    return [Cell(text=one, **style) for one in printable(text)]  # type: ignore[arg-type]


def text_of(row: Row) -> str:
    """The row without its colours, one character a cell."""
    return "".join(cell.text or "\0" for cell in row)


def put(row: Row, pattern: re.Pattern[str], text: str) -> list[Cell]:
    """The row with another text wherever the pattern fits, in the style that was there. What follows moves along."""
    made, at = list[Cell](), 0
    for found in pattern.finditer(text_of(row)):
        made += row[at : found.start()]
        made += [replace(row[found.start()], text=one) for one in text]
        at = found.end()
    return [*made, *row[at:]]


def draw(rows: Sequence[Row], *, title: str, columns: int) -> str:
    """The picture; `title` is for those who cannot see it."""
    width, height = round(columns * CELL_WIDTH + 2 * MARGIN), len(rows) * LINE_HEIGHT + 2 * MARGIN
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    title = printable(title)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label={quoteattr(title)}>',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" rx="10" fill="{GROUND}"/>',
        f'<g font-family="{FONT}" font-size="{FONT_SIZE}" xml:space="preserve">',
        *(line for number, row in enumerate(rows) for line in _row(row, number)),
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _row(row: Row, number: int) -> Iterator[str]:
    top = MARGIN + number * LINE_HEIGHT
    for start, cells in _pieces(row):
        x, width = _number(MARGIN + start * CELL_WIDTH), _number(len(cells) * CELL_WIDTH)
        first, text = cells[0], "".join(cell.text for cell in cells)
        if first.ground != GROUND:
            yield f'<rect x="{x}" y="{top}" width="{width}" height="{LINE_HEIGHT}" fill="{first.ground}"/>'
        if text.strip():
            style = ' font-weight="bold"' * first.bold + ' text-decoration="underline"' * first.underline
            place = f'x="{x}" y="{top + FONT_SIZE}" textLength="{width}" lengthAdjust="spacingAndGlyphs"'
            yield f'<text {place} fill="{first.ink}"{style}>{_escaped(text)}</text>'


def _pieces(row: Row) -> Iterator[tuple[int, list[Cell]]]:
    """Cells of one style, with the column that they begin at; blanks at both ends are drawn by nobody."""
    at = 0
    for _, group in groupby(row, key=lambda cell: replace(cell, text="")):
        cells = list(group)
        start, end = _inked(cells)
        yield at + start, cells[start:end] or cells[:1]
        at += len(cells)


def _inked(cells: Sequence[Cell]) -> tuple[int, int]:
    """From the first cell that is not blank to the last; all of them where blanks can be seen."""
    if cells[0].ground != GROUND or cells[0].underline:
        return 0, len(cells)
    inked = [place for place, cell in enumerate(cells) if cell.text.strip() or not cell.text]
    return (inked[0], inked[-1] + 1) if inked else (0, 0)


def printable(text: str) -> str:
    """The text without what no XML can hold."""
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _escaped(text: str) -> str:
    return escape(printable(text)).replace(" ", "\N{NO-BREAK SPACE}")


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
