"""A provider that takes less than we think, over HTTP, in the words of each: one more try, or a clear end."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.agent.context.counted import Counted, results_in, text_of
from tests.agent.tape import Tape
from tests.support.model_script import Turn, Use, fail
from tests.support.model_server import ModelServer, Received

from toolroll import Agent, step_count_is, tool
from toolroll.agent.context.fit import STILL
from toolroll.agent.context.rules import ContextRules
from toolroll.agent.context.summary import INSTRUCTION
from toolroll.agent.events import ContextCompacted, ContextTrimmed, Event, Warned
from toolroll.agent.history.replay import replay
from toolroll.errors import ContextTooLong, ModelError
from toolroll.journal.records import MessagesCompacted, OutputsTrimmed
from toolroll.models.model import ModelRequest, ModelResponse, Wire
from toolroll.models.retry import RetryRule
from toolroll.models.scripted import Call, ScriptedModel

STEPS = 14
TAKES = 40_000
"""Bytes of a request; the model of the agent is thought to take some hundred thousand tokens."""

REFUSALS: list[tuple[Wire, str, Turn]] = [
    ("anthropic", "prompt", fail(400, "invalid_request_error", "prompt is too long: 210034 tokens > 200000 maximum")),
    (
        "anthropic",
        "sum",
        fail(
            400, "invalid_request_error", "input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000"
        ),
    ),
    ("anthropic", "bytes", fail(413, "request_too_large", "Request exceeds the maximum size")),
    (
        "openai",
        "code",
        fail(
            400,
            "invalid_request_error",
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
            code="context_length_exceeded",
        ),
    ),
    (
        "chat",
        "vllm",
        fail(
            400, "BadRequestError", "This model's maximum context length is 8192 tokens. However, you requested 9000."
        ),
    ),
    ("chat", "llama.cpp", fail(400, "exceed_context_size_error", "the request exceeds the available context size")),
    ("chat", "ollama", fail(400, "api_error", "the input length exceeds the context length")),
]
IDS = [f"{wire}-{name}" for wire, name, _ in REFUSALS]


@tool
async def read(number: int) -> str:
    """Read a page."""
    return f"page {number}: " + "word " * 1_000


class Narrow:
    """A server that refuses what is longer than it takes."""

    def __init__(self, refusal: Turn, *, takes: int = TAKES, steps: int = STEPS) -> None:
        self.refusal = refusal
        self.takes = takes
        self.steps = steps
        self.refused = 0
        self.number = 0

    def __call__(self, received: Received) -> Turn:
        if len(received.raw) > self.takes:
            self.refused += 1
            return self.refusal
        if INSTRUCTION[:40].encode() in received.raw:
            return Turn("## Decisions\n- Go on.\n## Summary\nPages were read.")
        self.number += 1
        return Turn([Use("read", {"number": self.number})]) if self.number <= self.steps else Turn("All read.")


async def played(wire: Wire, narrow: Narrow, prompt: str = "Read all.", **options: Any) -> tuple[Any, list[Event]]:
    async with ModelServer(narrow) as server:
        usual = {"tools": [read], "stop_when": step_count_is(STEPS + 2), "retry": RetryRule(retries=0)}
        agent = Agent(model=server.model(wire), **{**usual, **options})
        run = agent.stream(prompt)
        events = [event async for event in run]
        return run.result, events


@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize(("wire", "name", "refusal"), REFUSALS, ids=IDS)
async def test_A21_a_request_that_is_too_long_after_all_is_made_shorter_and_tried_again(
    wire: Wire, name: str, refusal: Turn, keeps: bool, tmp_path: Path
) -> None:
    """By references where outputs are kept, else by a summary."""
    narrow = Narrow(refusal)
    result, events = await played(wire, narrow, outputs=tmp_path if keeps else None)
    assert result.text == "All read."
    assert len(result.steps) == STEPS + 1
    assert any(isinstance(event, ContextTrimmed if keeps else ContextCompacted) for event in events)
    warned = [event.text for event in events if isinstance(event, Warned)]
    assert warned[0].endswith("tokens: the conversation was made shorter.")
    # It has learned what the model takes: from then on the conversation gives way in time, as good as always.
    assert 1 <= narrow.refused <= 2


@pytest.mark.parametrize(("wire", "name", "refusal"), REFUSALS, ids=IDS)
async def test_A21_what_cannot_be_made_shorter_ends_with_what_the_provider_said(
    wire: Wire, name: str, refusal: Turn
) -> None:
    """The prompt alone is too long: nothing is tried a second time."""
    narrow = Narrow(refusal)
    with pytest.raises(ContextTooLong) as raised:
        await played(wire, narrow, prompt="word " * 10_000)
    assert narrow.refused == 1
    assert refusal.fault is not None
    assert refusal.fault.message[:40] in raised.value.message
    needed, window = map(int, re.findall(r"([\d,]+)", raised.value.message.replace(",", ""))[-2:])
    assert 9_000 < needed < 20_000
    assert window > 0
    assert raised.value.result.stop_reason == "failed"


async def test_A21_a_request_that_stays_too_long_is_not_tried_a_third_time() -> None:
    narrow, asked = Narrow(REFUSALS[0][2]), list[bool]()

    def script(received: Received) -> Turn:
        asked.append(INSTRUCTION[:40].encode() in received.raw)
        return REFUSALS[0][2] if narrow.number == 3 and not asked[-1] else narrow(received)

    async with ModelServer(script) as server:
        agent = Agent(model=server.model("anthropic"), tools=[read])
        with pytest.raises(ContextTooLong) as raised:
            await agent.run("Read all.")
    assert raised.value.message.endswith(STILL)
    assert asked == [False, False, False, False, True, False]
    assert len(raised.value.result.steps) == 3


async def test_A21_a_summary_that_is_too_long_to_ask_for_leaves_the_error() -> None:
    narrow, warned = Narrow(REFUSALS[0][2]), list[str]()

    def script(received: Received) -> Turn:
        return REFUSALS[0][2] if narrow.number == 3 else narrow(received)

    async with ModelServer(script) as server:
        run = Agent(model=server.model("anthropic"), tools=[read]).stream("Read all.")

        async def listen() -> None:
            async for event in run:
                if isinstance(event, Warned):
                    warned.append(event.text)

        with pytest.raises(ContextTooLong) as raised:
            await listen()
    assert "could not be compacted, and stays as it is" in warned[0]
    assert not raised.value.message.endswith(STILL)


async def test_A21_without_compaction_outputs_alone_give_way(tmp_path: Path) -> None:
    narrow = Narrow(REFUSALS[0][2])
    result, events = await played("anthropic", narrow, outputs=tmp_path, context=ContextRules(compact_at=None))
    assert result.text == "All read."
    assert any(isinstance(event, ContextTrimmed) for event in events)
    assert not any(isinstance(event, ContextCompacted) for event in events)


@pytest.mark.parametrize("keeps", [True, False])
async def test_A21_where_neither_is_wanted_the_error_stands(keeps: bool, tmp_path: Path) -> None:
    narrow = Narrow(REFUSALS[0][2])
    rules = ContextRules(compact_at=None, outputs_tokens=0 if keeps else None)
    with pytest.raises(ContextTooLong):
        await played("anthropic", narrow, outputs=tmp_path if keeps else None, context=rules)
    assert narrow.refused == 1


async def test_A21_K52_newest_outputs_that_alone_are_too_much_become_references(tmp_path: Path) -> None:
    """A model can read on from a reference; from an error it cannot."""

    @tool
    async def flood() -> str:
        """Too much."""
        return "".join(f"row {number}: " + "word " * 10 + "\n" for number in range(2_000))

    def script(received: Received) -> Turn:
        if len(received.raw) > TAKES:
            return REFUSALS[0][2]
        if b"tool output trimmed; ref=" in received.raw:
            return Turn("I see a reference.")
        return Turn([Use("flood", {})])

    async with ModelServer(script) as server:
        agent = Agent(model=server.model("anthropic"), tools=[flood], outputs=tmp_path)
        result = await agent.run("Flood me.")
    assert result.text == "I see a reference."


def narrow_model(takes: int) -> tuple[ScriptedModel, Counted]:
    counted = Counted(lambda number, _: Call("read", {"number": number}) if number <= STEPS else "All read.")

    def turn(request: ModelRequest) -> ModelResponse | ModelError:
        if counted.size_of(request) > takes:
            return ContextTooLong("Too long.")
        answer = counted._next(request)  # the same, for who takes less
        assert isinstance(answer, (ModelResponse, ModelError))
        return answer

    return ScriptedModel(turn), counted


@pytest.mark.parametrize("kind", ["trimmed", "compacted"])
async def test_A21_D3_such_a_run_can_be_resumed_and_is_the_same_when_played_again(kind: str, tmp_path: Path) -> None:
    outputs = tmp_path if kind == "trimmed" else None
    model, _ = narrow_model(10_000)
    tape = Tape()
    agent = Agent(
        model=model,
        tools=[read],
        journal=tape,
        outputs=outputs,
        make_id=lambda: "run",
        stop_when=step_count_is(STEPS + 2),
    )
    whole = await agent.run("Read all.")
    assert kind in tape.kinds("run")
    report = await replay(agent, "run")
    assert report.differences == ()
    assert report.result is not None
    assert report.result.messages == whole.messages
    changes = [
        number
        for number, (_, records) in enumerate(tape.writes)
        if isinstance(records[-1], (OutputsTrimmed, MessagesCompacted))
    ]
    for count in (changes[0] + 1, changes[-1] + 1):
        cut = await tape.cut(count)
        again, counted = narrow_model(10_000)
        counted.number = cut.paid("run")
        rest = Agent(model=again, tools=[read], journal=cut, outputs=outputs, stop_when=step_count_is(STEPS + 2))
        result = await rest.resume("run")
        assert result.text == "All read."
        assert [text_of(message) for message in result.messages[:1]] == ["Read all."]
        assert results_in(result.messages)
