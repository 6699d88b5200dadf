"""A file that is read quickly says exactly what it says when it is read with all care, or is left to that."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packs.writing.profiles.samples import fields

from toolroll.packs.writing.profiles.profile_format import (
    MAX_PROFILE_BYTES,
    encode_profile,
    parse_profile,
    parse_profile_quickly,
)
from toolroll.packs.writing.profiles.schema import StyleProfile

SOUND = encode_profile(fields())
ORDINARY = {
    "as we write it": SOUND,
    "line ends and quotes in a text": encode_profile(fields(source='one\n"two"\\ /')),
    "without blanks": SOUND.replace(b"\n", b"").replace(b"  ", b""),
    "all that may be left out": encode_profile(
        fields(platforms={"x": {**fields()["platforms"]["linkedin"], "notes": "n"}})
    ),
}
UNUSUAL = {
    "an escape": SOUND.replace(b"casual", b"c\\u0061sual"),
    "a key twice": SOUND.replace(b'"source":', b'"source": "first", "source":'),
    "a key twice, inside": SOUND.replace(b'"tone":', b'"tone" : "first", "tone":'),
    "a key twice, one escaped": SOUND.replace(b'"source":', b'"sourc\\u0065": "first", "source":'),
    "a mark less": SOUND.replace(b'"source":', b'"source": "first", "source":').replace(b"casual", b"\\u0022\\u0022"),
    "of another name": encode_profile(fields(profile_name="other")),
    "of another format": encode_profile(fields(schema_version=1)),
    "a field nobody knows": encode_profile(fields(more=1)),
    "a number that is none": SOUND.replace(b'"version": 1', b'"version": NaN', 1),
    "a number with a point": SOUND.replace(b'"version": 1', b'"version": 1.0', 1),
    "a number as text": SOUND.replace(b'"version": 1', b'"version": "1"', 1),
    "a byte order mark": b"\xef\xbb\xbf" + SOUND,
    "bytes that are no text": SOUND.replace(b"casual", b"\xff\xfe"),
    "something behind it": SOUND + b"{}",
    "cut off": SOUND[:-3],
    "too large": SOUND + b" " * MAX_PROFILE_BYTES,
    "empty": b"",
}
SIGNS = (b'"', b"\\", b"\\u0022", b"\\n", b",", b":", b"{", b"}", b"[]", b" ", b"\xef\xbb\xbf", b"\xff", b"\x00")
WORDS = (b"null", b"true", b"1", b"NaN", b"-1", b"1e400", b'"source": "a", ', b'"tone": "a",', b'"notes": null, ')
PIECES = st.sampled_from(SIGNS + WORDS)


@pytest.mark.parametrize("case", ORDINARY)
def test_W13_W40_an_ordinary_file_is_read_quickly(case: str) -> None:
    found = parse_profile_quickly(ORDINARY[case], "default")
    assert isinstance(found, StyleProfile)
    assert found == parse_profile(ORDINARY[case], "default").profile


@pytest.mark.parametrize("case", UNUSUAL)
def test_W13_XJ3_XJ5_anything_else_is_read_with_care(case: str) -> None:
    assert UNUSUAL[case] != SOUND
    assert parse_profile_quickly(UNUSUAL[case], "default") is None


@given(st.lists(st.tuples(st.integers(0, len(SOUND)), st.integers(0, 3), PIECES), min_size=1, max_size=3))
def test_W13_XJ3_whatever_is_read_quickly_would_be_read_so_with_care(
    edits: list[tuple[int, int, bytes]],
) -> None:
    data = SOUND
    for at, gone, piece in edits:
        data = data[:at] + piece + data[at + gone :]
    found = parse_profile_quickly(data, "default")
    assert found is None or found == parse_profile(data, "default").profile
