"""What is on the disk in the place of a kept output, of the same length, is not served as that output (XC7)."""

import os
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.errors import OutputDamaged, OutputMissing
from toolroll.kernel.data.messages import ImagePart, TextPart
from toolroll.outputs.browse import find_output
from toolroll.outputs.format import BLOCK_BYTES, DATA, INDEX, META, PART, LineCounter, decode_meta, encode_meta
from toolroll.outputs.reader import StoredOutput, read_page
from toolroll.outputs.search import find_matches, show_matches
from toolroll.outputs.store import OutputStore, inherit_outputs

LINES = "".join(f"line {number}\n" for number in range(60_000))


@pytest.fixture
def store(tmp_path: Path) -> OutputStore:
    return OutputStore(tmp_path, run_id="run")


def keep(store: OutputStore, content: str | bytes | tuple[TextPart | ImagePart, ...]) -> StoredOutput:
    ref = store.keep("call", "tool", content)
    assert ref is not None
    return store.open(ref.id)


def spoil(path: Path, at: int, data: bytes = b"GARBAGE") -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


@pytest.mark.parametrize("content", ["a short text\n", LINES], ids=["short", "long"])
async def test_XC7_garbage_of_the_same_length_is_refused_by_every_way_to_read(store: OutputStore, content: str) -> None:
    kept = keep(store, content)
    assert kept.content() == content
    spoil(kept.data_path, (kept.packed_at or 0) + 3)
    again = store.open(kept.meta.id)
    for read in (StoredOutput.content, read_page):
        with pytest.raises(OutputDamaged, match="is damaged"):
            read(again)
    with pytest.raises(OutputDamaged):
        await find_matches(again, "line [0-9]", regex=True, max_matches=5)
    assert OutputDamaged.code == "output_damaged"


def test_XC7_pages_of_blocks_that_are_whole_are_still_read(store: OutputStore) -> None:
    kept = keep(store, LINES)
    spoil(kept.data_path, 2 * BLOCK_BYTES + 5)
    assert read_page(kept, offset=10).lines[0] == "line 10"
    with pytest.raises(OutputDamaged):
        read_page(kept, offset=55_000)


def test_XC7_without_an_index_all_blocks_before_a_line_are_checked(store: OutputStore) -> None:
    kept = keep(store, LINES)
    (kept.path / INDEX).unlink()
    assert read_page(kept, offset=55_000).lines[0] == "line 55000"
    spoil(kept.data_path, 5, b"\n\n\n")
    with pytest.raises(OutputDamaged):
        read_page(kept, offset=55_000)


def test_XC7_a_damaged_index_is_not_used(store: OutputStore) -> None:
    kept = keep(store, LINES)
    spoil(kept.path / INDEX, 8, b"\1\2")
    assert read_page(kept, offset=55_000).lines[0] == "line 55000"


async def test_XC7_a_damaged_block_is_found_while_matches_are_shown(store: OutputStore) -> None:
    kept = keep(store, LINES)
    matches = await find_matches(kept, "line 59999", max_matches=5)
    spoil(kept.data_path, kept.meta.text_bytes - 4, b"x")
    with pytest.raises(OutputDamaged):
        show_matches(kept, matches, before=1, after=0)


def test_XC7_a_damaged_image_is_refused(store: OutputStore) -> None:
    kept = keep(store, (TextPart(text="see"), ImagePart(data=b"pixels" * 9, media_type="image/png")))
    assert len(kept.content()) == 2
    spoil(kept.path / f"{PART}1", 2)
    with pytest.raises(OutputDamaged):
        kept.part(1)


def test_XC7_a_fork_does_not_inherit_damage_unnoticed(store: OutputStore, tmp_path: Path) -> None:
    kept = keep(store, LINES)
    assert inherit_outputs(tmp_path, of_run="run", to_run="fork", named={kept.meta.id}) == 1
    fork = OutputStore(tmp_path, run_id="fork").open(kept.meta.id)
    assert fork.content() == LINES
    spoil(kept.path / DATA, 9)
    with pytest.raises(OutputDamaged):
        fork.content()


def test_XC7_a_fork_gets_no_short_output_that_is_damaged(store: OutputStore, tmp_path: Path) -> None:
    kept = keep(store, "short")
    spoil(kept.data_path, kept.packed_at or 0, b"X")
    assert inherit_outputs(tmp_path, of_run="run", to_run="fork", named={kept.meta.id}) == 0


@pytest.mark.parametrize("is_resumed", [False, True])
def test_XC9_short_outputs_whose_file_was_emptied_are_lost_and_not_unknown(
    store: OutputStore, tmp_path: Path, is_resumed: bool
) -> None:
    kept = keep(store, "a short text\n")
    with pytest.raises(OutputMissing):
        store.open("guessed")
    os.truncate(kept.data_path, 0)
    if is_resumed:  # and goes on: what it keeps now does not make the others look unknown
        store.close()
        store = OutputStore(tmp_path, run_id="run")
        assert keep(store, "more\n").content() == "more\n"
    with pytest.raises(OutputDamaged, match="has lost its content"):
        store.open(kept.meta.id)
    with pytest.raises(OutputDamaged, match="has lost its content"):
        find_output(tmp_path, kept.meta.id)
    with pytest.raises(OutputMissing):
        OutputStore(tmp_path, run_id="other").open("guessed")


def test_XC7_an_output_that_was_kept_without_checksums_is_read_as_before(store: OutputStore) -> None:
    kept = keep(store, LINES)
    bare = encode_meta(replace(kept.meta, checksums=(), index_checksum=None))
    (kept.path / META).write_bytes(bare)
    again = store.open(kept.meta.id)
    assert decode_meta(bare, kept.meta.id).checksums == ()
    assert again.content() == LINES
    assert read_page(again, offset=55_000).lines[0] == "line 55000"


@given(st.lists(st.integers(min_value=0, max_value=2 * BLOCK_BYTES), max_size=4))
def test_XC7_there_is_a_checksum_for_each_block_however_it_was_fed(sizes: list[int]) -> None:
    data = os.urandom(max(sum(sizes), 1))[: sum(sizes)]
    counter, start = LineCounter(), 0
    for size in sizes:
        counter.feed(data[start : start + size])
        start += size
    blocks = [data[at : at + BLOCK_BYTES] for at in range(0, len(data), BLOCK_BYTES)]
    assert counter.checksums == tuple(map(zlib.crc32, blocks))
