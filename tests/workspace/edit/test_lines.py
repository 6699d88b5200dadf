"""Lines and their ends, taken apart and put together."""

from hypothesis import given
from hypothesis import strategies as st

from toolroll.workspace.edit.lines import align_lines, has_bare_ends, line_number, split_lines

TEXT = st.text(alphabet="ab\n\r \u2028\x0b", max_size=30)


@given(TEXT)
def test_lines_are_the_text(text: str) -> None:
    for bare_ends in (False, True):
        lines = split_lines(text, bare_ends=bare_ends)
        assert lines.text == text
        assert [text[start : start + len(one)] for start, one in zip(lines.starts, lines.contents, strict=True)] == [
            *lines.contents
        ]
        assert len(lines.ends) == len(lines.contents) - 1


@given(TEXT)
def test_keeping_all_lines_changes_nothing(text: str) -> None:
    lines = split_lines(text, bare_ends=has_bare_ends(text))
    kept, added = align_lines(lines, lines.contents, last_end="!")
    assert kept == lines
    assert added == ()


@given(TEXT, st.lists(st.text("ab", max_size=2), min_size=1, max_size=8))
def test_new_lines_are_there_with_ends_of_the_text(text: str, new: list[str]) -> None:
    lines = split_lines(text, bare_ends=has_bare_ends(text))
    kept, added = align_lines(lines, new, last_end=lines.last_end)
    assert kept.contents == tuple(new)
    assert set(kept.ends) <= set(lines.ends) | {"\n"}
    assert set(added) <= set(range(len(new)))


def test_only_newlines_count() -> None:
    assert line_number("a\u2028\rb\nc", 5) == 2
    assert has_bare_ends("a\rb")
    assert not has_bare_ends("a\rb\n")
    assert split_lines("a\rb", bare_ends=False).contents == ("a\rb",)
    assert split_lines("", bare_ends=False).last_end == "\n"
