"""Whole runs against a fake provider that others wrote: several turns, calls side by side, thoughts, failures."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from tests.agent.legality import problems
from tests.agent.stage import add
from tests.models.aimock import aimock, needs_aimock

from toolroll import Agent, RunResult
from toolroll.errors import ModelError, NetworkFailed, Overloaded, RateLimited
from toolroll.kernel.data.messages import AssistantMessage
from toolroll.models.connect import connect
from toolroll.models.exchange import WireModel
from toolroll.models.retry import RetryRule

pytestmark = needs_aimock

WIRES = pytest.mark.parametrize("wire", ["anthropic", "openai", "chat"])
STREAMED = pytest.mark.parametrize("stream", [True, False])


def call(number: int, a: int, b: int) -> dict[str, Any]:
    return {"id": f"call_{number}", "name": "add", "arguments": {"a": a, "b": b}}


FIXTURES: list[dict[str, Any]] = [
    {
        "match": {"userMessage": "sums", "turnIndex": 0},
        "response": {"reasoning": "Two sums.", "content": "Let me add.", "toolCalls": [call(1, 1, 2), call(2, 3, 4)]},
    },
    {
        "match": {"userMessage": "sums", "turnIndex": 1, "toolCallId": "call_2", "toolResultContains": "7"},
        "response": {"toolCalls": [call(3, 3, 7)]},
    },
    {
        "match": {"userMessage": "sums", "turnIndex": 2, "toolCallId": "call_3", "toolResultContains": "10"},
        "response": {"content": "Together 10."},
    },
    {"match": {"userMessage": "and again", "turnIndex": 3}, "response": {"content": "Still 10."}},
    {
        "match": {"userMessage": "tool first"},
        "response": {
            "blocks": [{"type": "toolCall", **call(1, 1, 1)}, {"type": "text", "text": "I am adding."}],
        },
    },
    {
        "match": {"userMessage": "rate"},
        "response": {"error": {"message": "slow down", "type": "rate_limit_error"}, "status": 429},
    },
    {
        "match": {"userMessage": "busy"},
        "response": {"error": {"message": "overloaded", "type": "overloaded_error"}, "status": 529},
    },
    {
        "match": {"userMessage": "cut"},
        "response": {"content": "This is a long answer that will never be whole, however long one waits."},
        "truncateAfterChunks": 2,
    },
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with aimock(tmp_path_factory.mktemp("aimock"), FIXTURES) as address:
        yield address


def model_at(url: str, wire: str) -> WireModel:
    names = {
        "anthropic": "anthropic:claude-sonnet-5-5",
        "openai": "openai:gpt-5",
        "chat": f"openai-compatible:gpt-5@{url}/v1",
    }
    keys = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}
    return connect(names[wire], environment=keys | {"ANTHROPIC_BASE_URL": url, "OPENAI_BASE_URL": f"{url}/v1"})


async def ask(url: str, wire: str, prompt: str, *, stream: bool = True, **options: Any) -> RunResult[Any]:
    messages = options.pop("messages", ())
    async with Agent(model=model_at(url, wire), tools=[add], **options) as agent:
        if stream:
            return await agent.stream(prompt, messages=messages).wait()
        return await agent.run(prompt, messages=messages)


@WIRES
@STREAMED
async def test_A31_A32_a_run_of_several_turns_with_calls_side_by_side_and_thoughts(
    url: str, wire: str, stream: bool
) -> None:
    """The server answers a turn only where the results of the one before are what and where it expects them."""
    result = await ask(url, wire, "the sums, please", stream=stream)
    assert (result.text, result.stop_reason) == ("Together 10.", "answer")
    assert [[one.name for one in step.calls] for step in result.steps] == [["add", "add"], ["add"], []]
    first = result.messages[1]
    assert isinstance(first, AssistantMessage)
    assert [block.type for block in first.blocks] == ["reasoning", "text", "call", "call"]
    assert [one.id for one in first.calls] == ["call_1", "call_2"]
    assert problems(result.messages) == []
    again = await ask(url, wire, "and again", stream=stream, messages=result.messages)
    assert again.text == "Still 10."


@WIRES
async def test_A31_A32_streamed_or_not_the_turns_are_the_same(url: str, wire: str) -> None:
    runs = [await ask(url, wire, "the sums, please", stream=stream) for stream in (True, False)]
    texts, calls = zip(
        *(([step.text for step in run.steps], [step.calls[0].arguments for step in run.steps[:2]]) for run in runs),
        strict=True,
    )
    assert texts[0] == texts[1]
    assert calls[0] == calls[1]


@STREAMED
async def test_A31_a_call_before_the_text_is_run_like_any_other(url: str, stream: bool) -> None:
    result = await ask(url, "anthropic", "tool first", stream=stream, stop_when=lambda steps: len(steps) == 1)
    turn = result.messages[1]
    assert isinstance(turn, AssistantMessage)
    assert [block.type for block in turn.blocks] == ["call", "text"]
    assert result.steps[0].calls[0].ok


@WIRES
@pytest.mark.parametrize(("prompt", "error"), [("rate", RateLimited), ("busy", Overloaded)])
async def test_A34_its_errors_are_ours(url: str, wire: str, prompt: str, error: type[ModelError]) -> None:
    with pytest.raises(error):
        await ask(url, wire, prompt, retry=RetryRule(retries=1, first_wait_s=0.01))


@WIRES
async def test_XL5_a_stream_that_it_cuts_is_no_answer(url: str, wire: str) -> None:
    with pytest.raises(NetworkFailed) as caught:
        await ask(url, wire, "cut", retry=RetryRule(retries=0))
    assert caught.value.result.stop_reason == "failed"
    assert problems(caught.value.result.messages) == []


async def test_a_request_that_no_fixture_fits_is_refused(url: str) -> None:
    """So that what the other tests were answered means something."""
    with pytest.raises(ModelError):
        await ask(url, "anthropic", "something else", retry=RetryRule(retries=0))
    async with httpx2.AsyncClient(trust_env=False) as client:
        kept = (await client.get(f"{url}/v1/_requests")).json()
    assert len(kept) > 0
