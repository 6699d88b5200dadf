"""A fake provider that others wrote, and its verdict on how we behave when it fails."""

import pytest
from llmock.pytest_plugin import LLMock
from tests.models.asking import ADD, results, user

from toolroll.errors import ContextTooLong, ModelError, NetworkFailed, ProviderFailed, RequestRefused
from toolroll.kernel.data.messages import Message
from toolroll.models.connect import connect
from toolroll.models.exchange import WireModel
from toolroll.models.model import ModelRequest, ModelResponse
from toolroll.models.retry import RetryRule, respond_with_retries

WIRES = pytest.mark.parametrize("wire", ["anthropic", "openai", "chat"])
RULE = RetryRule(first_wait_s=0.02)
ONCE = RetryRule(retries=0)


def model_at(llmock: LLMock, wire: str) -> WireModel:
    names = {
        "anthropic": "anthropic:claude-sonnet-5-5",
        "openai": "openai:gpt-5",
        "chat": f"openai-compatible:gpt-5@{llmock.base_url('openai')}",
    }
    return connect(names[wire], environment=llmock.env())


async def respond(model: WireModel, *messages: Message, stream: bool = True, rule: RetryRule = RULE) -> ModelResponse:
    """Asked as the loop does it; every test says something else, for equal requests count as retries of one call."""
    request = ModelRequest(messages=messages, tools=(ADD,))
    try:
        pieces = [piece async for piece in respond_with_retries(model, request, stream=stream, rule=rule)]
    finally:
        await model.aclose()
    assert isinstance(pieces[-1], ModelResponse)
    return pieces[-1]


@WIRES
@pytest.mark.parametrize("stream", [False, True])
async def test_A31_A32_a_call_and_an_answer(llmock: LLMock, wire: str, stream: bool) -> None:
    model = model_at(llmock, wire)
    prompt = user(f"please add, {wire} {stream}")
    first = await respond(model, prompt, stream=stream)
    assert [call.name for call in first.message.calls] == ["add"]
    assert first.stop == "tool_calls"
    last = await respond(model, prompt, first.message, results(first.message), stream=stream)
    assert (last.stop, bool(last.message.text)) == ("end", True)
    llmock.assert_resilient(strict=True)


@WIRES
async def test_XL1_rate_limits_are_waited_out(llmock: LLMock, wire: str) -> None:
    llmock.rate_limit(times=2, retry_after=0.05)
    await respond(model_at(llmock, wire), user(f"rate limits, {wire}"))
    llmock.assert_resilient()


@WIRES
async def test_XL1_an_outage_ends_after_three_retries(llmock: LLMock, wire: str) -> None:
    llmock.fail(503, times=None, retry_after=0.02)
    with pytest.raises(ModelError) as caught:
        await respond(model_at(llmock, wire), user(f"an outage, {wire}"))
    assert caught.value.code == "overloaded"
    llmock.assert_resilient()


@WIRES
@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_XL2_what_will_not_go_away_is_not_retried(llmock: LLMock, wire: str, status: int) -> None:
    llmock.fail(status, times=None)
    with pytest.raises(ModelError) as caught:
        await respond(model_at(llmock, wire), user(f"status {status}, {wire}"))
    assert (caught.value.status, caught.value.is_retriable) == (status, False)
    llmock.assert_resilient()


@WIRES
async def test_A34_a_prompt_that_is_too_long_says_so(llmock: LLMock, wire: str) -> None:
    llmock.context_overflow()
    with pytest.raises((ContextTooLong, RequestRefused)) as caught:
        await respond(model_at(llmock, wire), user(f"too long, {wire}"))
    assert caught.value.code == "context_too_long"


@WIRES
async def test_XL5_a_stream_that_ends_early_is_not_accepted(llmock: LLMock, wire: str) -> None:
    """XL5: both vendors' clients take it for an answer."""
    llmock.truncate(after_chunks=3)
    with pytest.raises(NetworkFailed):
        await respond(model_at(llmock, wire), user(f"cut short, {wire}"), rule=ONCE)


@WIRES
async def test_XL5_a_connection_that_drops_is_a_failure(llmock: LLMock, wire: str) -> None:
    llmock.disconnect(after_chunks=3)
    with pytest.raises(NetworkFailed):
        await respond(model_at(llmock, wire), user(f"dropped, {wire}"), rule=ONCE)


@WIRES
async def test_a_corrupted_chunk_is_a_failure(llmock: LLMock, wire: str) -> None:
    llmock.corrupt(after_chunks=3)
    with pytest.raises(ProviderFailed):
        await respond(model_at(llmock, wire), user(f"corrupted, {wire}"), rule=ONCE)
    llmock.assert_resilient()
