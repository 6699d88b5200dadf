"""Real providers, for a few cents: `make test-live` with a key in the environment. Everything else runs without."""

import os
from typing import Any

import pytest
from tests.agent.legality import problems
from tests.agent.stage import add

from toolroll import Agent, RunResult, WebSearch
from toolroll.kernel.data.messages import AssistantMessage, ServerBlock

KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
MODELS = {
    "anthropic": os.environ.get("TOOLROLL_LIVE_ANTHROPIC", "haiku"),
    "openai": os.environ.get("TOOLROLL_LIVE_OPENAI", "openai:gpt-5.4-nano"),
}


def live(provider: str) -> Any:
    missing = os.environ.get("TOOLROLL_LIVE") != "1" or not os.environ.get(KEYS[provider])
    reason = f"costs money: needs TOOLROLL_LIVE=1 and {KEYS[provider]}"
    return pytest.param(provider, marks=pytest.mark.skipif(missing, reason=reason))


PROVIDERS = pytest.mark.parametrize("provider", [live("anthropic"), live("openai")])
STREAMED = pytest.mark.parametrize("stream", [True, False])


async def ask(provider: str, prompt: str, *, stream: bool, **options: Any) -> RunResult[Any]:
    messages = options.pop("messages", ())
    async with Agent(model=MODELS[provider], max_output_tokens=2_000, **options) as agent:
        if stream:
            return await agent.stream(prompt, messages=messages).wait()
        return await agent.run(prompt, messages=messages)


@PROVIDERS
@STREAMED
async def test_calls_side_by_side_and_a_conversation_that_goes_on(provider: str, stream: bool) -> None:
    prompt = "Use the tool for both: what is 1234 + 4321, and what is 111 + 222? Call it twice at once."
    result = await ask(provider, prompt, stream=stream, tools=[add])
    assert "5555" in result.text.replace(",", "")
    assert sum(call.ok for step in result.steps for call in step.calls) >= 2
    assert result.usage.measured
    assert problems(result.messages) == []
    again = await ask(provider, "And the first sum once more?", stream=stream, tools=[add], messages=result.messages)
    assert "5555" in again.text.replace(",", "")


@PROVIDERS
async def test_a_checked_answer(provider: str) -> None:
    result = await ask(provider, "How many legs has a spider?", stream=False, output=int)
    assert result.output == 8


@PROVIDERS
async def test_a_web_search_of_the_providers_own_marks_the_run(provider: str) -> None:
    prompt = "Search the web: which version of Python is the newest?"
    result = await ask(provider, prompt, stream=True, tools=[WebSearch(max_uses=1)])
    turns = [message for message in result.messages if isinstance(message, AssistantMessage)]
    assert any(isinstance(block, ServerBlock) for turn in turns for block in turn.blocks)
