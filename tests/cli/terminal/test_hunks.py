"""Taking some of several files at a terminal: file by file, change by change."""

from collections.abc import Sequence
from typing import cast

import pytest

from toolroll.cli.render.rows import Row
from toolroll.cli.terminal.hunks import choose_hunks
from toolroll.cli.terminal.terminal import Terminal
from toolroll.kernel.approval.hunk_choice import HunkChoice, find_choice
from toolroll.kernel.approval.request import Approve, Preview
from toolroll.kernel.diff.hunks import parse_diffs

LONG = "".join(f"line {number}\n" for number in range(30))
TWICE = LONG.replace("line 3\n", "line three\n").replace("line 25\n", "line twenty-five\n")
ONE = Preview.of_change(LONG, TWICE, path="a.txt").text
OTHER = Preview.of_change("x\n", "y\n", path="b.txt").text
MODE = "--- a/c.sh\n+++ b/c.sh\n"
PATCH = ONE + OTHER + MODE


class Keys:
    """A person whose answers are known; what they are shown is kept."""

    def __init__(self, *answers: str | None, seen: bool = True) -> None:
        self.answers = list(answers)
        self.seen = seen
        self.shown: list[str] = []

    def ask(self, question: str, *, fresh: bool = False) -> str | None:
        assert fresh
        return self.answers.pop(0)

    def say(self, text: str, look: str = "note") -> None:
        self.shown.append(text)

    def pages(self, terminal: Terminal, rows: Sequence[Row]) -> bool:
        self.shown += [row.text for row in rows]
        return self.seen


def chosen(keys: Keys, text: str = PATCH) -> Approve | None:
    choice = find_choice(Preview(kind="diff", text=text, editable=text))
    assert choice is not None
    assert choice.single is None
    decision = choose_hunks(choice, cast("Terminal", keys), keys.pages)
    assert not keys.answers
    return cast("Approve | None", decision)


def test_C32_taking_everything_is_a_plain_yes() -> None:
    assert chosen(Keys("y", "y", "y", "y")) == Approve()


def test_C32_what_is_left_out_is_not_in_the_answer() -> None:
    answer = chosen(Keys("n", "y", "n", "y"))
    assert answer is not None
    diffs = parse_diffs(str(answer.edited))
    assert diffs is not None
    assert [(diff.name, [hunk.heading for hunk in diff.hunks]) for diff in diffs] == [
        ("a.txt", ["@@ -23,7 +23,7 @@"]),
        ("c.sh", []),
    ]


def test_C32_a_file_is_taken_or_left_at_once() -> None:
    keys = Keys("f", "s", "n")
    assert chosen(keys) == Approve(edited=ONE)
    assert "file 1 of 3, a.txt, change 2 of 2" in keys.shown
    assert chosen(Keys("s", "y", "n")) == Approve(edited=OTHER)


def test_S5_help_explains_the_keys_and_decides_nothing() -> None:
    keys = Keys("?", "q")
    assert chosen(keys) is None
    assert any("s  leave it and the rest of this file\n" in text for text in keys.shown)


def test_XA6_the_rest_of_a_file_is_taken_only_if_it_was_seen() -> None:
    class TurnsBack(Keys):
        def pages(self, terminal: Terminal, rows: Sequence[Row]) -> bool:
            super().pages(terminal, rows)
            return "change 2 of 2" not in "".join(self.shown)

    assert chosen(TurnsBack("f")) is None


@pytest.mark.parametrize("answers", [("q",), (None,), ("y", "q"), ("maybe", "q"), ("n", "n", "n", "n")])
def test_C32_going_back_and_taking_nothing_decide_nothing(answers: tuple[str | None, ...]) -> None:
    assert chosen(Keys(*answers)) is None


def test_XA6_what_was_not_seen_is_not_asked_about() -> None:
    assert chosen(Keys(seen=False)) is None


def test_C33_a_file_name_cannot_lie() -> None:
    keys = Keys("y")
    chosen(keys, "--- a/x\u202egpj\n+++ b/x\u202egpj\n")
    assert "x‹U+202E›gpj: no line changes" in keys.shown


@pytest.mark.parametrize(
    "preview",
    [
        Preview.of_text("words", editable="words"),
        Preview(kind="diff", text="no diff", editable="no diff"),
        Preview(kind="diff", text=PATCH),
        Preview(kind="diff", text=PATCH, editable="another text"),
        Preview(kind="diff", text=ONE, editable="another text"),
    ],
)
def test_S5_only_a_diff_that_fits_can_be_taken_in_parts(preview: Preview) -> None:
    assert find_choice(preview) is None


def test_S5_the_diff_of_one_text_is_taken_from_that_text() -> None:
    choice = find_choice(Preview.of_change(LONG, TWICE, path="a.txt"))
    assert isinstance(choice, HunkChoice)
    assert choice.single is not None
    keys = Keys("n", "y")
    decision = choose_hunks(choice, cast("Terminal", keys), keys.pages)
    assert decision == Approve(edited=LONG.replace("line 25\n", "line twenty-five\n"))
