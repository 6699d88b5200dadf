"""`toolroll stats`: figures that fit the terminal, and the same for programs."""

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from tests.journal.test_statistics import ended
from tests.support.run_log import RunLog, looking

from toolroll import Approve, Reject
from toolroll.cli.actions.stats import (
    MAX_TOOLS,
    Figures,
    bar,
    dollars,
    duration,
    has_blocks,
    size,
    sparkline,
    statistics_fields,
)
from toolroll.journal.records import RunBegan
from toolroll.journal.statistics import DayFigures, Statistics
from toolroll.models.scripted import Call
from toolroll.testing import RecordingApprover

DAY_S = 24 * 3600


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> RunLog:
    monkeypatch.setenv("TOOLROLL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.chdir(tmp_path)
    return RunLog(tmp_path / "home", capsys)


def filled(tools: int = 3, days: int = 3, cost: float = 0.25) -> Statistics:
    found = Statistics(runs=12, unreadable=1)
    for number, name in enumerate(
        ("read_file", "дуже_довга_назва_інструмента", "読む_ファイル_長い名前です", *map(str, range(tools)))
    ):
        tool = found.tool(name)
        tool.calls, tool.failures, tool.byte_size = 1_234 * (number + 1), number, 3_400_000
        tool.approvals = tool.rejections = number
        tool.latency.add(12.0)
    for name in ("sonnet", "ollama:qwen3"):
        model = found.model(name)
        model.runs, model.steps, model.input_tokens, model.output_tokens = 10, 40, 123_456_789, 5_000
        model.cost, model.unpriced = (cost, 0) if name == "sonnet" else (0.0, 40)
        model.latency.add(1_500.0)
    for day in range(days):
        found.days[date(2026, 3, 1 + 2 * day)] = DayFigures(steps=1, tokens=100 * day, cost=cost * day)
    return found


@pytest.mark.parametrize("columns", [40, 80, 100])
@pytest.mark.parametrize("blocks", [True, False])
def test_D5_everything_fits_the_terminal_and_names_align(columns: int, blocks: bool) -> None:
    lines = list(Figures(filled(), columns=columns, blocks=blocks).everything())
    assert max(map(cell_len, lines)) <= columns
    text = "\n".join(lines)
    assert all(
        word in text for word in ("read_file", "Models", "sonnet", "12 runs", "80 steps", "p95", "tokens", "$0.25")
    )
    if not blocks:
        assert not set("█▏▁") & set(text)
    if columns >= 80:
        header = lines[lines.index("") + 1]
        rows = [line for line in lines if "/" in line or "-  " in line][:5]
        ends = {cell_len(row[: row.rindex(" ms") + 3]) for row in rows if " ms" in row}
        assert ends == {cell_len(header[: header.index("p99") + 3])}


def test_D5_days_without_runs_are_in_the_line() -> None:
    text = "\n".join(Figures(filled(), columns=80, blocks=True).everything())
    assert "Days from 2026-03-01 to 2026-03-05" in text
    assert "tokens ···" not in text
    assert "tokens ··▄·█" in text
    assert "cost   ··▄·█" in text
    assert "At most 200 tokens, $0.50 a day" in text
    free = "\n".join(Figures(filled(cost=0.0), columns=40, blocks=False).everything())
    assert "cost   " not in free
    assert "tokens ..+.@" in free
    assert "Days from" not in "\n".join(Figures(filled(days=1), columns=80, blocks=True).everything())


def test_D5_only_the_latest_days_and_the_first_tools_are_shown() -> None:
    found = filled(tools=MAX_TOOLS)
    found.days[date(1970, 1, 1)] = DayFigures(tokens=5)
    lines = list(Figures(found, columns=40, blocks=True).everything())
    assert "... and 3 more tools: see --json" in lines
    assert len(next(line for line in lines if line.startswith("tokens "))) == 40
    assert "1 records could not be read." in lines


def test_D5_a_run_log_in_the_terminal_and_as_json(log: RunLog) -> None:
    approver = RecordingApprover([Approve(), Reject("no")])
    log.run(looking(), Call("save", {"text": "a"}), Call("save", {"text": "b"}), "Done.", approver=approver)
    log.run(looking("long"), "Read.")
    code, out, err = log.call("stats")
    assert (code, err) == (0, "")
    assert out.startswith("2 runs, 6 steps, 4 calls, 90 tokens, cost unknown\n\nTools ")
    assert "1/1" in out
    code, told = log.json("stats")
    assert set(told) == {"since_days", "totals", "tools", "models", "days", "favourites", "unreadable"}
    look, save = told["tools"]
    assert (look["name"], look["calls"], look["failures"], look["approvals"]) == ("look", 2, 0, 0)
    assert look["byte_size"] > 26_000
    assert (save["calls"], save["failures"], save["approvals"], save["rejections"]) == (2, 0, 1, 1)
    assert set(save["latency_ms"]) == {"p50", "p95", "p99"}
    [model] = told["models"]
    assert (model["name"], model["runs"], model["steps"], model["unpriced"]) == ("scripted", 2, 6, 6)
    assert [day["steps"] for day in told["days"]] == [6]
    assert told["totals"]["input_tokens"] == 60
    assert told["favourites"] == ["look", "save"]


def test_D5_one_tool_one_model_and_the_last_days(log: RunLog) -> None:
    log.run(looking(), Call("save", {"text": "a"}), "Done.")
    log.run("Old.", clock=lambda: datetime(2020, 1, 1, tzinfo=UTC).timestamp())
    out = log.call("stats", "--tool", "look")[1]
    assert (out.count("\n"), "look" in out, "save" in out) == (2, True, False)
    assert [tool["name"] for tool in log.json("stats", "--tool", "look")[1]["tools"]] == ["look"]
    assert log.json("stats")[1]["totals"]["runs"] == 2
    assert log.json("stats", "--since", "3")[1]["totals"]["runs"] == 1
    assert log.json("stats", "--model", "scripted")[1]["totals"]["runs"] == 2
    for nothing in (["--tool", "none"], ["--model", "none"]):
        code, out, err = log.call("stats", *nothing)
        assert (code, out, "Nothing was recorded that fits" in err) == (0, "", True)
    assert log.json("stats", "--since", "0")[0] == 2


def test_D5_without_a_run_log_nothing_is_made(log: RunLog) -> None:
    assert log.call("stats")[0] == 0
    assert log.json("stats")[1]["totals"]["runs"] == 0
    assert not log.path.exists()


@pytest.mark.parametrize(("more", "locale"), [((), "C"), (("--plain",), "C.UTF-8"), ((), "uk_UA.KOI8-U")])
def test_D5_letters_that_every_terminal_has(
    log: RunLog, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...], locale: str
) -> None:
    monkeypatch.setenv("LC_ALL", locale)
    log.run(looking(), "Done.")
    out = log.call("stats", *more)[1]
    assert out.isascii()
    assert "####" in out


