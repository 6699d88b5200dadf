"""Colours of code."""

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from toolroll.cli.render.draw import ScreenLine, find_theme
from toolroll.cli.render.highlight import Highlighter
from toolroll.cli.render.rows import Row

DOC = ["def f():", '    """Docs', "    for if while", '    end."""', "    return 1"]


def styles(highlighter: Highlighter, line: str) -> list[tuple[str, str]]:
    text = highlighter.colour(line)
    return [(text.plain[span.start : span.end], str(span.style)) for span in text.spans]


def test_S11_lines_are_coloured_as_they_come_also_inside_of_a_long_string() -> None:
    highlighter = Highlighter("python")
    found = [styles(highlighter, line) for line in DOC]
    assert found[0][0] == ("def", "magenta")
    assert found[2] == [("    for if while", "green")]
    assert ("return", "magenta") in found[4]
    assert not Highlighter("brainfuck").is_known


@given(
    st.lists(st.text(st.characters(categories=("L", "N", "P", "S", "Zs")), max_size=40), max_size=12),
    st.sampled_from(["py", "sh", "js"]),
)
def test_S11_colours_never_change_a_text(lines: list[str], language: str) -> None:
    highlighter = Highlighter(language)
    for line in lines:
        assert highlighter.colour(line, is_growing=True).plain == line
        assert highlighter.colour(line).plain == line


def test_S11_diffs_have_tints_where_the_background_is_known() -> None:
    console = Console(color_system="256", force_terminal=True, no_color=False)
    assert find_theme(console, "auto", {}) == "plain"
    assert find_theme(console, "auto", {"COLORFGBG": "0;15"}) == "light"
    assert find_theme(console, "auto", {"COLORFGBG": "15;0"}) == "dark"
    assert find_theme(console, "light", {"COLORFGBG": "15;0"}) == "light"
    assert find_theme(Console(color_system=None), "dark", {}) == "none"
    row = Row(text="def tea():", look="added", gutter="1 + ", language="py")
    line = ScreenLine(row=row, start=0, end=len(row.text))
    assert {str(span.style) for span in line.render("plain").spans} == {"green"}
    assert {"on color(22)", "magenta"} <= {str(span.style) for span in line.render("dark").spans}
