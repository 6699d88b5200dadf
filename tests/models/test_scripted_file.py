"""A model that plays a file: what a turn can be, what is refused, and which turn comes next (A35)."""

import json
from pathlib import Path
from typing import Any

import pytest

from toolroll import Agent
from toolroll.errors import FileMissing, QuotaExceeded, RequestRefused, UsageError
from toolroll.kernel.data.messages import AssistantMessage, CallBlock, TextBlock, ToolCall, UserMessage
from toolroll.kernel.data.usage import Usage
from toolroll.models import scripted_file as module
from toolroll.models.model import ModelRequest, ModelResponse
from toolroll.models.scripted_file import scripted_file


def written(folder: Path, turns: object) -> Path:
    path = folder / "script.json"
    path.write_text(json.dumps(turns))
    return path


async def turn(path: Path, made: int = 0) -> ModelResponse:
    said = AssistantMessage(blocks=(TextBlock(text="x"),))
    request = ModelRequest(messages=[UserMessage.of("go"), *[said] * made])
    pieces = [piece async for piece in scripted_file(path).respond(request, stream=False)]
    assert isinstance(pieces[-1], ModelResponse)
    return pieces[-1]


async def test_A35_a_turn_is_a_text_or_has_calls(tmp_path: Path) -> None:
    calls = [{"name": "add", "arguments": {"a": 1}}, {"name": "add", "arguments": "{broken", "id": "mine"}]
    path = written(
        tmp_path, ["Hello.", {"text": "Two.", "calls": calls}, {"stop": "max_tokens", "usage": {"input_tokens": 7}}]
    )
    assert (await turn(path)).message.text == "Hello."
    second = await turn(path, 1)
    assert second.message.blocks == (
        TextBlock(text="Two."),
        CallBlock(call=ToolCall(id="call_2_1", name="add", arguments='{"a":1}')),
        CallBlock(call=ToolCall(id="mine", name="add", arguments="{broken")),
    )
    third = await turn(path, 2)
    assert (second.stop, third.stop, third.usage, third.message.blocks) == (
        "tool_calls",
        "max_tokens",
        Usage(input_tokens=7),
        (),
    )


async def test_A35_the_conversation_decides_which_turn_is_next(tmp_path: Path) -> None:
    path = written(tmp_path, ["One.", "Two."])
    first = await Agent(model=scripted_file(path)).run("Go.")
    second = await Agent(model=scripted_file(path)).run("And?", messages=first.messages)
    assert (first.text, second.text) == ("One.", "Two.")
    with pytest.raises(RequestRefused, match="it has 2 turns"):
        await turn(path, 2)


async def test_A35_a_turn_can_fail(tmp_path: Path) -> None:
    path = written(
        tmp_path, [{"error": {"code": "quota", "message": "No money."}}, {"error": {"code": "x", "message": ""}}]
    )
    with pytest.raises(QuotaExceeded, match=r"No money\."):
        await turn(path)
    with pytest.raises(UsageError, match=r"cannot fail with 'x'. Codes: .*quota"):
        await turn(path, 1)


@pytest.mark.parametrize(
    ("turns", "told"),
    [
        ({}, "the whole file: Input should be a valid array"),
        ([1], "0: Input should be"),
        (["a", {"txt": "b"}], "1.txt: Extra inputs are not permitted"),
        ([{"calls": [{"arguments": {}}]}], "0.calls.0.name: Field required"),
        ([{"stop": "tired"}], "0.stop: Input should be 'end'"),
    ],
)
def test_A35_a_file_that_cannot_be_played_is_refused_with_its_place(tmp_path: Path, turns: Any, told: str) -> None:
    with pytest.raises(UsageError) as refused:
        scripted_file(written(tmp_path, turns))
    assert told in refused.value.message


def test_A35_a_file_that_is_missing_or_huge_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileMissing):
        scripted_file(tmp_path / "none.json")
    monkeypatch.setattr(module, "MAX_SCRIPT_BYTES", 10)
    with pytest.raises(UsageError, match="larger than 10 bytes"):
        scripted_file(written(tmp_path, ["long enough"]))
