"""The exploration log: an array that grows by one entry, whatever was in the file before."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.agent.result import ToolCallLog
from toolroll.packs.research.log import LogEntry, add_entry, log_path, parse_log


def entry(**changed: Any) -> LogEntry:
    facts: dict[str, Any] = {
        "job_id": "j1",
        "idea": "Ідея",
        "mode": "business",
        "model": "m",
        "context": "",
        "is_update": False,
        "continue_from": None,
        "started_at": "2025-01-01T00:00:00+00:00",
        "completed_at": "2025-01-01T00:00:01+00:00",
        "duration_ms": 1_000,
        "steps": 2,
        "requests": 2,
        "input_tokens": 10,
        "output_tokens": 5,
        "cost_usd": None,
        "stop_reason": "answer",
        "output_path": "a/research.md",
        "runs": ("r1",),
    }
    return LogEntry(**facts | changed)


def test_R22_the_log_is_beside_its_document() -> None:
    assert log_path("2025-01-01-a/research.md") == "2025-01-01-a/exploration-log.json"


def test_R22_one_entry_is_appended_a_run() -> None:
    first = add_entry(None, entry())
    both = json.loads(add_entry(first, entry(job_id="j2")))
    assert [one["job_id"] for one in both] == ["j1", "j2"]
    assert "Ідея" in first
    assert first.endswith("]\n")


def test_R22_what_a_run_does_not_have_is_left_out() -> None:
    [plain] = json.loads(add_entry("", entry()))
    assert {"tool_calls", "notes", "error"}.isdisjoint(plain)
    assert plain["continue_from"] is None
    call = ToolCallLog(name="read_research", arguments="{}", duration_ms=1.0, ok=True, bytes=3)
    [full] = json.loads(add_entry(None, entry(tool_calls=(call,), notes="n", error="e")))
    assert full["tool_calls"][0]["name"] == "read_research"
    assert (full["notes"], full["error"]) == ("n", "e")


@pytest.mark.parametrize("before", ["{", '{"a": 1}', "null", "[1,]"])
def test_R22_a_log_that_cannot_be_read_is_not_lost(before: str) -> None:
    found = json.loads(add_entry(before, entry()))
    assert (found[0], len(found)) == ({"unreadable": before}, 2)


@given(st.text())
def test_R22_whatever_was_there_the_log_grows_by_one(before: str) -> None:
    after = add_entry(before, entry())
    assert len(parse_log(after)) == len(parse_log(before)) + 1
