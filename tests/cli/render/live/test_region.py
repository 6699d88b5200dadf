"""The lines below: drawn and taken away without a trace, whatever is written above and whoever writes it."""

import io
import sys
from collections.abc import Iterator

import pytest
from rich.text import Text
from tests.cli.render.live.glass import Glass

from toolroll.cli.render.live.region import Region, does_reflow


@pytest.fixture
def glass() -> Iterator[Glass]:
    with Glass(40, 10) as glass:
        yield glass


@pytest.fixture
def region(glass: Glass) -> Region:
    return Region(glass.out, environment={"TERM": "xterm"})


def texts(*lines: str) -> list[Text]:
    return [Text(line) for line in lines]


def test_S1_what_stays_is_above_what_changes(glass: Glass, region: Region) -> None:
    region.show(texts("one", "two"))
    region.draw()
    assert glass.look() == ["one", "two"]
    region.write(texts("stays"))
    region.show(texts("three"))
    assert glass.look() == ["one", "two"]
    region.draw()
    assert glass.look() == ["stays", "three"]
    region.write(texts(*map(str, range(30))))
    region.draw()
    assert glass.look() == ["stays", *map(str, range(30)), "three"]
    region.clear()
    assert glass.look() == ["stays", *map(str, range(30))]
    region.write(texts("end", ""))
    region.clear()
    assert glass.look() == ["stays", *map(str, range(30)), "end"]
    assert glass.screen.cursor.x == 0


def test_S1_what_is_on_the_screen_already_is_not_drawn_again(glass: Glass, region: Region) -> None:
    region.show(texts("one"))
    region.draw()
    glass.look()
    before = glass.raw
    region.show(texts("one"))
    region.draw()
    glass.look()
    assert glass.raw == before


def test_S1_lines_are_cut_to_the_width_and_there_are_fewer_than_rows(glass: Glass, region: Region) -> None:
    region.show(texts(*map(str, range(20)), "漢" * 30, "я" * 60))
    region.draw()
    assert glass.look() == [*map(str, range(13, 20)), "漢" * 19 + "…", "я" * 38 + "…"]
    region.clear()
    assert glass.look() == []


@pytest.mark.parametrize("columns", [20, 39, 41, 120])
def test_S1_after_a_resize_nothing_is_left_and_nothing_is_lost(glass: Glass, region: Region, columns: int) -> None:
    region.write(texts("stays"))
    region.show(texts("long " * 20, "status " * 20))
    region.draw()
    glass.resize(columns, 10)
    region.draw()
    lines = glass.look()
    assert (lines[0], len(lines)) == ("stays", 3)
    assert max(map(len, lines)) <= columns - 1
    region.clear()
    assert glass.look() == ["stays"]


def test_S1_a_terminal_that_folds_its_lines_anew_is_cleared_of_all_of_them(glass: Glass) -> None:
    region = Region(glass.out, environment={"TERM": "tmux-256color"})
    region.show(texts("x" * 39, "y"))
    region.draw()
    glass.resize(20, 10)
    glass.screen.reset()  # as it is then: the first line takes two rows
    glass.screen.draw("x" * 20)
    glass.screen.linefeed()
    glass.screen.carriage_return()
    glass.screen.draw("x" * 19)
    glass.screen.linefeed()
    glass.screen.draw("y")
    glass.out.reconfigure(newline="\r\n")
    region.show(texts("z"))
    region.draw()
    assert glass.look() == ["z"]


@pytest.mark.parametrize(
    ("environment", "does"),
    [
        ({}, False),
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, True),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600", "XTERM_VERSION": "XTerm(390)"}, False),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, True),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "screen-256color", "TMUX": "x"}, True),
        ({"TERM": "screen-256color", "VTE_VERSION": "7600"}, False),
        ({"TERM": "tmux-256color", "XTERM_VERSION": "XTerm(390)"}, True),
    ],
)
def test_S1_which_terminals_fold_their_lines_anew(environment: dict[str, str], does: bool) -> None:
    assert does_reflow(environment) is does


def test_S1_while_it_is_hidden_others_have_the_terminal(glass: Glass, region: Region) -> None:
    region.show(texts("status"))
    region.draw()
    with region.hidden(), region.hidden():
        assert glass.look() == []
        glass.out.write("Allow? ")
        glass.out.flush()
        region.show(texts("status 2"))
        region.draw()
        assert glass.look() == ["Allow?"]
        glass.out.write("y\n")
        region.write(texts("told"))
        region.draw()
        assert glass.look() == ["Allow? y", "told"]
    assert glass.look() == ["Allow? y", "told", "status 2"]


def test_S1_XA6_what_a_tool_prints_comes_above_as_text(
    glass: Glass, region: Region, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = io.StringIO()
    monkeypatch.setattr(sys, "stderr", real)
    monkeypatch.setattr(sys, "stdout", real)
    region.show(texts("status"))
    region.draw()
    print("half ", end="")
    assert glass.look() == ["status"]
    print("\x1b[2Ja line\nrest", file=sys.stderr, end="")
    assert glass.look() == ["half ‹U+001B›[2Ja line", "status"]
    assert sys.stderr.writable()
    assert (sys.stderr.encoding, sys.stderr.isatty(), real.getvalue()) == ("utf-8", False, "")
    region.clear()
    assert (sys.stderr, sys.stdout) == (real, real)
    assert real.getvalue() == "rest\n"


def test_S1_who_has_replaced_stderr_meanwhile_keeps_it(
    glass: Glass, region: Region, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", glass.out)
    region.show(texts("status"))
    region.draw()
    assert sys.stderr.fileno() == glass.out.fileno()
    assert sys.stderr.buffer is glass.out.buffer
    other = io.StringIO()
    monkeypatch.setattr(sys, "stderr", other)
    region.clear()
    assert sys.stderr is other


def test_S1_where_there_is_no_stderr_none_is_replaced(
    glass: Glass, region: Region, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    region.show(texts("status"))
    region.draw()
    assert sys.stderr is None
    assert glass.look() == ["status"]


def test_S1_a_size_that_nobody_knows(glass: Glass, region: Region) -> None:
    assert region.size == (40, 10)
    glass.resize(5, 10)
    assert region.size == (20, 10)
    glass.resize(0, 0)
    assert region.size == (80, 24)


def test_S1_where_there_is_no_terminal_its_size_is_a_common_one() -> None:
    with open("/dev/null", "w", encoding="utf-8") as nowhere:
        assert Region(nowhere, environment={}).size == (80, 24)
