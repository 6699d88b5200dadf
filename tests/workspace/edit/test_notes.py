"""What a diff does not show is told in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.safe.text import suspicious
from toolroll.workspace.edit.encoding import decode_exactly
from toolroll.workspace.edit.notes import content_notes


def notes(before: bytes | None, after: bytes | None) -> list[str]:
    sides = [None if data is None else decode_exactly(data) for data in (before, after)]
    return list(content_notes(sides[0], sides[1]))


@pytest.mark.parametrize(
    ("before", "after", "note"),
    [
        (b"a\r\nb\r\n", b"a\nb\n", "The line ends change from 2 CRLF to 2 LF."),
        (b"a\rb\r", b"a\r\nb\r\n", "The line ends change from 2 CR to 2 CRLF."),
        (b"a\nb\n", b"a\nb\r\nc\n", "The line ends change from 2 LF to 2 LF and 1 CRLF."),
        (b"a\nb\r\n", b"a\r\nb\n", "The line ends are mixed: 1 CRLF and 1 LF before, 1 CRLF and 1 LF after."),
        (b"\xef\xbb\xbfa", b"a", "The encoding changes from UTF-8 with a byte-order mark to UTF-8."),
        (b"a\xe9", "aé".encode(), "The encoding changes from an unknown one to UTF-8."),
        (b"a", b"a\xe9", "The file is not UTF-8 and does not say what it is: its other bytes"),
        (None, b"\xff\xfea\x00", "The file begins with a byte-order mark (UTF-16-LE)."),
        (b"a\n", "a\nb\u202e\n".encode(), "would not be seen: U+202E RIGHT-TO-LEFT OVERRIDE in line 2."),
        (None, "\u200b\n\u200b\n".encode(), "U+200B ZERO WIDTH SPACE in line 1 and 1 more places"),
        (None, b"a" + b" " * 90 + b"b", "a long run of blanks in line 1"),
        (None, "".join(map(chr, range(0x202A, 0x202F))).encode() + b"\x1b\x07", "and 2 other kinds."),
        (b"a\nb\n", b"a\nx\ry\nb\n", "U+000D CARRIAGE RETURN in line 2"),
    ],
)  # fmt: skip
def test_C33_what_cannot_be_seen_is_told(before: bytes | None, after: bytes, note: str) -> None:
    assert any(note in one for one in notes(before, after)), notes(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\r\n", b"a\r\nb\r\n"),
        (b"a", b"b"),
        (None, b"a\n"),
        ("x\u202e\n".encode(), "x\u202e\ny\n".encode()),
        (b"a\n", None),
        (b"a", b"a\nb\n"),
    ],
)
def test_C33_nothing_is_told_where_nothing_is_hidden(before: bytes | None, after: bytes | None) -> None:
    assert notes(before, after) == []


LINE = st.text(
    alphabet=st.sampled_from(["a", " ", "\t", "\u0301", "\u200b", "\u202e", "\x1b", "\r", "\u3164", "👩", "\u200d"])
)
BLANKS = st.builds(lambda line, count: line + " " * count, LINE, st.sampled_from([0, 300]))


@given(st.lists(BLANKS, max_size=5))
def test_C33_lines_together_are_as_suspicious_as_each_alone(lines: list[str]) -> None:
    lines = [line.removesuffix("\r") for line in lines]
    assert bool(suspicious("\n".join(lines), limit=1)) == any(map(suspicious, lines))


@given(st.lists(BLANKS, max_size=5))
def test_C33_a_note_is_there_when_something_cannot_be_seen(lines: list[str]) -> None:
    text = "\n".join(lines)
    told = [note for note in content_notes(None, decode_exactly(text.encode())) if "would not be seen" in note]
    assert bool(told) == any(suspicious(line.removesuffix("\r")) for line in lines)
