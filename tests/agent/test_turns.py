"""Turns that go wrong: cut, refused, paused, empty, broken off (XL3, XL5, XL9)."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.agent.legality import problems
from tests.agent.stage import Call, Notes, add, agent_of, events_of, play
from tests.support.model_script import Block, Fault, Search, Text, Thinking, Turn, Use
from tests.support.model_server import ModelServer

from toolroll import Agent, ScriptedModel, ToolCall, tokens_over
from toolroll.agent.live import LiveRun
from toolroll.agent.loop.finish import NO_ANSWER
from toolroll.agent.loop.model_turn import MAX_PAUSES
from toolroll.agent.loop.state import CUT
from toolroll.errors import AuthenticationFailed, ModelError, NetworkFailed, Overloaded, ProviderFailed
from toolroll.kernel.data.messages import AssistantMessage, CallBlock, Origin, TextBlock, ToolResults, UserMessage
from toolroll.kernel.data.usage import Usage
from toolroll.models.model import Delta, ModelRequest, ModelResponse, ReasoningDelta, StopKind, TextDelta, Wire
from toolroll.models.retry import RetryRule

WIRES: list[Wire] = ["anthropic", "openai", "chat"]
AT_ONCE = RetryRule(first_wait_s=0)
WRITE = CallBlock(call=ToolCall(id="call_1", name="write", arguments='{"text": "x"}'))


def turn(stop: StopKind, *blocks: Any, detail: str = "", usage: Usage | None = None) -> ModelResponse:
    made = tuple(TextBlock(text=block) if isinstance(block, str) else block for block in blocks)
    counted = usage or Usage(input_tokens=10, output_tokens=5, requests=1)
    return ModelResponse(message=AssistantMessage(blocks=made), stop=stop, stop_detail=detail, usage=counted)


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("max_tokens", "cut_off"),
        ("context_full", "cut_off"),
        ("refusal", "refusal"),
        ("unknown", "cut_off"),
        ("stop_sequence", "cut_off"),
    ],
)
async def test_XL9_calls_of_a_turn_that_did_not_end_well_are_not_run(stop: StopKind, reason: str) -> None:
    notes = Notes()
    result = await play(turn(stop, WRITE, detail="why"), "sorry", tools=[notes.write], approver=notes)
    assert (result.stop_reason, result.stop_detail) == (reason, "why")
    assert (notes.written, notes.asked) == ([], [])
    assert problems(result.messages) == []
    results = result.messages[2]
    assert isinstance(results, ToolResults)
    assert "[not run: " in str(results.results[0].content)
    assert result.steps[0].calls == ()


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("stop", ["max_tokens", "refusal"])
@pytest.mark.parametrize("stream", [True, False])
async def test_XL9_over_every_wire(wire: Wire, stop: Any, stream: bool) -> None:
    notes = Notes()
    script: list[Turn | str] = [Turn([Text("let me"), Use("write", {"text": "x"})], stop=stop), "in short", "and on"]
    async with ModelServer(script) as server:
        agent = Agent(model=server.model(wire), tools=[notes.write], approver=notes)
        result = await (agent.stream("go").wait() if stream else agent.run("go"))
        assert notes.written == []
        await agent.run("go on", messages=result.messages)


async def test_A4_a_turn_that_was_cut_inside_a_call_still_comes_to_an_answer() -> None:
    result = await play(turn("max_tokens", WRITE), "I could not write it at once", tools=[Notes().write])
    assert (result.text, result.closing, result.stop_reason) == ("I could not write it at once", True, "cut_off")


async def test_A4_a_cut_answer_is_handed_back_as_it_is() -> None:
    result = await play(turn("max_tokens", "the first half"))
    assert (result.text, result.closing, result.stop_reason) == ("the first half", False, "cut_off")


async def test_XL9_a_refusal_is_the_answer() -> None:
    silent = await play(turn("refusal", detail="policy"))
    assert (silent.text, silent.stop_reason) == ("(The model refused to answer. policy)", "refusal")
    spoken = await play(["I look", Call("add", {"a": 1, "b": 1})], turn("refusal", "I will not."))
    assert spoken.text == "I will not."


@pytest.mark.parametrize("stop", ["unknown", "stop_sequence", "end"])
async def test_XL9_an_unknown_end_after_plain_text_is_an_answer(stop: StopKind) -> None:
    result = await play(turn(stop, "here you are", detail="eos"))
    assert (result.text, result.stop_reason) == ("here you are", "answer")
    assert result.stop_detail == ("eos" if stop == "unknown" else "")


async def test_XL9_a_tool_stop_without_a_call_is_retried_once_then_reported() -> None:
    empty = turn("tool_calls", "I will call")
    again = await play(empty, Call("add", {"a": 1, "b": 2}), "3")
    assert (again.text, again.stop_reason) == ("3", "answer")
    reported = await play(empty, empty)
    assert (reported.stop_reason, reported.stop_detail) == ("cut_off", "the model announced tool calls and made none")
    assert (reported.text, len(reported.steps)) == ("I will call", 2)
    assert problems(reported.messages) == []


async def test_A4_an_empty_answer_is_asked_for_once_more_then_reported() -> None:
    again = await play("", "here")
    assert (again.text, again.stop_reason) == ("here", "answer")
    nothing = await play(" ", "", "")
    assert (nothing.text, nothing.stop_reason) == (NO_ANSWER, "cut_off")
    assert nothing.stop_detail == "the model ended its turns without a word"


@pytest.mark.parametrize("stream", [True, False])
async def test_XL9_a_paused_turn_is_continued_and_counted(stream: bool) -> None:
    pages = (("https://a.example/", "A"),)
    script: list[Turn | str] = [
        Turn([Text("searching "), Search("cats", pages)], stop="pause"),
        Turn([Text("found")]),
        "more",
    ]
    async with ModelServer(script) as server:
        agent = Agent(model=server.model("anthropic"))
        result = await (agent.stream("cats?").wait() if stream else agent.run("cats?"))
        assert (result.text, len(result.steps), result.usage.requests) == ("searching found", 1, 2)
        [first, second] = server.requests
        assert second.body["messages"][: len(first.body["messages"])] != []
        assert second.body["messages"][-1]["role"] == "assistant"
        await agent.run("more", messages=result.messages)


async def test_XL9_a_turn_that_pauses_for_ever_is_ended_with_what_it_has() -> None:
    result = await play(*[turn("pause", f"{number} ") for number in range(MAX_PAUSES + 1)])
    assert result.stop_reason == "answer"
    assert result.stop_detail == f"paused more than {MAX_PAUSES} times"
    assert result.text == "".join(f"{number} " for number in range(MAX_PAUSES + 1))
    assert result.usage.requests == MAX_PAUSES + 1


async def test_XL13_a_limit_in_a_continued_turn_keeps_what_was_said_before() -> None:
    words = "word " * 500
    agent = agent_of(turn("pause", "first "), words, stop_when=tokens_over(200))
    result = await agent.stream("go").wait()
    assert result.text.startswith("first word ")
    assert len(result.text) < len(words)
    assert result.usage.requests == 2
    assert result.usage.input_tokens >= 10


async def error_of(run: LiveRun[Any]) -> ModelError | None:
    try:
        await run.wait()
    except ModelError as error:
        return error
    return None


@pytest.mark.parametrize("wire", WIRES)
async def test_XL5_a_stream_that_is_cut_anywhere_runs_nothing_and_can_be_gone_on_from(wire: Wire) -> None:
    """Inside arguments, between two calls, after the last one: as long as the end is missing, nothing is executed."""
    notes = Notes()
    calls: list[str | Block] = [Text("I write "), Use("write", {"text": "one"}), Use("write", {"text": "two"})]
    cuts = 0
    for events in range(1, 60):
        fault = Fault(cut_after_events=events, clean_cut=bool(events % 2))
        async with ModelServer([Turn(calls, fault=fault), *["go on"] * 4]) as server:
            agent = Agent(model=server.model(wire), tools=[notes.write], approver=notes, retry=RetryRule(retries=0))
            run = agent.stream("write")
            error = await error_of(run)
            if error is None:
                break
            cuts += 1
            assert notes.written == []
            assert run.result is not None
            assert run.result is error.result
            assert run.result.stop_reason == "failed"
            assert problems(run.messages) == []
            assert (await agent.run("and now?", messages=run.messages)).text == "go on"
    assert cuts >= 6
    assert notes.written == ["one", "two"]


async def test_XL3_what_was_shown_before_the_connection_broke_is_kept_and_marked() -> None:
    fault = Fault(error_after_events=4, kind="overloaded_error")
    async with ModelServer([Turn("one two three four five", fault=fault), "so"]) as server:
        agent = Agent(model=server.model("anthropic"), retry=AT_ONCE)
        run = agent.stream("count")
        with pytest.raises(Overloaded):
            await run.wait()
        last = run.messages[-1]
        assert isinstance(last, AssistantMessage)
        assert last.text == f"one two  {CUT}"
        assert run.result is not None
        assert (run.result.text, run.result.stop_reason) == ("one two", "failed")
        assert len(server.requests) == 1
        assert (await agent.run(messages=run.messages)).text == "so"


async def test_XL3_a_failure_before_anything_was_shown_is_retried_and_told() -> None:
    events = await events_of(agent_of(Overloaded("busy"), "here", retry=AT_ONCE))
    told = [event for event in events if event.event == "retry"]
    assert len(told) == 1
    assert "busy" in str(told[0])


async def test_A6_a_models_error_ends_the_run_and_its_history_survives() -> None:
    agent = agent_of(["I add", Call("add", {"a": 1, "b": 2})], AuthenticationFailed("no key"), price=lambda _o, _u: 1.0)
    with pytest.raises(AuthenticationFailed, match="no key") as caught:
        await agent.run("go")
    result = caught.value.result
    assert (result.stop_reason, result.stop_detail, result.text) == ("failed", "no key", "I add")
    assert (len(result.steps), result.cost, result.can_continue) == (1, 1.0, True)
    assert problems(result.messages) == []
    assert (await agent_of("3").run("again", messages=result.messages)).text == "3"


async def test_A6_the_last_event_of_a_failed_run_is_its_end() -> None:
    run = agent_of(NetworkFailed("gone"), retry=RetryRule(retries=0)).stream("go")
    kinds: list[str] = []

    async def listen() -> None:
        async for event in run:
            kinds.append(event.event)  # noqa: PERF401 - the list is wanted although the loop fails

    with pytest.raises(NetworkFailed):
        await listen()
    assert kinds[-1] == "run_finished"
    assert run.result is not None
    assert (run.result.stop_reason, run.result.text) == ("failed", NO_ANSWER)


async def test_a_model_that_ends_without_an_answer_is_a_failure_of_its_own() -> None:
    class Silent:
        origin = Origin(wire="chat", model="silent")

        async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
            for _ in range(2):
                yield ReasoningDelta(text="hm")

    with pytest.raises(ProviderFailed, match="without an answer"):
        await Agent(model=Silent()).run("go")


async def test_A7_thoughts_are_shown_as_they_come() -> None:
    async with ModelServer([Turn([Thinking("let me see"), Text("yes")])]) as server:
        events = await events_of(Agent(model=server.model("anthropic")))
    shown = [event.event for event in events]
    assert "reasoning_delta" in shown
    assert shown.index("reasoning_delta") < shown.index("text_delta")


async def test_thought_that_was_cut_off_is_not_sent_back() -> None:
    """Anthropic refuses a turn that ends with thought."""
    async with ModelServer([Turn([Thinking("let me")], stop="max_tokens"), "short", "more"]) as server:
        agent = Agent(model=server.model("anthropic"))
        result = await agent.run("think")
        assert (result.text, result.closing, result.stop_reason) == ("short", True, "cut_off")
        await agent.run("more", messages=result.messages)


async def test_stop_breaks_off_a_model_that_is_writing() -> None:
    class Endless:
        origin = Origin(wire="chat", model="endless")

        async def respond(self, request: ModelRequest, /, *, stream: bool) -> AsyncIterator[Delta | ModelResponse]:
            while True:
                yield TextDelta(text="word ")
                await asyncio.sleep(0)

    run = Agent(model=Endless()).stream("talk")
    async for event in run:
        if event.event == "text_delta":
            run.stop()
    assert run.result is not None
    assert (run.result.stop_reason, run.result.stop_detail) == ("interrupted", "stopped on request")
    assert run.result.text.startswith("word ")
    assert problems(run.messages) == []


async def test_stop_before_the_first_step_asks_nobody() -> None:
    model = ScriptedModel(["never"])
    run = Agent(model=model).stream("go")
    run.stop()
    result = await run.wait()
    assert (result.stop_reason, result.text, model.requests) == ("interrupted", NO_ANSWER, [])


async def test_stop_while_the_model_answers_leaves_its_calls_unrun() -> None:
    notes = Notes()

    def script(request: ModelRequest) -> Any:
        run.stop()
        return turn("tool_calls", WRITE)

    agent = Agent(model=ScriptedModel(script), tools=[notes.write], approver=notes)
    run = agent.stream("go")
    async for _ in run:
        pass
    assert run.result is not None
    assert (run.result.stop_reason, notes.written) == ("interrupted", [])
    assert problems(run.messages) == []


async def test_stop_while_a_tool_runs_lets_it_finish() -> None:
    from toolroll import tool

    @tool
    async def work() -> str:
        """Be stopped."""
        run.stop()
        await asyncio.sleep(0)
        return "finished"

    run = agent_of(Call("work"), "never", tools=[work, add]).stream("go")
    result = await run.wait()
    assert result.stop_reason == "interrupted"
    assert "finished" in str(result.messages[-1])
    assert isinstance(result.messages[0], UserMessage)
