"""Tools for small models: one JSON object a turn, asked for by schema and read tolerantly (A37)."""

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from tests.agent.stage import add
from tests.support.model_script import Fault, Text, Thinking, Turn, Use
from tests.support.model_server import ModelServer

from toolroll import Agent, ImagePart, TextPart, tool
from toolroll.kernel.data.messages import (
    AssistantMessage,
    CallBlock,
    Origin,
    ReasoningBlock,
    TextBlock,
    ToolCall,
    ToolMessage,
    ToolResults,
)
from toolroll.kernel.data.usage import Usage
from toolroll.models.chat.request import ChatOptions
from toolroll.models.connect import ConnectSettings, connect
from toolroll.models.model import ModelRequest, ModelResponse, StopKind
from toolroll.models.retry import RetryRule
from toolroll.models.small import SmallModel, read_turn, small_message_json, turn_schema
from toolroll.models.text_calls import MAX_OBJECTS, parse_text

ORIGIN = Origin(wire="chat", model="small")
STREAMED = pytest.mark.parametrize("stream", [True, False])
CALL = '{"tool": "add", "arguments": {"a": 1, "b": 2}}'


class Leaf(BaseModel):
    word: str


class Tree(BaseModel):
    leaves: list[Leaf]
    under: "Tree | None" = None


@tool
async def plant(tree: Tree) -> str:
    """Plant a tree."""
    return f"{len(tree.leaves)} leaves"


def small(server: ModelServer) -> SmallModel:
    settings = ConnectSettings(chat=ChatOptions(calls="json"))
    made = connect(f"openai-compatible:small@{server.url}/v1", environment={}, settings=settings)
    assert isinstance(made, SmallModel)
    return made


async def go(agent: Agent[Any], prompt: str, *, stream: bool) -> Any:
    async with agent:
        return await (agent.stream(prompt).wait() if stream else agent.run(prompt))


@STREAMED
async def test_A37_a_run_with_calls_written_as_json(stream: bool) -> None:
    async with ModelServer([Turn(f"```json\n{CALL}\n```"), Turn('{"answer": "It is 3."}')]) as server:
        result = await go(Agent(model=small(server), tools=[add, plant], system="Be brief."), "1 + 2?", stream=stream)
    assert (result.text, result.stop_reason) == ("It is 3.", "answer")
    assert [[call.name for call in step.calls] for step in result.steps] == [["add"], []]
    first, second = (request.body for request in server.requests)
    assert "tools" not in first
    assert first["messages"][0]["content"].startswith("Be brief.\n\nYou can use tools.")
    assert (
        "- add(a: number, b: number): Add two numbers.\n- plant(tree: {leaves: list of {word: text}"
        in first["messages"][0]["content"]
    )
    assert first["response_format"]["json_schema"]["schema"]["$defs"].keys() == {"add", "plant"}
    assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "user"]
    assert json.loads(second["messages"][2]["content"]) == json.loads(CALL)
    assert second["messages"][3]["content"] == "Result of add:\n3"


async def test_A37_what_is_streamed_is_the_call_and_the_answer_not_the_json_around_them() -> None:
    script = [Turn([Thinking("hm"), Text(CALL)]), Turn('{"answer": "It is 3."}')]
    async with ModelServer(script) as server, Agent(model=small(server), tools=[add]) as agent:
        events = [event async for event in agent.stream("1 + 2?")]
    texts = [event.text for event in events if event.event == "text_delta"]
    assert "".join(texts) == "It is 3."
    assert {"reasoning_delta", "arguments_delta", "tool_call_started"} <= {event.event for event in events}


@STREAMED
async def test_A37_without_tools_it_is_a_chat_like_any_other(stream: bool) -> None:
    async with ModelServer([Turn('{"answer": "as it is"}')]) as server:
        result = await go(Agent(model=small(server)), "hello", stream=stream)
    assert result.text == '{"answer": "as it is"}'
    assert server.requests[0].body["messages"] == [{"role": "user", "content": "hello"}]


