"""Marks inside a changed line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.cli.render.draw import MAX_TOKENS, Spans, changed_spans


def cut(text: str, spans: Spans) -> list[str]:
    return [text[start:end] for start, end in spans]


def without(text: str, spans: Spans) -> str:
    for start, end in reversed(spans):
        text = text[:start] + text[end:]
    return text


@pytest.mark.parametrize(
    ("old", "new", "removed", "added"),
    [
        ("total = price * 2", "total = price * 3", ["2"], ["3"]),
        ("name(first, second)", "name(first)", [", second"], []),
        ("a b c", "a b c", [], []),
        ("the old word", "the newer word", ["old"], ["newer"]),
        ("x ‹U+202E› yy zz", "x ‹U+202D› yy zz", ["‹U+202E›"], ["‹U+202D›"]),
        ("все добре тут", "все чудово тут", ["добре"], ["чудово"]),
    ],
)
def test_S5_the_words_that_differ_are_marked(old: str, new: str, removed: list[str], added: list[str]) -> None:
    before, after = changed_spans(old, new)
    assert (cut(old, before), cut(new, after)) == (removed, added)


def test_S5_lines_that_have_little_in_common_are_not_marked() -> None:
    assert changed_spans("alpha beta gamma", "one two three") == ([], [])


def test_S5_a_line_of_many_words_is_not_compared() -> None:
    assert changed_spans("a " * MAX_TOKENS, "b " * MAX_TOKENS) == ([], [])


@given(st.text(alphabet="ab ‹›U+.", max_size=30), st.text(alphabet="ab ‹›U+.", max_size=30))
def test_S5_what_is_not_marked_is_the_same_in_both(old: str, new: str) -> None:
    before, after = changed_spans(old, new)
    if before or after:
        assert without(old, before) == without(new, after)
