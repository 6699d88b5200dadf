"""Notion's limits: nothing is cut off, what does not fit goes into the next text, block or request.

The figures are from https://developers.notion.com/reference/request-limits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from toolroll.kernel.data.serialize import dump_json
from toolroll.packs.writing.notion.blocks import Block, body_of, kind_of

MAX_TEXT_UNITS: Final = 2_000
"""Characters in one text, counted as UTF-16 does: an emoji is two."""

MAX_TEXTS: Final = 100
"""Texts in one block or property."""

MAX_BLOCK_UNITS: Final = 40_000
"""Of all texts of one block: at six bytes each in JSON, and with a hundred links, under what one request may have."""

MAX_BLOCKS: Final = 100
"""Blocks in one list of a request."""

MAX_ELEMENTS: Final = 1_000
"""Blocks in a whole request, with those inside of others."""

MAX_REQUEST_BYTES: Final = 480_000
"""Of the blocks in a request; with the rest it stays under the 500 KB that Notion takes."""

MAX_LEVELS: Final = 3
"""A block, its children, and theirs: what one request may have."""

_TWO_UNITS_FROM: Final = "\U00010000"


def units(text: str) -> int:
    """Return the length of a text as Notion counts it."""
    return len(text) + sum(char >= _TWO_UNITS_FROM for char in text)


def split_text(text: str, limit: int = MAX_TEXT_UNITS) -> Iterator[str]:
    """Return the text in pieces of at most `limit` units; no character is taken apart, none is lost."""
    start = used = 0
    for place, char in enumerate(text):
        size = 2 if char >= _TWO_UNITS_FROM else 1
        if used + size > limit:
            yield text[start:place]
            start, used = place, 0
        used += size
    if start < len(text):
        yield text[start:]


def plain_texts(text: str) -> list[Block]:
    """Return a text without marks as rich text; of more than a property can hold, the beginning."""
    pieces = (piece for piece in split_text(text))
    return [{"type": "text", "text": {"content": piece}} for piece, _ in zip(pieces, range(MAX_TEXTS), strict=False)]


def split_rich(rich: Sequence[Block]) -> Iterator[list[Block]]:
    """Return rich text in portions that fit into one block each; at least one, if empty."""
    portion: list[Block] = []
    used = 0
    for one in rich:
        size = units(_content(one))
        if portion and (len(portion) >= MAX_TEXTS or used + size > MAX_BLOCK_UNITS):
            yield portion
            portion, used = [], 0
        portion.append(one)
        used += size
    yield portion


def fit(blocks: Sequence[Block], *, level: int = 1) -> list[Block]:
    """Return the same blocks in the same order, none deeper and none with more inside than one request may have.

    What is too deep or too much inside a block comes right after it, one level further out.
    """
    fitted: list[Block] = []
    for block in blocks:
        inner = fit(_children(block), level=level + 1)
        keep = 0 if level >= MAX_LEVELS else MAX_BLOCKS
        kept = _with_children(block, inner[:keep])
        if _Weight.measure(kept).is_too_much:
            keep, kept = 0, _with_children(block, [])
        fitted += [kept, *inner[keep:]]
    return fitted


def batches(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Yield blocks that fit, in portions of one request each."""
    batch: list[Block] = []
    weight = _Weight(elements=0, size_bytes=0)
    for block in blocks:
        own = _Weight.measure(block)
        if batch and (len(batch) >= MAX_BLOCKS or (weight + own).is_too_much):
            yield batch
            batch, weight = [], _Weight(elements=0, size_bytes=0)
        batch.append(block)
        weight = weight + own
    if batch:
        yield batch


@dataclass(frozen=True, slots=True, kw_only=True)
class _Weight:
    elements: int
    size_bytes: int

    def __add__(self, other: "_Weight") -> "_Weight":
        return _Weight(elements=self.elements + other.elements, size_bytes=self.size_bytes + other.size_bytes)

    @property
    def is_too_much(self) -> bool:
        return self.elements > MAX_ELEMENTS or self.size_bytes > MAX_REQUEST_BYTES

    @classmethod
    def measure(cls, block: Block) -> "_Weight":
        return cls(elements=_count(block), size_bytes=len(dump_json(block).encode()) + 1)


def _count(block: Block) -> int:
    return 1 + sum(_count(one) for one in _children(block))


def _content(rich: Block) -> str:
    held = rich["text"]
    assert isinstance(held, dict)  # of our own making
    return str(held["content"])


def _children(block: Block) -> list[Block]:
    found = body_of(block).get("children", [])
    assert isinstance(found, list)  # of our own making
    return found


def _with_children(block: Block, children: list[Block]) -> Block:
    kind = kind_of(block)
    body = {name: value for name, value in body_of(block).items() if name != "children"}
    return {**block, kind: body | {"children": children} if children else body}
