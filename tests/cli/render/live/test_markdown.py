"""Markdown on a terminal: what is drawn, that nothing is lost, and that nothing in it has power."""

import io
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from toolroll.cli.render.live.blocks import Block, Blocks
from toolroll.cli.render.live.markdown import Flow, code_lines, markdown_lines, render_markdown
from toolroll.safe.text import terminal_safe

CONSOLE = Console(file=io.StringIO(), force_terminal=True, width=80)

DOCUMENT = """\
# Чай і кава

Перший абзац з **жирним**, *курсивом*, ~~старим~~ і `кодом`;
другий рядок його.

- один
- два, який довший за рядок вузького екрана, тому переноситься
  1. вкладений
  2. другий
- три

1. loose

   more of it
2. items

> said
> - quoted

```python
def f(): return "漢字"

print(f())
```

| name | count |
|---|--:|
| чорний | 3 |
| 绿茶 | 12 |

    indented code

***

Last\\
line.
"""
SHOWN_AT_40 = """\
Чай і кава

Перший абзац з жирним, курсивом, старим
і кодом; другий рядок його.

• один
• два, який довший за рядок вузького
  екрана, тому переноситься
  1. вкладений
  2. другий
• три

1. loose

   more of it

2. items

│ said
│
│ • quoted

  python
  def f(): return "漢字"

  print(f())

name     count
──────────────
чорний   3
绿茶     12

  indented code

────────────────────────────────────────

Last
line.
"""


def shown(text: str, width: int = 80) -> str:
    return "".join(line.plain.rstrip() + "\n" for line in render_markdown(text, width, CONSOLE))


def test_S1_a_document_as_it_is_drawn() -> None:
    assert shown(DOCUMENT, 40) == SHOWN_AT_40


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_S1_the_parts_in_their_order_are_the_whole(width: int) -> None:
    """The whole is parsed at once, by the parser alone."""
    whole = "".join(line.plain.rstrip() + "\n" for line in markdown_lines(DOCUMENT, width, CONSOLE))
    assert whole == shown(DOCUMENT, width)
    assert max(map(cell_len, whole.splitlines())) <= width


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("[label](https://a.example/x)", "label (https://a.example/x)\n"),
        ("[https://good.example](https://evil.example)", "https://good.example (https://evil.example)\n"),
        ('[label](https://a.example "and a title")', 'label (https://a.example "and a title")\n'),
        ("<https://a.example>", "https://a.example\n"),
        ("![alt](https://a.example/x.png)", "!alt (https://a.example/x.png)\n"),
        ("[a]: https://a.example\n\n[a] b", "[a]: https://a.example\n\n[a] b\n"),
        ("<!-- hidden --> <b>bold</b>", "<!-- hidden --> <b>bold</b>\n"),
        ("[x](javascript:alert)", "[x](javascript:alert)\n"),
        ("```py title\n", "  py title\n"),
        ("```\r\na\tb\r\n```\r\n", "  a   b\n"),
        ("- \n- b", "•\n• b\n"),
        ("7. a\n8. b\n9. c\n10. d", " 7. a\n 8. b\n 9. c\n10. d\n"),
        ("| a |\n|---|\n| b | hidden |", "| a |\n|---|\n| b | hidden |\n"),
        ("| a |\n|---|\n| b \\| c |", "a\n─────\nb | c\n"),
        ("a\r\nb\r\n\r\nc", "a b\n\nc\n"),
        ("**[bold](b)** text", "bold (b) text\n"),
    ],
)
def test_XA6_markdown_hides_nothing(text: str, drawn: str) -> None:
    assert shown(text) == drawn


@pytest.mark.parametrize(
    "hostile",
    [
        "\x1b[2Jx",
        "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
        "\x1b]52;c;aGk=\x07",
        "good\rbad",
        "\x9b31m",
        "a\u202eb",
        "a\u200bb",
        "&#x202E;&#13;&#x9b;",
        "[a](b&#x202E;c 'd&#x202E;e')",
        "`&#x202E;\x1b`",
        "```\x1b[2J\n\x1b]0;x\x07\n```",
        "    \x1b[2J",
        "| \x1b[2J | &#x202E; |\n|---|---|\n| a\u202e | \x1b |",
        "# \x1b[5m",
        " " * 3_000,
    ],
)
@pytest.mark.parametrize("width", [20, 80])
def test_XA6_nothing_in_markdown_has_power(hostile: str, width: int) -> None:
    drawn = shown(hostile, width)
    assert drawn == terminal_safe(drawn)


