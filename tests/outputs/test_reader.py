"""Pages: bounded, numbered, leading on, and together the output byte for byte."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolroll.errors import ToolFailure
from toolroll.kernel.data.messages import DocumentPart, ImagePart, OutputRef, TextPart
from toolroll.outputs import reader as pages
from toolroll.outputs.reader import PAGE_BYTES, Page, StoredOutput, number_lines, page_content, read_page
from toolroll.outputs.search import find_matches, show_matches
from toolroll.outputs.store import OutputStore

MIXED = "abc\nдва слова\n漢字かな\n😀👩‍👩‍👧 é\u0301\r\n\n" * 3 + "שלום עולם"
NUMBERED = re.compile(r" *(\d+)\t(.*)", re.DOTALL)


@pytest.fixture
def store(tmp_path: Path) -> OutputStore:
    return OutputStore(tmp_path / "outputs", run_id="run")


def kept(store: OutputStore, content: str | bytes | tuple[TextPart | ImagePart | DocumentPart, ...]) -> StoredOutput:
    ref = store.keep("call", "tool", content)
    assert isinstance(ref, OutputRef)
    return store.open(ref.id)


def all_pages(output: StoredOutput, limit: int | None = None) -> list[Page]:
    found = [read_page(output, limit=limit)]
    while (onward := found[-1].next) is not None:
        found.append(read_page(output, offset=onward.offset, limit=limit, column=onward.column))
        assert found[-1].end > found[-1].start == found[-2].end
    return found


def test_K53_numbered_lines_and_the_next_call(store: OutputStore) -> None:
    output = kept(store, "one\ntwo\nthree\n")
    text = number_lines(output, read_page(output, offset=1, limit=1))
    assert text == (
        "     2\ttwo\n[lines 2-2 of 3, bytes 4-8 of 14. Next: tool_output_cache "
        f'{{"ref_id": "{output.meta.id}", "offset": 2, "limit": 1}}]'
    )
    last = number_lines(output, read_page(output, offset=2))
    assert last == "     3\tthree\n[lines 3-3 of 3, bytes 8-14 of 14. This is the end.]"


def test_K53_an_empty_output_and_an_offset_past_the_end(store: OutputStore) -> None:
    empty, two = kept(store, ""), kept(store, "one\ntwo")
    assert number_lines(empty, read_page(empty)) == "[The output is empty.]"
    with pytest.raises(ToolFailure, match="has 2 lines: offset 2 is past its end") as refused:
        read_page(two, offset=2)
    assert refused.value.failure_code == "out_of_range"
    with pytest.raises(ToolFailure, match="has 1 line: offset 7 is past its end"):
        read_page(kept(store, "one"), offset=7)
    with pytest.raises(ToolFailure, match=r"Line 1 has 4 bytes: column 4 is past its end\. Go on with offset 1"):
        read_page(two, column=4)


def test_K53_lines_are_bounded_in_number_and_in_bytes(store: OutputStore) -> None:
    many, wide = kept(store, "\n" * 5_000), kept(store, ("x" * 999 + "\n") * 200)
    assert len(read_page(many).lines) == 2_000
    assert len(read_page(many, limit=9_999).lines) == 2_000
    assert len(number_lines(wide, read_page(wide)).encode()) <= PAGE_BYTES + 300
    assert all(len(line) == 999 for line in read_page(wide).lines)
    assert len(all_pages(wide)) == 4


@pytest.mark.parametrize("letter", ["x", "é", "漢", "😀"])
def test_K53_a_single_long_line_is_read_in_windows(store: OutputStore, letter: str) -> None:
    output = kept(store, "a" + letter * 100_000)
    found = all_pages(output)
    assert all(len(number_lines(output, page).encode()) <= PAGE_BYTES + 300 for page in found)
    assert "".join(page.lines[0] for page in found) == "a" + letter * 100_000
    assert [page.offset for page in found] == [0] * len(found)


def test_XC2_a_column_inside_a_character_begins_with_that_character(store: OutputStore) -> None:
    output = kept(store, "a😀b\nx")
    starts = [read_page(output, limit=1, column=column) for column in range(6)]
    assert [page.lines[0] for page in starts] == ["a😀b", "😀b", "😀b", "😀b", "😀b", "b"]
    assert [page.start for page in starts] == [0, 1, 1, 1, 1, 5]


@pytest.mark.parametrize("size", range(17, 80))
def test_XC2_pages_of_every_size_join_to_the_same_bytes(
    store: OutputStore, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = kept(store, MIXED)
    monkeypatch.setattr(pages, "PAGE_BYTES", size + 16)
    found = all_pages(output)
    assert b"".join(page.data for page in found) == MIXED.encode()
    assert "\ufffd" not in "".join(line for page in found for line in page.lines)
    assert "\\x" not in "".join(line for page in found for line in page.lines)


@given(data=st.binary(max_size=300), size=st.integers(16, 60), limit=st.integers(1, 5))
@settings(max_examples=60)
def test_XC2_pages_of_any_bytes_join_to_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, size: int, limit: int
) -> None:
    output = kept(OutputStore(tmp_path_factory.mktemp("outputs"), run_id="run"), data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "PAGE_BYTES", size + 16)
        found = all_pages(output, limit)
    assert b"".join(page.data for page in found) == data
    assert all(len(line.encode()) <= size for page in found for line in page.lines)


def test_K50_invalid_utf8_and_binary_are_spelled_out_and_kept_raw(store: OutputStore) -> None:
    data = b"caf\xe9\n\x00\xff\xfe" + bytes(range(256))
    output = kept(store, data)
    assert output.content() == data
    assert read_page(output).lines[0] == "caf\\xe9"
    wide = kept(store, b"\xff" * 100_000)
    found = all_pages(wide)
    assert b"".join(page.data for page in found) == b"\xff" * 100_000
    assert max(len(line) for page in found for line in page.lines) <= PAGE_BYTES


def test_K56_images_come_back_with_the_page_that_names_them(store: OutputStore) -> None:
    image, paper = ImagePart(data=b"\x89PNG", media_type="image/png"), DocumentPart(data=b"%PDF", media_type="a/b")
    output = kept(store, (TextPart(text="one\ntwo"), image, paper, TextPart(text="end")))
    shown = page_content(output, read_page(output))
    assert isinstance(shown, tuple)
    text, *rest = shown
    assert rest == [image, paper]
    assert isinstance(text, TextPart)
    assert text.text.startswith("     1\tone\n     2\ttwo\n     3\t[image image/png, 4 bytes]\n     4\t[document a/b")
    assert isinstance(page_content(output, read_page(output, limit=2)), str)
    assert page_content(output, read_page(output, offset=3, limit=1))[1:] == (paper,)
    assert (output.meta.byte_size, output.meta.text_bytes) == (output.meta.text_bytes + 8, output.meta.text_bytes)


def test_K56_parts_that_are_too_much_for_one_answer_are_named(
    store: OutputStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PART_BYTES", 5)
    images = tuple(ImagePart(data=bytes(6), media_type="image/png") for _ in range(3))
    output = kept(store, images)
    shown = page_content(output, read_page(output))
    assert isinstance(shown, tuple)
    text, *rest = shown
    assert rest == [images[0]]
    assert isinstance(text, TextPart)
    note = text.text.splitlines()[-1]
    assert note.startswith("[The image of line 2 is too much for this answer. Next: tool_output_cache ")
    arguments = json.loads(note.partition("tool_output_cache ")[2].removesuffix("]"))
    assert page_content(output, read_page(output, offset=arguments["offset"], limit=arguments["limit"]))[1:] == (
        images[1],
    )


def test_K55_a_page_reads_little_however_large_the_output(store: OutputStore, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    output = kept(store, "".join(f"{number}\n" for number in range(400_000)))
    read: list[int] = []
    real = os.pread

    def counted(fd: int, size: int, start: int) -> bytes:
        read.append(size)
        return real(fd, size, start)

    monkeypatch.setattr(os, "pread", counted)
    page = read_page(output, offset=399_999)
    assert page.lines == ("399999",)
    assert sum(read) < 200_000


LINES = tuple(f"line {number}" for number in range(60_000))
"""Of which there are more than two blocks, and an index."""


@pytest.mark.parametrize("index", ["missing", "of other blocks", "torn", "too long", "empty"])
def test_K53_without_an_index_that_fits_every_line_is_still_found(store: OutputStore, index: str) -> None:
    output = kept(store, "\n".join(LINES))
    [path] = output.path.glob("lines-*")
    whole = path.read_bytes()
    path.unlink()
    if index == "of other blocks":  # as older programs kept it: the lines before each 65,536 bytes
        data = output.data_path.read_bytes()
        counts = [data.count(b"\n", 0, start) for start in range(0, len(data), 65_536)]
        (output.path / "lines").write_bytes(b"".join(count.to_bytes(8, "little") for count in counts))
    elif index != "missing":
        path.write_bytes({"torn": whole[:-3], "too long": whole + bytes(8), "empty": b""}[index])
    for offset in (0, 1, 22_000, 31_415, 59_999):
        assert read_page(output, offset=offset, limit=1).lines == (LINES[offset],)


async def test_K54_without_an_index_lines_around_a_match_are_the_right_ones(store: OutputStore) -> None:
    output = kept(store, "\n".join(LINES))
    [path] = output.path.glob("lines-*")
    path.unlink()
    matches = await find_matches(output, "line 5000[01]$", regex=True, max_matches=9)
    assert show_matches(output, matches, before=1).startswith(
        "50000-line 49999\n50001:line 50000\n50002:line 50001\n[2 of 2"
    )
