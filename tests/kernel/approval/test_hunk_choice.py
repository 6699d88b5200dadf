"""What of a change can be taken in parts (C30, C32)."""

import pytest

from toolroll.kernel.approval.hunk_choice import find_choice
from toolroll.kernel.approval.request import Preview
from toolroll.kernel.diff.hunks import parse_diffs

LONG = "".join(f"line {number}\n" for number in range(30))
TWICE = LONG.replace("line 3\n", "line three\n").replace("line 25\n", "line twenty-five\n")
CHANGE = Preview.of_change(LONG, TWICE, path="a.txt")
PATCH = CHANGE.text + Preview.of_change("x\n", "y\n", path="b.txt").text


def test_C30_of_one_file_the_text_is_left_that_the_taken_hunks_make() -> None:
    choice = find_choice(CHANGE)
    assert choice is not None
    assert choice.single == choice.diffs[0]
    assert choice.taking([[True, True]]) == TWICE
    assert choice.taking([[False, True]]) == LONG.replace("line 25\n", "line twenty-five\n")
    assert choice.taking([[False, False]]) == LONG


def test_C32_of_several_files_the_diff_is_left_that_was_taken() -> None:
    choice = find_choice(Preview(kind="diff", text=PATCH, editable=PATCH))
    assert choice is not None
    assert choice.single is None
    assert choice.taking([[True, True], [True]]) == PATCH
    part = choice.taking([[False, True], [False]])
    assert part is not None
    [left] = parse_diffs(part) or ()
    assert (left.name, left.hunks) == ("a.txt", choice.diffs[0].hunks[1:])


@pytest.mark.parametrize(
    "preview",
    [
        Preview.of_text("Send a mail.", editable="Dear all"),
        Preview(kind="diff", text=CHANGE.text),
        Preview(kind="diff", text="no diff", editable="no diff"),
        Preview(kind="diff", text=PATCH, editable=TWICE),
        Preview(kind="diff", text=CHANGE.text, editable="something else\n"),
    ],
    ids=["words", "fixed", "no-diff", "several", "another-text"],
)
def test_C30_what_does_not_fit_its_diff_is_taken_as_a_whole(preview: Preview) -> None:
    assert find_choice(preview) is None
