"""`stats` and `feedback`, without a terminal (W35, W19)."""

import json

from tests.cli.ghostpen.pen import Pen
from tests.packs.writing.profiles.samples import NOW, STAMP

from toolroll.cli.ghostpen import commands
from toolroll.cli.ghostpen.stats import CATEGORIES
from toolroll.packs.writing.posts.stats import DraftLog, DraftRecord
from toolroll.packs.writing.profiles.feedback import FeedbackStore


def counted(pen: Pen) -> FeedbackStore:
    store = FeedbackStore(pen.data)
    for category in ("too_formal", "too_formal", "hook_weak"):
        store.track(category, "надто\nофіційно", now=NOW)
    return store


def test_W35_without_drafts_it_says_so(pen: Pen) -> None:
    assert pen.run("stats", "--lang", "en").out == "No drafts have been written yet.\n"
    assert pen.run("stats", "--lang", "uk").out == "Чернеток ще немає.\n"


def test_W35_the_numbers_in_words_and_as_json(pen: Pen) -> None:
    log = DraftLog(pen.data)
    for rounds, is_accepted in ((1, True), (3, True), (2, False)):
        log.add(DraftRecord(at=STAMP, platform="x", profile="default", rounds=rounds, is_accepted=is_accepted))
    counted(pen)
    told = pen.run("stats", "--lang", "en").out.splitlines()
    assert told == [
        "Drafts: 3. Accepted: 2, of these the first time: 1 (50 %). Rounds on average: 2.0.",
        "Most frequent feedback: too formal (2), weak hook (1).",
    ]
    assert "Найчастіші відгуки: занадто формально (2)" in pen.run("stats", "--lang", "uk").out
    assert pen.json("stats") == {
        "drafts": 3,
        "accepted": 2,
        "accepted_first_time": 1,
        "first_time_share": 0.5,
        "mean_rounds": 2.0,
        "top_feedback": [{"category": "too_formal", "count": 2}, {"category": "hook_weak", "count": 1}],
    }


def test_W35_damaged_feedback_leaves_the_numbers_of_drafts(pen: Pen) -> None:
    DraftLog(pen.data).add(DraftRecord(at=STAMP, platform="x", profile="default", rounds=1, is_accepted=True))
    (pen.data / "feedback-tracker.json").write_text("{")
    told = pen.run("stats", "--lang", "en")
    assert (told.code, told.out.startswith("Drafts: 1. Accepted: 1")) == (1, True)
    assert "feedback-tracker.json' cannot be used" in told.err
    ukrainian = pen.run("stats", "--lang", "uk").err.partition(": ")[2].rstrip()
    assert json.loads(pen.run("stats", "--json", "--lang", "uk").out)["error"]["message"] == ukrainian
    as_json = pen.run("stats", "--json", "--lang", "en")
    found = json.loads(as_json.out)
    assert (as_json.code, as_json.err, found["error"]["code"]) == (1, "", "invalid_json")
    assert "feedback-tracker.json' cannot be used" in found["error"]["message"]
    assert (found["drafts"], found["accepted"], found["top_feedback"]) == (1, 1, None)


def test_W19_feedback_is_listed_with_what_was_said(pen: Pen) -> None:
    assert pen.run("feedback", "list", "--lang", "uk").err == "Відгуків ще немає.\n"
    assert pen.json("feedback", "list") == {"feedback": {}}
    counted(pen)
    told = pen.run("feedback", "list", "--lang", "en").out.splitlines()
    assert told[:2] == ["too formal (too_formal): 2, last on 2026-02-09", "  2026-02-09  надто офіційно"]
    told = pen.run("feedback", "list", "--lang", "uk").out.splitlines()
    assert told[0] == "занадто формально (too_formal): 2, востаннє 2026-02-09"
    listed = pen.json("feedback", "list")["feedback"]
    assert (list(listed), listed["hook_weak"]["count"]) == (["too_formal", "hook_weak"], 1)


def test_W19_a_category_that_nobody_knows_is_listed_as_it_is(pen: Pen) -> None:
    path = counted(pen).path
    path.write_text(path.read_text().replace("hook_weak", "hook_odd"))
    assert "hook_odd (hook_odd): 1, " in pen.run("feedback", "list", "--lang", "uk").out


def test_W19_feedback_is_forgotten_only_after_a_yes(pen: Pen) -> None:
    store = counted(pen)
    assert pen.run("feedback", "reset", "too_formal").code == 3
    assert store.entries()["too_formal"].count == 2
    assert pen.run("feedback", "reset", "too_formal", "--yes", "--lang", "uk").out == "Видалено: занадто формально.\n"
    assert list(store.entries()) == ["hook_weak"]
    assert pen.run("feedback", "reset").code == 3
    assert pen.json("feedback", "reset", "--yes") == {"reset": ["hook_weak"]}
    assert pen.json("feedback", "reset", "--yes") == {"reset": []}
    assert store.entries() == {}


def test_W19_an_unknown_category_is_refused(pen: Pen) -> None:
    told = pen.run("feedback", "reset", "rude", "--yes", "--json")
    assert (told.code, json.loads(told.out)["error"]["code"]) == (2, "usage")


def test_W19_a_damaged_tracker_is_told_and_left_alone(pen: Pen) -> None:
    counted(pen).path.write_text("{")
    for command in (("stats",), ("feedback", "list"), ("feedback", "reset", "--yes")):
        told = pen.run(*command)
        assert (told.code, "cannot be used" in told.err) == (1, True)
    assert FeedbackStore(pen.data).path.read_text() == "{"


def test_W19_the_categories_of_the_command_are_those_of_the_store() -> None:
    assert commands._CATEGORIES == CATEGORIES
