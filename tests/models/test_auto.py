"""Calls that stand in the text of a model are calls, on every server that speaks Chat Completions (A51)."""

from typing import Any

import pytest
from tests.agent.stage import add
from tests.support.model_script import Fault, Turn, Use
from tests.support.model_server import ModelServer

from toolroll import Agent, Approve, Reject, tool
from toolroll.agent.events import TextArrived, Warned
from toolroll.errors import RequestRefused
from toolroll.journal.sqlite import SqliteJournal
from toolroll.models.auto import AutoModel
from toolroll.models.connect import ConnectSettings, connect
from toolroll.models.exchange import WireModel
from toolroll.models.held_text import HeldText

STREAMED = pytest.mark.parametrize("stream", [True, False])
CALL = '{"name": "add", "arguments": {"a": 1, "b": 2}}'
FENCED = f"```json\n{CALL}\n```"


@tool(effect="writes")
async def note(text: str) -> str:
    """Write a note."""
    return f"Noted: {text}"


def auto(server: ModelServer) -> WireModel:
    made = connect(f"openai-compatible:small@{server.url}/v1", environment={})
    assert isinstance(made, AutoModel)
    return made


async def go(agent: Agent[Any], prompt: str, *, stream: bool, **options: Any) -> tuple[Any, list[Any]]:
    seen: list[Any] = []
    async with agent:
        result = await agent.start(prompt, listener=seen.append, stream=stream, **options).wait()
    return result, seen


@STREAMED
@pytest.mark.parametrize("text", [FENCED, CALL, f"<tool_call>\n{CALL}\n</tool_call>", f"I will add them.\n\n{FENCED}"])
async def test_A51_a_call_in_the_text_is_run_and_the_run_goes_on_as_json(text: str, stream: bool) -> None:
    script = [Turn(text), Turn('{"tool": "add", "arguments": {"a": 3, "b": 3}}'), Turn('{"answer": "6"}')]
    async with ModelServer(script) as server:
        result, seen = await go(Agent(model=auto(server), tools=[add, note]), "1 + 2 + 3?", stream=stream)
    assert (result.text, result.stop_reason) == ("6", "answer")
    assert [[call.name for call in step.calls] for step in result.steps] == [["add"], ["add"], []]
    first, second, third = (request.body for request in server.requests)
    assert "tools" in first
    assert "tools" not in second
    assert "response_format" in second
    assert "response_format" in third
    assert [one.kind for one in seen if isinstance(one, Warned)] == ["text_calls"]
    shown = "".join(one.text for one in seen if isinstance(one, TextArrived))
    assert "{" not in shown
    assert "<tool" not in shown


@STREAMED
async def test_A51_native_calls_stay_native_and_words_about_calls_are_words(stream: bool) -> None:
    about = f"You would call it like this:\n{FENCED}\nDo not do that."
    async with ModelServer([Turn(Use("add", {"a": 1, "b": 2})), Turn(about)]) as server:
        result, seen = await go(Agent(model=auto(server), tools=[add]), "How do I call add?", stream=stream)
    assert result.text == about
    assert "".join(one.text for one in seen if isinstance(one, TextArrived)) == (about if stream else "")
    assert "tools" in server.requests[1].body


@pytest.mark.parametrize("decision", [Approve(), Reject(reason="not now")])
async def test_A51_a_call_in_the_text_needs_the_same_approval(decision: Approve | Reject) -> None:
    asked: list[str] = []

    class Person:
        async def decide(self, requests: Any) -> Any:
            asked.extend(one.tool for one in requests)
            return [decision for _ in requests]

    text = '{"name": "note", "arguments": {"text": "tea"}}'
    async with ModelServer([Turn(text), Turn('{"answer": "ok"}')]) as server:
        agent = Agent(model=auto(server), tools=[add, note], approver=Person())
        result, _ = await go(agent, "Note tea.", stream=True)
    assert asked == ["note"]
    assert result.steps[0].calls[0].ok == isinstance(decision, Approve)


@STREAMED
async def test_A51_the_last_text_of_a_run_is_never_a_raw_call(stream: bool) -> None:
    async with ModelServer([Turn(Use("add", {"a": 1, "b": 2})), Turn(FENCED)]) as server:
        agent = Agent(model=auto(server), tools=[add], stop_when=lambda steps: len(steps) == 1)
        result, seen = await go(agent, "1 + 2?", stream=stream)
    assert (result.closing, result.has_answer) == (True, False)
    assert not any(isinstance(one, TextArrived) and "add" in one.text for one in seen)


