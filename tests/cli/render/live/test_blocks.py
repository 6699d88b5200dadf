"""Blocks: together they are the text, whatever the pieces; and none is given out before it is complete."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.cli.render.live.blocks import MAX_BLOCK_CHARACTERS, Block, Blocks

LINES = [
    "word",
    "  word",
    "    word",
    "\tword",
    "# Title",
    "===",
    "---",
    "***",
    "- item",
    "* item",
    "  - inner",
    "-",
    "1. one",
    "2. two",
    "10) ten",
    "   under",
    "> said",
    "```",
    "```python",
    "~~~~",
    "    ```",
    "| a | b |",
    "|---|---|",
    "",
    "  ",
    "слово 漢字 🎉",
    "a\r",
    "x\u2028y\x85z\x0b",
    "long " * 2_000,
]
TEXTS = st.one_of(st.text(), st.lists(st.sampled_from(LINES)).map("\n".join), st.text(alphabet="`~-#>1.) \n\r\tа"))


def blocks_of(text: str, *cuts: int) -> list[Block]:
    """The blocks of a text that comes in pieces, cut there."""
    ends = sorted({min(cut, len(text)) for cut in cuts} | {len(text)})
    blocks, found, start = Blocks(), [], 0
    for end in ends:
        found += blocks.feed(text[start:end])
        start = end
        assert "".join(block.text for block in found) + blocks.growing.text == text[:end]
    return found + blocks.close()


@given(TEXTS, st.lists(st.integers(0, 20_000)))
def test_S1_the_blocks_are_the_text_however_it_is_cut(text: str, cuts: list[int]) -> None:
    found = blocks_of(text, *cuts)
    assert text == "".join(block.text for block in found)
    assert blocks_of(text) == found
    assert all(0 < len(block.text) <= 2 * MAX_BLOCK_CHARACTERS for block in found)


@given(TEXTS)
def test_S1_after_the_end_a_new_text_begins(text: str) -> None:
    blocks = Blocks()
    blocks.feed(text)
    blocks.close()
    assert blocks.growing == Block(kind="text", text="")
    assert (blocks.feed("a\n\n"), blocks.close()) == ([Block(kind="text", text="a\n\n")], [])


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a\nb\n\nc\n", ["a\nb\n\n", "c\n"]),
        ("\n\na\n\n\nb", ["\n\na\n\n", "\nb"]),
        ("# A\nb\n## C\n", ["# A\n", "b\n", "## C\n"]),
        ("A\n===\nb\n---\n", ["A\n===\n", "b\n---\n"]),
        ("a\n***\nb\n", ["a\n", "***\n", "b\n"]),
        ("- a\n- b\n\n- c\n\nd\n", ["- a\n- b\n\n- c\n\n", "d\n"]),
        ("- a\n\n  under\n- b\nlazy\n# no\n", ["- a\n\n  under\n- b\nlazy\n", "# no\n"]),
        ("- a\n\n  - in\n\n    x\n\n b\n", ["- a\n\n  - in\n\n    x\n\n", " b\n"]),
        ("- a\n* b\n", ["- a\n", "* b\n"]),
        ("1. a\n2. b\n10. c\n\n    x\n", ["1. a\n2. b\n10. c\n\n    x\n"]),
        ("a\n- b\n", ["a\n", "- b\n"]),
        ("a\n2. b\n", ["a\n2. b\n"]),
        ("a\n> b\nlazy\n> c\n\nd", ["a\n", "> b\nlazy\n> c\n\n", "d"]),
        ("> a\n- b\n", ["> a\n", "- b\n"]),
        ("    a\n\n    b\nc\n", ["    a\n\n    b\n", "c\n"]),
        ("- a\n  ```\n  x\n\n  y\n  ```\n- b\n", ["- a\n  ```\n  x\n\n  y\n  ```\n- b\n"]),
        ("|a|\n|-|\n|b|\n\nc", ["|a|\n|-|\n|b|\n\n", "c"]),
        ("- - -\n- a\n", ["- - -\n", "- a\n"]),
    ],
)
def test_S1_where_blocks_end(text: str, parts: list[str]) -> None:
    assert parts == [block.text for block in blocks_of(text)]


def test_S1_code_is_given_out_line_by_line() -> None:
    text = "So:\n````py\n# no title\n\n```\n    ````\n`````\nafter"
    assert [(block.kind, block.text) for block in blocks_of(text)] == [
        ("text", "So:\n"),
        ("fence", "````py\n"),
        ("code", "# no title\n"),
        ("code", "\n"),
        ("code", "```\n"),
        ("code", "    ````\n"),
        ("fence", "`````\n"),
        ("text", "after"),
    ]


def test_S1_a_block_is_given_out_as_soon_as_it_is_over() -> None:
    blocks = Blocks()
    assert blocks.feed("a\n") == []
    assert [block.text for block in blocks.feed("\nb")] == ["a\n\n"]
    assert blocks.growing.text == "b"
    assert blocks.feed("\n~~~\nx")[1:] == [Block(kind="fence", text="~~~\n")]
    assert blocks.growing == Block(kind="code", text="x")


@pytest.mark.parametrize("before", ["", "```\n"])
def test_S1_a_line_without_an_end_is_given_out_in_parts(before: str) -> None:
    text = before + "x" * (2 * MAX_BLOCK_CHARACTERS + 1)
    sizes = [len(block.text) for block in blocks_of(text, 5, len(before) + MAX_BLOCK_CHARACTERS, 9_000)]
    assert sizes == [*([4] if before else []), MAX_BLOCK_CHARACTERS, MAX_BLOCK_CHARACTERS, 1]


@pytest.mark.parametrize("line", ["- item\n", "\n", "word\n"])
def test_S1_a_block_without_an_end_is_given_out_in_parts(line: str) -> None:
    found = blocks_of(line * 20_000)
    assert max(len(block.text) for block in found) < MAX_BLOCK_CHARACTERS + len(line)
