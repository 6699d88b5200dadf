"""Blocks, rich text and ids of Notion as plain JSON, read without trusting their form.

A block is `{"type": T, T: {"rich_text": [...], "children": [...]}}`, as the API takes it. What was read has its
children in the same place, so both directions use the same data.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias
from urllib.parse import parse_qs, unquote, urlsplit

Json: TypeAlias = Mapping[str, object]
Block: TypeAlias = dict[str, object]

Mark: TypeAlias = Literal["bold", "italic", "strikethrough", "code"]
MARKS: Final[tuple[Mark, ...]] = ("bold", "italic", "strikethrough", "code")
"""What Markdown can say of a text; colours and underlines are left behind."""

MAX_DEPTH: Final = 50
"""Levels of children that are looked at; people nest five."""

PLAIN_CODE: Final = "plain text"
"""The language of code without one."""


def mapping(value: object) -> Json:
    """Return the value, where it is an object; else an empty one."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> Sequence[Json]:
    """Return the objects in the value, where it is a list; else none."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list | tuple) else ()


def text(value: object) -> str:
    """Return the value, where it is a text; else an empty one."""
    return value if isinstance(value, str) else ""


def kind_of(block: Json) -> str:
    """Return the type of a block."""
    return text(block.get("type"))


def body_of(block: Json) -> Json:
    """Return what a block holds under the name of its type."""
    return mapping(block.get(kind_of(block)))


def children_of(block: Json) -> Sequence[Json]:
    """Return the blocks inside a block."""
    return items(body_of(block).get("children"))


def plain_text(rich: object) -> str:
    """Return rich text without its marks."""
    return "".join(text(one.get("plain_text")) or text(mapping(one.get("text")).get("content")) for one in items(rich))


def make_block(kind: str, rich: Sequence[Block] = (), children: Sequence[Block] = (), **more: object) -> Block:
    """Return a block as the API takes it; without children, it does not speak of them."""
    body: Block = {"rich_text": list(rich), **more}
    return {"type": kind, kind: body | {"children": list(children)} if children else body}


MAX_CHARACTERS: Final = 2_000
"""Of an address: what Notion itself takes."""

_HOSTS: Final = ("notion.so", "notion.site", "notion.com")
_SCHEMES: Final = frozenset({"http", "https", "notion"})
_HEX: Final = "[0-9a-fA-F]"
# The id stands at the end of a page's name, after a dash: `My-page-0123...`, or alone.
_ID: Final = re.compile(
    rf"(?:^|.*-)({_HEX}{{32}}|{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}})", re.DOTALL
)


def find_id(given: str) -> str | None:
    """Return the id in an id, a page's name or an address, as 8-4-4-4-12 in lower case; None where there is none.

    An address must be one of Notion's own: that of another site may carry an id, but it names another page.
    """
    text = given.strip()
    if len(text) > MAX_CHARACTERS:
        return None
    places = _places(text) if "/" in text or "?" in text else iter((text,))
    return next((found for place in places if (found := _id_at_end(place)) is not None), None)


def _places(address: str) -> Iterator[str]:
    """Where in an address an id may be, the likeliest first."""
    try:
        url = urlsplit(address if "://" in address else f"https://{address}")
        host = url.hostname or ""
    except ValueError:  # such as a bracket that never closes
        return
    if url.scheme not in _SCHEMES or not any(host == one or host.endswith(f".{one}") for one in _HOSTS):
        return
    # A page that is open over its database: the path is the database's, `p` is the page's.
    yield from parse_qs(url.query).get("p", ())
    yield unquote(url.path.rstrip("/").rpartition("/")[2])


def _id_at_end(text: str) -> str | None:
    match = _ID.fullmatch(text)
    if match is None:
        return None
    digits = match[1].replace("-", "").lower()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
