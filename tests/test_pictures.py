"""The pictures in docs/ are what the program shows now, and hold nothing but text on a ground."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from docs.pictures import make, svg
from hypothesis import given
from hypothesis import strategies as st

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", make.PICTURES)
def test_a_picture_is_what_the_program_shows_now(name: str) -> None:
    kept = make.HERE / f"{name}.svg"
    if kept.read_text(encoding="utf-8") != make.made(name):
        pytest.fail(f"docs/pictures/{name}.svg is not what is on the screen now: `make pictures`, and look at it.")


def test_every_picture_is_made_and_stands_on_a_page() -> None:
    assert {path.stem for path in make.HERE.glob("*.svg")} == set(make.PICTURES)
    pages = [make.HERE.parent.parent / "README.md", *make.HERE.parent.glob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    assert [name for name in make.PICTURES if f"pictures/{name}.svg)" not in text] == []


@pytest.mark.parametrize("path", sorted(make.HERE.glob("*.svg")), ids=lambda path: path.stem)
def test_a_picture_is_small_and_loads_nothing(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text) < 200_000
    assert {element.tag for element in ET.fromstring(text).iter()} <= {
        SVG + name for name in ("svg", "title", "rect", "g", "text")
    }
    assert re.findall(r"\w+://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"href|url\(|\son\w+=|<!|<\?", text)


@given(st.text(min_size=1, max_size=40), st.text(max_size=20))
def test_whatever_stands_on_a_screen_is_text_in_the_picture(text: str, title: str) -> None:
    drawn = ET.fromstring(svg.draw([svg.row_of(text)], title=title, columns=40))
    shown = "".join(element.text or "" for element in drawn.iter(SVG + "text"))
    assert (
        shown.replace("\N{NO-BREAK SPACE}", " ").strip()
        == svg.printable(text).replace("\N{NO-BREAK SPACE}", " ").strip()
    )
    assert {element.tag for element in drawn.iter()} <= {SVG + name for name in ("svg", "title", "rect", "g", "text")}


def look(raw: bytes) -> list[list[svg.Cell]]:
    return svg.read_screen(raw, columns=12, rows=3)


def test_colours_and_weight_are_read_from_the_screen() -> None:
    [row] = look(b"\x1b[31mr\x1b[0;1mb\x1b[0;4mu\x1b[0;7mi\x1b[0;48;5;22mg\x1b[0mx")
    assert [(cell.ink, cell.ground, cell.bold, cell.underline) for cell in row[:6]] == [
        (svg.PALETTE["red"], svg.GROUND, False, False),
        (svg.INK, svg.GROUND, True, False),
        (svg.INK, svg.GROUND, False, True),
        (svg.GROUND, svg.INK, False, False),
        (svg.INK, "#005f00", False, False),
        (svg.INK, svg.GROUND, False, False),
    ]


def test_faint_text_is_grey_unless_it_has_a_colour() -> None:
    [row] = look(b"\x1b[2mf\x1b[0m-\x1b[2;36mc\x1b[0m-\x1b[38;2;1;2;3mt")
    inks = [cell.ink for cell in row[:5]]
    assert inks == [svg.PALETTE["brightblack"], svg.INK, svg.PALETTE["cyan"], svg.INK, "#010203"]


def test_rows_that_are_empty_at_the_end_are_left_out() -> None:
    assert len(look(b"one\r\n\r\n")) == 1
    assert look(b"") == []


def test_a_wide_character_takes_two_places() -> None:
    drawn = ET.fromstring(svg.draw(look("読む\x1b[31mx".encode()), title="", columns=12))
    wide, narrow = drawn.iter(SVG + "text")
    assert (wide.text, narrow.text) == ("読む", "x")
    assert float(narrow.attrib["x"]) == pytest.approx(svg.MARGIN + 4 * svg.CELL_WIDTH, abs=0.01)


def test_what_differs_each_time_is_replaced_in_its_own_style() -> None:
    [row] = look(b"a \x1b[31m123 ms\x1b[0m z")
    made = svg.put(row, re.compile(r"\d+ ms"), "4 s")
    assert svg.text_of(made).rstrip() == "a 4 s z"
    assert [cell.ink for cell in made[2:5]] == [svg.PALETTE["red"]] * 3
