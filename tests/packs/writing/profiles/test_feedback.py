"""Feedback: counted by category, kept, and answered by a change of the profile."""

import json
import stat
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.packs.writing.profiles.samples import NOW, STAMP

from toolroll.errors import FileProblem, JsonRefused
from toolroll.packs.writing.profiles.feedback import (
    MAX_HISTORY,
    MAX_RAW_CHARACTERS,
    MAX_TRACKER_BYTES,
    MEANINGS,
    Category,
    FeedbackCount,
    FeedbackStore,
    VerbatimFeedbackStore,
)
from toolroll.packs.writing.profiles.schema import PATHS

CATEGORIES: tuple[Category, ...] = get_args(Category)


@pytest.fixture
def store(tmp_path: Path) -> FeedbackStore:
    return FeedbackStore(tmp_path / "data")


def track(store: FeedbackStore, category: Category, times: int = 1) -> FeedbackCount:
    return [store.track(category, "занадто офіційно", now=NOW) for _ in range(times)][-1]


def counts(store: FeedbackStore) -> dict[str, int]:
    return {name: entry.count for name, entry in store.entries().items()}


def test_W19_feedback_is_counted_and_kept_as_the_tracker_has_it(store: FeedbackStore) -> None:
    assert store.entries() == {}
    assert not store.path.parent.exists(), "reading makes nothing"
    assert track(store, "too_formal") == FeedbackCount(category="too_formal", count=1)
    assert json.loads(store.path.read_text()) == {
        "too_formal": {
            "count": 1,
            "last_seen": STAMP,
            "history": [{"date": "2026-02-09", "raw": "занадто офіційно"}],
        }
    }
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(("said", "kept"), [("Stiff!", "Stiff!"), ("", "занадто офіційно")])
def test_W19_what_the_person_said_is_kept_and_not_what_was_made_of_it(
    store: FeedbackStore, said: str, kept: str
) -> None:
    track(VerbatimFeedbackStore(store.path.parent, lambda: said), "too_formal")
    assert [one.raw for one in store.entries()["too_formal"].history] == [kept]


def test_W19_from_the_third_time_on_there_is_a_suggestion(store: FeedbackStore) -> None:
    assert [track(store, "too_formal").threshold_reached for _ in range(4)] == [False, False, True, True]
    assert FeedbackCount(category="too_formal", count=2).suggestion is None
    assert FeedbackCount(category="too_formal", count=3).suggestion == (
        "Користувач 3 рази сказав що текст занадто формальний. Запропонуй оновити voice.formality у style profile."
    )


@pytest.mark.parametrize("category", CATEGORIES)
def test_W19_every_suggestion_names_a_field_of_a_profile(category: Category) -> None:
    field = MEANINGS[category].field
    assert field in (FeedbackCount(category=category, count=3).suggestion or "")
    assert field.replace("*", "linkedin") in PATHS


@pytest.mark.parametrize(
    ("count", "word"),
    [
        *((3, "рази"), (4, "рази"), (5, "разів"), (11, "разів"), (12, "разів"), (14, "разів"), (21, "раз")),
        *((22, "рази"), (25, "разів"), (100, "разів"), (101, "раз"), (111, "разів"), (112, "разів")),
    ],
)
def test_W19_numbers_are_said_as_ukrainian_has_them(count: int, word: str) -> None:
    assert f"Користувач {count} {word} сказав" in (FeedbackCount(category="other", count=count).suggestion or "")


def test_W19_the_last_ten_texts_are_kept_and_long_ones_cut(store: FeedbackStore) -> None:
    for number in range(MAX_HISTORY + 3):
        store.track("other", f"текст {number}", now=NOW)
    store.track("other", "x" * (MAX_RAW_CHARACTERS + 1), now=NOW)
    store.track("other", "\ud800", now=NOW)
    entry = store.entries()["other"]
    assert (entry.count, len(entry.history)) == (MAX_HISTORY + 5, MAX_HISTORY)
    assert [said.raw for said in entry.history[:2]] == ["текст 5", "текст 6"]
    assert (len(entry.history[-2].raw), entry.history[-2].raw[-1], entry.history[-1].raw) == (
        MAX_RAW_CHARACTERS,
        "…",
        "\ufffd",
    )


