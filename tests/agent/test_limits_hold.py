"""Limits that hold (A47): steps with the last answer, money by estimate, seconds while a model is asked, pauses."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from tests.agent.legality import problems
from tests.agent.stage import Call, add, agent_of, events_of, play
from tests.agent.test_limits import adding, cent_a_token, response
from tests.support.model_script import Turn, Use
from tests.support.model_server import ModelServer

from toolroll import Agent, RunResult, cost_over, deadline, step_count_is, tokens_over, tool
from toolroll.agent.events import ModelPaused
from toolroll.agent.history.replay import replay
from toolroll.agent.loop.finish import NO_ANSWER
from toolroll.agent.stop import LoopRules
from toolroll.errors import UsageError
from toolroll.journal.journal import MemoryJournal
from toolroll.journal.records import CallEnded, ModelTurn, RunBegan
from toolroll.kernel.data.messages import Origin
from toolroll.kernel.data.serialize import dump_json
from toolroll.models.model import Delta, ModelRequest, ModelResponse, Wire
from toolroll.models.scripted import ScriptedModel


@pytest.mark.parametrize("limit", [2, 3, 5, 10])
async def test_A47_the_last_answer_is_one_of_the_steps(limit: int) -> None:
    script, seen = iter([*adding(limit - 1), "so far", "never asked"]), []

    def answer(request: ModelRequest) -> Any:
        seen.append(request.tool_choice)
        return next(script)

    result = await Agent(model=ScriptedModel(answer), tools=[add], stop_when=step_count_is(limit)).run("go")
    assert len(result.steps) == limit
    assert seen == ["auto"] * (limit - 1) + ["none"]
    assert (result.stop_detail, result.closing, result.text) == (f"step_count_is({limit})", True, "so far")
    assert problems(result.messages) == []


async def test_A47_the_smallest_of_several_limits_counts() -> None:
    result = await play(*adding(2), "so far", stop_when=[step_count_is(9), step_count_is(3)])
    assert (result.stop_detail, len(result.steps)) == ("step_count_is(3)", 3)


async def test_A47_a_limit_of_one_step_leaves_no_room_for_another_request() -> None:
    model = ScriptedModel([["I add", *adding(1)], "never asked"])
    result = await Agent(model=model, tools=[add], stop_when=step_count_is(1)).run("go")
    assert (result.text, result.closing, len(model.requests)) == ("I add", False, 1)
    assert (result.stop_detail, result.can_continue) == ("step_count_is(1)", True)


async def test_A47_a_last_answer_that_does_not_fit_is_not_repaired_past_the_limit() -> None:
    model = ScriptedModel([*adding(1), "no number", "17"])
    result: RunResult[int] = await Agent(model=model, tools=[add], output=int, stop_when=step_count_is(2)).run("go")
    assert (result.output, len(model.requests)) == (None, 2)
    assert result.output_fault is not None


async def test_A47_an_answer_to_be_repaired_has_the_last_step() -> None:
    result: RunResult[int] = await agent_of("no number", "17", output=int, stop_when=step_count_is(2)).run("go")
    assert (result.output, result.stop_reason, len(result.steps)) == (17, "answer", 2)


async def recorded_before(script: list[Any], limit: int) -> MemoryJournal:
    """A run as versions recorded it in which the last answer came after the limit."""
    tape, stop = MemoryJournal(), step_count_is(limit + 1)
    agent = agent_of(*script, journal=tape, stop_when=stop, make_id=lambda: "old", close_with_answer=True)
    await agent.run("go")
    old = MemoryJournal()
    for _, record in await tape.read("old"):
        if isinstance(record, RunBegan):
            record = replace(record, closes_inside=False)  # noqa: PLW2901 - the one that differs
        await old.append("old", _in_old_words(record, limit))
    await old.release("old")
    return old


def _in_old_words(record: Any, limit: int) -> Any:
    from toolroll.journal.records import MessageAdded, RunEnded, StopDecided
    from toolroll.kernel.data.messages import UserMessage

    now, then = f"step_count_is({limit + 1})", f"step_count_is({limit})"
    if isinstance(record, StopDecided | RunEnded):
        return replace(record, stop_detail=then)
    if isinstance(record, MessageAdded) and record.about == "closing":
        assert isinstance(record.message, UserMessage)
        return replace(record, message=UserMessage.of(record.message.content[0].text.replace(now, then)))  # type: ignore[union-attr]  # one text
    return record


async def test_A47_a_run_that_was_recorded_with_an_extra_last_answer_is_played_as_it_was() -> None:
    old = await recorded_before([*adding(2), "so far"], limit=2)
    agent = agent_of(journal=old, stop_when=step_count_is(2))
    assert (await replay(agent, "old")).differences == ()


@pytest.mark.parametrize("turns", [1, 2])
async def test_A47_and_so_it_is_resumed(turns: int) -> None:
    whole = await recorded_before([*adding(2), "so far"], limit=2)
    cut, seen = MemoryJournal(), 0
    for _, record in await whole.read("old"):
        if seen == turns and not isinstance(record, ModelTurn) and not isinstance(record, CallEnded):
            break
        seen += isinstance(record, ModelTurn)
        if seen > turns:
            break
        await cut.append("old", record)
    await cut.release("old")
    left = [*adding(2), "so far"][turns:]
    result = await agent_of(*left, journal=cut, stop_when=step_count_is(2)).resume("old")
    assert (result.text, result.closing, len(result.steps)) == ("so far", True, 3)


async def test_A47_no_call_is_begun_that_would_cost_more_than_the_limit() -> None:
    """Each turn reads 10 and writes 40 tokens at a cent each: what it will write counts before it is asked."""
    script = [replace_usage(one) for one in adding(9)]
    result = await play(*script, stop_when=cost_over(2.0), price=cent_a_token, close_with_answer=False)
    assert result.stop_detail == "cost_over(2.0): the next call would go over it"
    assert result.cost is not None
    assert result.cost <= 2.0
    assert result.cost > 1.0


def replace_usage(call: Any) -> Any:
    from toolroll.kernel.data.messages import CallBlock, ToolCall

    made = ToolCall(id=f"c{call.arguments['a']}", name="add", arguments=dump_json(call.arguments))
    answer = response(CallBlock(call=made), stop="tool_calls")
    return replace(answer, usage=replace(answer.usage, output_tokens=40))


async def test_A47_a_last_answer_that_would_cost_too_much_is_not_asked_for() -> None:
    @tool
    async def read() -> str:
        """Read a lot."""
        return "word " * 1000

    model = ScriptedModel([Call("read"), "never asked"])
    agent = Agent(model=model, tools=[read], stop_when=cost_over(5.0), price=cent_a_token)
    result = await agent.run("go")
    assert (result.text, result.closing, len(model.requests)) == (NO_ANSWER, False, 1)
    assert result.cost is not None
    assert result.cost < 5.0
    tokens = ScriptedModel([Call("read"), "in short"])
    result = await Agent(model=tokens, tools=[read], stop_when=tokens_over(500)).run("go")
    assert (result.text, result.closing) == ("in short", True)


class Silent:
    """A model that is asked and never answers."""

    def __init__(self) -> None:
        self.origin = Origin(wire="chat", model="silent")
        self.asked = 0
        self.ended = 0

    async def respond(self, _request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
        self.asked += 1
        try:
            await asyncio.Event().wait()
            yield response(f"never {stream}")
        finally:
            self.ended += 1


async def test_A47_a_deadline_ends_a_call_under_way_and_pays_no_other() -> None:
    model = Silent()
    async with asyncio.timeout(30):
        result = await Agent(model=model, stop_when=deadline(0.05)).run("go")
    assert (model.asked, model.ended) == (1, 1)
    assert (result.stop_reason, result.text, result.closing) == ("condition", NO_ANSWER, False)
    assert result.stop_detail == "deadline(0.05): reached while the model was writing"
    assert problems(result.messages) == []


async def test_A47_a_deadline_also_ends_the_last_answer() -> None:
    silent = Silent()

    class Adds(Silent):
        async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
            if request.tool_choice == "none":
                async for one in silent.respond(request, stream=stream):
                    yield one
                return
            async for piece in ScriptedModel([["I add", *adding(1)]]).respond(request, stream=stream):
                yield piece

    async with asyncio.timeout(30):
        result = await Agent(model=Adds(), tools=[add], stop_when=[step_count_is(2), deadline(0.3)]).run("go")
    assert (silent.asked, silent.ended, result.text, result.stop_reason) == (1, 1, "I add", "condition")


def paused(count: int) -> list[Turn]:
    """A turn that the provider pauses so many times."""
    return [*[Turn("I search. ", stop="pause_turn") for _ in range(count)], Turn("Found.")]


@pytest.mark.parametrize("stream", [True, False])
async def test_A47_pauses_of_a_server_tool_are_counted_and_shown(stream: bool) -> None:
    tape = MemoryJournal()
    async with ModelServer([*paused(2), Turn(Use("add", {"a": 1, "b": 2})), "3"]) as server:
        agent = Agent(model=server.model("anthropic"), tools=[add], journal=tape)
        events: list[Any] = []
        result = await agent.start("go", stream=stream, listener=events.append).wait()
        again = await Agent(model=server.model("anthropic"), tools=[add], journal=tape).resume(result.run_id)
    assert [event.pauses for event in events if isinstance(event, ModelPaused)] == [1, 2]
    assert ([step.pauses for step in result.steps], result.pauses) == ([2], 2)
    assert (result.usage.requests, len(server.requests)) == (3, 3)
    assert (again.pauses, again.text) == (2, result.text)


async def test_A47_a_paused_turn_is_not_continued_past_a_limit() -> None:
    wire: Wire = "anthropic"
    async with ModelServer(paused(3)) as server:
        agent = Agent(model=server.model(wire), stop_when=cost_over(2.0), price=cent_a_token)
        result = await agent.run("go")
        assert len(server.requests) == 1
    assert (result.stop_reason, result.steps[0].is_cut) == ("condition", True)
    assert result.stop_detail.startswith("cost_over(2.0)")
    assert result.cost is not None
    assert result.cost <= 2.0


async def test_A47_pauses_are_told_where_events_are_read() -> None:
    async with ModelServer(paused(1)) as server:
        events = await events_of(Agent(model=server.model("anthropic")))
    assert [event.event for event in events].count("model_paused") == 1


async def test_A47_an_agent_and_a_tool_can_let_a_model_repeat_itself() -> None:
    same = [Call("add", {"a": 1, "b": 2})] * 8
    assert (await play(*same, "ok", stop_when=(), loop_guard=False)).stop_reason == "answer"
    early = await play(*same, stop_when=(), loop_guard=LoopRules(refuse_at=3, stop_at=4))
    assert (early.stop_reason, len(early.steps)) == ("repeated_calls", 5)

    @tool(loop_guard=False, timeout=5)
    async def poll() -> str:
        """Ask whether it is ready."""
        return "not yet"

    result = await play(*[Call("poll")] * 8, "ready", tools=[poll], stop_when=())
    assert (result.stop_reason, len(result.steps)) == ("answer", 9)


def test_A47_a_guard_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="loop_guard is True, False or LoopRules, not 3"):
        agent_of("x", loop_guard=3)
