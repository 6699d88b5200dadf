"""Merges keep both changes or say where they meet."""

from hypothesis import given
from hypothesis import strategies as st

from toolroll.workspace.merge import Conflict, merge

DATA = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"\xff\n", b"\n"]), max_size=8).map(b"".join)
CONTENT = st.builds(lambda lines, end: lines + end, DATA, st.sampled_from([b"", b"end", b"\x00"]))


@given(CONTENT, CONTENT)
def test_C31_one_side_alone_is_the_merge(base: bytes, side: bytes) -> None:
    assert merge(base, base, side).data == side
    assert merge(base, side, base).data == side
    assert merge(base, side, side).data == side


@given(CONTENT, CONTENT, CONTENT)
def test_C31_sides_can_be_exchanged(base: bytes, ours: bytes, theirs: bytes) -> None:
    one, other = merge(base, ours, theirs), merge(base, theirs, ours)
    assert one.data == other.data
    assert (one.data is None) == bool(one.conflicts)
    mirrored = [Conflict(line=c.line, base=c.base, ours=c.theirs, theirs=c.ours) for c in other.conflicts]
    assert list(one.conflicts) == mirrored


@given(DATA, DATA, DATA, DATA)
def test_C31_changes_apart_from_each_other_are_both_kept(head: bytes, tail: bytes, new: bytes, other: bytes) -> None:
    middle = b"".join(b"keep %d\n" % number for number in range(3))
    merged = merge(head + middle + tail, new + middle + tail, head + middle + other)
    assert merged.data == new + middle + other


def test_C31_changes_in_one_place_are_shown_from_both_sides() -> None:
    merged = merge(b"a\nb\nc\n", b"a\nX\nc\n", b"a\nY\nc\n")
    assert merged.data is None
    assert merged.conflicts == (Conflict(line=2, base=b"b\n", ours=b"X\n", theirs=b"Y\n"),)


def test_C31_neighbouring_changes_are_not_put_together() -> None:
    assert merge(b"a\nb\n", b"X\nb\n", b"a\nY\n").data is None
