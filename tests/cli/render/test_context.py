"""`toolroll runs show ID --context`: what a model would be sent next, for people and for programs."""

import io
import json
from pathlib import Path

import pytest
from tests.support.programs import environment, run_toolroll

from toolroll.agent.context.report import recorded_context
from toolroll.cli.render.context import context_lines, show_context
from toolroll.cli.session import Session
from toolroll.journal.journal import Recording
from toolroll.journal.records import MessageAdded, MessagesCompacted, ModelTurn, Record, RunBegan
from toolroll.kernel.data.messages import AssistantMessage, CallBlock, TextBlock, ToolCall, UserMessage
from toolroll.kernel.data.usage import Usage

TURN = AssistantMessage(blocks=(TextBlock(text="word " * 8),))
USAGE = Usage(input_tokens=1_000, output_tokens=10, requests=1)
RECORDS: tuple[Record, ...] = (
    RunBegan(model="gpt-4", system="Be brief.", tools={}),
    MessageAdded(message=UserMessage.of("word " * 80)),
    ModelTurn(message=TURN, stop="end", stop_detail="", usage=USAGE, cost=None, duration_s=1.0),
    MessageAdded(message=UserMessage.of("And now?")),
)


def shown(*records: Record, as_json: bool = False) -> str:
    session = Session(_out=io.StringIO(), json=as_json)
    show_context(session, Recording(run_id="run", records=tuple(enumerate(records, 1))))
    assert isinstance(session.out, io.StringIO)
    return session.out.getvalue()


def test_S4_the_context_is_a_table() -> None:
    assert shown(*RECORDS).splitlines() == [
        "kind       tool                      count    tokens  window",
        "system                                   1         2    0.0%",
        "user                                     2       102    1.2%",
        "answers                                  1        10    0.1%",
        "other                                    1       904   11.0%",
        "1,018 of 8,192 tokens (12.4%), by the provider's count",
    ]


def test_S4_an_estimate_is_called_one_and_compactions_are_counted() -> None:
    records = (
        *RECORDS[:2],
        MessageAdded(message=UserMessage.of("More.")),
        MessagesCompacted(through=1, summary="All of it."),
    )
    assert shown(*records).splitlines()[-1].endswith("tokens (0.1%), estimated, compacted 1 times")


def test_S4_what_rounds_to_no_tokens_is_told_all_the_same() -> None:
    """A script counts no tokens: every part of its window is scaled down to next to nothing."""
    call = CallBlock(call=ToolCall(id="c", name="look", arguments="{}"))
    turn = AssistantMessage(blocks=(TextBlock(text="I look."), call))
    usage = Usage(input_tokens=0, output_tokens=1, requests=1)
    answered = ModelTurn(message=turn, stop="tool_calls", stop_detail="", usage=usage, cost=None, duration_s=1.0)
    kinds = [line.split()[0] for line in shown(*RECORDS[:2], answered).splitlines()[1:-1]]
    assert [kind for kind in kinds if kind != "system"][:3] == ["user", "answers", "calls"]


@pytest.mark.parametrize("columns", [24, 40, 60])
def test_S4_on_a_narrow_screen_each_row_of_the_context_is_a_line(columns: int) -> None:
    call = AssistantMessage(blocks=(CallBlock(call=ToolCall(id="c", name="find_definition_of", arguments="{}")),))
    answered = ModelTurn(message=call, stop="tool_calls", stop_detail="", usage=USAGE, cost=None, duration_s=1.0)
    report = recorded_context("run", [*RECORDS, answered])
    lines = list(context_lines(report, columns))
    assert {len(line) for line in lines[:-1]} == {columns - 1}
    assert [line.split()[-1] for line in lines[:-1]] == [line.split()[-1] for line in list(context_lines(report))[:-1]]


def test_S4_the_context_is_data_too() -> None:
    told = json.loads(shown(*RECORDS, as_json=True))
    assert (told["run_id"], told["window_tokens"], told["tokens"], told["is_measured"]) == ("run", 8_192, 1_018, True)
    assert told["rows"][1] == {"kind": "user", "tool": "", "count": 2, "tokens": 102, "percent": 100 * 102 / 8_192}


def test_S4_runs_show_context_from_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text(json.dumps(["It is done."]))

    def call(*arguments: str) -> str:
        done = run_toolroll(*arguments, env=environment(tmp_path / "home"), cwd=tmp_path)
        assert done.returncode == 0
        return done.stdout

    call("run", "Go.", "--model", "scripted:script.json")
    run_id = json.loads(call("runs", "list", "--json"))["runs"][0]["run_id"]
    assert call("runs", "show", run_id, "--context").startswith("kind ")
    assert json.loads(call("runs", "show", run_id, "--context", "--json"))["run_id"] == run_id
