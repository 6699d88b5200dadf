"""Every rule that a profile can break is told in Ukrainian too (W2, W34)."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packs.writing.profiles.samples import fields
from tests.packs.writing.profiles.test_schema import BROKEN

from toolroll.errors import ChangeRefused, ProfileInvalid
from toolroll.packs.writing.profiles import schema as profile
from toolroll.packs.writing.profiles.changes import change_fields
from toolroll.packs.writing.profiles.profile_format import parse_profile
from toolroll.packs.writing.profiles.schema import StyleProfile, check_profile
from toolroll.packs.writing.texts.fault_texts import describe_fault

LATIN = re.compile("[A-Za-z]{3,}")


def in_ukrainian(problem: str) -> str:
    told = describe_fault(f"path: {problem}", "uk")
    assert told.startswith("path: ")
    return told.removeprefix("path: ")


@pytest.mark.parametrize("problem", sorted(set(profile._PROBLEMS.values())))
def test_W2_W34_every_problem_of_a_field_has_words(problem: str) -> None:
    assert not LATIN.search(in_ukrainian(problem))


@pytest.mark.parametrize(
    "broken",
    [
        {"profile_name": "No!"},
        {"created_at": "yesterday"},
        {"language": "de"},
        {"platforms": {"myspace": fields()["platforms"]["linkedin"]}},
        {"version": 0, "source": 1, "examples": []},
    ],
)
def test_W2_W34_every_rule_of_a_profile_has_words(broken: dict[str, object]) -> None:
    faults = check_profile(fields(**broken))
    assert not isinstance(faults, StyleProfile)
    for fault in faults:
        told = in_ukrainian(fault.problem).replace("UTC", "")
        assert told != fault.problem
        assert not LATIN.search(re.sub("'[^']*'", "", told))


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 1},
        {"mood": 1},
        {"voice": fields()["voice"], "voice.tone": "x"},
        {"voice.tone": fields()["voice"]["tone"]},
    ],
)
def test_W12_W34_every_refusal_of_a_change_has_words(changes: dict[str, object]) -> None:
    with pytest.raises(ChangeRefused) as refused:
        change_fields(fields(), changes)
    for fault in refused.value.faults:
        assert not LATIN.search(describe_fault(fault, "uk").partition(": ")[2])


@pytest.mark.parametrize("case", BROKEN)
def test_W2_W34_XJ3_whatever_a_damaged_file_is_like_it_is_told_in_ukrainian(case: str) -> None:
    with pytest.raises(ProfileInvalid) as refused:
        parse_profile(BROKEN[case][0].encode(), "default")
    for fault in refused.value.faults:
        path, _, told = describe_fault(fault, "uk").partition(": ")
        assert (path == "профіль") == fault.startswith("the profile: ")
        assert not LATIN.search(re.sub("JSON|BOM|'source'|«[a-z.]*»", "", told)), told


def test_W34_the_whole_profile_and_english() -> None:
    assert describe_fault("the profile: must be a list", "uk") == "профіль: має бути списком"
    assert describe_fault("the profile: must be a list", "en") == "the profile: must be a list"
    assert describe_fault("no place", "uk") == "no place"


@given(st.text())
def test_W34_what_only_a_program_can_say_stays(text: str) -> None:
    assert describe_fault(text, "en") == text
    assert describe_fault(f"path: Invalid JSON {text}", "uk") == f"path: Invalid JSON {text}"
