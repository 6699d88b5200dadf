"""Blocks and rich text of Notion as plain JSON, read without trust in their form.

A block is `{"type": T, T: {"rich_text": [...], "children": [...]}}`, as the API takes it; what was read has its
children in the same place, so that both directions speak of the same data.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

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
    """The value, where it is an object; else an empty one."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> Sequence[Json]:
    """The objects in the value, where it is a list; else none."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list | tuple) else ()


def text(value: object) -> str:
    """The value, where it is a text; else an empty one."""
    return value if isinstance(value, str) else ""


def kind_of(block: Json) -> str:
    """The type of a block."""
    return text(block.get("type"))


def body_of(block: Json) -> Json:
    """What a block holds under the name of its type."""
    return mapping(block.get(kind_of(block)))


def children_of(block: Json) -> Sequence[Json]:
    """The blocks inside a block."""
    return items(body_of(block).get("children"))


def plain_text(rich: object) -> str:
    """Rich text without its marks."""
    return "".join(text(one.get("plain_text")) or text(mapping(one.get("text")).get("content")) for one in items(rich))


def make_block(kind: str, rich: Sequence[Block] = (), children: Sequence[Block] = (), **more: object) -> Block:
    """A block as the API takes it; without children, it does not speak of them."""
    body: Block = {"rich_text": list(rich), **more}
    return {"type": kind, kind: body | {"children": list(children)} if children else body}
