"""Calls, todos and the status in lines."""

import json

import pytest

from toolroll import ToolCall, ToolResult
from toolroll.agent.cost import Bill
from toolroll.agent.events import CallFinished
from toolroll.agent.result import Step, SubRun
from toolroll.cli.render.calls import format_duration
from toolroll.cli.render.live.lines import (
    MAX_SHOWN,
    RunningCall,
    Status,
    format_finished,
    format_progress,
    format_running,
    format_todos,
    format_written,
    size,
)
from toolroll.cli.render.plain import format_call
from toolroll.kernel.call.events import Progress
from toolroll.kernel.data.usage import Usage

LOOK = ToolCall(id="c", name="look", arguments='{"path": "' + "я" * 80 + '"}')


def finished(result: ToolResult, columns: int, call: ToolCall = LOOK) -> str:
    return format_finished(CallFinished(call=call, result=result, duration_ms=12.3), columns).plain


def test_S1_a_call_is_one_line_of_the_screen() -> None:
    done = ToolResult.of_text("x" * 1_500)
    assert finished(done, 80) == f'· look {{"path": "{"я" * 42}…  12 ms, 1,500 bytes'
    assert len(finished(done, 40)) == 40
    assert finished(done, 20) == '· look {"path"…  12 ms, 1,500 bytes'
    short = ToolCall(id="c", name="look", arguments="{}")
    assert finished(done, 20, short) == "· look {}  12 ms, 1,500 bytes"


def test_S1_XA6_an_error_is_told_whole_and_in_red() -> None:
    told = "There is no\x1b[2J file of that name in the folder. Those there are:\na.txt"
    line = format_finished(
        CallFinished(call=LOOK, result=ToolResult.failure(told, code="gone"), duration_ms=2_345.0), 40
    )
    assert line.plain.endswith("…  2.3 s, gone: There is no‹U+001B›[2J file of that name in the folder.")
    assert {str(span.style) for span in line.spans} >= {"red", "bold red"}


def test_S1_of_a_failure_with_a_message_people_are_told_that() -> None:
    gone = ToolResult.failure({"error": True, "message": "There is no 'a'."}, code="gone")
    assert finished(gone, 80).endswith("…  12 ms, gone: There is no 'a'.")


def test_S7_calls_that_run_show_their_time_and_how_far_they_are() -> None:
    calls = [
        RunningCall(call=ToolCall(id=str(n), name=f"t{n}\x1b", arguments="{}"), since_s=float(n)) for n in range(9)
    ]
    calls[1].progress = Progress(call_id="1", message="half\n", fraction=0.5)
    calls[2].progress = Progress(call_id="2", message="some")
    assert [line.plain for line in format_running(calls, 3.6)] == [
        "▸ t0‹U+001B› 3 s  {}",
        "▸ t1‹U+001B› 2 s  █████░░░░░ 50% half‹U+000A›",
        "▸ t2‹U+001B› 1 s  some",
        "▸ t3‹U+001B› 0 s  {}",
        "▸ t4‹U+001B› 0 s  {}",
        "▸ t5‹U+001B› 0 s  {}",
        "  and 3 more",
    ]
    assert len(format_running(calls[:6], 3.6)) == 6
    assert format_written("edit", 1_234).plain == "▸ edit: 1,234 characters of arguments"


@pytest.mark.parametrize(("fraction", "bar"), [(-1.0, "░" * 10 + " 0%"), (2.0, "█" * 10 + " 100%")])
def test_S7_a_share_that_makes_no_sense_is_still_a_bar(fraction: float, bar: str) -> None:
    assert format_progress(Progress(call_id="c", message="x", fraction=fraction)).plain == f"{bar} x"


def test_S1_figures_as_people_read_them() -> None:
    assert [format_duration(0.4), format_duration(999.0), format_duration(61_500.0)] == ["0 ms", "999 ms", "61.5 s"]
    assert [size(0), size(9_999), size(1_234_567)] == ["0 bytes", "9,999 bytes", "1,235 KB"]


def todos(*statuses: str) -> dict[str, object]:
    return {"todos": [{"content": f"n{n}", "status": status} for n, status in enumerate(statuses)], "made": 9}


def test_S1_todos_are_a_short_list_with_marks() -> None:
    drawn = [line.plain for line in format_todos(todos("completed", "in_progress", "pending", "other"))]
    assert drawn == ["todos 1/4", "  [x] n0", "  [>] n1", "  [ ] n2", "  [ ] n3"]
    assert [line.plain for line in format_todos({"todos": [{"content": "a\x1b\nb"}, "x"]})] == [
        "todos 0/1",
        "  [ ] a‹U+001B›‹U+000A›b",
    ]


def test_S1_of_a_long_list_what_is_done_is_left_out_first() -> None:
    lines = [line.plain for line in format_todos(todos(*["completed"] * 8, "in_progress", *["pending"] * 11))]
    assert lines[:3] == ["todos 8/20", "  [x] n7", "  [>] n8"]
    assert (len(lines), lines[-1]) == (MAX_SHOWN + 2, "  and 1 more")


@pytest.mark.parametrize("value", [None, [], {}, {"todos": "x"}])
def test_S1_what_is_no_list_of_todos_is_not_shown(value: object) -> None:
    assert format_todos(value) == []


def step(number: int, *, cost: float | None = None, requests: int = 1, sub_runs: tuple[SubRun, ...] = ()) -> Step:
    usage = Usage(input_tokens=100_000, output_tokens=2_000, requests=requests)
    bill = Bill.from_usd(cost)
    return Step(number=number, text="", usage=usage, bill=bill, duration_s=1.0, sub_runs=sub_runs)


def test_S1_the_status_says_what_is_known() -> None:
    status = Status("")
    assert status.line().plain == "step 1"
    status.model = "scripted:\x1b.json"
    status.number = 2
    status.count(step(1, cost=0.01))
    assert status.line().plain == "step 2 · 100,000 in, 2,000 out · $0.0100 · scripted:‹U+001B›.json"
    status.count(step(2))
    assert status.line().plain == "step 2 · 200,000 in, 4,000 out · scripted:‹U+001B›.json"


@pytest.mark.parametrize("model", ["opus", "anthropic:claude-opus-5-5", "claude-opus-5-5"])
def test_S1_the_status_says_how_full_the_window_is(model: str) -> None:
    status = Status(model)
    status.count(step(1))
    assert status.line().plain == f"step 1 · 100,000 in, 2,000 out · context 10% · {model}"
    status.count(step(2, requests=2))
    assert "context" not in status.line().plain


def test_XD6_no_line_of_a_call_shows_a_value_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    value = "correct horse battery"
    monkeypatch.setenv("SOME_SERVICE_TOKEN", value)
    call = ToolCall(id="c", name=f"send {value}", arguments=json.dumps({"text": value}))
    text = f"it said {value}"
    for is_error, result in ((False, ToolResult.of_text(text)), (True, ToolResult.failure(text, code="failed"))):
        event = CallFinished(call=call, result=result, duration_ms=1.0)
        for line in (format_finished(event, 300).plain, format_call(event)):
            assert value not in line
            assert line.count("[redacted:known]") == (3 if is_error else 2)
    [running] = format_running([RunningCall(call=call, since_s=0.0)], 1.0)
    assert value not in running.plain