@given(st.text(alphabet="#*_`~[]()<>!|&;-+>1. \n\t\x1b\r\u202e\u200bабx漢"), st.sampled_from([8, 20, 80]))
def test_XA6_no_text_has_power(text: str, width: int) -> None:
    for line in render_markdown(text, width, CONSOLE):
        assert "\n" not in line.plain
        assert line.plain == terminal_safe(line.plain)


@given(st.lists(st.sampled_from(["one", "два", "漢字", "**b**", "`c`", "_e_", "\n", "\n\n", "- ", "> ", "# "])))
def test_S1_every_word_is_shown(words: list[str]) -> None:
    drawn = shown(" ".join(words), 20)
    for word in ("one", "два", "漢字"):
        assert words.count(word) == len(re.findall(word, drawn))


def test_S1_a_table_that_does_not_fit_becomes_lines() -> None:
    text = "| name | count | notes |\n|---|---|---|\n| tea | 3 | strong |\n| milk | | |"
    assert shown(text, 20) == "name: tea\ncount: 3\nnotes: strong\n\nname: milk\ncount:\nnotes:\n"
    assert shown("| a | b | c |\n|---|---|---|", 20) == "a:\nb:\nc:\n"


def test_S1_words_longer_than_the_screen_are_folded() -> None:
    long = "漢" * 30
    assert shown(f"| a | b |\n|---|---|\n| {long} | x |", 40).count("漢") == 30
    assert shown(long, 21) == "漢" * 10 + "\n" + "漢" * 10 + "\n" + "漢" * 10 + "\n"
    assert [line.plain for line in code_lines("x" * 30, 20)] == ["  " + "x" * 18, "  " + "x" * 12]


@pytest.mark.parametrize(
    ("code", "pieces"),
    [
        ("    return the_sum_of(all)", ["    return ", "the_sum_of(all)"]),
        ("ten letters and eight more", ["ten letters and ", "eight more"]),
        ("as_wide_as_a_line_ then", ["as_wide_as_a_line_", " then"]),
        ("    a_word_that_is_much_longer", ["    a_word_that_is", "_much_longer"]),
        ("世界 " * 5, ["世界 世界 世界 ", "世界 世界 "]),
    ],
    ids=["indented", "between", "exact", "long", "wide"],
)
def test_S1_code_is_folded_between_words(code: str, pieces: list[str]) -> None:
    assert [line.plain[2:] for line in code_lines(code, 20)] == pieces


@given(code=st.text(alphabet="ab_ 世\u0301"), width=st.integers(10, 40))
def test_S1_nothing_of_folded_code_is_lost_and_all_of_it_fits(code: str, width: int) -> None:
    lines = code_lines(code, width)
    assert "".join(line.plain[2:] for line in lines) == terminal_safe(code)
    assert max(line.cell_len for line in lines) <= width


def test_S1_deep_nesting_leaves_room_for_text() -> None:
    for deep in (15, 19, 20, 60):
        text = "".join(f"{'  ' * depth}- level{depth}\n" for depth in range(deep))
        drawn = re.sub(r"\s", "", shown(text, 20))
        assert [depth for depth in range(deep) if f"level{depth}" not in drawn] == []
    assert all("word" in shown("> " * depth + "word", 20) for depth in range(1, 100))
    assert "word" in shown("*_" * 300 + "word" + "_*" * 300)


def test_S1_what_grows_is_drawn_as_if_it_ended_here() -> None:
    flow, blocks = Flow(CONSOLE), Blocks()
    flow.lines(blocks.feed("a\n\n**b"), 80)
    for _ in range(2):
        assert [line.plain for line in flow.peek(blocks.growing, 80)] == ["", "**b"]
    assert [line.plain for line in flow.lines(blocks.feed("**\n\n```\nx\n"), 80)] == ["", "b", "", "  x"]
    assert [line.plain for line in flow.peek(Block(kind="code", text="y"), 80)] == ["  y"]
    assert [line.plain for line in flow.lines(blocks.feed("```\nc"), 80)] == []
    assert [line.plain for line in flow.lines(blocks.close(), 80)] == ["", "c"]


def test_S1_growing_never_takes_back_what_was_given_out() -> None:
    """Whatever comes later, the lines before it stay as they were."""
    pieces = [render_markdown(DOCUMENT[:end], 40, CONSOLE) for end in range(0, len(DOCUMENT), 7)]
    blocks = Blocks()
    flow, given_out = Flow(CONSOLE), []
    for start, end in pairwise(range(0, len(DOCUMENT), 7)):
        given_out += flow.lines(blocks.feed(DOCUMENT[start:end]), 40)
        now = [line.plain for line in render_markdown(DOCUMENT[:end], 40, CONSOLE)]
        assert [line.plain for line in given_out] == now[: len(given_out)]
    assert len(pieces) > 50
