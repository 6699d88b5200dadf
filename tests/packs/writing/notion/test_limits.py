"""Nothing is more than Notion takes, and nothing is lost on the way there."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packs.writing.notion.make_blocks import TREES, block, rich
from tests.packs.writing.notion.workspace import check_blocks, check_rich

from toolroll.packs.writing.notion.blocks import Block
from toolroll.packs.writing.notion.from_markdown import from_markdown
from toolroll.packs.writing.notion.limits import (
    MAX_ELEMENTS,
    MAX_REQUEST_BYTES,
    batches,
    fit,
    plain_texts,
    split_rich,
    split_text,
    units,
)


def contents(blocks: Any) -> list[str]:
    """All texts, in the order of reading."""
    found: list[str] = []
    for one in blocks:
        body = one[one["type"]]
        found += [text["text"]["content"] for text in body.get("rich_text", [])]
        found += contents(body.get("children", []))
    return found


def sent(blocks: list[Block]) -> list[list[Block]]:
    """The portions, each of which Notion would take."""
    portions = list(batches(fit(blocks)))
    for portion in portions:
        check_blocks(portion)
        assert len(json.dumps(portion, ensure_ascii=False).encode()) < MAX_REQUEST_BYTES * 1.1
        assert json.dumps(portion).count('"type": "b') <= MAX_ELEMENTS
    return portions


@given(st.text("aї😀\n", max_size=60), st.integers(2, 9))
def test_W18_a_text_is_split_between_characters(text: str, limit: int) -> None:
    pieces = list(split_text(text, limit))
    assert "".join(pieces) == text
    assert all(0 < len(piece.encode("utf-16-le")) // 2 <= limit for piece in pieces)
    assert units(text) == len(text.encode("utf-16-le")) // 2


@pytest.mark.parametrize("char", ["a", "ї", "😀"])
@pytest.mark.parametrize("count", [1_999, 2_000, 2_001, 30_000])
def test_W18_a_long_text_goes_into_texts_of_2000(char: str, count: int) -> None:
    blocks = from_markdown(char * count)
    check_blocks(blocks)
    assert "".join(contents(blocks)) == char * count


@pytest.mark.parametrize("start", ["", "# ", "- ", "1. ", "> ", "```\n", "- [ ] ", "7. "])
def test_W18_a_block_with_too_much_text_goes_on_in_others(start: str) -> None:
    blocks = from_markdown(f"{start}{'x' * 90_000}")
    assert "".join(contents(blocks)).removeprefix(start) == "x" * 90_000
    sent(blocks)


def test_W18_a_block_with_too_many_texts_goes_on_in_others() -> None:
    blocks = from_markdown(" ".join(f"**{number}**" for number in range(500)))
    assert "".join(contents(blocks)) == " ".join(str(number) for number in range(500))
    sent(blocks)


def test_W18_children_stay_with_the_last_part_of_a_quote() -> None:
    blocks = from_markdown(f"> {'x' * 90_000}\n>\n> - inside")
    assert [len(contents([one])) for one in blocks] == [20, 20, 6]
    assert "children" not in str(blocks[0])
    assert contents(blocks)[-1] == "inside"


def test_W18_what_is_too_deep_comes_right_after() -> None:
    blocks = from_markdown("- a\n  - b\n    - c\n      - d\n        - e\n      - f\n    - g\n- h")
    [portion] = sent(blocks)
    assert contents(portion) == list("abcdefgh")
    assert len(portion) == 2


@pytest.mark.parametrize("count", [99, 100, 101, 350])
def test_W18_blocks_go_out_by_the_hundred(count: int) -> None:
    blocks = [block("paragraph", str(number)) for number in range(count)]
    portions = sent(blocks)
    assert [one for portion in portions for one in portion] == blocks
    assert len(portions) == -(-count // 100)
    inside = sent([block("bulleted_list_item", "top", blocks)])
    assert [text for portion in inside for text in contents(portion)] == ["top", *contents(blocks)]


def test_W18_a_block_with_thousands_inside_is_opened() -> None:
    blocks = [block("bulleted_list_item", "x", [block("bulleted_list_item", "y")] * 60) for _ in range(25)]
    portions = sent([block("bulleted_list_item", "top", blocks)])
    assert [text for portion in portions for text in contents(portion)] == ["top", *contents(blocks)]
    assert len(portions) == 2


def test_W18_a_request_stays_under_its_bytes() -> None:
    blocks = [block("paragraph", "\x01" * 39_000) for _ in range(5)]
    assert len(sent(blocks)) == 3


@given(TREES)
def test_W18_what_fits_is_sent_whole_and_in_order(blocks: list[Block]) -> None:
    portions = sent(blocks)
    assert [text for portion in portions for text in contents(portion)] == contents(blocks)


@given(st.lists(st.text(max_size=5).map(rich), max_size=300))
def test_W18_rich_text_is_portioned_whole(texts: list[Block]) -> None:
    portions = list(split_rich(texts))
    assert [one for portion in portions for one in portion] == texts
    for portion in portions:
        check_rich(portion)


def test_W18_a_property_holds_at_most_a_hundred_texts() -> None:
    check_rich(plain_texts("x" * 300_000))
    assert plain_texts("") == []
    assert len(plain_texts("x" * 2_001)) == 2
