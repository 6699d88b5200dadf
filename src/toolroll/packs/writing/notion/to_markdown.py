"""Blocks of Notion as Markdown, by the table of `read_notion_page` (W17). Whatever the JSON is, there is an answer."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from toolroll.packs.writing.notion.blocks import (
    MAX_DEPTH,
    PLAIN_CODE,
    Json,
    body_of,
    children_of,
    items,
    kind_of,
    mapping,
    plain_text,
    text,
)
from toolroll.packs.writing.notion.inline import fence_for, inline_markdown

TOO_DEEP: Final = "[…]"
"""Stands for what is nested deeper than anybody nests."""

_LISTS: Final = frozenset({"bulleted_list_item", "numbered_list_item", "to_do", "toggle"})
_MEDIA: Final = frozenset({"audio", "bookmark", "embed", "file", "image", "link_preview", "pdf", "video"})
_PAGES: Final[Mapping[str, str]] = {"child_page": "page", "child_database": "database"}
_CONTAINERS: Final = frozenset({"column", "column_list", "synced_block", "table_row", "template"})
_CLOSING: Final = re.compile(r"(?<=\s)#+\s*$")
_HEADINGS: Final[Mapping[str, int]] = {f"heading_{level}": level for level in range(1, 7)}


def to_markdown(blocks: Sequence[Json]) -> str:
    """Return the blocks as Markdown, without a line end after the last."""
    return _render_blocks(blocks, depth=0)


def _render_blocks(blocks: Sequence[Json], *, depth: int) -> str:
    if depth >= MAX_DEPTH:
        return TOO_DEEP if blocks else ""
    made: list[str] = []
    before = ""
    for block, number in _number_items(blocks):
        shown = _render_block(block, number, depth)
        if not shown:
            continue
        kind = kind_of(block)
        if made:
            made.append("\n" if kind == before and kind in _LISTS else "\n\n")
        made.append(shown)
        before = kind
    return "".join(made)


def _number_items(blocks: Sequence[Json]) -> Iterator[tuple[Json, int]]:
    """Each block with its number in the list that it is in."""
    number = 0
    for block in blocks:
        number = number + 1 if kind_of(block) == "numbered_list_item" else 0
        yield block, number


def _render_block(block: Json, number: int, depth: int) -> str:
    kind = kind_of(block)
    if kind in _LISTS:
        return _list_item(block, number, depth)
    if kind in _HEADINGS:
        return _add_children(f"{'#' * _HEADINGS[kind]} {_one_line(block)}", block, depth)
    if kind in _MEDIA:
        return f"[media: {media_description(block)}]"
    if kind in _PAGES:
        return f"[{_PAGES[kind]}: {text(body_of(block).get('title'))}]"
    if kind in _CONTAINERS:
        return _render_blocks(children_of(block), depth=depth + 1)
    render = _RENDERERS.get(kind)
    return render(block, depth) if render else _render_unknown(block, depth)


def media_description(block: Json) -> str:
    """Return a line about a picture, film or other file: its caption, else its name, else its address without query.

    The address of a file at Notion holds a signature in its query, which opens it for everybody.
    """
    body = body_of(block)
    place = mapping(body.get("external")) or mapping(body.get("file")) or body
    url = text(place.get("url")).partition("?")[0]
    found = plain_text(body.get("caption")) or text(body.get("name")) or url or kind_of(block)
    return " ".join(found.split()).replace("[", "(").replace("]", ")")


def _render_text(block: Json) -> str:
    return inline_markdown(body_of(block).get("rich_text"))


def _one_line(block: Json) -> str:
    # Signs at the end of a heading would be read as its frame.
    return _CLOSING.sub(r"\\\g<0>", " ".join(_render_text(block).split("\n")))


def _add_children(first: str, block: Json, depth: int) -> str:
    """Return a block whose children Markdown cannot put inside it: they come after it."""
    rest = _render_blocks(children_of(block), depth=depth + 1)
    return "\n\n".join(part for part in (first, rest) if part)


def _paragraph(block: Json, depth: int) -> str:
    return _add_children(_render_text(block).strip(), block, depth)


def _list_item(block: Json, number: int, depth: int) -> str:
    marker = f"{number}. " if number else "- "
    box = ""
    if kind_of(block) == "to_do":
        box = "[x] " if body_of(block).get("checked") is True else "[ ] "
    children = children_of(block)
    inner = _render_blocks(children, depth=depth + 1)
    # A paragraph right under the item's text would be read as the text going on.
    gap = "\n" if children and kind_of(children[0]) in _LISTS else "\n\n"
    whole = box + gap.join(part for part in (_render_text(block).strip(), inner) if part)
    return marker + _indent(whole, " " * len(marker))


def _indent(shown: str, indent: str) -> str:
    first, *rest = shown.split("\n")
    return "\n".join([first, *(f"{indent}{line}" if line else "" for line in rest)])


def _quote(block: Json, depth: int) -> str:
    return _quote_lines(_add_children(_render_text(block).strip(), block, depth))


def _callout(block: Json, depth: int) -> str:
    icon = text(mapping(body_of(block).get("icon")).get("emoji"))
    return _quote_lines(_add_children(f"{icon} {_render_text(block)}".strip(), block, depth))


def _quote_lines(shown: str) -> str:
    return "\n".join(f"> {line}" if line else ">" for line in shown.split("\n"))


def _render_code(block: Json, _depth: int) -> str:
    body = body_of(block)
    code = plain_text(body.get("rich_text"))
    language = " ".join(text(body.get("language")).replace("`", "").split())
    fence = fence_for(code)
    return f"{fence}{'' if language == PLAIN_CODE else language}\n{code}\n{fence}"


def _divider(_block: Json, _depth: int) -> str:
    return "---"


def _equation(block: Json, _depth: int) -> str:
    return f"$$\n{text(body_of(block).get('expression'))}\n$$"


def _render_nothing(_block: Json, _depth: int) -> str:
    return ""


def _table(block: Json, _depth: int) -> str:
    rows = [[_cell(cell) for cell in _cells(row)] for row in children_of(block)]
    width = max((len(row) for row in rows), default=0)
    if not width:
        return ""
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])


def _cells(row: Json) -> Sequence[object]:
    cells = body_of(row).get("cells")
    return cells if isinstance(cells, list | tuple) else ()


def _cell(rich: object) -> str:
    return " ".join(inline_markdown(rich).split()).replace("|", "\\|")


def _render_unknown(block: Json, depth: int) -> str:
    """Of a kind that Notion has thought of since: its text, if it has any; never nothing at all."""
    if items(body_of(block).get("rich_text")) or children_of(block):
        return _paragraph(block, depth)
    return f"[unsupported: {' '.join(kind_of(block).split()) or 'block'}]"


_RENDERERS: Final[Mapping[str, Callable[[Json, int], str]]] = {
    "breadcrumb": _render_nothing,
    "callout": _callout,
    "code": _render_code,
    "divider": _divider,
    "equation": _equation,
    "paragraph": _paragraph,
    "quote": _quote,
    "table": _table,
    "table_of_contents": _render_nothing,
}
