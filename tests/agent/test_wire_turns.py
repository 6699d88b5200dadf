"""Turns that go wrong or on, over real HTTP, through the loop: every wire, streamed and not (A31, XL3, XL5, XL9)."""

from itertools import count
from typing import Any

import pytest
from tests.agent.legality import problems
from tests.agent.stage import Notes, add
from tests.support.model_script import Block, Fault, Raw, Search, Text, Thinking, Turn, Use
from tests.support.model_server import ModelServer, Received

from toolroll import Agent, RunResult
from toolroll.agent.loop.state import CUT
from toolroll.errors import NetworkFailed, Overloaded, ProviderFailed
from toolroll.journal.journal import MemoryJournal
from toolroll.kernel.data.messages import AssistantMessage, UnknownBlock
from toolroll.models.model import Wire
from toolroll.models.retry import RetryRule

WIRES: list[Wire] = ["anthropic", "openai", "chat"]
AT_ONCE = RetryRule(first_wait_s=0)
ODD: dict[str, Any] = {"type": "hologram", "shape": {"faces": [1, 2]}, "seal": "Zm9v"}
OF_WIRES = pytest.mark.parametrize("wire", WIRES)
STREAMED = pytest.mark.parametrize("stream", [True, False])


async def go(agent: Agent[Any], prompt: str, *, stream: bool, **options: Any) -> RunResult[Any]:
    return await (agent.stream(prompt, **options).wait() if stream else agent.run(prompt, **options))


def said(request: Received) -> list[Any]:
    """All content blocks of the model's own turns in a request to Anthropic, without cache marks."""
    turns = [message["content"] for message in request.body["messages"] if message["role"] == "assistant"]
    return [{key: value for key, value in block.items() if key != "cache_control"} for turn in turns for block in turn]


@STREAMED
async def test_A31_a_block_that_nobody_knows_goes_back_untouched_with_the_results(stream: bool) -> None:
    first: list[str | Block] = [Thinking("hm"), Raw(ODD), Text("I add"), Use("add", {"a": 1, "b": 2})]
    async with ModelServer([Turn(first), "3", "still 3"]) as server:
        agent = Agent(model=server.model("anthropic"), tools=[add])
        result = await go(agent, "1 + 2?", stream=stream)
        assert result.text == "3"
        await go(agent, "sure?", stream=stream, messages=result.messages)
    for request in server.requests[1:]:
        assert said(request)[1] == ODD
        assert [block["type"] for block in said(request)[:4]] == ["thinking", "hologram", "text", "tool_use"]
    turn = result.messages[1]
    assert isinstance(turn, AssistantMessage)
    assert turn.blocks[1] == UnknownBlock(raw=ODD)


@STREAMED
async def test_A31_a_block_that_nobody_knows_survives_a_resumed_run(stream: bool) -> None:
    journal = MemoryJournal()
    async with ModelServer([Turn([Raw(ODD), Use("add", {"a": 1, "b": 2})]), "3", "still 3"]) as server:
        agent = Agent(model=server.model("anthropic"), tools=[add], journal=journal)
        result = await go(agent, "1 + 2?", stream=stream)
        again = await agent.resume(result.run_id, prompt="sure?")
    assert again.text == "still 3"
    assert said(server.requests[-1])[0] == ODD


@STREAMED
async def test_A31_the_loop_continues_a_pause_with_the_turn_unchanged_and_runs_its_calls_at_the_end(
    stream: bool,
) -> None:
    """Twice paused in the middle of a search; nothing of ours comes between, and no tool runs before it is over."""
    pages = (("https://a.example/", "A"), ("https://b.example/", "B"))
    script = [
        Turn([Thinking("where"), Text("searching "), Search("cats", None)], stop="pause"),
        Turn([Search("dogs", pages)], stop="pause"),
        Turn([Text("found ", (pages[0],)), Use("add", {"a": 1, "b": 2})]),
        Turn("3 of them"),
    ]
    async with ModelServer(script) as server:
        result = await go(Agent(model=server.model("anthropic"), tools=[add]), "how many?", stream=stream)
    first, second, third, last = server.requests
    assert (len(result.steps), result.usage.requests) == (2, 4)
    assert result.text == "3 of them"
    assert [message["role"] for message in second.body["messages"]] == ["user", "assistant"]
    assert [message["role"] for message in third.body["messages"]] == ["user", "assistant"]
    assert said(third)[: len(said(second))] == said(second)
    assert said(last)[: len(said(third))] == said(third)
    assert all(request.body["tools"] == first.body["tools"] for request in (second, third, last))
    found = next(block for block in said(last) if block["type"] == "web_search_tool_result")
    assert all(page["encrypted_content"] for page in found["content"])
    assert problems(result.messages) == []


