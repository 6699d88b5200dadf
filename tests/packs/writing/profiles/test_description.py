"""A profile in words: everything that it says, in either language, and nothing that it does not (W32)."""

from tests.packs.writing.profiles.samples import fields

from toolroll.packs.writing.profiles.description import describe_profile


def test_W32_everything_that_a_person_would_correct_is_there() -> None:
    told = "\n".join(map(str, describe_profile(fields(), "en")))
    voice = fields()["voice"]
    for value in voice.values():
        assert (value if isinstance(value, str) else " · ".join(value)) in told
    assert "linkedin · Hashtags: 3" in told
    assert told.endswith("Examples: 1")


def test_W32_what_is_empty_is_left_out() -> None:
    voice = {**fields()["voice"], "closings": [], "tone": ""}
    labels = [line.label for line in describe_profile(fields(voice=voice, source=""), "uk")]
    assert labels[:3] == ["Мова", "Стиль", "Особистість"]
    assert "Завершує" not in labels
    assert "linkedin · Тон там" not in labels
