"""Diffs taken apart and put together again, byte for byte."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.kernel.approval.request import Preview
from toolroll.kernel.diff.hunks import Diff, apply_diff, apply_hunks, parse_diff, parse_diffs, restore_original

# Few different lines, so that hunks move, repeat and touch the ends; with everything that is not a line end.
LINES = st.sampled_from(
    ["a", "b", "c", "", "-", "+x", " y", "@@ -1 +1 @@", "\\ No newline at end of file", "d\r", "é\u2028"]
)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, st.lists(LINES, max_size=40), st.sampled_from(["", "\n"]))


def diff_of(before: str, after: str, path: str = "a.txt") -> Diff:
    diff = parse_diff(Preview.of_change(before, after, path=path).text)
    assert diff is not None
    return diff


@given(TEXTS, TEXTS, st.data())
def test_S5_some_hunks_give_exactly_the_text_with_only_these(before: str, after: str, data: st.DataObject) -> None:
    """Taking none is the old text, all the new one; taking one after the other leads to the same as taking both."""
    if before == after:
        return
    diff = diff_of(before, after)
    count = len(diff.hunks)
    assert before == restore_original(after, diff)
    assert after == apply_diff(before, diff)
    assert after == apply_hunks(after, diff, [True] * count)
    taken = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))
    partly = apply_hunks(after, diff, taken)
    assert partly is not None
    lines = [hunk.new if take else hunk.old for hunk, take in zip(diff.hunks, taken, strict=True)]
    rest = partly
    for part in lines:
        joined = "".join(part)
        assert joined in rest
        rest = rest[rest.index(joined) + len(joined) :]
    assert diff.count("+") == Preview.of_change(before, after, path="a").added
    assert diff.count("-") == Preview.of_change(before, after, path="a").removed


def test_S5_hunks_are_taken_by_place_not_by_content() -> None:
    before = "".join(f"{number}\n" for number in range(30))
    after = before.replace("5\n", "5!\n", 1).replace("20\n", "20!\n").replace("29\n", "29!")
    diff = diff_of(before, after)
    assert len(diff.hunks) == 3
    assert apply_hunks(after, diff, [False, True, False]) == before.replace("20\n", "20!\n")
    assert apply_hunks(after, diff, [True, False, False]) == before.replace("5\n", "5!\n", 1)
    assert apply_hunks(after, diff, [False, False, True]) == before[:-1] + "!"
    assert (diff.hunks[2].lines[-1].is_ended, diff.hunks[2].lines[-1].body) == (False, "29!")


def test_S5_a_diff_of_another_text_gives_nothing() -> None:
    """Never something near: not for a text that was changed, is shorter, or has the hunks elsewhere."""
    before = "".join(f"{number}\n" for number in range(30))
    diff = diff_of(before, before.replace("5\n", "five\n", 1).replace("20\n", "twenty\n"))
    for other in ("", "5\n", before, before.replace("5\n", "five\n", 1), "x\n" + before.replace("5\n", "five\n", 1)):
        assert apply_hunks(other, diff, [True, True]) is None
    backwards = replace(diff, hunks=diff.hunks[::-1])
    assert apply_hunks(before.replace("5\n", "five\n", 1).replace("20\n", "twenty\n"), backwards, [True, True]) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "--- a\n",
        "--- a\n+++ b",
        "a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n",
        "--- a\nb\n@@ -1 +1 @@\n-x\n+y\n",
        "--- a\n+++ b\nhello\n",
        "--- a\n+++ b\n@@ -1 +1 @@\n-x\n",
        "--- a\n+++ b\n@@ -1 +1 @@\n-x\n*y\n",
        "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\nmore\n",
        "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y",
        "--- a\n+++ b\n@@ -1,9999999999 +1 @@\n-x\n+y\n",
        "--- a\nevil\n+++ b\n@@ -1 +1 @@\n-x\n+y\n",
    ],
)
def test_XA6_what_is_no_diff_to_its_last_line_is_not_read_as_one(text: str) -> None:
    assert parse_diff(text) is None


@given(st.text(alphabet="-+ @\\\n1,ab", max_size=80))
def test_XA6_any_text_is_a_diff_or_not(text: str) -> None:
    diff = parse_diff("--- a/x\n+++ b/x\n" + text)
    if diff is not None:
        shown = sum(len(hunk.lines) + 1 + sum(not line.is_ended for line in hunk.lines) for hunk in diff.hunks)
        assert shown == text.count("\n"), "every line of it is in a hunk"


def test_the_name_is_the_new_one() -> None:
    assert diff_of("", "a\n", path="src/b/c.txt").name == "src/b/c.txt"


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
def test_C32_diffs_of_several_files_are_read_apart_and_written_as_they_were(pairs: list[tuple[str, str]]) -> None:
    changes = [
        Preview.of_change(before, after, path=f"{number}.txt").text for number, (before, after) in enumerate(pairs)
    ]
    text = "".join(changes)
    diffs = parse_diffs(text)
    if not text:
        assert diffs is None
        return
    assert diffs is not None
    assert "".join(diff.text for diff in diffs) == text
    assert [diff.text for diff in diffs] == [change for change in changes if change]
    assert parse_diff(text) == (diffs[0] if len(diffs) == 1 else None)


@pytest.mark.parametrize(
    "text", ["", "\n", "--- a/x\n", "--- a/x\n+++ b/x", "--- a/x\n+++ b/x\nx\n", "--- a/x\n+++ b/x\n--- a/y\n"]
)
def test_C32_what_is_no_diff_to_its_end_is_none(text: str) -> None:
    assert parse_diffs(text) is None


def test_C32_a_file_whose_lines_stay_has_a_diff_without_hunks() -> None:
    diffs = parse_diffs("--- a/x\n+++ b/x\n--- a/y\n+++ b/y\n@@ -0,0 +1 @@\n+new\n")
    assert diffs is not None
    assert [(diff.name, len(diff.hunks)) for diff in diffs] == [("x", 0), ("y", 1)]
