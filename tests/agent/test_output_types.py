"""Answers of any type: told in the first request, checked, read while they are written (A41)."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Optional, assert_type

import pytest
from pydantic import BaseModel, Field
from tests.agent.stage import Call, add, agent_of, play
from tests.support.model_server import ModelServer
from typing_extensions import TypedDict

from toolroll import Agent, Depends, Done, RunResult, ScriptedModel, ToolContext, ToolFailure, tool
from toolroll.agent.events import OutputArrived, RunFinished
from toolroll.errors import UsageError
from toolroll.models.model import Wire


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str]


class Tree(BaseModel):
    name: str
    below: list["Tree"] = []


@dataclass
class Point:
    x: int
    y: int


class Row(TypedDict):
    name: str
    count: int


CAT = '{"kind": "cat", "lives": 9}'


@pytest.mark.parametrize(
    ("shape", "text", "output"),
    [
        (Cat, CAT, Cat(kind="cat", lives=9)),
        (list[Row], '{"response": [{"name": "a", "count": 1}]}', [{"name": "a", "count": 1}]),
        (list[int], "[1, 2]", [1, 2]),
        (int, '{"response": 3}', 3),
        (bool, "true", True),
        (str, '{"response": "hi"}', "hi"),
        (str, "plain words", "plain words"),
        (Literal["yes", "no"], '{"response": "yes"}', "yes"),
        ([Cat, Dog], f'{{"response": {CAT}}}', Cat(kind="cat", lives=9)),
        ((Cat, int), "3", 3),
        ([Cat, Optional[int]], "null", None),  # noqa: UP045 - no class, as a type alias may be
        (Annotated[Cat | Dog, Field(discriminator="kind")], CAT, Cat(kind="cat", lives=9)),
        (int | None, '{"response": null}', None),
        (Tree, '{"name": "a", "below": [{"name": "b"}]}', Tree(name="a", below=[Tree(name="b")])),
        (Point, '{"x": 1, "y": 2}', Point(1, 2)),
        (Row, '{"name": "a", "count": 1}', {"name": "a", "count": 1}),
        (dict[str, int], '{"response": 1}', {"response": 1}),
    ],
)
async def test_A41_an_answer_may_be_of_any_type(shape: Any, text: str, output: object) -> None:
    result = await play(text, output=shape)
    assert (result.output, result.output_fault, result.stop_reason) == (output, None, "answer")


@pytest.mark.parametrize("text", ['{"kind": "cat", "lives": 9, "name": "Tom"}', '{"response": {"x": 1}}', "{}", "[]"])
async def test_A41_what_the_schema_does_not_have_is_refused(text: str) -> None:
    for shape in (Cat, [Cat, Point]):
        result = await play(text, text, text, output=shape)
        assert (result.output, result.stop_reason) == (None, "invalid_output")


def test_A41_an_empty_list_is_no_type() -> None:
    with pytest.raises(UsageError, match=r"^output takes a type or several, not an empty list\.$"):
        agent_of("hi", output=[])
    with pytest.raises(UsageError, match=r"^output_validators check a typed answer: they need output=\.$"):
        agent_of("hi", output_validators=[lambda output: output])
    with pytest.raises(UsageError, match=r"^output_validators takes a list of functions, not 3\.$"):
        agent_of("hi", output=int, output_validators=3)


@pytest.mark.parametrize("tools", [[], [add]], ids=["without tools", "with tools"])
@pytest.mark.parametrize("shape", [Cat, list[Row], [Cat, Dog], Tree, Literal["yes", "no"], int | None])
@pytest.mark.parametrize("wire", ["anthropic", "openai", "chat"])
async def test_A41_the_first_request_tells_the_form_on_every_wire(wire: Wire, shape: Any, tools: Any) -> None:
    async with ModelServer(["no", "no", "no"]) as server:
        agent: Agent[Any] = Agent(model=server.model(wire), tools=tools, output=shape)
        await agent.run("go")
        first = str(server.requests[0].body)
    schema: Any = agent.setup.output_schema
    assert schema["type"] == "object"
    for name in schema["properties"]:
        assert name in first
    native = {"anthropic": "output_config", "openai": "'format'", "chat": "response_format"}[wire]
    assert native in first or "by this schema and nothing else" in first


async def test_A41_validators_check_and_change_the_answer_and_ask_for_another_try() -> None:
    async def rows() -> list[str]:
        return ["tea"]

    async def known(output: Row, found: Annotated[list[str], Depends(rows)], ctx: ToolContext) -> Row:
        if output["name"] not in found:
            raise ToolFailure(f"There is no {output['name']}, {ctx.deps['user']}.")
        return {**output, "count": output["count"] + 1}

    seen: list[int] = []
    agent = agent_of(
        '{"name": "wine", "count": 1}',
        '{"name": "tea", "count": 1}',
        output=Row,
        output_validators=[known, lambda output: seen.append(output["count"])],
    )
    result = await agent.run("go", deps={"user": "Ada"})
    assert (result.output, seen, len(result.steps)) == ({"name": "tea", "count": 2}, [2], 2)
    assert "There is no wine, Ada." in str(result.messages[2])


async def test_A41_done_carries_the_typed_answer() -> None:
    @tool
    def choose(lives: int) -> Done:
        """Choose a cat."""
        return Done(Cat(kind="cat", lives=lives))

    result = await play(Call("choose", {"lives": 3}), tools=[choose], output=[Cat, Dog])
    assert (result.output, result.stop_reason) == (Cat(kind="cat", lives=3), "done")


async def test_A41_a_list_is_there_while_it_grows() -> None:
    names = ["one", "two", "three", "four"]
    text = "[" + ", ".join(f'{{"name": "{name}", "count": 1}}' for name in names) + "]"
    agent = Agent(model=ScriptedModel([f'{{"response": {text}}}']), output=list[Row])
    live, grown = agent.stream("go"), list[list[str]]()
    async for event in live:
        match event:
            case OutputArrived(output=rows):
                assert_type(rows, list[Row])
                grown.append([row["name"] for row in rows])
            case RunFinished(result=result):
                assert_type(result, RunResult[list[Row]])
                assert result.output is not None
                assert [row["name"] for row in result.output] == names
            case _:
                pass
    assert all(one == names[: len(one)] for one in grown)
    assert len(grown) >= 2
    assert live.partial is not None
    assert [row["name"] for row in live.partial] == grown[-1]


async def test_A41_what_has_no_value_yet_is_not_told_of() -> None:
    agent = Agent(model=ScriptedModel(["```json\n" + CAT + "\n```"]), output=Cat)
    events = [event async for event in agent.stream("go") if isinstance(event, OutputArrived)]
    assert [event.output for event in events] in ([], [Cat(kind="cat", lives=9)])


def test_A41_the_type_of_the_output_is_inferred() -> None:
    model = ScriptedModel(["hi"])
    assert_type(Agent(model=model), Agent[None])
    assert_type(Agent(model=model, output=Cat), Agent[Cat])
    assert_type(Agent(model=model, output=list[Row]), Agent[list[Row]])
    assert_type(Agent(model=model, output=(Cat, Dog)), Agent[Cat | Dog])
    either: Agent[Cat | Dog] = Agent(model=model, output=[Cat, Dog])
    maybe: Agent[int | None] = Agent(model=model, output=int | None)
    assert either.setup.output is not None
    assert maybe.setup.output is not None
