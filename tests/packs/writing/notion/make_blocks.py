"""Blocks as Notion has them, for tests; and strategies for those that Markdown can say."""

from typing import Any

from hypothesis import strategies as st

from toolroll.packs.writing.notion.blocks import Block
from toolroll.packs.writing.notion.limits import split_text

SIGNS = "абвїXYZ09 *_#>-+.)=`~[]()\\<!|&$"


def rich(content: str, *, url: str = "", **marks: bool) -> Block:
    held: dict[str, Any] = {"content": content} | ({"link": {"url": url}} if url else {})
    text: Block = {"type": "text", "text": held}
    return text | {"annotations": marks} if marks else text


def block(kind: str, content: str = "", children: list[Block] | None = None, **more: object) -> Block:
    texts = [rich(piece) for piece in split_text(content)]
    body: Block = {"rich_text": texts, **more} | ({"children": children} if children else {})
    return {"type": kind, kind: body}


DIVIDER: Block = {"type": "divider", "divider": {}}

LINES = st.text(SIGNS, min_size=1, max_size=30).map(str.strip).filter(bool)
TEXTS = st.lists(LINES, min_size=1, max_size=3).map("\n".join)
CODE = st.text(f"{SIGNS}\n\t", max_size=60)

LEAVES = st.one_of(
    TEXTS.map(lambda text: block("paragraph", text)),
    st.builds(lambda level, line: block(f"heading_{level}", line), st.integers(1, 3), LINES),
    CODE.map(lambda code: block("code", code, language="python")),
    st.just(DIVIDER),
)


def _with_inner(inner: st.SearchStrategy[list[Block]]) -> st.SearchStrategy[Block]:
    return st.one_of(
        st.builds(lambda text, inside: block("bulleted_list_item", text, inside), TEXTS, inner),
        st.builds(lambda text, inside: block("numbered_list_item", text, inside), TEXTS, inner),
        st.builds(lambda text, inside, done: block("to_do", text, inside, checked=done), TEXTS, inner, st.booleans()),
        st.builds(lambda text, inside: block("quote", text, inside), TEXTS, inner),
    )


TREES: st.SearchStrategy[list[Block]] = st.recursive(
    st.lists(LEAVES, max_size=3), lambda inner: st.lists(LEAVES | _with_inner(inner), max_size=3), max_leaves=6
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "children", "rich_text", "text", "content", "cells", "caption", "icon", "url", "file"]
            )
            | st.sampled_from(
                ["paragraph", "table", "code", "quote", "image", "callout", "to_do", "toggle", "equation"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
