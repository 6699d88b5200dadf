"""Blocks to Markdown, Markdown to blocks, and both ways."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packs.writing.notion.make_blocks import DIVIDER, JSON, SIGNS, TREES, block, rich

from toolroll.packs.writing.notion.blocks import MAX_DEPTH, Block
from toolroll.packs.writing.notion.from_markdown import LANGUAGES, from_markdown, notion_language
from toolroll.packs.writing.notion.inline import inline_markdown
from toolroll.packs.writing.notion.to_markdown import to_markdown

KINDS = [
    "paragraph",
    "heading_1",
    "bulleted_list_item",
    "numbered_list_item",
    "to_do",
    "toggle",
    "quote",
    "callout",
    "code",
    "divider",
    "equation",
    "table",
    "table_row",
    "column_list",
    "image",
    "child_page",
    "breadcrumb",
    "whatever_comes",
    "",
]


def media(kind: str, **body: object) -> Block:
    return {"type": kind, kind: body}


# --- Blocks to Markdown --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (block("heading_1", "A"), "# A"),
        (block("heading_2", "A\nB"), "## A B"),
        (block("heading_2", "A ##"), "## A \\##"),
        (block("heading_3", "A", [block("paragraph", "inside")]), "### A\n\ninside"),
        (block("paragraph", "текст"), "текст"),
        (block("paragraph", "a", [block("paragraph", "b")]), "a\n\nb"),
        (block("bulleted_list_item", "a"), "- a"),
        (block("numbered_list_item", "a"), "1. a"),
        (block("to_do", "a", checked=True), "- [x] a"),
        (block("to_do", "a", checked=False), "- [ ] a"),
        (block("quote", "a\nb"), "> a\n> b"),
        (block("quote", "a", [block("paragraph", "b")]), "> a\n>\n> b"),
        (block("code", "x = 1", language="python"), "```python\nx = 1\n```"),
        (block("code", "a ``` b", language="plain text"), "````\na ``` b\n````"),
        (block("toggle", "more", [block("bulleted_list_item", "a")]), "- more\n  - a"),
        (block("toggle", "more", [block("paragraph", "a\nb")]), "- more\n\n  a\n  b"),
        (block("callout", "note", icon={"type": "emoji", "emoji": "💡"}), "> 💡 note"),
        (block("callout", "note", icon=None), "> note"),
        (DIVIDER, "---"),
        (media("image", caption=[rich("A [cat]")], file={"url": "https://s3/x.png?signature=1"}), "[media: A (cat)]"),
        (media("image", caption=[], file={"url": "https://s3/x.png?signature=1"}), "[media: https://s3/x.png]"),
        (media("video", external={"url": "https://youtu.be/1"}), "[media: https://youtu.be/1]"),
        (media("embed", url="https://x.com/1"), "[media: https://x.com/1]"),
        (media("pdf", name="plan.pdf", file={"url": "https://s3/y"}), "[media: plan.pdf]"),
        (media("audio"), "[media: audio]"),
        (media("child_page", title="Other"), "[page: Other]"),
        (media("child_database", title="Table"), "[database: Table]"),
        (media("equation", expression="e=mc^2"), "$$\ne=mc^2\n$$"),
        (media("table_of_contents"), ""),
        (media("column_list", children=[media("column", children=[block("paragraph", "a")])]), "a"),
        (media("table", children=[]), ""),
        (block("new_kind", "its text"), "its text"),
        (media("new_kind"), "[unsupported: new_kind]"),
        ({}, "[unsupported: block]"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_W17_each_kind_of_block_has_its_markdown(made: Block, expected: str) -> None:
    assert to_markdown([made]) == expected


def test_W17_items_of_a_list_are_close_and_numbered_and_nested() -> None:
    inner = [block("numbered_list_item", f"n{number}", [block("paragraph", "p")]) for number in (1, 2)]
    blocks = [block("bulleted_list_item", "a", inner), block("bulleted_list_item", "b"), block("paragraph", "c")]
    blocks += [block("numbered_list_item", "d")]
    assert to_markdown(blocks) == "- a\n  1. n1\n\n     p\n  2. n2\n\n     p\n- b\n\nc\n\n1. d"


def test_W17_a_table_is_one_of_markdown() -> None:
    rows: list[Any] = [[[rich("a")], [rich("b|c")]], [[rich("d\ne")]], "no cells"]
    table = media("table", children=[media("table_row", cells=row) for row in rows])
    assert to_markdown([table]) == "| a | b\\|c |\n| --- | --- |\n| d e |  |\n|  |  |"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([rich("b", bold=True), rich(" and "), rich("i ", italic=True), rich("x")], "**b** and *i* x"),
        ([rich("s", strikethrough=True, bold=True)], "**~~s~~**"),
        ([rich("a`b", code=True)], "``a`b``"),
        ([rich("`", code=True)], "`` ` ``"),
        ([rich("site", url="https://a.b/c d(e)")], "[site](https://a.b/c%20d%28e%29)"),
        ([{"type": "mention", "plain_text": "@Ada", "href": "https://a.b"}], "[@Ada](https://a.b)"),
        ([{"type": "equation", "equation": {"expression": "x^2"}}], "$x^2$"),
        ([rich("  ", bold=True)], "  "),
        ([rich("# no\n1. no\n- no\n> no\n---\n#tag")], "\\# no\n1\\. no\n\\- no\n\\> no\n\\---\n#tag"),
        ([rich("2*3 snake_case _x_ [y] <b> 1 < 2")], "2\\*3 snake_case \\_x\\_ \\[y\\] \\<b> 1 < 2"),
    ],
    ids=str,
)
def test_W17_marks_links_and_signs_are_told(texts: list[Block], expected: str) -> None:
    assert inline_markdown(texts) == expected


def test_W17_what_is_nested_without_end_is_cut() -> None:
    deep = block("paragraph", "bottom")
    for _ in range(500):
        deep = block("toggle", "t", [deep])
    shown = to_markdown([deep])
    assert (shown.count("- t"), shown.count("[…]"), "bottom" in shown) == (MAX_DEPTH, 1, False)
    empty = media("column", children=[])
    for _ in range(MAX_DEPTH - 1):
        empty = media("column", children=[empty])
    assert to_markdown([empty]) == ""


@given(
    st.lists(st.dictionaries(st.sampled_from(["type", *KINDS]), JSON | st.sampled_from(KINDS), max_size=3), max_size=2)
)
def test_W17_any_json_has_a_markdown(blocks: list[Any]) -> None:
    to_markdown(blocks)


@given(st.sampled_from(KINDS), st.dictionaries(st.text(max_size=8), JSON), JSON, JSON)
def test_W17_any_block_of_a_known_kind_has_a_markdown(kind: str, more: Any, texts: Any, children: Any) -> None:
    to_markdown([{"type": kind, kind: {**more, "rich_text": texts, "children": children}}])


# --- Markdown to blocks --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("", []),
        ("a\nb", [block("paragraph", "a\nb")]),
        ("a  \nb", [block("paragraph", "a\nb")]),
        ("#### A", [block("heading_3", "A")]),
        ("a\n---", [block("paragraph", "a"), DIVIDER]),
        ("```py\nx\n```", [block("code", "x", language="python")]),
        ("```unheard\nx", [block("code", "x", language="plain text")]),
        ("2026. The *year*\n1. x", None),
        ("- [X] a\n- [ ] b", [block("to_do", "a", checked=True), block("to_do", "b", checked=False)]),
        ("-\n- b", [block("bulleted_list_item", ""), block("bulleted_list_item", "b")]),
        ("> - a", [block("quote", "", [block("bulleted_list_item", "a")])]),
        ("    four", [block("paragraph", "four")]),
        ("[a]: /b", [block("paragraph", "[a]: /b")]),
        ("<b>&amp;</b>", [block("paragraph", "<b>&amp;</b>")]),
        ("#tag snake_case 2 * 3", [block("paragraph", "#tag snake_case 2 * 3")]),
        ("[a](/b) ![c](d.png) [](e)[f]()", [block("paragraph", "a (/b) c (d.png)  (e)f")]),
    ],
    ids=str,
)
def test_W18_markdown_is_made_blocks(markdown: str, expected: list[Block] | None) -> None:
    if expected is None:
        year = [rich("2026. The "), rich("year", italic=True)]
        expected = [{"type": "paragraph", "paragraph": {"rich_text": year}}, block("paragraph", "2027. x")]
    assert from_markdown(markdown) == expected


def test_W18_marks_and_links_are_made_rich_text() -> None:
    [made] = from_markdown("**b *i*** ~~s~~ `c` [l](https://a.b) ![p](https://a.b/p.png) <https://c.d> [](https://e.f)")
    assert made["paragraph"] == {
        "rich_text": [
            rich("b ", bold=True),
            rich("i", bold=True, italic=True),
            rich(" "),
            rich("s", strikethrough=True),
            rich(" "),
            rich("c", code=True),
            rich(" "),
            rich("l", url="https://a.b"),
            rich(" "),
            rich("p", url="https://a.b/p.png"),
            rich(" "),
            rich("https://c.d", url="https://c.d"),
            rich(" "),
            rich("https://e.f", url="https://e.f"),
        ]
    }


def test_W18_an_address_that_notion_refuses_is_text() -> None:
    url = f"https://a.b/{'x' * 2_000}"
    [made] = from_markdown(f"[l]({url})")
    assert made == block("paragraph", f"l ({url})")


@pytest.mark.parametrize("sign", [">", "- "], ids=["quotes", "lists"])
def test_W18_what_is_nested_without_end_is_text(sign: str) -> None:
    markdown = f"{sign * 300}bottom\n\nnext"
    assert from_markdown(markdown) == [block("paragraph", f"{sign * 300}bottom"), block("paragraph", "next")]


@given(st.text(f"{SIGNS}\n", max_size=200))
def test_W18_no_letter_is_lost(markdown: str) -> None:
    def letters(text: str) -> str:
        return "".join(re.findall("[абвїXYZ]", text))

    safe = re.sub(r"[\[\]()`~]", "", markdown)  # an address or a language is not text
    texts = "".join(_contents(from_markdown(safe)))
    assert letters(texts) == letters(safe)


@given(st.text(max_size=200))
def test_W18_any_text_can_be_made_blocks(markdown: str) -> None:
    from_markdown(markdown)


def test_W18_half_characters_are_made_whole() -> None:
    [made] = from_markdown("a\ud800b")
    assert "\ud800" not in str(made["paragraph"])
    assert str(made["paragraph"]).encode()


@pytest.mark.parametrize(
    ("info", "language"),
    [("Python", "python"), ("plain  text", "plain text"), ("ts title=x", "typescript"), ("", "plain text")],
)
def test_W18_languages_are_those_of_notion(info: str, language: str) -> None:
    assert notion_language(info) == language
    assert language in LANGUAGES


# --- Both ways -----------------------------------------------------------------------------------------


@given(TREES)
def test_W17_W18_blocks_come_back_from_markdown(blocks: list[Block]) -> None:
    assert from_markdown(to_markdown(blocks)) == blocks


@given(st.text(f"{SIGNS}\n", max_size=200))
def test_W17_W18_markdown_comes_to_rest(markdown: str) -> None:
    twice = to_markdown(from_markdown(to_markdown(from_markdown(markdown))))
    assert to_markdown(from_markdown(twice)) == twice


WORDS = st.text("абвXYZ", min_size=1, max_size=8)
STYLES = st.sampled_from([{}, {"bold": True}, {"italic": True}, {"strikethrough": True}, {"code": True}])


@given(st.lists(st.tuples(WORDS, STYLES, st.sampled_from(["", "https://a.b/c?d=e"])), min_size=1, max_size=5))
def test_W17_W18_marks_come_back_from_markdown(parts: list[tuple[str, dict[str, bool], str]]) -> None:
    texts: list[Block] = []
    for word, marks, url in parts:
        texts += [rich(word, url=url, **marks), rich("; ")] if marks or url else []
    blocks: list[Block] = [{"type": "paragraph", "paragraph": {"rich_text": texts[:-1]}}] if texts else []
    assert from_markdown(to_markdown(blocks)) == blocks


def _contents(blocks: Any) -> list[str]:
    found: list[str] = []
    for one in blocks:
        body = one[one["type"]]
        found += [text["text"]["content"] for text in body.get("rich_text", [])]
        found += _contents(body.get("children", []))
    return found