def test_XA6_names_that_a_model_made_up_are_shown_escaped(log: RunLog) -> None:
    log.run(Call("\x1b[2J\u202eevil", {}), "Done.")
    out = log.call("stats")[1]
    assert "\x1b" not in out
    assert "‹U+001B›" in out


def test_D6_no_secret_is_in_the_figures(log: RunLog, monkeypatch: pytest.MonkeyPatch) -> None:
    key, own = "sk-ant-api03-" + "Ab3" * 30, "canary-" + "7f3a9c" * 5
    monkeypatch.setenv("SOME_API_KEY", own)
    log.run(looking(key), Call(f"look_{key}", {"path": own}), "Done.", prompt=key)
    for out in (log.call("stats")[1], json.dumps(log.json("stats")[1])):
        assert key not in out
        assert own not in out


def test_XD4_a_file_that_is_no_run_log_is_told(log: RunLog) -> None:
    log.write("one", RunBegan(model="m", system="", tools={}))
    log.path.write_bytes(b"not a data base" * 100)
    for beside in log.path.parent.glob("runs.db-*"):
        beside.unlink()
    code, told = log.json("stats")
    assert (code, told["error"]["code"]) == (1, "journal")


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.integers(1, 200), st.booleans())
def test_D5_a_bar_is_as_long_as_its_share(value: float, most: float, width: int, blocks: bool) -> None:
    drawn = bar(value, most, width, blocks=blocks)
    assert len(drawn) <= width
    assert bool(drawn) == (value > 0 and most > 0)
    if value >= most > 0:
        assert len(drawn) == width


