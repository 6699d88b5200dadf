"""Answers of an agreed form (A10), and ends that a tool declares (K35, K60)."""

from typing import Any

import pytest
from pydantic import BaseModel
from tests.agent.legality import problems
from tests.agent.stage import Call, add, agent_of, play
from tests.support.model_script import Turn, Use
from tests.support.model_server import ModelServer

from toolroll import Agent, Done, step_count_is, tool, tool_called
from toolroll.kernel.data.messages import UserMessage
from toolroll.models.model import Wire
from toolroll.packs.standard import done


class City(BaseModel):
    name: str
    people: int


BONN = '{"name": "Bonn", "people": 330000}'
ADD = Call("add", {"a": 1, "b": 2})


@pytest.mark.parametrize("text", [BONN, f"```json\n{BONN}\n```", f"Here it is:\n```\n{BONN}\n```\nAll right?"])
async def test_A10_the_answer_is_checked_and_typed(text: str) -> None:
    result = await play(text, output=City)
    assert (result.output, result.output_fault, result.stop_reason) == (
        City(name="Bonn", people=330000),
        None,
        "answer",
    )


@pytest.mark.parametrize("wire", ["anthropic", "openai", "chat"])
async def test_A10_over_every_wire(wire: Wire) -> None:
    async with ModelServer([Turn(Use("add", {"a": 1, "b": 2})), "not yet", BONN]) as server:
        result = await Agent(model=server.model(wire), tools=[add], output=City).run("which city?")
    assert result.output == City(name="Bonn", people=330000)


@pytest.mark.parametrize(
    "text",
    ["```" + "\n" * 200_000, "```json" + " " * 200_000, "```\n" * 50_000, "``` ```json\n{}```", "```python\n1\n```"],
)
async def test_A10_what_only_looks_like_a_block_of_code_is_refused_in_no_time(text: str) -> None:
    result = await play(text, BONN, output=City)
    assert result.output == City(name="Bonn", people=330000)


async def test_A10_an_invalid_answer_is_repaired() -> None:
    result = await play("Bonn, I think", '{"name": "Bonn", "people": "many"}', BONN, output=City)
    assert (result.output, result.stop_reason, len(result.steps)) == (City(name="Bonn", people=330000), "answer", 3)
    told = [str(message) for message in result.messages if isinstance(message, UserMessage)]
    assert "answer: Invalid JSON" in told[1]
    assert '"required":["name","people"]' in told[1]
    assert "people: Input should be a valid integer" in told[2]
    assert problems(result.messages) == []


async def test_A10_when_repairs_do_not_help_the_result_says_so() -> None:
    result = await play("no", "no", "never", output=City)
    assert (result.stop_reason, result.output, result.text) == ("invalid_output", None, "never")
    assert result.output_fault is not None
    assert result.output_fault.startswith("- answer: Invalid JSON")
    assert result.stop_detail == result.output_fault
    assert result.can_continue


async def test_A10_faults_are_shown_up_to_ten() -> None:
    class Wide(BaseModel):
        a: int
        b: int
        c: int
        d: int
        e: int
        f: int
        g: int
        h: int
        i: int
        j: int
        k: int
        m: int

    result = await play("{}", "{}", "{}", output=Wide)
    assert result.output_fault is not None
    assert result.output_fault.count("\n") == 10
    assert result.output_fault.endswith("- ...and 2 more")


async def test_A10_A4_at_a_limit_the_last_answer_is_checked_and_repaired_too() -> None:
    result = await play(ADD, "I was stopped", BONN, output=City, stop_when=tool_called("add"))
    assert (result.output, result.stop_reason) == (City(name="Bonn", people=330000), "condition")
    assert (result.closing, result.output_fault, len(result.steps)) == (True, None, 3)
    lost = await play(ADD, "no", "no", "no", output=City, stop_when=tool_called("add"))
    assert (lost.output, lost.stop_reason, lost.text) == (None, "condition", "no")
    assert lost.output_fault is not None
    assert "Invalid JSON" in lost.output_fault


async def test_A10_a_run_that_ends_without_an_answer_says_why_there_is_no_output() -> None:
    result = await play(ADD, output=City, stop_when=step_count_is(1), close_with_answer=False)
    assert result.output_fault == "the run ended before there was an answer (condition)"


async def test_A10_nothing_can_be_a_checked_answer() -> None:
    result = await agent_of("null", output=int | None).run("go")
    assert (result.output, result.output_fault, result.stop_reason) == (None, None, "answer")


@pytest.mark.parametrize(
    ("shape", "text", "output"), [(list[int], "[1, 2]", [1, 2]), (dict[str, int], '{"a":1}', {"a": 1})]
)
async def test_A10_any_type_will_do(shape: Any, text: str, output: Any) -> None:
    assert (await play(text, output=shape)).output == output


async def test_K60_done_ends_the_run_with_its_message() -> None:
    result = await play(["working", ADD], Call("done", {"message": "It is 3."}), tools=[add, done])
    assert (result.text, result.stop_reason, result.can_continue) == ("It is 3.", "done", False)
    assert problems(result.messages) == []


async def test_K60_done_is_not_required() -> None:
    assert (await play("It is 3.", tools=[done])).stop_reason == "answer"


async def test_K60_calls_beside_done_are_run_and_answered() -> None:
    calls = [ADD, Call("done", {"message": "first"}), Call("done", {"message": "second"})]
    result = await play(calls, tools=[add, done], collect_tool_stats=True)
    assert (result.text, len(result.tool_calls or ())) == ("first", 3)
    assert problems(result.messages) == []


async def test_K60_require_done_asks_for_it() -> None:
    script: list[Any] = ["It is 3.", Call("done", {"message": "It is 3, really."})]
    result = await play(*script, tools=[done], require_done=True)
    assert (result.text, result.stop_reason, len(result.steps)) == ("It is 3, really.", "done", 2)


async def test_K60_a_model_that_never_calls_done_is_not_asked_for_ever() -> None:
    result = await play("a", "b", "c", tools=[done], require_done=True)
    assert (result.text, result.stop_reason) == ("c", "answer")
    assert result.stop_detail == "the model did not call `done`"


async def test_K35_any_tool_can_end_the_run() -> None:
    @tool
    async def submit(text: str) -> str:
        """Hand it in."""
        raise Done(f"handed in: {text}")

    result = await play(Call("submit", {"text": "x"}), tools=[submit])
    assert (result.text, result.stop_reason) == ("handed in: x", "done")


async def test_A10_K60_with_an_agreed_form_done_must_keep_to_it() -> None:
    good = await play(Call("done", {"message": BONN}), tools=[done], output=City)
    assert (good.output, good.stop_reason) == (City(name="Bonn", people=330000), "done")
    script = [Call("done", {"message": "Bonn"}), Call("done", {"message": BONN})]
    repaired = await play(*script, tools=[done], output=City)
    assert (repaired.output, len(repaired.steps)) == (City(name="Bonn", people=330000), 2)
    bad = [Call("done", {"message": f"Bonn {number}"}) for number in range(3)]
    lost = await play(*bad, tools=[done], output=City)
    assert (lost.stop_reason, lost.text, lost.output) == ("invalid_output", "Bonn 2", None)
    assert problems(lost.messages) == []
