"""The editor on a proposed text; what a person sees of it is in test_approver."""

import os
from pathlib import Path

import pytest

from toolroll.cli.terminal.editor import edit_text
from toolroll.errors import UsageError


def edit(text: str, name: str, editor: str) -> str:
    with open(os.devnull, "rb") as nothing:
        return edit_text(text, name=name, environment={"EDITOR": editor, **os.environ}, input_fd=nothing.fileno())


def test_S5_the_text_comes_back_byte_for_byte() -> None:
    text = "a\r\nb\u2028c\x0c\x1b[31m\n\nlast"
    assert edit(text, "a.txt", "true") == text


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("src/a.py", ".py"),
        ("Makefile", ".txt"),
        ("", ".txt"),
        ("x.$(evil)", ".txt"),
        ("a.b/c", ".txt"),
        ("é.md", ".md"),
    ],
)
def test_S5_the_file_has_the_ending_of_the_path(name: str, ending: str, tmp_path: Path) -> None:
    note = tmp_path / "note"
    edit("x", name, f"sh -c 'echo \"$0\" > {note}'")
    assert note.read_text().strip().endswith(f"/proposed{ending}")


def test_S5_where_none_is_set_a_usual_editor_is_taken(tmp_path: Path) -> None:
    place = tmp_path / "a place"
    place.mkdir()
    settings = {"PATH": str(place), "EDITOR": " ", "VISUAL": ""}
    with open(os.devnull, "rb") as nothing:
        for told in ("vi", "nano"):
            (place / told).write_text(f'#!/bin/sh\necho {told} > "$1"\n')
            (place / told).chmod(0o700)
            assert edit_text("x", name="a", environment=settings, input_fd=nothing.fileno()) == f"{told}\n"
        with pytest.raises(UsageError, match="No editor is set, and there is no nano and no vi here"):
            edit_text("x", name="a", environment={"PATH": str(tmp_path)}, input_fd=nothing.fileno())


def test_S5_a_text_that_no_editor_could_keep_is_refused() -> None:
    with pytest.raises(UsageError, match="not valid Unicode"):
        edit("\ud800", "a.txt", "true")


def test_S12_the_editor_opens_at_the_line_that_changes(tmp_path: Path) -> None:
    for name, given in (("vim", "+7"), ("gedit", "")):
        (tmp_path / name).write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/given\n')
        (tmp_path / name).chmod(0o700)
        with open(os.devnull, "rb") as nothing:
            settings = {"EDITOR": str(tmp_path / name), **os.environ}
            edit_text("x", name="a.py", environment=settings, input_fd=nothing.fileno(), line=7)
        assert ((tmp_path / "given").read_text().strip() == given) is bool(given)
