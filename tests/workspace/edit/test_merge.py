"""Merges keep both changes or say where they meet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.safe.paths.names import RelativePath
from toolroll.workspace.edit.merge import (
    MAX_LINE_CHARACTERS,
    MAX_SHOWN_LINES,
    Conflict,
    describe_drift,
    merge,
    try_merge,
)

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


F = RelativePath(parts=("f",))
LINES = st.lists(st.sampled_from(["a\n", "b\n", "é\n", "c\r\n"]), max_size=6).map("".join)


def test_C19_what_changed_is_a_diff() -> None:
    assert describe_drift(F, b"a\nb\n", b"a\nB\n") == "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+B"


def test_C19_XE4_changed_line_ends_are_seen() -> None:
    assert describe_drift(F, b"a\n", b"a\r\n").endswith("-a\n+a‹U+000D›")


def test_C19_a_changed_encoding_is_said() -> None:
    assert describe_drift(F, b"a\n", b"\xef\xbb\xbfa\n") == "No line: only how it is encoded."


def test_C19_a_long_difference_is_cut_and_says_so() -> None:
    before = "".join(f"{number}\n" for number in range(1_000)).encode()
    told = describe_drift(F, before, b"x" * 5_000 + b"\n").split("\n")
    assert told[-1] == f"[{1_004 - MAX_SHOWN_LINES} more lines of the difference]"
    assert len(told) == MAX_SHOWN_LINES + 1
    [_, added, *_] = describe_drift(F, b"", b"x" * 5_000 + b"\n").split("\n")[2:]
    assert len(added) == MAX_LINE_CHARACTERS


def test_C19_D6_secrets_in_the_difference_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEA_API_KEY", "earl-grey-for-two")
    key = "ghp_" + "a1B2" * 9
    told = describe_drift(F, b"", f"token = '{key}'\nsay earl-grey-for-two\n".encode())
    assert key not in told
    assert "earl-grey" not in told
    assert "[redacted:" in told


@given(LINES, LINES, LINES, st.sampled_from(["utf-8", "latin-1"]))
def test_C19_what_is_put_together_has_both(head: str, ours: str, theirs: str, encoding: str) -> None:
    middle = "1\n2\n3\n"
    base = "é\n" + head + middle + head
    both = try_merge(
        base.encode(encoding),
        ("é\n" + ours + middle + head).encode(encoding),
        ("é\n" + head + middle + theirs).encode(encoding),
    )
    assert both == ("é\n" + ours + middle + theirs).encode(encoding)


def test_C19_what_touches_is_not_put_together() -> None:
    assert try_merge(b"a\nb\n", b"A\nb\n", b"a\nB\n") is None


def test_C19_other_encodings_are_not_mixed() -> None:
    assert try_merge(b"a\nb\nc\n", b"A\nb\nc\n", b"a\nb\n\xff\n") is None
    assert try_merge(b"a\nb\nc\n", b"A\nb\nc\n", b"\xef\xbb\xbfa\nb\nC\n") is None


def test_C19_lines_of_wide_encodings_are_not_cut() -> None:
    texts = [text.encode("utf-16") for text in ("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n")]
    assert try_merge(*texts) is None