async def test_A51_a_raw_call_of_a_tool_that_does_not_exist_is_told_so() -> None:
    text = '```json\n{"name": "count_books", "arguments": {"books": []}}\n```'
    async with ModelServer([Turn(text), Turn('{"answer": "I cannot."}')]) as server:
        result, _ = await go(Agent(model=auto(server), tools=[add]), "Count.", stream=True)
    assert (result.text, result.steps[0].calls[0].error_type) == ("I cannot.", "unknown_tool")


async def test_XL5_A51_half_a_call_runs_nothing() -> None:
    async with ModelServer([Turn('{"name": "add", "arguments": {"a": 1, "b": ', stop="max_tokens")]) as server:
        result, _ = await go(Agent(model=auto(server), tools=[add]), "1 + 2?", stream=True)
    assert (result.stop_reason, result.steps[0].calls) == ("cut_off", ())


async def test_A51_a_resumed_run_goes_on_as_json(tmp_path: Any) -> None:
    async with ModelServer([Turn(CALL), Turn('{"answer": "3"}')]) as server:
        journal = SqliteJournal(tmp_path / "runs.db")
        one_step = Agent(
            model=auto(server),
            tools=[add],
            journal=journal,
            close_with_answer=False,
            stop_when=lambda steps: len(steps) == 1,
        )
        first, _ = await go(one_step, "1 + 2?", stream=False)
        async with Agent(model=auto(server), tools=[add], journal=journal) as again:
            result = await again.start(resume=first.run_id).wait()
    assert result.text == "3"
    assert "response_format" in server.requests[1].body


async def test_A51_a_server_here_that_refuses_tools_is_asked_without_them() -> None:
    refused = Fault(status=400, kind="invalid_request_error", message="tools are not supported")
    async with ModelServer([Turn(fault=refused), Turn(CALL), Turn('{"answer": "3"}')], lenient=True) as server:
        agent = Agent(model=auto(server), tools=[add])
        result, _ = await go(agent, "1 + 2?", stream=True)
        assert result.text == "3"
    async with ModelServer([Turn(fault=refused), Turn(fault=refused)], lenient=True) as server:
        with pytest.raises(RequestRefused):
            await go(Agent(model=auto(server), tools=[add]), "1 + 2?", stream=True)


def test_A51_the_form_is_a_setting_and_stands_in_the_name() -> None:
    kinds = {
        ("ollama:q", None): "AutoModel",
        ("ollama:q?calls=native", None): "ChatModel",
        ("ollama:q?calls=json&window=4096", "native"): "SmallModel",
        ("openai-compatible:q@http://127.0.0.1:1/v1?calls=json", None): "SmallModel",
        ("ollama:q", "json"): "SmallModel",
    }
    for (name, calls), kind in kinds.items():
        made = connect(name, environment={}, settings=ConnectSettings(calls=calls))  # type: ignore[arg-type]
        assert (type(made).__name__, made.model) == (kind, "q")
    limits = connect("ollama:q?window=4096", environment={}, settings=ConnectSettings(output_tokens=99)).limits
    assert limits is not None
    assert (limits.window_tokens, limits.max_output_tokens) == (4096, 99)


async def test_A51_A52_a_small_model_on_this_machine_begins_with_json() -> None:
    async with ModelServer([Turn('{"answer": "3"}')]) as server:
        model = connect(f"openai-compatible:small@{server.url}/v1?window=8192", environment={})
        result, seen = await go(Agent(model=model, tools=[add]), "1 + 2?", stream=True)
    assert result.text == "3"
    assert "response_format" in server.requests[0].body
    assert not any(isinstance(one, Warned) for one in seen)


def show(*pieces: str) -> tuple[str, str]:
    held = HeldText()
    shown = "".join(held.feed(piece) for piece in pieces)
    return shown, held.flush()


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("Plain words, nothing else.", ""),
        (FENCED, FENCED),
        (f"First.\n{FENCED}", FENCED),
        ("```python\nprint({'a': 1})\n```\nDone.", ""),
        ('{"colour": "green"}', ""),
        ("a < b and `code` here", ""),
        (f"<tool_call>{CALL}", f"<tool_call>{CALL}"),
    ],
)
def test_A51_only_what_may_be_a_call_is_held_back(text: str, held: str) -> None:
    for size in (1, 3, 7, len(text)):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert show(*pieces) == (text.removesuffix(held) if held else text, held)
