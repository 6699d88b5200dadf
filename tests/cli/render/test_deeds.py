"""The last line of a run says what was done, not what the model says of it (A54)."""

from typing import Any

import pytest

from toolroll.agent.events import CallFinished, RunStarted
from toolroll.cli.render.deeds import Deeds, DeedsRenderer
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.messages import ToolCall

CALL = ToolCall(id="c", name="edit", arguments="{}")
WRITTEN = ToolResult.of_text("Written: f (+1 -1).", {"change": "a1", "added": 3, "removed": 1, "files": 1})


def ended(result: ToolResult) -> CallFinished:
    return CallFinished(call=CALL, result=result, duration_ms=1.0)


@pytest.mark.parametrize(
    ("results", "line"),
    [
        ([], "no calls, nothing was changed"),
        ([ToolResult.of_text("read")], "1 call, nothing was changed"),
        ([ToolResult.failure("no", code="rejected")] * 2, "2 calls (2 failed), nothing was changed"),
        ([ToolResult.of_text("read"), WRITTEN], "2 calls, 1 change of files (+3 -1)"),
        ([WRITTEN, WRITTEN], "2 calls, 2 changes of files (+6 -2)"),
    ],
)
def test_A54_the_line_counts_calls_and_changes(results: list[ToolResult], line: str) -> None:
    deeds = Deeds()
    deeds.note(RunStarted(run_id="r", model="m"))
    for result in results:
        deeds.note(ended(result))
    assert deeds.describe() == line


class Inner:
    """A renderer that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def on_event(self, event: object, /) -> None:
        self.told.append(event)

    def finish(self, outcome: Any, error: Any = None, /) -> int:
        self.told.append("finish")
        return 4

    def close(self) -> None:
        self.told.append("close")


class Ended:
    pending: tuple[object, ...] = ()


def test_A54_it_is_the_last_line_and_changes_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    inner = Inner()
    renderer = DeedsRenderer(inner)
    event = ended(WRITTEN)
    renderer.on_event(event)
    result: Any = Ended()
    assert renderer.finish(result) == 4
    renderer.close()
    assert inner.told == [event, "finish", "close"]
    assert capsys.readouterr().err.splitlines()[-1] == "· 1 call, 1 change of files (+3 -1)"
    result.pending = (object(),)
    renderer.finish(result)
    assert capsys.readouterr().err == ""
