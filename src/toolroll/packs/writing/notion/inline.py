"""Rich text as Markdown: marks, links, and what must be escaped so that it reads as what it is."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from toolroll.packs.writing.notion.blocks import MARKS, Json, Mark, items, mapping, text

_SIGNS: Final[Mapping[Mark, str]] = {"bold": "**", "italic": "*", "strikethrough": "~~"}
# An underscore inside a word is no mark, in a tag or a name of a variable as well: it is left alone.
_SPECIAL: Final = re.compile(r"[\\`*\[\]~]|(?<![^\W_])_|_(?![^\W_])|<(?=[A-Za-z/!?])")
_AT_START: Final = re.compile(
    r"(?m)^([ \t]*)(?:(?P<sign>#{1,6}(?=[ \t]|$)|>|[-+](?=[ \t]|$)|-(?=[- \t]*$)|=+(?=[ \t]*$))"
    r"|(?P<number>\d{1,9})(?P<dot>[.)])(?=[ \t]|$))"
)
_BACKTICKS: Final = re.compile("`+")
_UNSAFE_IN_LINK: Final = re.compile(r"[\s<>()\\]")


def inline_markdown(rich: object) -> str:
    """Return rich text as one run of Markdown; line ends stay, and no line begins like a block of another kind."""
    pieces = [_make_piece(one) for one in items(rich)]
    linked = groupby(pieces, key=lambda piece: piece.url)
    return _AT_START.sub(
        _escape_start, "".join(_add_link(_apply_marks(list(group), _SIGNS), url) for url, group in linked)
    )


def fence_for(code: str, least: int = 3) -> str:
    """Return backticks enough to stand around a text that has backticks itself."""
    longest = max((len(run) for run in _BACKTICKS.findall(code)), default=0)
    return "`" * max(least, longest + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """A text in one style, as Markdown but for its marks."""

    shown: str
    marks: frozenset[Mark]
    url: str


def _make_piece(one: Json) -> _Piece:
    held = mapping(one.get("text"))
    content = text(held.get("content")) or text(one.get("plain_text"))
    url = text(mapping(held.get("link")).get("url")) or text(one.get("href"))
    marked = mapping(one.get("annotations"))
    marks = frozenset(mark for mark in MARKS if marked.get(mark) is True)
    if text(one.get("type")) == "equation":
        shown = f"${text(mapping(one.get('equation')).get('expression'))}$"
    else:
        shown = _wrap_words(content, _wrap_code) if "code" in marks else _SPECIAL.sub(r"\\\g<0>", content)
    return _Piece(shown=shown, marks=marks, url=url)


def _apply_marks(pieces: Sequence[_Piece], signs: Mapping[Mark, str]) -> str:
    """Pieces side by side share a mark: two pairs of stars that touch would be read as four."""
    if not signs:
        return "".join(piece.shown for piece in pieces)
    (mark, sign), *rest = signs.items()
    made = []
    for has, group in groupby(pieces, key=lambda piece: mark in piece.marks):
        inner = _apply_marks(list(group), dict(rest))
        made.append(_wrap_words(inner, lambda shown: f"{sign}{shown}{sign}") if has else inner)
    return "".join(made)


def _add_link(shown: str, url: str) -> str:
    target = _UNSAFE_IN_LINK.sub(_percent_encode, url)
    return _wrap_words(shown, lambda inner: f"[{inner}]({target})") if url else shown


def _wrap_words(shown: str, wrap: Callable[[str], str]) -> str:
    """Marks stand at words: with a space inside of them they would be read as plain stars."""
    inner = shown.strip()
    if not inner:
        return shown
    start = shown.index(inner)
    return f"{shown[:start]}{wrap(inner)}{shown[start + len(inner) :]}"


def _wrap_code(content: str) -> str:
    fence = fence_for(content, least=1)
    pad = " " if content.startswith("`") or content.endswith("`") else ""
    return f"{fence}{pad}{content}{pad}{fence}"


def _percent_encode(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "surrogatepass"))


def _escape_start(match: re.Match[str]) -> str:
    if match["number"]:
        return f"{match[1]}{match['number']}\\{match['dot']}"
    return f"{match[1]}\\{match['sign']}"