@STREAMED
async def test_A37_A52_the_closing_turn_has_the_same_words_and_a_form_without_calls(stream: bool) -> None:
    async with ModelServer([Turn(CALL), Turn("I stopped.")]) as server:
        agent = Agent(model=small(server), tools=[add], stop_when=lambda steps: len(steps) == 1)
        result = await go(agent, "1 + 2?", stream=stream)
    assert (result.text, result.closing) == ("I stopped.", True)
    first, last = (request.body for request in server.requests)
    assert last["messages"][0] == first["messages"][0]
    schema = last["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["answer"]
    assert not jsonschema.Draft202012Validator(schema).is_valid(json.loads(CALL))


async def test_A37_a_checked_answer_is_part_of_the_form() -> None:
    async with ModelServer([Turn(CALL), Turn('{"answer": {"leaves": [{"word": "x"}]}}')]) as server:
        result = await go(Agent(model=small(server), tools=[add], output=Tree), "a tree", stream=False)
    assert result.output == Tree(leaves=[Leaf(word="x")])


async def test_A37_a_checked_answer_may_be_a_text() -> None:
    async with ModelServer([Turn('{"answer": "yes"}')]) as server:
        result = await go(Agent(model=small(server), tools=[add], output=str), "well?", stream=False)
    assert (result.output, result.stop_reason) == ("yes", "answer")


async def test_XL5_A37_a_turn_that_was_cut_runs_nothing() -> None:
    async with ModelServer([Turn(CALL, stop="max_tokens"), Turn("cut")]) as server:
        result = await go(Agent(model=small(server), tools=[add]), "1 + 2?", stream=False)
    assert (result.stop_reason, result.steps[0].calls) == ("cut_off", ())


async def test_A37_a_server_that_finds_the_call_itself_is_believed() -> None:
    async with ModelServer([Turn(Use("add", {"a": 1, "b": 2})), Turn('{"answer": "3"}')]) as server:
        assert (await go(Agent(model=small(server), tools=[add]), "1 + 2?", stream=False)).text == "3"


async def test_A37_an_error_of_the_server_is_an_error() -> None:
    fault = Fault(status=500)
    async with ModelServer([*[Turn(fault=fault)] * 2, Turn('{"answer": "late"}')]) as server:
        agent = Agent(model=small(server), tools=[add], retry=RetryRule(first_wait_s=0))
        assert (await go(agent, "1 + 2?", stream=False)).text == "late"


FIXED = [
    (CALL, ("add", {"a": 1, "b": 2})),
    (f"```json\n{CALL}\n```", ("add", {"a": 1, "b": 2})),
    (f"Sure, I will add.\n```\n{CALL}\n```\nDone.", ("add", {"a": 1, "b": 2})),
    ('{"name": "add", "arguments": {"a": 1}}', ("add", {"a": 1})),
    ('{"name": "add", "parameters": {"a": 1}}', ("add", {"a": 1})),
    ('{"name": "add", "arguments": "{\\"a\\": 1}"}', ("add", {"a": 1})),
    ('{"type": "function", "function": {"name": "add", "arguments": {"a": 1}}}', ("add", {"a": 1})),
    ('{"tool_calls": [{"name": "add", "args": {"a": 1}}]}', ("add", {"a": 1})),
    ('[{"name": "add", "input": {"a": 1}}]', ("add", {"a": 1})),
    ('<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>', ("add", {"a": 1})),
    ('{"tool": "add"}', ("add", {})),
    ('{broken {"tool": "add", "arguments": {}}', ("add", {})),
]


@pytest.mark.parametrize(("text", "call"), FIXED)
def test_A37_calls_are_found_however_they_are_wrapped(text: str, call: tuple[str, object]) -> None:
    assert [(name, json.loads(raw)) for name, raw in parse_text(text).calls] == [call]


NEITHER = [
    *("", "Hello.", "{", "{" * 10_000, "[1, 2]", '{"a":' * 100_000),
    *('{"name": "Bob", "age": 3}', '{"tool": 5, "arguments": {}}'),
    *('{"name": "x", "arguments": [1]}', '{"tool_calls": [5]}'),
]


@pytest.mark.parametrize("text", NEITHER, ids=range(len(NEITHER)))
def test_A37_what_is_neither_call_nor_answer_is_text(text: str) -> None:
    parsed = parse_text(text)
    assert (parsed.text, parsed.calls) == (text, ())


def test_A37_words_before_a_call_are_kept_and_several_calls_are_several() -> None:
    parsed = parse_text(f"First this.\n{CALL}\n{CALL}")
    assert (parsed.text, len(parsed.calls)) == ("First this.", 2)
    assert len(parse_text("\n".join([CALL] * (MAX_OBJECTS + 5))).calls) == MAX_OBJECTS


@given(st.text() | st.dictionaries(st.text(), st.integers()) | st.lists(st.integers() | st.none()) | st.integers())
def test_A37_every_answer_is_read_as_it_was_meant(answer: Any) -> None:
    text = parse_text(json.dumps({"answer": answer})).text
    assert (text if isinstance(answer, str) else json.loads(text)) == answer


@given(st.sampled_from(["add", "plant_it", "x-1"]), st.dictionaries(st.text(), st.text() | st.integers() | st.none()))
def test_A37_every_call_is_read_as_it_was_sent_back(name: str, arguments: dict[str, Any]) -> None:
    call = ToolCall(id="c", name=name, arguments=json.dumps(arguments))
    message = AssistantMessage(blocks=(TextBlock(text="so:"), CallBlock(call=call)))
    [sent] = small_message_json(message, to=ORIGIN, options=ChatOptions())
    parsed = parse_text(str(sent["content"]))
    assert (parsed.text, [(of, json.loads(raw)) for of, raw in parsed.calls]) == ("so:", [(name, arguments)])


@given(st.text())
def test_A37_no_text_breaks_the_reader(text: str) -> None:
    parse_text(text)
    parse_text(f'{{"tool": "add", "arguments": {text}}}')


@pytest.mark.parametrize(("stop", "expected"), [("end", "tool_calls"), ("max_tokens", "max_tokens")])
def test_A37_thoughts_stay_and_a_cut_stays_a_cut(stop: StopKind, expected: str) -> None:
    blocks = (ReasoningBlock(text="hm"), TextBlock(text=CALL))
    response = ModelResponse(message=AssistantMessage(blocks=blocks), stop=stop, usage=Usage(), response_id="r")
    read = read_turn(response)
    assert (read.stop, [block.type for block in read.message.blocks]) == (expected, ["reasoning", "call"])
    assert [call.id for call in read.message.calls] == ["r_0"]


def test_A37_the_schema_takes_each_call_and_the_answer_and_nothing_else() -> None:
    from pydantic import TypeAdapter

    from toolroll.kernel.define.schema import to_draft07

    tools = (add.definition, plant.definition)
    plain = turn_schema(ModelRequest(messages=(), tools=tools))
    checked = turn_schema(ModelRequest(messages=(), tools=tools, output_schema=to_draft07(TypeAdapter(Tree))))
    tree = {"leaves": [{"word": "x"}], "under": {"leaves": []}}
    for schema in (plain, checked):
        jsonschema.Draft202012Validator.check_schema(schema)
        accepts = jsonschema.Draft202012Validator(schema).is_valid
        assert accepts(json.loads(CALL))
        assert accepts({"tool": "plant", "arguments": {"tree": tree}})
        assert not accepts({"tool": "plant", "arguments": {"tree": {"leaves": [{"word": 1}]}}})
        assert not accepts({"tool": "add", "arguments": {"a": 1}})
        assert not accepts({"tool": "other", "arguments": {}})
        assert accepts({"answer": "x"}) == (schema is plain)
        assert accepts({"answer": tree}) == (schema is checked)


def test_A37_images_of_results_come_with_them() -> None:
    image = ImagePart(data=b"x", media_type="image/png")
    results = ToolResults(
        results=(
            ToolMessage(call_id="a", name="draw", content=(TextPart(text="drawn"), image)),
            ToolMessage(call_id="b", name="fail", content="broken", is_error=True),
        )
    )
    [sent] = small_message_json(results, to=ORIGIN, options=ChatOptions())
    content: Any = sent["content"]
    assert sent["role"] == "user"
    assert content[0]["text"].startswith("Result of draw:\ndrawn")
    assert "Result of fail:" in content[0]["text"]
    assert [part["type"] for part in content] == ["text", "text", "image_url"]
