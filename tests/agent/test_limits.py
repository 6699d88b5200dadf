"""Limits hand back the work: what stops a run, when that is looked at, and the answer that comes anyway (A3, A4)."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from tests.agent.legality import problems
from tests.agent.stage import Call, add, agent_of, events_of, play
from tests.support.clock import time_passes
from tests.support.model_script import Turn, Use
from tests.support.model_server import ModelServer

from toolroll import Agent, cost_over, deadline, step_count_is, tokens_over, tool, tool_called
from toolroll.agent.events import Warned
from toolroll.agent.loop.finish import NO_ANSWER
from toolroll.agent.result import Step
from toolroll.agent.run import GO_ON
from toolroll.errors import Overloaded
from toolroll.kernel.data.messages import AssistantMessage, Origin, TextBlock, ToolResults, UserMessage
from toolroll.kernel.data.usage import Usage
from toolroll.models.model import Delta, ModelRequest, ModelResponse, TextDelta, Wire
from toolroll.models.retry import RetryRule
from toolroll.models.scripted import ScriptedModel

ADD = Call("add", {"a": 1, "b": 2})


def adding(count: int) -> list[Any]:
    """So many steps that differ."""
    return [Call("add", {"a": number, "b": 1}) for number in range(count)]


def response(*blocks: Any, tokens: int = 10, stop: Any = "end") -> ModelResponse:
    message = AssistantMessage(blocks=tuple(TextBlock(text=one) if isinstance(one, str) else one for one in blocks))
    return ModelResponse(message=message, stop=stop, usage=Usage(input_tokens=tokens, output_tokens=5, requests=1))


async def test_A3_the_default_is_ten_steps() -> None:
    result = await play(*adding(9), "at last", stop_when=None)
    assert (result.stop_reason, result.stop_detail) == ("condition", "step_count_is(10)")
    assert [step.closing for step in result.steps] == [False] * 9 + [True]


async def test_A3_an_empty_list_of_conditions_sets_no_limit() -> None:
    result = await play(*adding(30), "done", stop_when=())
    assert (result.stop_reason, len(result.steps)) == ("answer", 31)


@pytest.mark.parametrize(
    ("condition", "name"),
    [
        (step_count_is(2), "step_count_is(2)"),
        (tool_called("add"), "tool_called('add')"),
        ([step_count_is(9), tool_called("add")], "tool_called('add')"),
        (lambda steps: "seen enough" if len(steps) == 2 else None, "seen enough"),
    ],
)
async def test_A3_a_run_that_stopped_says_on_which_condition(condition: Any, name: str) -> None:
    result = await play(*adding(2), "so far", "so far", stop_when=condition)
    assert (result.stop_reason, result.stop_detail, result.can_continue) == ("condition", name, True)


async def test_A3_conditions_are_asked_about_steps_there_are() -> None:
    asked: list[int] = []

    def last_is_long(steps: Sequence[Step]) -> bool:
        asked.append(len(steps))
        return len(steps[-1].text) > 100

    await play(ADD, "done", stop_when=last_is_long)
    assert asked == [1]


async def test_A3_A4_a_limit_hands_back_the_work_and_can_be_continued() -> None:
    stopped = await play(*adding(2), "2 so far", stop_when=step_count_is(3))
    assert (stopped.text, stopped.closing, stopped.can_continue) == ("2 so far", True, True)
    assert problems(stopped.messages) == []
    for prompt in (None, "and now?"):
        goes_on = agent_of(Call("add", {"a": 9, "b": 9}), "18")
        result = await goes_on.run(prompt, messages=stopped.messages)
        assert (result.text, result.stop_reason, len(result.steps)) == ("18", "answer", 2)
        assert result.messages[: len(stopped.messages)] == stopped.messages
        assert result.messages[len(stopped.messages)] == UserMessage.of(prompt or GO_ON)
        assert problems(result.messages) == []


async def test_A4_the_last_call_has_no_tools_and_says_why() -> None:
    seen: list[ModelRequest] = []

    def script(request: ModelRequest) -> Any:
        seen.append(request)
        return ADD if len(seen) == 1 else "the answer"

    agent = Agent(model=ScriptedModel(script), tools=[add], stop_when=step_count_is(2))
    result = await agent.run("go")
    assert (result.text, result.closing) == ("the answer", True)
    assert [request.tool_choice for request in seen] == ["auto", "none"]
    last = result.messages[-2]
    assert isinstance(last, UserMessage)
    assert "step_count_is(2)" in str(last)


@pytest.mark.parametrize("wire", ["anthropic", "openai", "chat"])
async def test_A4_over_every_wire(wire: Wire) -> None:
    async with ModelServer([Turn(Use("add", {"a": 1, "b": 2})), "it is 3"]) as server:
        result = await Agent(model=server.model(wire), tools=[add], stop_when=step_count_is(2)).run("1 + 2?")
    assert (result.text, result.closing, result.stop_reason) == ("it is 3", True, "condition")


async def test_A4_it_can_be_turned_off() -> None:
    result = await play(["I add", ADD], stop_when=step_count_is(1), close_with_answer=False)
    assert (result.text, result.closing, len(result.steps)) == ("I add", False, 1)
    silent = await play(ADD, stop_when=step_count_is(1), close_with_answer=False)
    assert silent.text == NO_ANSWER


async def test_A4_a_limit_that_falls_on_an_answer_needs_no_other() -> None:
    result = await play("the answer", stop_when=step_count_is(1))
    assert (result.stop_reason, result.closing, len(result.steps)) == ("answer", False, 1)


async def test_A4_calls_in_the_last_turn_are_not_run() -> None:
    result = await play(ADD, ["still: ", ADD], stop_when=step_count_is(2), collect_tool_stats=True)
    assert (result.text, result.closing) == ("still: ", True)
    assert len(result.tool_calls or ()) == 1
    assert problems(result.messages) == []
    assert "a limit of the run was reached" in str(result.messages[-1])


async def test_A4_an_empty_last_turn_leaves_what_was_said_before() -> None:
    result = await play(["I add", ADD], "", stop_when=step_count_is(2))
    assert (result.text, result.closing) == ("I add", True)


async def test_A4_a_model_that_fails_at_the_end_costs_its_words_and_nothing_else() -> None:
    agent = agent_of(["I add", ADD], Overloaded("too much"), stop_when=step_count_is(2), retry=RetryRule(retries=0))
    run = agent.stream("go")
    events = [event async for event in run]
    assert run.result is not None
    assert (run.result.text, run.result.closing, run.result.stop_reason) == ("I add", False, "condition")
    assert [event.text for event in events if isinstance(event, Warned)] == [
        "The model could not be asked for a last answer. too much"
    ]
    assert problems(run.result.messages) == []


def cent_a_token(_origin: Origin, usage: Usage) -> float:
    return usage.total / 100


@pytest.mark.parametrize(
    ("condition", "name"), [(tokens_over(100), "tokens_over(100)"), (cost_over(1.0), "cost_over(1.0)")]
)
async def test_A3_budgets_are_looked_at_before_a_call_and_leave_room_for_the_answer(condition: Any, name: str) -> None:
    """Each call reads 10 tokens and writes 5."""
    steps = iter(adding(99))
    model = ScriptedModel(lambda request: next(steps) if request.tool_choice == "auto" else "so far")
    result = await Agent(model=model, tools=[add], stop_when=condition, price=cent_a_token).run("go")
    assert (result.stop_reason, result.text, result.closing) == ("condition", "so far", True)
    assert result.stop_detail == f"{name}: the next call would go over it"
    assert result.usage.total <= 100
    assert len(result.steps) >= 4


async def test_A3_a_prompt_that_is_too_large_is_not_sent_at_all() -> None:
    model = ScriptedModel(["never"])
    result = await Agent(model=model, stop_when=tokens_over(100)).run("word " * 200)
    assert (result.stop_reason, result.text, result.steps, model.requests) == ("condition", NO_ANSWER, (), [])


async def test_A3_large_results_count_before_they_are_sent() -> None:
    @tool
    async def read() -> str:
        """Read a lot."""
        return "word " * 1000

    result = await play(Call("read"), "too much", tools=[read], stop_when=tokens_over(1000))
    assert result.stop_detail == "tokens_over(1000): the next call would go over it"
    assert len(result.steps) == 2


async def test_A3_a_cost_that_is_not_known_stops_after_the_step() -> None:
    result = await play(ADD, "who knows", stop_when=cost_over(5), price=lambda _origin, _usage: None)
    assert result.stop_detail == "cost_over(5): what a step cost is not known"
    assert result.cost is None


class Talker:
    """A model that talks until it is stopped."""

    def __init__(self, *, pauses_s: float = 0.0, words: int = 100_000) -> None:
        self.origin = Origin(wire="chat", model="talker")
        self.said = 0
        self.closed = False
        self._pauses_s = pauses_s
        self._words = words

    async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        assert stream
        if request.tool_choice == "none":
            yield response("in short: words")
            return
        try:
            while self.said < self._words:
                self.said += 1
                yield TextDelta(text="word ")
                time_passes(self._pauses_s)
                await asyncio.sleep(self._pauses_s)
        finally:
            self.closed = True
        yield response("word " * self._words)


@pytest.mark.parametrize("condition", [tokens_over(500), cost_over(5.0)])
@pytest.mark.parametrize("stream", [True, False])
async def test_XL13_token_and_cost_limits_are_looked_at_inside_the_stream(condition: Any, stream: bool) -> None:
    """Also in a plain run: with such a limit, every call is streamed."""
    model = Talker()
    agent = Agent(model=model, stop_when=condition, price=cent_a_token)
    result = await (agent.stream("talk").wait() if stream else agent.run("talk"))
    assert (result.stop_reason, result.closing) == ("condition", False)
    assert result.stop_detail.endswith(": reached while the model was writing")
    assert result.text == "word " * model.said
    assert 350 <= model.said <= 480
    assert 450 <= result.usage.total <= 620
    assert not result.usage.measured
    assert problems(result.messages) == []


@pytest.mark.usefixtures("one_clock")
@pytest.mark.parametrize("stream", [True, False])
async def test_XL13_a_deadline_breaks_off_a_model_that_writes(stream: bool) -> None:
    model = Talker(pauses_s=60)
    agent = Agent(model=model, stop_when=deadline(60))
    result = await (agent.stream("talk").wait() if stream else agent.run("talk"))
    assert (result.stop_reason, model.closed) == ("condition", True)
    assert result.stop_detail == "deadline(60): reached while the model was writing"
    assert result.text == "word "


async def test_XL13_a_deadline_also_ends_waiting_for_a_retry() -> None:
    agent = agent_of(Overloaded("wait", retry_after_s=30), stop_when=deadline(0.1), close_with_answer=False)
    async with asyncio.timeout(20):
        result = await agent.run("go")
    assert (result.stop_reason, result.text) == ("condition", NO_ANSWER)


@pytest.mark.usefixtures("one_clock")
async def test_A47_after_a_deadline_the_model_is_not_asked_for_a_last_answer() -> None:
    @tool
    async def wait() -> str:
        """Take longer than there is."""
        time_passes(90)
        return "waited"

    result = await play(Call("wait"), "never asked", tools=[wait], stop_when=deadline(60))
    assert (result.text, result.closing, result.stop_detail) == (NO_ANSWER, False, "deadline(60)")


async def test_A4_a_limit_of_tokens_does_not_cut_the_last_answer() -> None:
    """The budget is spent, and still the answer is whole."""
    answer = "the whole answer " * 100
    result = await agent_of(["x", ADD], answer, stop_when=[step_count_is(2), tokens_over(200)]).stream("go").wait()
    assert result.text == answer


async def test_a_timeout_of_somebody_elses_is_no_deadline() -> None:
    class Broken(Talker):
        async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
            if self.said == 0:
                raise TimeoutError("another one")
            yield response("never")

    with pytest.raises(TimeoutError, match="another one"):
        await Agent(model=Broken(), stop_when=deadline(60)).run("go")


async def test_XL13_endless_loops_end_with_a_reason_and_an_answer() -> None:
    result = await play(*[ADD] * 6, "I was going in circles", stop_when=())
    assert (result.stop_reason, result.text, result.closing) == ("repeated_calls", "I was going in circles", True)
    assert result.stop_detail.startswith("add: Not run: you have made this call 4 times")
    assert problems(result.messages) == []


async def test_XL13_repeated_calls_are_warned_of_in_the_result_and_as_an_event() -> None:
    events = await events_of(agent_of(*[ADD] * 3, "ok"))
    warned = [event.text for event in events if isinstance(event, Warned)]
    assert warned == ["add: This call has now been made 3 times with the same result."]
    result = await play(*[ADD] * 3, "ok")
    results = result.messages[-2]
    assert isinstance(results, ToolResults)
    assert results.results[0].content == "3\n[This call has now been made 3 times with the same result.]"


async def test_a_warning_stands_beside_the_parts_of_a_result() -> None:
    from toolroll import TextPart

    @tool
    async def look() -> list[TextPart]:
        """Look."""
        return [TextPart(text="seen")]

    result = await play(*[Call("look")] * 3, "ok", tools=[look])
    assert "[This call has now been made 3 times" in str(result.messages[-2])


async def test_A8_the_same_failure_three_times_stops_with_an_answer() -> None:
    result = await play(*[Call("fail")] * 3, "it does not work", stop_when=())
    assert (result.stop_reason, result.stop_detail) == ("repeated_failure", "fail: Error executing tool: broken")
    assert (result.text, len(result.steps)) == ("it does not work", 4)
