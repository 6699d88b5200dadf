"""Whole new contents keep what they do not change, to the byte."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from toolroll.errors import EditRefused
from toolroll.workspace.edit.whole_file import encode_person_text, encode_whole_file

LINES = st.lists(st.text("ab \t", max_size=3), min_size=1, max_size=8)
ENDS = st.sampled_from(["\n", "\r\n"])


def whole(data: bytes, content: str) -> bytes:
    return encode_whole_file(data, content, path="a.py").data


def refused(data: bytes, content: str) -> EditRefused:
    with pytest.raises(EditRefused) as caught:
        encode_whole_file(data, content, path="a.py")
    return caught.value


def test_C3_C16_unchanged_lines_keep_their_bytes() -> None:
    assert whole(b"a\r\nb\nc\r\nd", "a\nb\nX\nc\nd\n") == b"a\r\nb\nX\nc\r\nd"
    assert whole(b"\xef\xbb\xbfa\r\n", "b\nc") == b"\xef\xbb\xbfb\r\nc\r\n"
    assert whole(b"a\rb\r", "a\nX\nb\n") == b"a\rX\rb\r"
    assert whole(b"", "a\nb") == b"a\nb"
    assert whole(b"a", "a\nb\n") == b"a\nb"


def test_C3_C16_odd_bytes_stay_in_lines_that_come_back_as_shown() -> None:
    assert whole(b"caf\xe9\nx\n", "café\ny\n") == b"caf\xe9\ny\n"
    assert refused(b"caf\xe9\nx\n", "cafés\nx\n").rule == "encoding"


@given(LINES, st.lists(ENDS, min_size=9, max_size=9), LINES, st.booleans())
def test_C3_C16_lines_before_and_after_a_change_stay(
    lines: list[str], ends: list[str], new: list[str], ended: bool
) -> None:
    assume(any("".join(lines).split()))
    text = "".join(line + end for line, end in zip(lines, ends, strict=False))
    data = (text + "LAST" + (ends[-1] if ended else "")).encode()
    content = "\n".join([*lines, *["NEW" + one for one in new], "LAST", ""])
    result = whole(data, content)
    assert result.startswith(text.encode())
    assert result.endswith(data[len(text.encode()) :])
    assert result[len(text.encode()) :].count(b"NEW") == len(new)


def test_XE8_empty_content_is_refused() -> None:
    error = refused(b"a\n", " \n")
    assert error.rule == "empty"
    assert error.code == "edit_refused"
    assert whole(b" \n", "\n\n") == b"\n\n"


def test_XE8_a_large_shrink_is_pointed_out() -> None:
    data = b"".join(b"line %d\n" % number for number in range(100))
    [note] = encode_whole_file(data, "line 1\n\nline 2\n", path="a").notes
    assert "from 100 lines to 2" in note
    assert encode_whole_file(data, data.decode() + "more\n", path="a").notes == ()
    assert encode_whole_file(b"a\nb\nc\n", "a\n", path="a").notes == ()


def test_C16_omitted_code_is_refused() -> None:
    error = refused(b"a\nb\nc\nd\n", "a\n# ... rest of the file unchanged ...\n")
    assert error.rule == "placeholder"
    assert error.lines == (2,)
    assert "line 2: # ... rest of the file unchanged ..." in error.message


def test_C16_the_same_content_is_refused() -> None:
    assert refused(b"a\r\nb", "a\nb\n").rule == "no_change"


def written(before: bytes | None, after: bytes, text: str) -> bytes:
    return encode_person_text(before, after, text, path="a.py")


@given(st.text("ab\r\n\t", max_size=20), st.text("ab\r\n\t", max_size=20))
def test_C30_a_text_that_was_not_edited_is_the_proposal(before: str, after: str) -> None:
    assume(("\r" in before and "\n" not in before) == ("\r" in after and "\n" not in after))
    assert written(before.encode(), after.encode(), after) == after.encode()
    assert written(None, after.encode(), after) == after.encode()
    assert written(before.encode(), after.encode(), before) == before.encode()


def test_C30_line_ends_that_an_editor_lost_come_back() -> None:
    assert written(b"a\r\nb\r\n", b"a\r\nX\r\n", "a\nX\nY\n") == b"a\r\nX\r\nY\r\n"
    assert written(b"a\r\nb\nc\r\n", b"a\r\nb\nX\r\n", "a\r\nb\nMINE\nX\r\n") == b"a\r\nb\nMINE\nX\r\n"
    assert written(b"a\r\n", b"b", "c\nd") == b"c\r\nd"


def test_C30_a_persons_last_line_end_is_their_own() -> None:
    assert written(b"a", b"b", "b\n") == b"b\n"
    assert written(b"a\n", b"b\n", "b") == b"b"
    assert written(b"a\n", b"b\n", "") == b""


def test_C30_a_persons_text_stays_in_the_encoding() -> None:
    assert written(b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfb\n", "é\n") == b"\xef\xbb\xbf\xc3\xa9\n"
    with pytest.raises(EditRefused):
        written(b"caf\xe9\n", b"caf\xe9\nx\n", "café\n")
    assert written(b"caf\xe9\n", b"caf\xe9\nx\n", "caf\udce9\ny\n") == b"caf\xe9\ny\n"
