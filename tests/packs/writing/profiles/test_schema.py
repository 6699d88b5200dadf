"""The rules of a profile: each one is told with its place, in plain words."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packs.writing.profiles.samples import NOW, STAMP, fields

from toolroll.errors import ProfileInvalid
from toolroll.packs.writing.profiles.faults import fault_paths, make_fault
from toolroll.packs.writing.profiles.profile_format import MAX_PROFILE_BYTES, encode_profile, parse_profile
from toolroll.packs.writing.profiles.schema import FORMAT, StyleProfile, check_profile, timestamp

ROOT_FIELDS = tuple(fields())


def changed(path: str, value: object) -> dict[str, Any]:
    """The sample with one field put in, or taken out where the value is `...`."""
    made = fields()
    inner: Any = made
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in way:
        inner = inner[step]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return made


def faults(value: object) -> list[str]:
    found = check_profile(value)
    assert not isinstance(found, StyleProfile)
    return [str(fault) for fault in found]


def test_W1_a_whole_profile_is_taken() -> None:
    found = check_profile(fields())
    assert isinstance(found, StyleProfile)
    assert (found.profile_name, found.voice.hooks, found.platforms["linkedin"].max_length) == (
        "default",
        ["питання", "цифра"],
        1500,
    )


@pytest.mark.parametrize("name", ROOT_FIELDS)
def test_W1_every_root_field_is_required(name: str) -> None:
    assert [f"{name}: is missing"] == faults(changed(name, ...))


WRONG = {
    "profile_name slug": (
        "profile_name",
        "My Profile",
        "must be lower-case Latin letters and digits, with single dashes between them",
    ),
    "profile_type": ("profile_type", "mine", "must be one of: personal, reference"),
    "source": ("source", 1, "must be text"),
    "version 0": ("version", 0, "must be a number over 0"),
    "version true": ("version", True, "must be a whole number"),
    "version text": ("version", "1", "must be a whole number"),
    "created_at": ("created_at", "yesterday", "must be a moment in UTC, such as 2026-02-09T10:00:00Z"),
    "created_at odd": ("created_at", "2026-02-30T10:00:00Z", "must be a moment in UTC, such as 2026-02-09T10:00:00Z"),
    "created_at day": ("created_at", "2026-02-09", "must be a moment in UTC, such as 2026-02-09T10:00:00Z"),
    "updated_at zone": (
        "updated_at",
        "2026-02-09T10:00:00+02:00",
        "must be a moment in UTC, such as 2026-02-09T10:00:00Z",
    ),
    "updated_at no zone": (
        "updated_at",
        "2026-02-09T10:00:00",
        "must be a moment in UTC, such as 2026-02-09T10:00:00Z",
    ),
    "language": ("language", "ru", "must be one of: uk, en, uk+en"),
    "voice": ("voice", [], "must be a group of named fields"),
    "voice.tone": ("voice.tone", None, "must be text"),
    "voice.mood": ("voice.mood", "x", "is not a field of a profile: remove it, or correct its name"),
    "voice.hooks": ("voice.hooks", "a", "must be a list"),
    "voice.closings": ("voice.closings", {}, "must be a list"),
    "platforms": ("platforms", [], "must be a group of named fields"),
    "platforms empty": ("platforms", {}, "must have at least one entry"),
    "max_length": ("platforms.linkedin.max_length", 0, "must be a number over 0"),
    "max_length float": ("platforms.linkedin.max_length", 1.5, "must be a whole number"),
    "tone_override": ("platforms.linkedin.tone_override", 1, "must be text"),
    "tone_override missing": ("platforms.linkedin.tone_override", ..., "is missing"),
    "hashtags": ("platforms.linkedin.hashtags", 3, "must be text"),
    "examples": ("examples", {}, "must be a list"),
    "changelog": ("changelog", None, "must be a list"),
}


@pytest.mark.parametrize(("path", "value", "problem"), WRONG.values(), ids=WRONG.keys())
def test_W1_W2_each_rule_is_told_with_its_place(path: str, value: object, problem: str) -> None:
    assert [f"{path}: {problem}"] == faults(changed(path, value))


def test_W2_entries_are_counted_from_one_and_platforms_are_named() -> None:
    assert faults(changed("voice.avoid", ["a", " "])) == ["voice.avoid.2: must not be blank"]
    assert faults(changed("examples.0.platform", "fb")) == [
        "examples.1.platform: must be one of: linkedin, instagram, x"
    ]
    assert faults(changed("examples.0.added_at", "2026-13-01")) == [
        "examples.1.added_at: must be a moment in UTC, such as 2026-02-09T10:00:00Z"
    ]
    [told] = faults(changed("platforms", {"facebook": fields()["platforms"]["linkedin"]}))
    assert told == "platforms.facebook: is not a known platform; there are: linkedin, instagram, x"


def test_W2_every_rule_that_is_broken_is_told_at_once() -> None:
    broken = fields(language="ru", version=-1, examples={}, more=1)
    assert [one.partition(":")[0] for one in faults(broken)] == ["version", "language", "examples", "more"]
    assert faults([]) == ["the profile: must be a group of named fields"]


@pytest.mark.parametrize("day", ["2026-02-09", STAMP, "2026-02-09T10:00:00.5+00:00"])
def test_W1_an_example_may_say_only_the_day(day: str) -> None:
    assert isinstance(check_profile(changed("examples.0.added_at", day)), StyleProfile)


def test_W1_times_are_kept_in_utc_to_the_second() -> None:
    assert timestamp(NOW) == STAMP


JSON = json.dumps(fields(), ensure_ascii=False)
BROKEN = {
    "empty": ("", "EOF while parsing a value at line 1 column 0"),
    "cut": (JSON[:-30], "at line 1 column"),
    "byte order mark": ("\ufeff" + JSON, "begins with a byte order mark"),
    "array": ("[]", "must be a group of named fields"),
    "text": ('"a"', "must be a group of named fields"),
    "trailing": (JSON + "}", "trailing characters at line 1 column"),
    "not a number": (JSON.replace("1500", "NaN"), "at line 1 column"),
    "twice": (JSON.replace('"language"', '"source": "", "language"'), "the key 'source' stands twice"),
    "many digits": (JSON.replace("1500", "9" * 5000), "number out of range"),
    "infinite": (JSON.replace("1500", "1e999"), "is too large"),
    "deep": ("[" * 100_000 + "]" * 100_000, "recursion limit"),
    "half a character": (JSON.replace("casual", "\\ud800"), "at line 1 column"),
    "too large": (" " * (MAX_PROFILE_BYTES + 1), "larger than"),
    "wrong types": (json.dumps(fields(voice=1, platforms=2, examples=3)), "voice: must be a group"),
    "other name": (json.dumps(fields(profile_name="alex")), "says 'alex', but the file is called 'default.json'"),
    "schema true": (json.dumps(fields(schema_version=True)), "schema_version: must be a whole number"),
    "schema -1": (json.dumps(fields(schema_version=-1)), "schema_version: must be a whole number"),
    "schema text": (json.dumps(fields(schema_version="1")), "schema_version: must be a whole number"),
}


@pytest.mark.parametrize(("text", "told"), BROKEN.values(), ids=BROKEN.keys())
def test_W2_XJ3_XJ5_a_damaged_file_is_reported_with_the_place(text: str, told: str) -> None:
    with pytest.raises(ProfileInvalid) as refused:
        parse_profile(text.encode(), "default")
    assert refused.value.code == "profile_invalid"
    assert told in refused.value.message
    assert told in "\n".join(refused.value.faults)
    assert refused.value.message.startswith("Profile 'default' is damaged. The file was not changed.")
    assert "Traceback" not in refused.value.message


def test_XJ3_bytes_that_are_no_text_are_reported() -> None:
    with pytest.raises(ProfileInvalid, match="byte 2 is not UTF-8"):
        parse_profile(b'{"\xff": 1}', "default")


def old_fields(**changes: object) -> dict[str, Any]:
    """A profile of format 0."""
    made = fields(schema_version=0)
    made["platforms"] = {"twitter": made["platforms"]["linkedin"]}
    for name in ("profile_type", "source", "changelog"):
        del made[name]
    return made | changes


def test_XJ10_a_profile_of_an_older_format_is_brought_up_to_date() -> None:
    stored = parse_profile(encode_profile(old_fields()), "default")
    assert (stored.format, stored.is_newer) == (0, False)
    assert (stored.profile.profile_type, list(stored.profile.platforms), stored.profile.changelog) == (
        "personal",
        ["x"],
        [],
    )
    assert isinstance(check_profile(stored.fields), StyleProfile)


def test_XJ10_what_is_wrong_with_an_older_one_is_told() -> None:
    with pytest.raises(ProfileInvalid, match="platforms: must be a group of named fields"):
        parse_profile(encode_profile(old_fields(platforms=1)), "default")


def test_XJ10_a_newer_format_is_read_as_far_as_it_is_understood() -> None:
    newer = fields(schema_version=FORMAT + 1, moods=["new"])
    stored = parse_profile(encode_profile(newer), "default")
    assert stored.is_newer
    assert stored.fields["moods"] == ["new"]
    with pytest.raises(ProfileInvalid, match="It is of a newer format"):
        parse_profile(encode_profile(newer | {"voice": 1}), "default")


def test_a_fault_without_a_place_is_about_the_profile() -> None:
    assert make_fault("", "is odd") == "the profile: is odd"


@given(st.binary(max_size=200))
def test_W2_whatever_a_file_holds_there_is_a_profile_or_a_report(data: bytes) -> None:
    with pytest.raises(ProfileInvalid) as refused:
        parse_profile(data, "default")
    assert refused.value.faults


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)


@given(st.sampled_from(["voice", "voice.hooks", "platforms", "platforms.linkedin", "examples", "changelog"]), VALUES)
def test_W2_whatever_a_field_holds_the_profile_is_taken_or_the_place_is_told(path: str, value: object) -> None:
    found = check_profile(changed(path, value))
    if isinstance(found, StyleProfile):
        again = parse_profile(encode_profile(changed(path, value)), "default")
        assert again.profile == found
    else:
        assert all(one.startswith(path) for one in fault_paths(found))


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=50), st.integers(1, 10**9))
def test_W1_a_profile_survives_its_file(text: str, number: int) -> None:
    made = changed("platforms.linkedin.max_length", number)
    made["voice"]["tone"] = made["source"] = text
    assert made == parse_profile(encode_profile(made), "default").fields


def test_half_a_character_is_written_as_a_mark() -> None:
    assert "\ufffd" in encode_profile(fields(source="\ud800")).decode()
