"""What a docstring tells a model: the summary, and a line per parameter."""

import string

from hypothesis import given
from hypothesis import strategies as st

from toolroll.kernel.define.docstring import read_docstring

GOOGLE = """Find files by pattern.

    Long story that no model needs.

    Args:
        pattern: A glob, such as `*.py`.
        root (str, optional): Where to start;
            the project by default.
        check (Callable[[int], str]): Nested (brackets) in the type.

        *names: Stars are dropped.
        **options: Both of them.
        bare:
            Text on the next line only.

    Returns:
        limit: not a parameter.
    """


def test_K1_docstring_summary_becomes_the_description() -> None:
    assert read_docstring(GOOGLE).summary == "Find files by pattern."


def test_K1_docstring_args_section_describes_the_parameters() -> None:
    assert read_docstring(GOOGLE).parameters == {
        "pattern": "A glob, such as `*.py`.",
        "root": "Where to start; the project by default.",
        "check": "Nested (brackets) in the type.",
        "names": "Stars are dropped.",
        "options": "Both of them.",
        "bare": "Text on the next line only.",
    }


def test_K1_docstring_summary_of_several_lines_is_joined() -> None:
    assert read_docstring("Find files\n    by pattern.\n\n    More.").summary == "Find files by pattern."


def test_K1_docstring_section_right_after_the_summary_ends_it() -> None:
    docs = read_docstring("Find files.\n    Args:\n        x: One.")
    assert (docs.summary, docs.parameters) == ("Find files.", {"x": "One."})


def test_K1_docstring_other_sections_are_no_part_of_the_summary() -> None:
    assert read_docstring("Find files.\n    Returns:\n        Some.").summary == "Find files."
    assert read_docstring("Args:\n    x: One.").summary == ""


def test_K1_docstring_headers_have_other_names_too() -> None:
    assert read_docstring("F.\n\nArguments:\n  x: One.").parameters == {"x": "One."}
    assert read_docstring("F.\n\nParameters:\n  x: One.").parameters == {"x": "One."}


def test_K1_docstring_text_before_the_first_entry_belongs_to_no_parameter() -> None:
    assert read_docstring("F.\n\nArgs:\n    of every kind\n    x: One.").parameters == {"x": "One."}


def test_K1_docstring_colon_inside_a_word_makes_no_entry() -> None:
    assert read_docstring("F.\n\nArgs:\n    x: See\n    http://host/ there.").parameters == {
        "x": "See http://host/ there."
    }


def test_K1_docstring_that_is_missing_or_without_args_is_empty() -> None:
    for text in (None, "", "   \n  "):
        docs = read_docstring(text)
        assert (docs.summary, docs.parameters) == ("", {})
    assert read_docstring("Find files.").parameters == {}


names = st.text(string.ascii_lowercase + "_", min_size=1, max_size=8)
words = st.lists(st.text(string.ascii_letters, min_size=1), min_size=1).map(" ".join)


@given(entries=st.dictionaries(names, words), summary=words, indent=st.integers(0, 12))
def test_K1_docstring_gives_back_whatever_was_written(entries: dict[str, str], summary: str, indent: int) -> None:
    margin = "\n" + " " * indent
    lines = [summary, "", "Args:", *(f"    {name}: {text}" for name, text in entries.items()), "", "Returns:", "    x"]
    docs = read_docstring(margin.join(lines))
    assert (docs.summary, docs.parameters) == (summary, entries)


@given(st.text())
def test_K1_docstring_of_any_text_can_be_read(text: str) -> None:
    docs = read_docstring(text)
    assert "\n" not in docs.summary
