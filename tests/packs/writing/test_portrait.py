"""A profile in words: everything that it says, in either language, and nothing that it does not (W32)."""

from tests.packs.writing.profile_samples import fields

from toolroll.packs.writing.portrait import portrait


def test_W32_everything_that_a_person_would_correct_is_there() -> None:
    told = "\n".join(map(str, portrait(fields(), "en")))
    voice = fields()["voice"]
    for value in voice.values():
        assert (value if isinstance(value, str) else " · ".join(value)) in told
    assert "linkedin · Hashtags: 3" in told
    assert told.endswith("Examples: 1")


def test_W32_what_is_empty_is_left_out() -> None:
    voice = {**fields()["voice"], "closings": [], "tone": ""}
    labels = [line.label for line in portrait(fields(voice=voice, source=""), "uk")]
    assert labels[:3] == ["Мова", "Формальність", "Особистість"]
    assert "Завершує" not in labels
    assert "linkedin · Тон там" not in labels
