"""Words of our own on a screen: lines that fit, words that stay whole, and nothing of it where there is no screen."""

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.cut import cut_words
from tests.cli.render.live.glass import Glass

from toolroll.cli.render.prose import MIN_COLUMNS, fit, notify, terminal_columns, wrap
from toolroll.cli.session import Session

LONG = "Nobody has trusted it: look at '.toolroll/tools/deploy.py', then at /a/path/that/is/longer/than/a/line/of/it."
WORDS = st.lists(st.text(alphabet="abії'`-/.", min_size=1, max_size=50), max_size=12).map(" ".join)

UNQUOTED = WORDS.map(lambda text: text.replace("'", "x").replace("`", "x"))


@given(st.lists(st.tuples(st.integers(0, 30), WORDS), min_size=1, max_size=4), st.integers(20, 60))
def test_S6_every_word_stays_whole_and_in_its_place(lines: list[tuple[int, str]], width: int) -> None:
    text = "\n".join(" " * indent + words for indent, words in lines)
    shown = wrap(text, width, cuts=False)
    assert " ".join(shown).split() == text.split()
    assert all(len(line) <= width or len(line.split()) == 1 or "'" in line or "`" in line for line in shown)


@given(UNQUOTED, st.integers(20, 60))
def test_S6_a_line_goes_on_below_its_own_beginning(words: str, width: int) -> None:
    first, *rest = wrap(f"    {words}", width, cuts=False)
    assert all(line.startswith("       ") for line in rest if line)
    assert first.startswith("    ") or len(words.split(" ", maxsplit=1)[0]) > width - 4 or not words.strip()


def test_S6_a_column_can_be_kept_free() -> None:
    assert wrap("  ok     one two three", 20, hang=9) == ["  ok     one two", "         three"]
    assert wrap("         fix: one two three", 24, hang=9)[1:] == ["            three"]


def test_S6_a_terminal_gets_lines_that_fit() -> None:
    with Glass(columns=40) as glass:
        told = fit(LONG, glass.out)
        assert [cut for line in told.split("\n") for cut in cut_words(line, 40)] == []
        assert "'.toolroll/tools/deploy.py'," in told.split("\n")[1]
        assert told.split("\n")[-1].strip() == "/a/path/that/is/longer/than/a/line/of/it."
        assert fit("It fits.  \n", glass.out) == "It fits.  \n"


def test_S6_a_very_narrow_terminal_has_a_least_width() -> None:
    with Glass(columns=5) as glass:
        assert terminal_columns(glass.out) == MIN_COLUMNS


def test_S6_elsewhere_text_stays_as_it_is() -> None:
    closed = io.StringIO()
    closed.close()
    with Glass(columns=0) as unknown:
        for stream in (None, io.StringIO(), closed, unknown.out):
            assert fit(LONG, stream) == LONG


def test_S6_what_stands_beside_the_answer_fits_too(monkeypatch: pytest.MonkeyPatch) -> None:
    with Glass(columns=40) as glass:
        monkeypatch.setattr(sys, "stderr", glass.out)
        notify(LONG, dim=True)
        notify("No.", red=True)
        Session().fail("usage", LONG)
        assert max(map(len, glass.look())) <= 40
        assert (b"\x1b[2mNobody" in glass.raw, b"\x1b[31mNo.\x1b[0m" in glass.raw) == (True, True)
        assert [cut for line in glass.raw.decode().split("\n") for cut in cut_words(line, 40)] == []


def test_S6_XA6_an_answer_in_words_is_made_safe_and_fits() -> None:
    with Glass(columns=40) as glass:
        Session(_out=glass.out).show(f"{LONG} \x1b[2J \0 end\n")
        glass.look()
        assert glass.raw.endswith(b"\xe2\x80\xb9U+001B\xe2\x80\xba[2J \xe2\x80\xb9U+0000\xe2\x80\xba end\n")
    piped = io.StringIO()
    Session(_out=piped).show(LONG)
    assert piped.getvalue() == f"{LONG}\n"
