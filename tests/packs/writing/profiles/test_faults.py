"""Every rule that a profile can break is told in Ukrainian too (W2, W34)."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packs.writing.profiles.samples import fields
from tests.packs.writing.profiles.test_schema import BROKEN

from toolroll.errors import ChangeRefused, ProfileInvalid
from toolroll.packs.writing.profiles.changes import change_fields
from toolroll.packs.writing.profiles.faults import BLANK, NOT_INTEGER, NOT_LIST, NOT_TEXT, fault_paths, make_fault
from toolroll.packs.writing.profiles.profile_format import parse_profile
from toolroll.packs.writing.profiles.schema import StyleProfile, check_profile
from toolroll.packs.writing.texts.messages import translate

LATIN = re.compile("[A-Za-z]{3,}")


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
        path, _, told = translate(fault, "uk").partition(": ")
        assert fault.startswith(f"{path}: ")
        assert not LATIN.search(re.sub("UTC|linkedin|instagram", "", told)), told


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
        assert not LATIN.search(translate(fault, "uk").partition(": ")[2])


@pytest.mark.parametrize("case", BROKEN)
def test_W2_W34_XJ3_whatever_a_damaged_file_is_like_it_is_told_in_ukrainian(case: str) -> None:
    with pytest.raises(ProfileInvalid) as refused:
        parse_profile(BROKEN[case][0].encode(), "default")
    for fault in refused.value.faults:
        path, _, told = translate(fault, "uk").partition(": ")
        assert (path == "профіль") == fault.startswith("the profile: ")
        assert not LATIN.search(re.sub("JSON|BOM|'source'|«[a-z.]*»", "", told)), told


def test_W34_the_whole_profile_and_english() -> None:
    fault = make_fault("", NOT_LIST)
    assert fault == translate(fault, "en") == "the profile: must be a list"
    assert translate(fault, "uk") == "профіль: має бути списком"


def test_W2_a_fault_names_its_field_once() -> None:
    faults = [make_fault("voice.tone", BLANK), make_fault("version", NOT_INTEGER), make_fault("voice.tone", NOT_TEXT)]
    assert fault_paths(faults) == ("voice.tone", "version")


@given(st.text())
def test_W34_what_only_a_program_can_say_stays(text: str) -> None:
    assert translate(make_fault("path", text), "uk") == f"path: {text}"
