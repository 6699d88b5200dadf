"""Signatures and first lines of comments, read from the bytes around a definition."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.workspace.symbols.describe import (
    MAX_DOC_CHARACTERS,
    MAX_SIGNATURE_CHARACTERS,
    join_names,
    leading_words,
    owner_path,
    read_comment_before,
    read_docstring,
    read_signature,
    split_name,
)
from toolroll.workspace.symbols.extract import Lines
from toolroll.workspace.symbols.source_files import skip_reason


def doc_of(text: str, mark: str = "//") -> str | None:
    """The comment before the word `fn`."""
    return read_comment_before(text.encode(), text.encode().index(b"fn"), mark.encode())


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
    assert doc == read_docstring(body.encode(), 0)


def test_C20_long_lines_are_cut() -> None:
    assert len(doc_of("// " + "x" * 999 + "\nfn") or "") == MAX_DOC_CHARACTERS
    data = b"f(" + b"a, " * 200 + b") {"
    assert len(read_signature(data, 0, len(data), is_whole=False)) == MAX_SIGNATURE_CHARACTERS


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
    assert shown == read_signature(text.encode(), 0, len(text), is_whole=True)


def test_C20_words_before_a_definition_belong_to_it() -> None:
    assert leading_words(b"\n  export default class", 18) == b"export default "
    assert leading_words(b"if (x) class", 7) == b""


@given(data=st.binary(max_size=80), start=st.integers(0, 80), mark=st.sampled_from([b"//", b"#", b"--"]))
def test_C20_any_bytes_around_a_definition_are_read_without_harm(data: bytes, start: int, mark: bytes) -> None:
    doc = read_comment_before(data, min(start, len(data)), mark)
    assert doc is None or 0 < len(doc) <= MAX_DOC_CHARACTERS
    read_docstring(data, min(start, len(data)))
    assert "\n" not in read_signature(data, min(start, len(data)), len(data), is_whole=True)


@pytest.mark.parametrize(
    ("text", "parent", "name"),
    [
        ("run", None, "run"),
        ("'a-b'", None, "a-b"),
        (":sym", None, "sym"),
        ("a::Foo::run", "a.Foo", "run"),
        ("Foo<T>::~Foo", "Foo", "~Foo"),
        ("Foo::operator ==", "Foo", "operator =="),
        ("operator bool() const", None, "operator bool"),
        ("[Symbol.iterator]", None, "[Symbol.iterator]"),
        ("'", None, "'"),
    ],
)
def test_C20_a_qualified_name_is_split(text: str, parent: str | None, name: str) -> None:
    assert (parent, name) == split_name(text)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("*Store[T]", "Store"),
        ("&'a mut Point<T>", "Point"),
        ("&[Item]", "Item"),
        ("a::b::C", "a.b.C"),
        ("Cart.prototype", "Cart"),
        ("module.exports", None),
        ("exports", None),
        ("this", None),
        ("exports.deep", "deep"),
        ("App\\Models", "App.Models"),
    ],
)
def test_C20_what_a_definition_belongs_to_is_a_dotted_path(text: str, path: str | None) -> None:
    assert path == owner_path(text)


def test_C20_paths_are_joined_of_what_is_there() -> None:
    assert join_names("a", None, "b") == "a.b"
    assert join_names(None, "") is None


def test_XF4_lines_end_at_newlines_only() -> None:
    lines = Lines("a\rb\x0bc\x85\u2028d\né x\n".encode())
    assert [lines.line(0), lines.line(2), lines.line(len("a\rb\x0bc\x85\u2028d\n".encode()))] == [1, 1, 2]
    second = len("a\rb\x0bc\x85\u2028d\n".encode())
    assert lines.column(second + 3) == 3
    assert lines.text(2).decode() == "é x"
    assert lines.text(3) == b""
    assert lines.last_line(second, second + 5) == 2


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"x = 1\n", None),
        (b"a\0b", "binary"),
        ("x = 1\n".encode("utf-16"), None),
        (b"x" * 6_000, "minified"),
        (b"x" * 4_000, None),
        (b"// Code generated by stringer. DO NOT EDIT.\npackage a\n", "generated"),
        (b"# @generated by x\n", "generated"),
        (b"//------\n// <auto-generated>\n", "generated"),
        (b'pattern = "@generated"\n', None),
        (b"\n" * 3_000 + b"# @generated\n", None),
    ],
)
def test_C22_minified_generated_and_binary_files_are_skipped(data: bytes, reason: str | None) -> None:
    assert reason == skip_reason(data)
