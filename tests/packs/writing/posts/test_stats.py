"""Numbers about drafts, counted by many processes at once, and about texts."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from toolroll.packs.writing.posts.stats import FILE, DraftLog, DraftRecord, compute_stats, measure


def record(rounds: int = 1, *, is_accepted: bool = True) -> DraftRecord:
    return DraftRecord(
        at="2026-02-08T14:30:00Z", platform="x", profile="default", rounds=rounds, is_accepted=is_accepted
    )


def test_W35_drafts_are_counted_with_the_feedback_that_came_most() -> None:
    records = [record(1), record(3), record(1), record(7, is_accepted=False)]
    feedback = {"too_long": 2, "other": 0, "too_formal": 5, "hook_weak": 2, "tone_off": 1}
    stats = compute_stats(records, feedback)
    assert (stats.drafts, stats.accepted, stats.accepted_first_time) == (4, 3, 2)
    assert stats.mean_rounds == pytest.approx(5 / 3)
    assert stats.first_time_share == pytest.approx(2 / 3)
    assert stats.top_feedback == (("too_formal", 5), ("hook_weak", 2), ("too_long", 2))


def test_W35_without_drafts_there_are_no_shares() -> None:
    stats = compute_stats([], {})
    assert (stats.drafts, stats.mean_rounds, stats.first_time_share, stats.top_feedback) == (0, 0.0, 0.0, ())


def test_W35_drafts_are_kept_in_their_order_and_private(tmp_path: Path) -> None:
    log = DraftLog(tmp_path / "data")
    assert log.read() == ()
    log.add(record(1))
    log.add(record(2, is_accepted=False))
    assert log.read() == (record(1), record(2, is_accepted=False))
    assert stat.S_IMODE((tmp_path / "data" / FILE).stat().st_mode) == 0o600


def test_W35_damaged_lines_cost_only_themselves(tmp_path: Path) -> None:
    log = DraftLog(tmp_path)
    log.add(record(1))
    good = (tmp_path / FILE).read_text()
    bad = ["not json", "[]", "{}", good.strip().replace('"rounds": 1', '"rounds": "1"')]
    bad += [good.strip().replace('"rounds": 1', '"rounds": 0'), good.strip().replace("true", "1"), '{"at": "cut of']
    (tmp_path / FILE).write_text(good + "\n".join(bad))
    log.add(record(2))
    assert log.read() == (record(1), record(2))


ADDER = """
import sys
from pathlib import Path
from toolroll.packs.writing.posts.stats import DraftLog, DraftRecord
log = DraftLog(Path(sys.argv[1]))
for number in range(20):
    log.add(DraftRecord(at="", platform="x", profile="default", rounds=number + 1, is_accepted=True))
"""


def test_W35_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    children = [subprocess.Popen([sys.executable, "-c", ADDER, str(tmp_path)]) for _ in range(3)]
    assert [child.wait() for child in children] == [0] * 3
    assert sorted(one.rounds for one in DraftLog(tmp_path).read()) == sorted(list(range(1, 21)) * 3)


def test_W35_texts_are_measured() -> None:
    measures = measure(["Перше речення. Друге!\n\nТретє 🔥 #tag #two", "One two three four.", "", "🔥"])
    assert (measures.texts, measures.emoji, measures.hashtags) == (2, 0.5, 1.0)
    assert measures.words_a_sentence == pytest.approx((2 + 1 + 3 + 4) / 4)
    assert measures.sentences_a_paragraph == pytest.approx(4 / 3)
    assert measures.characters == pytest.approx((38 + 19) / 2, abs=1)


def test_W35_no_texts_measure_nothing() -> None:
    assert measure([]).characters == 0.0
