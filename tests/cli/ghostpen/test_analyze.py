"""`analyze` without a terminal: what posts speak against, and what is made of it (W35)."""

import json

import pytest
from tests.cli.ghostpen.pen import POSTS, Pen
from tests.packs.writing.profiles.samples import NOW, fields, put

from toolroll.packs.writing.profiles.feedback import FeedbackStore
from toolroll.packs.writing.profiles.store import ProfileStore

PLATFORM = {"max_length": 280, "structure": "одна думка", "formatting": "без", "tone_override": None}


def said(*changes: tuple[str, object]) -> str:
    listed = [{"path": path, "value": value, "why": f"why {path}"} for path, value in changes]
    return json.dumps({"changes": listed}, ensure_ascii=False)


def files(pen: Pen) -> list[str]:
    return pen.posts(*POSTS)[1::2]


def test_W35_where_nobody_can_be_asked_changes_are_only_shown(pen: Pen) -> None:
    path = put(pen.data, fields())
    before = path.read_bytes()
    told = pen.run("analyze", *files(pen), "--model", pen.script(said(("voice.tone", "тихий"))), "--lang", "en")
    assert (told.code, told.out) == (0, "Nothing was changed. Add --yes to make all of these changes.\n")
    assert "voice.tone: why voice.tone\n- дружній, трохи іронічний\n+ тихий\n" in told.err
    assert "These posts (3): on average" in told.err
    assert "Examples in the profile (1):" in told.err
    assert path.read_bytes() == before


def test_W35_with_yes_all_are_made_as_one_version_and_answer_the_feedback(pen: Pen) -> None:
    put(pen.data, fields())
    feedback = FeedbackStore(pen.data)
    feedback.track("tone_off", "не те", now=NOW)
    changes = said(("voice.tone", "тихий"), ("platforms.x", PLATFORM), ("voice.hooks", ["цитата"]))
    told = pen.json("analyze", *files(pen), "--model", pen.script(changes), "--yes")
    assert told == {
        "profile_name": "default",
        "version": 2,
        "proposed": [
            {"field": "voice.tone", "old": "дружній, трохи іронічний", "new": "тихий", "why": "why voice.tone"},
            {"field": "platforms.x", "old": None, "new": PLATFORM, "why": "why platforms.x"},
            {"field": "voice.hooks", "old": ["питання", "цифра"], "new": ["цитата"], "why": "why voice.hooks"},
        ],
        "applied": ["voice.tone", "platforms.x", "voice.hooks"],
        "left_out": [],
    }
    profile = ProfileStore(pen.data).read("default").profile
    assert (profile.voice.tone, profile.platforms["x"].max_length) == ("тихий", 280)
    assert profile.changelog[-1].description.endswith("Причина: аналіз 3 постів.")
    assert feedback.entries()["tone_off"].count == 0


@pytest.mark.parametrize(
    ("language", "described"),
    [
        ("uk", "Оновлено: voice.emoji_usage. Причина: аналіз 1 поста."),
        ("en", "Updated: voice.emoji_usage. Reason: analysis of 1 post."),
    ],
)
@pytest.mark.parametrize("lang", ["en", "uk"])
def test_W35_W34_the_history_is_in_the_language_of_the_profile_whoever_looks(
    pen: Pen, lang: str, language: str, described: str
) -> None:
    put(pen.data, fields(language=language))
    model = pen.script(said(("voice.emoji_usage", "без емодзі")))
    told = pen.run("analyze", pen.file(POSTS[0], "1.md"), "--yes", "--model", model, "--lang", lang)
    assert told.code == 0
    assert ("Comparing 1 post with" if lang == "en" else "Порівнюю 1 пост з") in told.err
    assert ProfileStore(pen.data).read("default").profile.changelog[-1].description == described


def test_W35_a_change_that_breaks_a_rule_is_left_out_and_told(pen: Pen) -> None:
    put(pen.data, fields())
    wrong: tuple[tuple[str, object], ...] = (
        ("version", 9),
        ("voice.avoid", [" "]),
        ("platforms.linkedin.max_length", 0),
        ("__class__", "x"),
        ("voice.tone", "дружній, трохи іронічний"),
        ("platforms.linkedin.max_length", 900),
        ("platforms.linkedin", PLATFORM),
    )
    told = pen.run("analyze", *files(pen), "--model", pen.script(said(*wrong)), "--yes", "--lang", "uk")
    assert (told.code, told.out) == (0, "Профіль «default» оновлено до версії 2.\n")
    assert "Запропоновану зміну version пропущено, бо вона порушує правило: version: не можна змінювати" in told.err
    assert "voice.avoid.1: " in told.err
    assert "voice.tone: уже має це значення" in told.err
    assert "platforms.linkedin: змінюється і цілком, і частково" in told.err
    assert ProfileStore(pen.data).read("default").profile.platforms["linkedin"].max_length == 900


def test_W35_posts_that_fit_change_nothing(pen: Pen) -> None:
    put(pen.data, fields())
    told = pen.run("analyze", *files(pen), "--model", pen.script(said()), "--lang", "uk")
    assert (told.code, told.out) == (0, "Пости відповідають профілю: змінювати нічого.\n")


def test_W35_a_damaged_tracker_does_not_undo_a_change(pen: Pen) -> None:
    put(pen.data, fields())
    FeedbackStore(pen.data).path.write_text("{")
    model = pen.script(said(("voice.tone", "тихий")))
    told = pen.run("analyze", *files(pen), "--model", model, "--yes", "--lang", "en")
    assert (told.code, "! The feedback in" in told.err) == (0, True)
    assert ProfileStore(pen.data).read("default").profile.version == 2


def test_W35_without_the_profile_or_a_model_nothing_is_asked(pen: Pen) -> None:
    command = ("analyze", *files(pen), "--lang", "en")
    assert "Profile 'default' not found" in pen.run(*command, "--model", pen.script()).err
    put(pen.data, fields())
    assert "No model is named" in pen.run(*command).err
    told = pen.run(*command, "--model", pen.script("no", "no", "no"))
    assert (told.code, "gave no usable profile" in told.err) == (1, True)


def test_W32_editing_needs_a_terminal(pen: Pen) -> None:
    put(pen.data, fields())
    told = pen.run("profile", "edit", "--lang", "uk")
    assert (told.code, "Для редагування потрібен термінал" in told.err) == (2, True)
