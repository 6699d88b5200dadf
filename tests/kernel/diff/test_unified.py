"""Diffs that say exactly what changes, in bounded time (K41)."""

import re
import time
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolroll.kernel.diff import unified as diffing
from toolroll.kernel.diff.unified import MAX_DIFF_PAIRS, unified_diff

NO_END = "\\ No newline at end of file\n"
HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n")


def applied(before: str, diff: list[str]) -> str:
    """What a diff makes of a text, worked out the slow way; every unchanged and removed line must be there."""
    *ended, last = before.split("\n")
    old = [*(line + "\n" for line in ended), last]
    new: list[str] = []
    position = 0
    for header, body in hunks(diff):
        start, length = int(header[1]), int(header[2] or 1)
        start = start - 1 if length else start
        new += old[position:start]
        position = start
        for line in body:
            text = line[1:].removesuffix(NO_END)
            text = text.removesuffix("\n") if line.endswith(NO_END) else text
            if line[0] in " -":
                assert old[position] == text
                position += 1
            if line[0] in " +":
                new.append(text)
    return "".join([*new, *old[position:]])


def hunks(diff: list[str]) -> Iterator[tuple[re.Match[str], list[str]]]:
    starts = [number for number, line in enumerate(diff) if line.startswith("@@")]
    for start, end in pairwise([*starts, len(diff)]):
        header = HUNK.fullmatch(diff[start])
        assert header is not None
        yield header, diff[start + 1 : end]


LINES = st.lists(
    st.sampled_from(["a\n", "b\n", "c\n", "\n", "+\n", "-\n", "@@ -1 +1 @@\n", " x\n", "\x0c\u2028\r\n", "é\n"])
)
TEXTS = st.builds(lambda lines, end: "".join(lines) + end, LINES, st.sampled_from(["", "z", "a", "\\"]))


@given(TEXTS, TEXTS)
@example("", "")
@example("", "a")
@example("a", "")
@example("a", "a\n")
@example("a\n", "a")
@example("\n", "")
def test_K41_a_diff_turns_the_old_text_into_the_new_one(before: str, after: str) -> None:
    diff = unified_diff(before, after, path="p")
    assert (diff == []) == (before == after)
    assert applied(before, diff) == after
    assert all(line.endswith("\n") for line in diff)


def test_K41_a_diff_looks_like_every_other() -> None:
    before = "".join(f"line {number}\n" for number in range(1, 21))
    after = before.replace("line 3\n", "line three\n").replace("line 18\n", "").replace("line 20\n", "line 20")
    assert "".join(unified_diff(before, after, path="src/a.txt")) == (
        "--- a/src/a.txt\n"
        "+++ b/src/a.txt\n"
        "@@ -1,6 +1,6 @@\n line 1\n line 2\n-line 3\n+line three\n line 4\n line 5\n line 6\n"
        "@@ -15,6 +15,5 @@\n line 15\n line 16\n line 17\n-line 18\n line 19\n-line 20\n+line 20\n"
        "\\ No newline at end of file\n"
    )


@pytest.mark.parametrize(
    ("before", "after", "header"),
    [
        ("", "a\n", "@@ -0,0 +1 @@\n"),
        ("a\n", "", "@@ -1 +0,0 @@\n"),
        ("a\n", "b\n", "@@ -1 +1 @@\n"),
        ("a\nb\n", "a\nb\nc\n", "@@ -1,2 +1,3 @@\n"),
    ],
)
def test_K41_hunks_are_numbered_as_posix_says(before: str, after: str, header: str) -> None:
    assert unified_diff(before, after, path="p")[2] == header


def repeated(lines: int, different: int, step: int) -> str:
    return "".join(f"{number * step % different}\n" for number in range(lines))


@pytest.mark.parametrize(("lines", "different"), [(20_000, 50), (20_000, 180), (7_000, 1_000), (60_000, 20_000)])
def test_K41_texts_that_repeat_themselves_are_compared_in_time(lines: int, different: int) -> None:
    before, after = repeated(lines, different, 1), repeated(lines, different, 7)
    began = time.process_time()
    diff = unified_diff(before, after, path="p")
    assert time.process_time() - began < 5
    assert applied(before, diff) == after


def test_K41_a_small_change_in_a_large_repetitive_text_stays_small() -> None:
    before = repeated(20_000, 180, 1)
    after = before[:50_000] + "new\n" + before[50_000:]
    diff = unified_diff(before, after, path="p")
    assert len(diff) < 15
    assert applied(before, diff) == after


def test_K41_what_is_too_much_alike_is_shown_as_a_whole() -> None:
    size = 2 * int(MAX_DIFF_PAIRS**0.5)
    before = "start\n" + "".join(f"{number % (size // 2)}\n" for number in range(size)) * 40 + "end\n"
    after = before.replace("\n7\n", "\n8\n").replace("\n9\n", "\n10\n")
    diff = unified_diff(before, after, path="p")
    removed = [line for line in diff[2:] if line.startswith("-")]
    assert len(removed) > size
    assert applied(before, diff) == after


MANY = st.lists(st.integers(0, 40), min_size=25, max_size=60)


@given(MANY, MANY)
def test_K41_long_texts_are_cut_at_lines_that_are_there_once(before: list[int], after: list[int]) -> None:
    """As exact as the short way: here texts of 25 lines are long already."""
    old, new = ("".join(f"{number}\n" for number in numbers) for numbers in (before, after))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(diffing, "MAX_DIFF_CELLS", 100)
        found = diffing.opcodes(old.split("\n"), new.split("\n"))
        made = unified_diff(old, new, path="p")
    assert applied(old, made) == new
    assert all(one[0] != "equal" or other[0] != "equal" for one, other in pairwise(found))
    assert all((one[2], one[4]) == (other[1], other[3]) for one, other in pairwise(found))


def test_K41_every_other_line_of_thousands_is_shown_in_time() -> None:
    """Which is what replacing a word everywhere does; `difflib` alone takes 45 seconds for it."""
    before = [f"{'tea' if number % 2 else 'coffee'} {number}\n" for number in range(20_000)]
    started = time.process_time()
    made = unified_diff("".join(before), "".join(before).replace("tea", "milk"), path="p")
    assert time.process_time() - started < 2
    assert sum(line.startswith("-tea") for line in made) == sum(line.startswith("+milk") for line in made) == 10_000
    assert not any(line.startswith(("-coffee", "+coffee")) for line in made)


def test_K41_long_texts_with_nothing_in_common_are_replaced_whole() -> None:
    old, new = [f"a{number}" for number in range(1_000)], [f"b{number}" for number in range(1_000)]
    assert diffing.opcodes(old, new) == [("replace", 0, 1_000, 0, 1_000)]


def test_K41_short_texts_that_are_too_much_alike_are_replaced_whole() -> None:
    old, new = ["x", *["a"] * 3_000, "y"], ["z", *["a"] * 150, "w"]
    assert diffing.opcodes(old, new) == [("replace", 0, 3_002, 0, 152)]
