"""Signatures and first lines of comments, read from the bytes around a definition."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.workspace.symbols.describing import (
    MAX_DOC_CHARACTERS,
    MAX_SIGNATURE_CHARACTERS,
    comment_before,
    docstring,
    leading_words,
    signature,
)


def doc_of(text: str, mark: str = "//") -> str | None:
    """The comment before the word `fn`."""
    return comment_before(text.encode(), text.encode().index(b"fn"), mark.encode())


@pytest.mark.parametrize(
    ("text", "mark", "doc"),
    [
        ("// One.\n// Two.\nfn", "//", "One."),
        ("x = 1\n// One.\nfn", "//", "One."),
        ("//\n// Two.\nfn", "//", "Two."),
        ("/**\n * One.\n * @param x\n */\n@A\n#[b]\n[C(1)]\ntemplate <T>\npub fn", "//", "One."),
        ("/* One. */\nfn", "//", "One."),
        ("# One.\nfn", "#", "One."),
        ("--[[ One.\n]]\nfn", "--", "One."),
        ("=begin\nOne.\n=end\nfn", "#", "One."),
        ("// One.\n\nfn", "//", None),
        ("// ----\nfn", "//", None),
        ("int x;\nfn", "//", None),
        ("// One.\nint x; fn", "//", None),
        ("/** Of the class. */ class D {\nfn", "//", None),
        ("x = 1; /* Of x. */\nfn", "//", None),
        ("fn", "//", None),
        ("@A\nfn", "//", None),
        ("#include <x>\nfn", "//", None),
        ("@A\n" * 13 + "fn", "//", None),
        ("x */\nfn", "//", "x"),
    ],
)
def test_C20_the_comment_right_above_is_the_doc(text: str, mark: str, doc: str | None) -> None:
    assert doc == doc_of(text, mark)


def test_C20_a_comment_of_a_thousand_lines_is_not_read_to_its_top() -> None:
    assert doc_of("".join(f"// line {n}\n" for n in range(1, 1_001)) + "fn") == "line 941"


@pytest.mark.parametrize(
    ("body", "doc"),
    [
        ('"""One.\n\nTwo."""', "One."),
        ("'One.'", "One."),
        ('r"""\\\n  One.\n"""', "One."),
        ('"""Never closed', "Never closed"),
        ('""', None),
        ("pass", None),
    ],
)
def test_C20_a_docstring_gives_its_first_line(body: str, doc: str | None) -> None:
    assert doc == docstring(body.encode(), 0)


def test_C20_long_lines_are_cut() -> None:
    assert len(doc_of("// " + "x" * 999 + "\nfn") or "") == MAX_DOC_CHARACTERS
    data = b"f(" + b"a, " * 200 + b") {"
    assert len(signature(data, 0, len(data), is_whole=False)) == MAX_SIGNATURE_CHARACTERS


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("export const x = {\n a: 1 }", "export const x"),
        ("x = 1\ny = 2", "x = 1"),
        ("x = 1", "x = 1"),
        ("f(\n  a,\n  b\n)", "f( a, b )"),
        ("f() {", "f()"),
    ],
)
def test_C20_without_a_known_body_a_signature_ends_where_one_may_begin(text: str, shown: str) -> None:
    assert shown == signature(text.encode(), 0, len(text), is_whole=True)


def test_C20_words_before_a_definition_belong_to_it() -> None:
    assert leading_words(b"\n  export default class", 18) == b"export default "
    assert leading_words(b"if (x) class", 7) == b""


@given(data=st.binary(max_size=80), start=st.integers(0, 80), mark=st.sampled_from([b"//", b"#", b"--"]))
def test_C20_any_bytes_around_a_definition_are_read_without_harm(data: bytes, start: int, mark: bytes) -> None:
    doc = comment_before(data, min(start, len(data)), mark)
    assert doc is None or 0 < len(doc) <= MAX_DOC_CHARACTERS
    docstring(data, min(start, len(data)))
    assert "\n" not in signature(data, min(start, len(data)), len(data), is_whole=True)
