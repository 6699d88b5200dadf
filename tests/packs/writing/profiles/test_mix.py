"""Mixes: whose voice it is, whose techniques, and who wins."""

from pathlib import Path
from typing import Any

import pytest
from tests.packs.writing.profiles.samples import NOW, draft, fields

from toolroll.errors import ProfileMissing, UsageError
from toolroll.packs.writing.profiles.mix import load_style, mix_profiles, technique_fields
from toolroll.packs.writing.profiles.schema import StyleProfile, Voice, check_profile
from toolroll.packs.writing.profiles.store import ProfileStore


def other(**voice: object) -> dict[str, Any]:
    """A profile that differs in every field of its voice."""
    plain = {key: [f"other {key}"] if isinstance(value, list) else f"other {key}" for key, value in VOICE.items()}
    platforms = {
        "linkedin": {**fields()["platforms"]["linkedin"], "max_length": 1, "structure": "other", "formatting": "other"},
        "x": {"max_length": 280, "structure": "one", "formatting": "none", "tone_override": "loud"},
    }
    return fields(profile_name="alex", language="en", voice={**plain, **voice}, platforms=platforms)


VOICE = fields()["voice"]


def test_W31_the_voice_of_the_base_and_the_techniques_of_the_other() -> None:
    mixed = mix_profiles(fields(), other())
    for key in Voice.model_fields:
        assert mixed["voice"][key] == (other()["voice"] if key in technique_fields() else VOICE)[key]
    assert set(technique_fields()) == {"hooks", "closings", "sentence_style", "paragraph_style", "structure"}
    assert mixed["language"] == "uk"
    linkedin = mixed["platforms"]["linkedin"]
    assert linkedin == {**fields()["platforms"]["linkedin"], "structure": "other"}
    assert isinstance(check_profile(mixed), StyleProfile)


def test_W31_a_platform_of_only_one_of_them() -> None:
    mixed = mix_profiles(fields(), other())
    assert mixed["platforms"]["x"] == {**other()["platforms"]["x"], "tone_override": None}, "the voice is the base's"
    assert mix_profiles(other(), fields())["platforms"]["x"] == other()["platforms"]["x"]


def test_W31_where_they_disagree_the_base_wins() -> None:
    hooks = ["синергія команди", "питання"]
    assert mix_profiles(fields(), other(hooks=hooks))["voice"]["hooks"] == ["питання"]
    assert mix_profiles(fields(), other(hooks=["про синергію"]))["voice"]["hooks"] == VOICE["hooks"]


def test_W31_styles_name_where_they_are_from(tmp_path: Path) -> None:
    store = ProfileStore(tmp_path)
    store.create(draft(), now=NOW)
    store.create(draft(profile_name="alex", profile_type="reference"), now=NOW)
    plain, mixed = load_style(store, "default"), load_style(store, "default", "alex")
    assert (plain.profile_used, plain.profiles, plain.is_mix, plain.is_personal) == (
        "default",
        ("default",),
        False,
        True,
    )
    assert (mixed.profile_used, mixed.profiles, mixed.is_mix) == ("mix:default+alex", ("default", "alex"), True)
    assert load_style(store, "alex", "default").is_personal is False
    with pytest.raises(UsageError, match="named twice"):
        load_style(store, "default", "default")
    with pytest.raises(ProfileMissing):
        load_style(store, "default", "nobody")
