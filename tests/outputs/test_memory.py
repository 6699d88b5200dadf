"""Keeping, paging and searching hold a little of an output at a time, whatever its size (K55)."""

import os
import tracemalloc
from pathlib import Path

import pytest

from toolroll.outputs.reader import page_content, read_page
from toolroll.outputs.search import find_matches, show_matches
from toolroll.outputs.store import OutputStore

MIB = 1 << 20
SIZE_MIB = 64 if "TOOLROLL_ROUNDS" in os.environ else 8
HELD_MIB = 4
"""Pieces, a block, a page and what ripgrep prints at a time; far below the size, and the same for any."""
LINES = {"lines of 64 bytes": b"x" * 57 + b"needle\n", "no line at all": b"x" * 64, "nothing but ends": b"\n" * 64}


@pytest.mark.parametrize("kind", LINES)
async def test_K55_an_output_of_any_size_takes_little_memory(tmp_path: Path, kind: str) -> None:
    piece = LINES[kind] * (MIB // 64)
    store = OutputStore(tmp_path, run_id="run")
    tracemalloc.start()
    try:
        with store.writer("call", "tool") as out:
            for _ in range(SIZE_MIB):
                out.write(piece)
        assert out.ref is not None
        kept = store.open(out.ref.id)
        page_content(kept, read_page(kept, offset=kept.meta.line_count // 2))
        for pattern, regex in (("needle", False), ("^.*e?$", True)):
            matches = await find_matches(kept, pattern, regex=regex, max_matches=1_000)
            assert matches.total in (0, kept.meta.line_count)
            assert len(show_matches(kept, matches, before=1, after=1)) < MIB
        assert tracemalloc.get_traced_memory()[1] < HELD_MIB * MIB
    finally:
        tracemalloc.stop()
