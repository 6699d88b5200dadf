"""The text of a file leads back to exactly its bytes."""

import codecs

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolroll.errors import EditRefused
from toolroll.workspace.edit.encoding import decode_exactly

KNOWN = {
    "utf-8": ("é€".encode(), "utf-8", b""),
    "utf-8 mark": (codecs.BOM_UTF8 + "é".encode(), "utf-8", codecs.BOM_UTF8),
    "utf-16": (codecs.BOM_UTF16_LE + "é".encode("utf-16-le"), "utf-16-le", codecs.BOM_UTF16_LE),
    "utf-16 big": (codecs.BOM_UTF16_BE + "é".encode("utf-16-be"), "utf-16-be", codecs.BOM_UTF16_BE),
    "utf-32": (codecs.BOM_UTF32_LE + "é".encode("utf-32-le"), "utf-32-le", codecs.BOM_UTF32_LE),
    "declared": (b"# -*- coding: cp1252 -*-\n\x80", "cp1252", b""),
    "japanese": ("# coding: shift_jis\n日本".encode("shift_jis"), "shift_jis", b""),
}


@pytest.mark.parametrize("name", KNOWN)
def test_C3_the_encoding_is_the_files_own(name: str) -> None:
    data, encoding, mark = KNOWN[name]
    carrier = decode_exactly(data)
    assert (carrier.encoding, carrier.mark, carrier.is_known) == (encoding, mark, True)
    assert carrier.encode(carrier.text) == data
    assert not carrier.text.startswith("\ufeff")


@pytest.mark.parametrize(
    "data",
    [
        b"\xe9",
        b"# coding: utf-7\n\xe9",
        b"# coding: nothing\n\xe9",
        b"# coding: shift_jis\n\x81\xad",
        codecs.BOM_UTF16_LE + b"a",
        # Two spellings of one character: the text alone would not say which.
        b"# coding: cp932\n\x81\xca\xee\xf9",
    ],
)
def test_C3_bytes_that_nobody_knows_take_only_ascii(data: bytes) -> None:
    carrier = decode_exactly(data)
    assert not carrier.is_known
    assert carrier.encode(carrier.text) == data
    carrier.check("plain", path="a")
    with pytest.raises(EditRefused, match="only ASCII can be added; 'é' is not"):
        carrier.check("é", path="a")


@given(st.binary(max_size=200))
@example(codecs.BOM_UTF8 * 2)
@example(codecs.BOM_UTF16_LE + b"\x00\xd8")
def test_C3_every_content_comes_back(data: bytes) -> None:
    carrier = decode_exactly(data)
    assert carrier.encode(carrier.text) == data


def test_C3_a_nul_is_refused_unless_the_file_has_one_and_is_text_all_the_same() -> None:
    with pytest.raises(EditRefused) as caught:
        decode_exactly(b"x\n").check("a\nb\0", path="f")
    assert (caught.value.rule, caught.value.lines, caught.value.path) == ("nul", (2,), "f")
    wide = codecs.BOM_UTF16_LE + "x".encode("utf-16-le")
    with pytest.raises(EditRefused, match="NUL character"):
        decode_exactly(wide).check("\0", path="f")
    decode_exactly(wide + b"\0\0").check("\0", path="f")