def test_W19_a_change_of_the_profile_answers_what_is_about_its_fields(store: FeedbackStore) -> None:
    assert store.resolve(["voice.formality"], "r") == ()
    for category in CATEGORIES:
        track(store, category, 3)
    assert store.resolve(["voice.formality", "platforms.linkedin.max_length"], "r") == (
        "too_formal",
        "too_casual",
        "too_long",
    )
    left = counts(store)
    assert {name for name, count in left.items() if count == 0} == {"too_formal", "too_casual", "too_long"}
    assert set(left.values()) == {0, 3}
    assert len(store.entries()["too_formal"].history) == 3, "what was said is kept"
    assert store.resolve(["voice.formality"], "r") == (), "it has been answered"
    assert not track(store, "too_formal").threshold_reached


def test_W19_the_reason_may_name_what_it_answers(store: FeedbackStore) -> None:
    track(store, "other", 3)
    track(store, "too_short", 3)
    assert store.resolve(["source"], "3x фідбек: otherwise") == ()
    assert store.resolve(["source"], "3x фідбек: other, too_short") == ("too_short", "other")


def test_W19_one_category_or_all_can_be_forgotten(store: FeedbackStore) -> None:
    store.reset()
    assert not store.path.parent.exists()
    track(store, "other")
    track(store, "hook_weak")
    store.reset("other")
    assert counts(store) == {"hook_weak": 1}
    store.reset()
    assert store.entries() == {}


def test_W19_what_is_answered_by_nobody_else_meanwhile_is_answered_once(store: FeedbackStore) -> None:
    """Between looking and changing, another process may have forgotten a category."""
    track(store, "other")
    looked = store.entries()
    store.reset()
    store.entries = lambda: looked  # type: ignore[method-assign]  # what was there a moment ago
    assert store.resolve([], "other") == ("other",)
    del store.entries
    assert store.entries() == {}


BROKEN = {
    "empty": b"",
    "cut": b'{"other": {"count": 1',
    "array": b"[]",
    "not text": b"\xff",
    "trailing": b"{}x",
    "twice": b'{"other": {"count": 1, "count": 2}}',
    "count -1": b'{"other": {"count": -1, "last_seen": "", "history": []}}',
    "count true": b'{"other": {"count": true, "last_seen": "", "history": []}}',
    "count text": b'{"other": {"count": "1", "last_seen": "", "history": []}}',
    "more": b'{"other": {"count": 1, "last_seen": "", "history": [], "more": 1}}',
    "raw": b'{"other": {"count": 1, "last_seen": "", "history": [{"date": "", "raw": 1}]}}',
    "too large": b" " * (MAX_TRACKER_BYTES + 1),
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN.keys())
def test_W19_XJ3_a_damaged_tracker_is_reported_and_left_alone(store: FeedbackStore, content: bytes) -> None:
    store.path.parent.mkdir()
    store.path.write_bytes(content)
    for use in (store.entries, lambda: track(store, "other"), store.reset, lambda: store.resolve([], "other")):
        with pytest.raises((JsonRefused, FileProblem), match=r"feedback-tracker\.json"):
            use()
    assert content == store.path.read_bytes()


def test_W19_a_category_that_is_not_known_here_is_kept(store: FeedbackStore) -> None:
    store.path.parent.mkdir()
    store.path.write_text('{"of_tomorrow": {"count": 2, "last_seen": "", "history": []}}')
    track(store, "other")
    assert counts(store) == {"of_tomorrow": 2, "other": 1}


@settings(max_examples=20)  # each is written and synced: 10 ms a time
@given(st.lists(st.tuples(st.sampled_from(CATEGORIES), st.text(max_size=20)), max_size=6))
def test_W19_whatever_is_said_is_counted(said: list[tuple[Category, str]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        store = FeedbackStore(Path(folder))
        for category, raw in said:
            store.track(category, raw, now=NOW)
        assert sum(counts(store).values()) == len(said)
        kept = [
            one.raw for category in CATEGORIES if category in counts(store) for one in store.entries()[category].history
        ]
        assert sorted(kept) == sorted(raw for _, raw in said)