@STREAMED
async def test_XL44_a_call_beside_a_pause_is_run_and_its_result_goes_back_first(stream: bool) -> None:
    """A conversation that goes on with an open call and no result would be refused."""
    notes = Notes()
    script = [
        Turn([Text("searching "), Search("cats", None), Use("write", {"text": "x"})], stop="pause"),
        Turn("done"),
    ]
    async with ModelServer(script) as server:
        agent = Agent(model=server.model("anthropic"), tools=[notes.write], approver=notes)
        result = await go(agent, "cats?", stream=stream)
    assert (result.text, result.stop_reason, notes.written) == ("done", "answer", ["x"])
    assert [message["role"] for message in server.requests[1].body["messages"]] == ["user", "assistant", "user"]
    assert problems(result.messages) == []


@STREAMED
async def test_A31_a_refusal_after_a_pause_ends_the_run_and_runs_nothing(stream: bool) -> None:
    notes = Notes()
    script = [
        Turn([Text("searching "), Search("cats")], stop="pause"),
        Turn([Text("no."), Use("write", {"text": "x"})], stop="refusal"),
        Turn("hello"),
    ]
    async with ModelServer(script) as server:
        agent = Agent(model=server.model("anthropic"), tools=[notes.write], approver=notes)
        result = await go(agent, "cats?", stream=stream)
        assert (result.stop_reason, result.text, notes.written) == ("refusal", "searching no.", [])
        assert (await go(agent, "hello", stream=stream, messages=result.messages)).text == "hello"


FIRST_SHOWN = {"anthropic": 3, "openai": 5, "chat": 2}
"""After how many events of each wire the first word can be seen."""


@OF_WIRES
async def test_XL3_an_error_before_the_first_content_is_retried_and_no_call_is_repeated(wire: Wire) -> None:
    for events in range(FIRST_SHOWN[wire]):
        notes = Notes()
        failing = Turn("so", fault=Fault(error_after_events=events, kind="overloaded_error"))
        async with ModelServer([Turn(Use("write", {"text": "x"})), failing, failing, Turn("done")]) as server:
            agent = Agent(model=server.model(wire), tools=[notes.write], approver=notes, retry=AT_ONCE)
            run = agent.stream("write")
            told = [event.event async for event in run]
        assert run.result is not None
        assert (run.result.text, run.result.stop_reason, notes.written) == ("done", "answer", ["x"])
        assert (told.count("retry"), len(server.requests)) == (2, 4)
        first, *others = [request.body for request in server.requests[1:]]
        assert others == [first, first]
        assert problems(run.messages) == []


@OF_WIRES
@pytest.mark.parametrize("shown", [1, 2, 3, 4])
async def test_XL3_an_error_after_the_first_content_keeps_the_part_and_repeats_no_call(wire: Wire, shown: int) -> None:
    """Not retried; what was shown is kept and marked, and what ran is not run again by whoever goes on."""
    notes, journal = Notes(), MemoryJournal()
    fault = Fault(error_after_events=FIRST_SHOWN[wire] - 1 + shown, kind="overloaded_error")
    script = [Turn(Use("write", {"text": "x"})), Turn("one two three four", fault=fault), *[Turn("and on")] * 2]
    async with ModelServer(script) as server:
        agent = Agent(model=server.model(wire), tools=[notes.write], approver=notes, retry=AT_ONCE, journal=journal)
        run = agent.stream("write")
        with pytest.raises((Overloaded, ProviderFailed)) as caught:
            await run.wait()
        assert len(server.requests) == 2
        last = run.messages[-1]
        assert isinstance(last, AssistantMessage)
        assert last.text.removesuffix(CUT).split() == ["one", "two", "three", "four"][:shown]
        assert last.text.endswith(CUT)
        assert caught.value.result.messages == run.messages
        assert problems(run.messages) == []
        assert (await agent.run("go on", messages=run.messages)).text == "and on"
        assert (await agent.resume(run.run_id)).text == "and on"
    assert notes.written == ["x"]


@OF_WIRES
async def test_XL3_an_error_while_a_call_is_written_runs_nothing_of_it(wire: Wire) -> None:
    notes = Notes()
    turn: list[str | Block] = [Text("I write "), Use("write", {"text": "one"}), Use("write", {"text": "two"})]
    for events in range(FIRST_SHOWN[wire], FIRST_SHOWN[wire] + 8):
        fault = Fault(error_after_events=events, kind="overloaded_error")
        async with ModelServer([Turn(turn, fault=fault), Turn("and on")]) as server:
            agent = Agent(model=server.model(wire), tools=[notes.write], approver=notes, retry=AT_ONCE)
            run = agent.stream("write")
            with pytest.raises((Overloaded, ProviderFailed)):
                await run.wait()
            assert problems(run.messages) == []
            assert (await agent.run("go on", messages=run.messages)).text == "and on"
    assert (notes.written, notes.asked) == ([], [])


