"""The index of lines against the plain way to find them."""

import os
import sys
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.outputs import format as lines
from toolroll.outputs.format import LineCounter, find_line, index_size

BLOCK = 8
STEP = 3


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", BLOCK)
    monkeypatch.setattr(lines, "_STEP_BYTES", STEP)


def check(pieces: list[bytes]) -> None:
    counter, data = LineCounter(), b"".join(pieces)
    for piece in pieces:
        counter.feed(piece)
    rows = data.split(b"\n")
    starts = [0, *accumulate(len(row) + 1 for row in rows[:-1])]
    assert counter.byte_size == len(data)
    assert len(counter.index) == index_size(len(data))
    assert counter.line_count == data.count(b"\n") + (data[-1:] not in (b"", b"\n"))
    with TemporaryDirectory() as folder:
        Path(folder, "data").write_bytes(data)
        Path(folder, "lines").write_bytes(counter.index)
        fds = [os.open(Path(folder, name), os.O_RDONLY) for name in ("data", "lines")]
        try:
            assert [find_line(fds[0], fds[1], line) for line in range(len(starts))] == starts
            assert [find_line(fds[0], None, line) for line in range(len(starts))] == starts
            assert find_line(fds[0], fds[1], len(starts)) <= len(data)  # a line that is not there ends as well
        finally:
            for fd in fds:
                os.close(fd)


@given(st.lists(st.text("a\n", max_size=40).map(str.encode), max_size=8))
def test_every_line_is_found_where_it_begins(pieces: list[bytes]) -> None:
    check(pieces)


@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 5 * BLOCK])
@pytest.mark.parametrize("letter", [b"\n", b"a"])
def test_blocks_of_nothing_but_ends_and_of_none(size: int, letter: bytes) -> None:
    check([letter * size])


@given(
    st.lists(
        st.sampled_from([b"short\n", b"a line of forty bytes or somewhat more, say\n", b"", b"\n" * 90]), max_size=9
    )
)
def test_lines_are_counted_alike_whether_long_or_short(pieces: list[bytes]) -> None:
    """There are two ways to count, chosen by how long the lines were so far."""
    check(pieces)


def test_the_index_is_the_same_on_every_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    counter = LineCounter()
    counter.feed(b"\n" * (BLOCK + 1))
    assert counter.index == bytes(8) + bytes([BLOCK]) + bytes(7)
    monkeypatch.setattr(sys, "byteorder", {"little": "big", "big": "little"}[sys.byteorder])
    assert counter.index == bytes(15) + bytes([BLOCK])


def test_a_piece_that_is_one_block_is_counted_without_a_copy() -> None:
    """Of 100 MiB it would be 100 MiB more to move: a third of what keeping takes."""

    class Watched(LineCounter):
        def _count(self, block: bytes) -> int:
            seen.append(block)
            return super()._count(block)

    seen: list[bytes] = []
    pieces = [b"1234567\n", b"\n" * BLOCK, b"ab\n"]
    counter = Watched()
    for piece in pieces:
        counter.feed(piece)
    assert [one is piece for one, piece in zip(seen, pieces, strict=True)] == [True] * 3
