"""What a context gets of a long output: whole lines, whole characters, the same bytes each time."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.kernel.data.messages import DocumentPart, ImagePart, OutputRef, TextPart
from toolroll.outputs.cut import (
    cut_for_context,
    cut_from_whole,
    cut_parts,
    placeholder,
    trimmed_marker,
    whole_characters,
)

REF = OutputRef(id="ab12", byte_size=1_000, line_count=30)
MIXED = "abc\nдва слова\n漢字かな\n😀👩‍👩‍👧 é\u0301\n\n" * 3 + "שלום עולם"
ADDED = re.compile(
    r"(?:^|\n)\[(?P<bytes>[\d,]+) of 1,000 bytes, line (?P<line>[\d,]+) of 30\. "
    r"Next: tool_output_cache (?P<next>.*)\]\n"
    r"\[tool output truncated; ref=ab12\]$"
)


def ends(cut: str) -> tuple[str, dict[str, object], int]:
    """What was kept, the arguments of the next call, and the bytes that it says are shown."""
    match = ADDED.search(cut)
    assert match is not None, cut
    return cut[: match.start()], json.loads(match["next"]), int(match["bytes"].replace(",", ""))


def test_K51_the_markers_are_exact() -> None:
    assert trimmed_marker(REF) == "[tool output trimmed; ref=ab12]"
    assert cut_for_context("one\ntwo\n", REF, 5) == (
        'one\n[4 of 1,000 bytes, line 1 of 30. Next: tool_output_cache {"ref_id": "ab12", "offset": 1}]\n'
        "[tool output truncated; ref=ab12]"
    )


def test_C12_K51_a_beginning_leads_to_what_follows_it() -> None:
    shown, whole = "one\ntwo\u2028\n...and 2 more", "one\ntwo\u2028\nthree\nfour"
    kept, onward, size = ends(cut_from_whole(shown, whole, REF))
    assert (kept, onward, size) == (shown, {"ref_id": "ab12", "offset": 2}, len("one\ntwo\u2028\n".encode()))
    assert cut_from_whole(shown, whole, None) == shown
    assert cut_from_whole(shown, whole, REF, 5) == cut_for_context(shown, REF, 5)


def test_K51_what_fits_is_left_alone() -> None:
    assert cut_for_context("é" * 25_600, REF) == "é" * 25_600
    assert cut_for_context("", REF, 0) == ""
    assert cut_for_context("é" * 25_600 + "x", REF).endswith("[tool output truncated; ref=ab12]")


def test_K51_a_line_that_ends_at_the_limit_is_whole() -> None:
    head, onward, size = ends(cut_for_context("abcd\nefgh", REF, 4))
    assert (head, onward, size) == ("abcd", {"ref_id": "ab12", "offset": 1}, 5)


def test_K51_a_longer_single_line_is_clipped_and_not_dropped() -> None:
    head, onward, size = ends(cut_for_context("é" * 100_000, REF, 51_201))
    assert head == "é" * 25_600
    assert onward == {"ref_id": "ab12", "offset": 0, "column": 51_200}
    assert size == 51_200


def test_K57_without_a_reference_the_text_is_cut_all_the_same() -> None:
    assert cut_for_context("one\ntwo\n", None, 5) == "one\n[tool output truncated; the rest could not be kept]"


@pytest.mark.parametrize("limit", range(len(MIXED.encode())))
def test_XC2_at_every_byte_offset_the_cut_is_between_characters_and_says_how_much_it_kept(limit: int) -> None:
    head, onward, size = ends(cut_for_context(MIXED, REF, limit))
    kept = MIXED.encode()[:size]
    assert kept.decode().removesuffix("\n") == head
    assert size <= limit + 1
    assert onward["offset"] == kept.count(b"\n")
    assert onward.get("column", 0) == len(kept) - (kept.rfind(b"\n") + 1)
    assert onward.get("column", 0) == 0 or onward["offset"] == 0


@given(st.text(), st.integers(0, 60))
def test_XC5_the_same_text_gives_the_same_bytes_and_a_prefix_of_it(text: str, limit: int) -> None:
    cut = cut_for_context(text, REF, limit)
    assert cut == cut_for_context(str(text), REF, limit)
    if len(text.encode()) <= limit:
        assert cut == text
    else:
        head, _, size = ends(cut)
        assert text.encode()[:size].decode().removesuffix("\n") == head


def test_a_lone_surrogate_is_no_reason_to_fail() -> None:
    assert cut_for_context("\ud800" * 10, REF, 7).startswith("\ud800\ud800\n[6 of")


def test_a_place_between_characters_is_found_also_where_there_are_none() -> None:
    assert whole_characters("aé".encode(), 2) == 1
    assert whole_characters(b"\x80" * 10, 6) == 6
    assert whole_characters("aé".encode(), 3) == 3
    assert whole_characters(b"\x80", 0) == 0


IMAGE = ImagePart(data=b"123", media_type="image/png")
PAPER = DocumentPart(data=b"1234", media_type="application/pdf", title="a\nb")


def test_K56_parts_are_cut_together_and_images_stay() -> None:
    parts = (TextPart(text="one"), IMAGE, TextPart(text="two\nthree\nfour"), PAPER, TextPart(text="five"))
    first, image, cut, paper = cut_parts(parts, REF, 13)
    assert (first, image, paper) == (parts[0], IMAGE, PAPER)
    assert isinstance(cut, TextPart)
    assert cut.text == (
        'two\nthree\n[41 of 1,000 bytes, line 4 of 30. Next: tool_output_cache {"ref_id": "ab12", "offset": 4}]\n'
        "[tool output truncated; ref=ab12]"
    )


def test_K56_parts_that_fit_are_left_alone() -> None:
    parts = (TextPart(text="one\n"), IMAGE, TextPart(text="two"))
    assert cut_parts(parts, REF, 7) is parts


def test_the_line_for_a_part_names_it() -> None:
    assert placeholder(IMAGE) == "[image image/png, 3 bytes]\n"
    assert placeholder(PAPER) == "[document 'a b' application/pdf, 4 bytes]\n"