@OF_WIRES
async def test_XL5_a_stream_cut_anywhere_is_resumed_from_the_record_and_finished_calls_are_not_run_again(
    wire: Wire,
) -> None:
    """The second turn is cut after each of its events: the first one's call stays done, the second's run once."""
    cuts = 0
    for events in count(1):
        notes, journal = Notes(), MemoryJournal()
        second: list[str | Block] = [Text("more "), Use("write", {"text": "two"}), Use("write", {"text": "three"})]
        fault = Fault(cut_after_events=events, clean_cut=bool(events % 2))
        script = [Turn(Use("write", {"text": "one"})), Turn(second, fault=fault), Turn(second), Turn("done")]
        async with ModelServer(script) as server:
            options: Any = {"tools": [notes.write], "approver": notes, "journal": journal}
            agent = Agent(model=server.model(wire), retry=RetryRule(retries=0), **options)
            run = agent.stream("write")
            try:
                await run.wait()
                break
            except NetworkFailed:
                cuts += 1
            assert notes.written == ["one"]
            assert problems(run.messages) == []
            result = await agent.resume(run.run_id)
            assert (result.text, notes.written) == ("done", ["one", "two", "three"])
            assert problems(result.messages) == []
    assert cuts >= 8


REASONS = {"max_tokens": "cut_off", "refusal": "refusal", "context_full": "cut_off", "sunspots": "cut_off"}
"""What a turn with a call in it can end with, and what the run then ends with."""


@OF_WIRES
@STREAMED
@pytest.mark.parametrize("stop", [*REASONS, "stop_sequence"])
async def test_XL9_a_turn_that_did_not_end_well_runs_no_call_and_can_be_gone_on_from(
    wire: Wire, stream: bool, stop: str
) -> None:
    notes = Notes()
    turn = Turn([Text("let me"), Use("write", {"text": "x"})], stop=stop)
    async with ModelServer([turn, *[Turn("in short")] * 2]) as server:
        agent = Agent(model=server.model(wire), tools=[notes.write], approver=notes)
        result = await go(agent, "go", stream=stream)
        if wire == "chat" and stop == "stop_sequence":  # which that wire does not tell from a good end
            assert (result.stop_reason, notes.written) == ("answer", ["x"])
            return
        assert (result.stop_reason, notes.written, notes.asked) == (REASONS.get(stop, "cut_off"), [], [])
        assert "[not run: " in str(result.messages)
        assert problems(result.messages) == []
        again = await go(agent, "and now?", stream=stream, messages=result.messages)
        assert (again.text, again.stop_reason) == ("in short", "answer")


@OF_WIRES
@STREAMED
@pytest.mark.parametrize("stop", ["auto", "max_tokens", "refusal", "context_full", "stop_sequence", "sunspots"])
async def test_XL9_words_without_a_call_are_handed_back_whatever_ended_them(
    wire: Wire, stream: bool, stop: str
) -> None:
    async with ModelServer([Turn("half of it", stop=stop)]) as server:
        result = await go(Agent(model=server.model(wire)), "go", stream=stream)
    assert (result.text, len(server.requests)) == ("half of it", 1)
    expected = {"max_tokens": {"cut_off"}, "refusal": {"refusal"}, "context_full": {"cut_off", "answer"}}
    assert result.stop_reason in expected.get(stop, {"answer"})


@STREAMED
@pytest.mark.parametrize(("wire", "word"), [("anthropic", "tool_use"), ("chat", "tool_calls")])
async def test_XL9_a_tool_stop_without_a_call_is_told_once_then_reported(wire: Wire, word: str, stream: bool) -> None:
    """On the third wire a stop is what the items are: there is no word for it."""
    empty = Turn("I will call", stop=word)
    async with ModelServer([empty, Turn("here")]) as server:
        told = await go(Agent(model=server.model(wire), tools=[add]), "go", stream=stream)
    assert (told.text, told.stop_reason, len(server.requests)) == ("here", "answer", 2)
    async with ModelServer([empty, empty]) as server:
        reported = await go(Agent(model=server.model(wire), tools=[add]), "go", stream=stream)
    assert (reported.stop_reason, len(server.requests)) == ("cut_off", 2)
    assert reported.stop_detail == "the model announced tool calls and made none"
    assert problems(reported.messages) == []
