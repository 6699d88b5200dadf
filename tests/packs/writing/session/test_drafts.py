"""What becomes of a draft: every way a run can end, with every kind of marks, before somebody and before nobody."""

from itertools import product
from typing import get_args

import pytest

from toolroll.agent.result import RunResult, StopReason
from toolroll.packs.writing.session.draft_answer import Marks
from toolroll.packs.writing.session.drafts import DraftDecision, RunEnd, classify_end, decide_draft

MARKS: tuple[Marks, ...] = get_args(Marks)
ENDINGS: tuple[RunEnd, ...] = get_args(RunEnd)


def ended(reason: StopReason, *, has_answer: bool = True) -> RunResult[object]:
    return RunResult(run_id="r", text="Чай.", messages=(), steps=(), stop_reason=reason, has_answer=has_answer)


@pytest.mark.parametrize("reason", get_args(StopReason))
def test_XE8_W30_only_an_end_of_its_own_is_one_that_went_well(reason: StopReason) -> None:
    expected: dict[str, RunEnd] = {"answer": "well", "done": "well", "condition": "well", "cut_off": "cut_off"}
    assert expected.get(reason, "badly") == classify_end(ended(reason))


def test_XE8_W30_what_was_cut_off_before_its_first_word_is_no_draft_to_go_on_from() -> None:
    assert classify_end(ended("cut_off", has_answer=False)) == "badly"


@pytest.mark.parametrize(
    ("marks", "ending", "has_finished", "is_alone", "fate"),
    [
        ("whole", "well", True, False, "checked"),
        ("none", "well", False, False, "checked"),
        ("open", "well", False, False, "checked"),
        ("open", "cut_off", False, False, "unfinished"),
        ("open", "cut_off", True, False, "aside"),
        ("whole", "badly", False, False, "words"),
        ("whole", "well", False, True, "checked"),
        ("open", "well", False, True, "unfinished"),
        ("open", "cut_off", False, True, "unfinished"),
        ("none", "well", False, True, "words"),
        ("none", "cut_off", False, True, "words"),
    ],
)
def test_XE8_W30_the_fate_of_a_draft(
    marks: Marks, ending: RunEnd, fate: DraftDecision, *, has_finished: bool, is_alone: bool
) -> None:
    assert decide_draft(marks, ending, has_finished=has_finished, is_alone=is_alone) == fate


def test_XE8_W30_no_unfinished_draft_replaces_one_that_has_its_end() -> None:
    fates = {decide_draft(marks, "cut_off", has_finished=True, is_alone=False) for marks in MARKS}
    assert fates == {"aside"}


def test_XE8_W30_where_nobody_looks_only_a_whole_post_of_a_run_that_ended_is_taken_as_one() -> None:
    cases = product(MARKS, ENDINGS, (False, True))
    taken = [
        (marks, ending)
        for marks, ending, finished in cases
        if decide_draft(marks, ending, has_finished=finished, is_alone=True) == "checked"
    ]
    assert set(taken) == {("whole", "well")}
