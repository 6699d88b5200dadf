"""What becomes of a draft: every way a run can end, with every kind of marks, before somebody and before nobody."""

from itertools import product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packs.writing.profiles.samples import fields

from toolroll.agent.result import RunResult, StopReason
from toolroll.packs.writing.session.drafts import (
    DraftAnswer,
    DraftDecision,
    Marks,
    RunEnd,
    classify_end,
    decide_draft,
    is_copied,
    read_answer,
    rules_for,
    topic_from_request,
)
from toolroll.packs.writing.session.prompt import EXAMPLE_POST, SYSTEM

BEFORE = "One.\n\nTwo \\1 $& two.\n\nThree?"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('<post topic="good tea">\nTea.\n</post>', DraftAnswer(draft="Tea.", topic="good tea")),
        ("Here:\n<post>\nTea.\n\nMore.\n</post>\nBye.", DraftAnswer(draft="Tea.\n\nMore.", words="Here:\n\nBye.")),
        ("<post topic='чай'>Чай.</post>", DraftAnswer(draft="Чай.", topic="чай")),
        ("<post topic=“чай  і\nмед”>Чай.</post>", DraftAnswer(draft="Чай.", topic="чай і мед")),
        ("<post>first</post> no: <post>second</post>", DraftAnswer(draft="second", words="no:")),
        ("<post topic=x>\nCut off in the mid", DraftAnswer(draft="Cut off in the mid", marks="open")),
        ("<post>\n</post>", DraftAnswer(draft=None)),
        ("Just a post.\n\nIs it not?", DraftAnswer(draft="Just a post.\n\nIs it not?", marks="none")),
        ("```\nA post.\n```", DraftAnswer(draft="A post.", marks="none")),
        ("For which platform is it?", DraftAnswer(draft=None, words="For which platform is it?")),
        ("", DraftAnswer(draft=None)),
        (
            "<edit><old>a</old><new>b</new></edit>",
            DraftAnswer(draft=None, words="<edit><old>a</old><new>b</new></edit>"),
        ),
    ],
)
def test_W30_a_post_is_found_in_an_answer(text: str, answer: DraftAnswer) -> None:
    assert read_answer(text) == answer


@given(st.text(alphabet=st.characters(exclude_characters="<>")))
def test_W30_text_without_marks_never_replaces_a_draft(text: str) -> None:
    assert read_answer(text, before="Tea.") == DraftAnswer(draft=None, words=text.strip())


def edit(old: str, new: str) -> str:
    return f"<edit>\n<old>{old}</old>\n<new>{new}</new>\n</edit>"


def test_W30_an_edit_touches_only_its_part() -> None:
    answer = read_answer(f"Done. {edit('Three?', 'Four!')}", before=BEFORE)
    assert answer == DraftAnswer(draft=BEFORE.replace("Three?", "Four!"), words="Done.", is_edit=True)
    two = read_answer(edit("One.", "1.") + edit("Three?", ""), before=BEFORE)
    assert two.draft == "1.\n\nTwo \\1 $& two.\n\n"


def test_XE3_what_is_put_in_is_put_in_literally() -> None:
    assert (
        read_answer(edit("Two \\1 $& two.", "\\g<0> \\1 $&"), before=BEFORE).draft == "One.\n\n\\g<0> \\1 $&\n\nThree?"
    )


@pytest.mark.parametrize(("old", "times"), [("Five", 0), ("o", 2), ("two", 1), ("w", 2), ("", 0)])
def test_XE2_a_passage_must_be_there_exactly_once(old: str, times: int) -> None:
    answer = read_answer(edit(old, "x"), before=BEFORE)
    assert answer.missed == (() if times == 1 else ((old, times),))
    assert (answer.draft is None) is (times != 1)


def test_XE2_of_several_edits_all_are_made_or_none() -> None:
    answer = read_answer(edit("One.", "1.") + edit("Five", "5"), before=BEFORE)
    assert (answer.draft, answer.missed) == (None, (("Five", 0),))


PIECES = st.sampled_from(
    ["<post>", "</post>", '<post topic="a">', "<edit>", "<old>", "</old>", "<new>", "x", "\n", "?"]
)


@given(st.lists(PIECES, max_size=12).map("".join) | st.text(), st.none() | st.text())
def test_W30_any_answer_can_be_read(text: str, before: str | None) -> None:
    answer = read_answer(text, before=before)
    assert answer.draft is None or not answer.missed
    assert answer.draft != "" or before is not None


@given(st.text(alphabet=st.characters(exclude_characters="<>\r"), min_size=1).filter(lambda text: text.strip() == text))
def test_W30_a_post_comes_out_as_it_was_put_in(text: str) -> None:
    assert read_answer(f"<post topic='t'>\n{text}\n</post>").draft == text


@given(st.text(), st.text())
def test_W30_an_edit_leaves_all_before_and_after(start: str, end: str) -> None:
    before = f"{start}«{end}"
    answer = read_answer("<edit><old>«</old><new>»</new></edit>", before=before)
    if before.count("«") == 1:
        assert answer.draft == f"{start}»{end}"
    else:
        assert answer.draft is None


def test_W33_the_rules_are_those_of_the_profile_or_of_the_platform() -> None:
    known = rules_for(fields(), "linkedin")
    assert (known.max_length, known.avoid, known.language) == (1500, ["синергія"], "uk")
    assert rules_for(fields(), "x").max_length == 280


def test_W15_a_topic_from_the_request() -> None:
    assert topic_from_request("post about the long  way to the first of all teas") == "post about the long way to"


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
        ("none", "well", False, False, "words"),
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
    fates = {decide_draft(marks, "cut_off", has_finished=True, is_alone=False) for marks in MARKS if marks != "none"}
    assert fates == {"aside"}


def test_XE8_W30_where_nobody_looks_only_a_whole_post_of_a_run_that_ended_is_taken_as_one() -> None:
    cases = product(MARKS, ENDINGS, (False, True))
    taken = [
        (marks, ending)
        for marks, ending, finished in cases
        if decide_draft(marks, ending, has_finished=finished, is_alone=True) == "checked"
    ]
    assert set(taken) == {("whole", "well")}


def test_A51_W30_a_first_draft_stops_at_its_closing_mark_and_is_no_raw_call() -> None:
    talk = '<post topic="tea">\nTea first.\n</post>\nuser: thanks!\n<post topic="x">\nAnother'
    assert read_answer(talk).draft == "Tea first."
    assert read_answer('```json\n{"name": "read_past_posts", "arguments": {"query": "tea"}}\n```').draft is None


def test_W30_an_example_is_no_draft() -> None:
    assert is_copied(f" {EXAMPLE_POST}\n", ())
    assert is_copied("Tea  first.\n\nThen work.", ["tea first. Then work."])
    assert not is_copied("Tea first. Then work, slowly.", ["Tea first. Then work."])
    assert f'<post topic="burnout at work">\n{EXAMPLE_POST}\n</post>' in SYSTEM