@given(st.lists(st.floats(0, 1e9), max_size=50), st.booleans())
def test_D5_a_line_has_a_letter_for_each_value(values: list[float], blocks: bool) -> None:
    drawn = sparkline(values, blocks=blocks)
    assert len(drawn) == len(values)
    top = "█" if blocks else "@"
    assert all(drawn[place] == top for place, value in enumerate(values) if value == max(values) > 0)


@given(st.floats(0, 1e7), st.integers(0, 10**15))
def test_D5_numbers_are_short(milliseconds: float, count: int) -> None:
    assert len(duration(milliseconds)) <= 7
    assert len(size(count)) <= 7


def test_D5_numbers_as_people_read_them() -> None:
    assert [duration(value) for value in (None, 0.2, 12.4, 1_500, 90_000)] == ["-", "<1 ms", "12 ms", "1.5 s", "1.5 m"]
    assert [size(value) for value in (0, 999, 1_000, 3_400_000, 10**16)] == ["0 B", "999 B", "1 kB", "3 MB", "10000 TB"]
    assert [dollars(*given) for given in ((0.0, 2, 2), (0.0, 0, 0), (0.004, 0, 1), (1_234.5, 1, 2))] == [
        "cost unknown",
        "$0.00",
        "$0.0040",
        "$1,234.50",
    ]


@pytest.mark.parametrize(
    ("encoding", "environment", "expected"),
    [
        ("utf-8", {}, True),
        ("UTF8", {"LANG": "uk_UA.UTF-8"}, True),
        ("utf-8", {"LANG": "C.UTF-8", "LC_ALL": "C"}, False),
        ("utf-8", {"LANG": "de_DE.ISO-8859-1@euro"}, False),
        ("utf-8", {"LANG": "de_DE"}, True),
        ("ascii", {"LANG": "C.UTF-8"}, False),
        (None, {}, False),
    ],
)
def test_D5_blocks_are_for_terminals_that_have_them(
    encoding: str | None, environment: dict[str, str], expected: bool
) -> None:
    assert has_blocks(encoding, environment) is expected


def test_D5_the_fields_name_what_was_asked_for() -> None:
    assert statistics_fields(Statistics(), since=3, tool="x")["since_days"] == 3


def test_D5_runs_that_called_nothing_have_no_table_of_tools() -> None:
    assert list(Figures(Statistics(runs=1), columns=80, blocks=True).everything()) == [
        "1 run, 0 steps, 0 calls, 0 tokens, $0.00"
    ]


def test_D5_tools_are_listed_by_use(log: RunLog) -> None:
    tools = ["list_files", "read_file", "write_todos"]
    before = [tool["name"] for tool in log.json("tools", "list", "--by-use")[1]["tools"]]
    assert before == [tool["name"] for tool in log.json("tools", "list")[1]["tools"]]
    records = [ended(name) for place, name in enumerate(tools) for _ in range(place + 1)]
    log.write("one", RunBegan(model="m", system="", tools={}), *records)
    after = [tool["name"] for tool in log.json("tools", "list", "--by-use")[1]["tools"]]
    assert (after[0], sorted(after)) == ("write_todos", sorted(before))
    assert after.index("read_file") + 1 == after.index("list_files")
    text = log.call("tools", "list", "--by-use")[1]
    assert text.index("write_todos") < text.index("read_file") < text.index("list_files")
