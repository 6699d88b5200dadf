"""Numbered lines of a file in any encoding, a page at a time."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.workspace.conftest import Opening
from tests.workspace.nasty import BINARY, TEXTS, write_nasty

from toolroll.errors import ArgumentsRefused, NotText
from toolroll.kernel.approval.request import content_hash
from toolroll.workspace.limits import Limits
from toolroll.workspace.read import FilePart, Line, read_lines
from toolroll.workspace.text import Text, declared_encoding, decode, split_lines
from toolroll.workspace.workspace import Workspace


def read(workspace: Workspace, data: bytes, *, offset: int = 1, limit: int | None = None, column: int = 0) -> FilePart:
    (workspace.root / "f").write_bytes(data)
    return read_lines(workspace, workspace.path("f"), offset=offset, limit=limit, column=column)


def test_C10_lines_are_numbered_and_the_rest_is_told(workspace: Workspace) -> None:
    reading = read(workspace, b"one\ntwo\r\nthree", limit=2)
    assert reading.lines == (
        Line(number=1, text="one", characters=3),
        Line(number=2, text="two", characters=3, end="\r\n"),
    )
    assert (reading.total_lines, reading.next_offset, reading.is_whole) == (3, 3, False)
    assert (reading.hash, reading.size) == (content_hash(b"one\ntwo\r\nthree"), 14)
    assert (reading.encoding, reading.line_ends, reading.note) == ("utf-8", "mixed", None)
    last = read(workspace, b"one\ntwo\r\nthree", offset=3)
    assert last.lines == (Line(number=3, text="three", characters=5, end=""),)
    assert last.next_offset is None


def test_C10_two_thousand_lines_at_most_by_default(workspace: Workspace) -> None:
    reading = read(workspace, b"x\n" * 2_001)
    assert (len(reading.lines), reading.next_offset) == (2_000, 2_001)
    assert len(read(workspace, b"x\n" * 2_001, limit=9_999).lines) == 2_000


def test_C10_XF2_an_empty_file_has_no_lines(workspace: Workspace) -> None:
    reading = read(workspace, b"")
    assert (reading.lines, reading.total_lines, reading.next_offset, reading.is_whole) == ((), 0, None, True)
    assert reading.line_ends == "none"


def test_C10_a_long_line_is_shown_in_windows(opened: Opening) -> None:
    workspace = opened(limits=Limits(line_characters=10))
    text = "".join(chr(0x410 + number % 32) for number in range(25))
    windows = [read(workspace, text.encode() + b"\nshort", column=column).lines for column in (0, 10, 20, 99)]
    assert "".join(lines[0].text for lines in windows) == text
    assert [(line.start, line.characters, line.is_cut) for line, _ in windows] == [
        (0, 25, True),
        (10, 25, True),
        (20, 25, True),
        (25, 25, True),
    ]
    assert {lines[1].text for lines in windows} == {"short"}


@pytest.mark.parametrize("arguments", [{"offset": 0}, {"offset": 4}, {"limit": 0}, {"column": -1}])
def test_a_place_that_is_not_there_is_an_error(workspace: Workspace, arguments: dict[str, int]) -> None:
    with pytest.raises(ArgumentsRefused, match="1"):
        read(workspace, b"one\ntwo\nthree\n", **arguments)


@given(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\r\n\v\f\x85\u2028 a")), st.integers(1, 5))
def test_XF4_pages_join_to_the_file_and_numbers_are_those_of_newlines(
    tmp_path_factory: pytest.TempPathFactory, text: str, limit: int
) -> None:
    text = text.replace("\0", "").removeprefix("\ufeff")
    root = tmp_path_factory.mktemp("pages")
    with Workspace(root, state=root.parent / "state") as workspace:
        reading = read(workspace, text.encode(), limit=limit)
        lines = list(reading.lines)
        while reading.next_offset:
            reading = read(workspace, text.encode(), offset=reading.next_offset, limit=limit)
            lines += reading.lines
    assert "".join(line.text + line.end for line in lines) == text
    split = text.split("\n")
    assert [line.number for line in lines] == list(range(1, reading.total_lines + 1))
    for line in lines:
        assert split[line.number - 1].removesuffix("\r" if line.end else "") == line.text


@pytest.mark.parametrize("name", TEXTS)
def test_C10_XF4_every_nasty_text_is_shown(opened: Opening, folder: Path, name: str) -> None:
    workspace = opened(limits=Limits(file_bytes=10_000_000))
    write_nasty(folder)
    reading = read_lines(workspace, workspace.path(name))
    decoded = decode(TEXTS[name], path=name)
    assert reading.total_lines == len(split_lines(decoded.text))
    assert reading.hash == content_hash(TEXTS[name])
    assert all(len(line.text) <= workspace.limits.line_characters for line in reading.lines)
    if decoded.is_certain:
        assert decoded.mark + decoded.text.encode(decoded.encoding) == TEXTS[name]


@pytest.mark.parametrize("name", BINARY)
def test_C2_what_is_binary_is_refused_with_what_to_do(workspace: Workspace, folder: Path, name: str) -> None:
    write_nasty(folder)
    with pytest.raises(NotText, match="is binary") as caught:
        read_lines(workspace, workspace.path(name))
    assert caught.value.code == "not_text"


@pytest.mark.parametrize(
    ("name", "encoding", "known"),
    [
        ("lf.txt", "utf-8", "utf-8"),
        ("bom.txt", "utf-8", "bom"),
        ("utf16le.txt", "utf-16-le", "bom"),
        ("utf16be.txt", "utf-16-be", "bom"),
        ("utf32le.txt", "utf-32-le", "bom"),
        ("declared.py", "iso8859-15", "declared"),
        ("shift-jis.py", "shift_jis", "declared"),
        ("latin1.txt", "latin-1", "guess"),
        ("undeclared-sjis.txt", "latin-1", "guess"),
    ],
)
def test_encodings_are_marked_declared_or_guessed(name: str, encoding: str, known: str) -> None:
    text = decode(TEXTS[name], path=name)
    assert (text.encoding, text.known, text.is_certain) == (encoding, known, known != "guess")


def test_a_guess_is_said_to_be_one() -> None:
    assert "may be wrong" in (decode(b"caf\xe9", path="f").note or "")
    assert decode(TEXTS["bom.txt"], path="f").note == "encoded in UTF-8 with a byte order mark"
    assert decode(TEXTS["declared.py"], path="f").note == "encoded in ISO8859-15"


def test_only_encodings_of_text_are_believed() -> None:
    for head, expected in {
        b"# coding: latin-1": "iso8859-1",
        b'<?xml version="1.0" encoding="windows-1251"?>': "cp1251",
        b'@charset "koi8-u";': "koi8-u",
        b"\n# vim: set fileencoding=gbk :": "gbk",
        b"# coding: utf-7": None,
        b"# coding: rot13": None,
        b"# coding: cp037": None,
        b"# coding: cp875": None,
        b"# coding: no-such-thing": None,
        b"\n\n# coding: latin-1": None,
        b"plain": None,
    }.items():
        assert declared_encoding(head) == expected, head


def test_a_declaration_or_a_mark_that_lies_is_not_believed() -> None:
    assert decode(b"# coding: ascii\ncaf\xe9", path="f").known == "guess"
    assert decode(b"\xef\xbb\xbfcaf\xe9", path="f").known == "guess"
    with pytest.raises(NotText):
        decode(b"\xff\xfea\0\x00\xd8", path="f")


@given(st.binary())
def test_decoding_any_bytes_gives_text_or_a_refusal(data: bytes) -> None:
    try:
        text = decode(data, path="f")
    except NotText:
        return
    assert text.mark + text.text.encode(text.encoding) == data
    assert isinstance(text.line_ends, str)


def test_line_ends_are_named() -> None:
    def ends_of(text: str) -> str:
        return Text(text=text, encoding="utf-8", mark=b"", known="utf-8").line_ends

    assert [ends_of(text) for text in ("a", "a\n", "a\r\nb\r\n", "a\rb", "a\r\nb\n")] == [
        "none",
        "LF",
        "CRLF",
        "CR",
        "mixed",
    ]
