"""Changes by dot paths: all or nothing, and nothing but fields that may be changed."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packs.writing.profiles.samples import NOW, STAMP, draft, fields

from toolroll.errors import ChangeRefused, PathRefused
from toolroll.packs.writing.profiles.changes import (
    MAX_CHANGELOG_ENTRIES,
    MAX_CHANGES,
    FieldChange,
    change_fields,
    first_version,
    list_changes,
    next_version,
)
from toolroll.packs.writing.profiles.schema import FIXED, PATHS, StyleProfile, check_profile


def refused(changes: dict[str, Any]) -> ChangeRefused:
    """The refusal; the fields that were given must be as they were."""
    before = fields()
    with pytest.raises(ChangeRefused) as caught:
        change_fields(before, changes)
    assert before == fields()
    assert caught.value.code == "validation_failed"
    assert caught.value.message.startswith(f"Invalid value for {caught.value.fields[0]}")
    assert "Nothing was changed" in caught.value.message
    return caught.value


def test_W12_fields_are_changed_by_their_paths() -> None:
    hooks = ["ось у чому штука", "давайте чесно"]
    before = fields()
    changes = {"voice.formality": "casual але експертний", "voice.hooks": hooks, "platforms.linkedin.max_length": 900}
    after = change_fields(before, changes)
    assert before == fields()
    assert (after["voice"]["formality"], after["voice"]["hooks"]) == ("casual але експертний", hooks)
    assert after["platforms"]["linkedin"]["max_length"] == 900
    hooks.append("later")
    assert len(after["voice"]["hooks"]) == 2


TEXTS = ("tone", "formality", "personality", "sentence_style", "paragraph_style", "emoji_usage")


@pytest.mark.parametrize("field", TEXTS)
@pytest.mark.parametrize("blank", ["", " ", "\n\t\u00a0"])
def test_W12_a_text_of_the_voice_cannot_be_emptied(field: str, blank: str) -> None:
    fault = f"voice.{field}: must not be blank"
    assert refused({f"voice.{field}": blank}).faults == (fault,)
    assert refused({"voice": {**fields()["voice"], field: blank}}).faults == (fault,)


def test_W12_a_text_that_was_empty_before_does_not_keep_others_from_being_changed() -> None:
    before = fields()
    before["voice"]["emoji_usage"] = ""
    assert change_fields(before, {"voice.tone": "calm"})["voice"]["tone"] == "calm"


def test_W12_a_platform_can_be_added_whole() -> None:
    style = {"max_length": 280, "structure": "s", "formatting": "f", "tone_override": None}
    assert list(change_fields(fields(), {"platforms.x": style})["platforms"]) == ["linkedin", "x"]
    assert refused({"platforms.x.max_length": 280}).fields == (
        "platforms.x.structure",
        "platforms.x.formatting",
        "platforms.x.tone_override",
    )


@pytest.mark.parametrize("path", [*FIXED, *(f"{name}.0" for name in FIXED), "changelog.0.version", "version."])
def test_W12_XJ6_what_is_immutable_stays(path: str) -> None:
    assert refused({path: "x"}).faults == (f"{path}: cannot be changed",)


HOSTILE = [
    *("", ".", "..", ".voice", "voice.", "voice..tone", "voice.tone.", " voice.tone", "voice .tone", "Voice.tone"),
    *(
        "__class__",
        "voice.__class__",
        "voice.__init__.__globals__",
        "__dict__",
        "constructor.prototype",
        "voice.tone.x",
    ),
    *("voice.hooks.0", "voice.hooks[0]", "voice.hooks.-1", "examples.0", "examples.0.text", "platforms.0", "0"),
    *(
        "platforms.facebook",
        "platforms.*.max_length",
        "platforms.linkedin.more",
        "voice/tone",
        "voice\\.tone",
        "voice\0",
    ),
    *("voice.tone\n", "voice.tоne", "nothing", "schema_version", "voice.mood", ".".join("a" * 10_000), "a" * 100_000),
]


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: ascii(path[:30]))
def test_W12_XJ6_a_path_that_is_no_field_changes_nothing(path: str) -> None:
    fault = refused({"voice.personality": "new", path: "x"})
    assert len(fault.fields) == 1
    assert len(fault.message) < 1_000


VALUES = {
    "max_length 0": ("platforms.linkedin.max_length", 0),
    "max_length -1": ("platforms.linkedin.max_length", -1),
    "max_length true": ("platforms.linkedin.max_length", True),
    "max_length text": ("platforms.linkedin.max_length", "10"),
    "max_length null": ("platforms.linkedin.max_length", None),
    "max_length fraction": ("platforms.linkedin.max_length", 10.5),
    "hooks text": ("voice.hooks", "a"),
    "hooks numbers": ("voice.hooks", [1]),
    "hooks nested": ("voice.hooks", [["a"]]),
    "avoid map": ("voice.avoid", {"0": "a"}),
    "tone null": ("voice.tone", None),
    "language": ("language", "ru"),
    "voice in part": ("voice", {"tone": "x"}),
    "no platforms": ("platforms", {}),
}


@pytest.mark.parametrize(("path", "value"), VALUES.values(), ids=VALUES.keys())
def test_W12_XJ6_a_wrong_value_changes_nothing(path: str, value: object) -> None:
    fault = refused({"voice.tone": "new", path: value})
    assert all(one.startswith(path) for one in fault.fields)


def test_XJ6_all_faults_are_told_together() -> None:
    assert refused({"version": 9, "voice.mood": "x", "voice.tone": "y"}).fields == ("version", "voice.mood")
    assert refused({"language": "ru", "voice.tone": 1}).fields == ("language", "voice.tone")


def test_XJ6_a_field_is_changed_once() -> None:
    fault = refused({"voice": draft()["voice"], "voice.tone": "x"})
    assert fault.faults == ("voice: is changed as a whole and in part: name it once",)


def test_XJ6_an_update_changes_something_and_not_everything_at_once() -> None:
    assert refused({}).fields == ("changes",)
    assert refused({f"a{number}": 1 for number in range(MAX_CHANGES + 1)}).fields == ("changes",)
    assert "nothing would change" in refused({"voice.tone": fields()["voice"]["tone"]}).message


def test_W12_the_old_and_the_new_of_each_field_can_be_shown() -> None:
    found = list_changes(fields(), {"voice.tone": "new", "platforms.x.notes": "n"})
    assert found == (
        FieldChange(path="voice.tone", old="дружній, трохи іронічний", new="new"),
        FieldChange(path="platforms.x.notes", old=None, new="n"),
    )


def test_W12_a_new_version_has_an_entry_in_the_history() -> None:
    later = NOW.replace(hour=11)
    after, entry = next_version(fields(), {"voice.formality": "x"}, reason="3x фідбек: too_formal", now=later)
    assert entry == {
        "version": 2,
        "date": "2026-02-09T11:00:00Z",
        "action": "updated",
        "description": "Оновлено: voice.formality. Причина: 3x фідбек: too_formal.",
        "fields_changed": ["voice.formality"],
    }
    assert (after["version"], after["updated_at"], after["created_at"]) == (2, "2026-02-09T11:00:00Z", STAMP)
    assert after["changelog"] == [*fields()["changelog"], entry]
    assert isinstance(check_profile(after), StyleProfile)


def test_W12_the_history_is_in_the_language_of_the_profile() -> None:
    _, entry = next_version(fields(language="en"), {"voice.tone": "x"}, reason=" shorter. ", now=NOW)
    assert entry["description"] == "Updated: voice.tone. Reason: shorter."


def test_W12_a_long_history_keeps_its_beginning_and_the_newest() -> None:
    entries = [
        {"version": n, "date": STAMP, "action": "updated", "description": ""}
        for n in range(1, MAX_CHANGELOG_ENTRIES + 1)
    ]
    after, entry = next_version(fields(changelog=entries), {"voice.tone": "x"}, reason="r", now=NOW)
    history = after["changelog"]
    assert (len(history), history[0]["version"], history[1]["version"], history[-1]) == (
        MAX_CHANGELOG_ENTRIES,
        1,
        3,
        entry,
    )


def test_W20_a_draft_becomes_the_first_version() -> None:
    made = first_version(draft() | {"version": 7, "changelog": "forged", "created_at": "never"}, now=NOW)
    assert made == fields()
    assert list(made) == list(StyleProfile.model_fields)
    english = first_version(draft(language="en"), now=NOW)
    assert english["changelog"][0]["description"] == "Profile created."


def test_W20_a_draft_that_breaks_rules_is_refused_with_all_of_them() -> None:
    with pytest.raises(ChangeRefused) as caught:
        first_version(draft(voice={}, more=1, profile_name=None), now=NOW)
    assert {"profile_name", "voice.tone", "voice.avoid", "more"} <= set(caught.value.fields)
    with pytest.raises(PathRefused):
        first_version(draft(profile_name="../x"), now=NOW)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
SOME_PATHS = st.sampled_from(sorted(PATHS)) | st.text(max_size=20)


@given(st.dictionaries(SOME_PATHS, JSON | st.lists(st.text(min_size=1)), max_size=4))
def test_XJ6_whatever_is_asked_for_the_result_is_a_profile_or_nothing_changed(changes: dict[str, Any]) -> None:
    before = fields()
    try:
        after = change_fields(before, deepcopy(changes))
    except ChangeRefused:
        after = before
    assert isinstance(check_profile(after), StyleProfile)
    assert {name: after[name] for name in FIXED} == {name: before[name] for name in FIXED}
    assert after is before or all(one.old == one.new for one in list_changes(after, changes))
    assert before == fields()
