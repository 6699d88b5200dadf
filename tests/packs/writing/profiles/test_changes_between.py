"""What an edit changes, by the finest paths that can say it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packs.writing.profiles.samples import fields

from toolroll.errors import ChangeRefused
from toolroll.packs.writing.profiles.changes import change_fields, changes_between

LINKEDIN = fields()["platforms"]["linkedin"]
SHORT = {name: LINKEDIN[name] for name in ("max_length", "structure", "formatting", "tone_override")}


@pytest.mark.parametrize(
    ("changed", "paths"),
    [
        ({}, []),
        ({"source": "інше"}, ["source"]),
        ({"voice": {**fields()["voice"], "tone": "a", "hooks": ["b"]}}, ["voice.tone", "voice.hooks"]),
        ({"voice": {"tone": "a"}}, ["voice"]),
        ({"voice": None}, ["voice"]),
        ({"platforms": {"linkedin": {**LINKEDIN, "max_length": 9}}}, ["platforms.linkedin.max_length"]),
        ({"platforms": {"linkedin": SHORT}}, ["platforms.linkedin"]),
        ({"platforms": {"x": SHORT}}, ["platforms"]),
        ({"platforms": []}, ["platforms"]),
        ({"version": 9}, ["version"]),
        ({"mood": "new"}, ["mood"]),
    ],
)
def test_W32_an_edit_is_told_by_its_paths(changed: dict[str, Any], paths: list[str]) -> None:
    new = {name: value for name, value in fields().items() if name not in ("version", "changelog", "created_at")}
    assert list(changes_between(fields(), {**new, **changed})) == paths


def test_W32_a_field_that_is_taken_out_is_told() -> None:
    new = fields()
    del new["examples"]
    assert changes_between(fields(), new) == {"examples": None}


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from(["source", "language", "voice", "platforms", "examples", "x"]), ANYTHING),
)
def test_W32_XJ6_whatever_is_left_in_the_editor_is_refused_or_becomes_the_profile(new: dict[str, Any]) -> None:
    old = fields()
    edited = {**{name: old[name] for name in ("source", "language", "voice", "platforms", "examples")}, **new}
    changes = changes_between(old, edited)
    try:
        changed = change_fields(old, changes) if changes else old
    except ChangeRefused:
        return
    assert {name: changed[name] for name in edited} == edited
