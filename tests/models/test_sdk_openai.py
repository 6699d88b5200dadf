"""The vendor's own client as oracle, for Responses and for Chat Completions."""

import json

import pytest
from openai import AsyncAzureOpenAI, AsyncOpenAI
from openai.lib.streaming.chat import ChatCompletionStreamState
from tests.models.asking import ADD, ask, ask_all, results, user
from tests.models.shapes import SHAPES, meaning, whole
from tests.support.model_script import Turn, fail
from tests.support.model_server import KEY, ModelServer

from toolroll.errors import RateLimited
from toolroll.models.chat.model import ChatModel
from toolroll.models.model import ModelResponse
from toolroll.models.openai.model import OpenAIModel
from toolroll.models.sdk import SdkTransport

RESPONSES = [name for name in SHAPES if name != "unknown block"]
CHAT = [name for name in SHAPES if name not in ("unknown block", "unknown stop", "pause")]
INCLUDE = ["reasoning.encrypted_content", "web_search_call.action.sources"]


def client_of(server: ModelServer, **options: object) -> AsyncOpenAI:
    return AsyncOpenAI(api_key=KEY, base_url=f"{server.url}/v1", max_retries=0, **options)


def response_agrees(theirs: object, ours: ModelResponse) -> None:
    said = json.loads(theirs.model_dump_json())  # type: ignore[attr-defined]  # the SDK is not read by the type checker
    items = said["output"]
    meant = meaning(ours)
    assert meant["text"] == theirs.output_text  # type: ignore[attr-defined]
    calls = [(item["name"], item["arguments"]) for item in items if item["type"] == "function_call"]
    assert [(call.name, call.arguments) for call in ours.message.calls] == calls
    thoughts = ["".join(one["text"] for one in item["summary"]) for item in items if item["type"] == "reasoning"]
    assert meant["thoughts"] == thoughts
    cited = [
        note["url"] for item in items if item["type"] == "message" for part in item["content"]
        for note in part["annotations"]
    ]  # fmt: skip
    assert [one.url for block in ours.message.blocks if block.type == "text" for one in block.citations] == cited
    sources = [
        one["url"] for item in items if item["type"] == "web_search_call" for one in item["action"].get("sources") or ()
    ]
    assert [one.url for block in ours.message.blocks if block.type == "server" for one in block.sources] == sources
    usage = said["usage"]
    assert (ours.usage.input_total, ours.usage.output_tokens) == (usage["input_tokens"], usage["output_tokens"])
    assert ours.usage.cache_read_tokens == usage["input_tokens_details"]["cached_tokens"]
    reasons = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}
    stop = "tool_calls" if calls else "end"
    if said["status"] == "incomplete":
        stop = reasons.get(said["incomplete_details"]["reason"], "unknown")
    assert ours.stop == stop


@pytest.mark.parametrize("shape", RESPONSES)
async def test_A32_the_sdk_reads_a_response_as_we_do(shape: str) -> None:
    async with ModelServer([SHAPES[shape]]) as server, client_of(server) as client:
        response = await client.responses.create(
            model="gpt-5.6-terra", input=[{"role": "user", "content": "x"}], include=INCLUDE, store=False
        )
    response_agrees(response, whole("openai", SHAPES[shape]))


@pytest.mark.parametrize("shape", [name for name in RESPONSES if SHAPES[name].stop == "auto"])
async def test_A32_the_sdk_reads_a_stream_of_a_response_as_we_do(shape: str) -> None:
    async with ModelServer([SHAPES[shape]]) as server, client_of(server) as client:
        asked = {"model": "gpt-5.6-terra", "input": [{"role": "user", "content": "x"}], "include": INCLUDE}
        async with client.responses.stream(**asked, store=False) as stream:
            response = await stream.get_final_response()
    response_agrees(response, whole("openai", SHAPES[shape]))


def completion_agrees(theirs: object, ours: ModelResponse) -> None:
    said = json.loads(theirs.model_dump_json())  # type: ignore[attr-defined]  # as above
    choice = said["choices"][0]
    message = choice["message"]
    assert ours.message.text == (message["content"] or message.get("refusal") or "")
    calls = [(call["function"]["name"], call["function"]["arguments"]) for call in message["tool_calls"] or ()]
    assert [(call.name, call.arguments) for call in ours.message.calls] == calls
    assert "".join(block.text for block in ours.message.blocks if block.type == "reasoning") == (
        message.get("reasoning_content") or ""
    )
    usage = said["usage"]
    assert (ours.usage.input_total, ours.usage.output_tokens) == (usage["prompt_tokens"], usage["completion_tokens"])
    stops = {"stop": "end", "tool_calls": "tool_calls", "length": "max_tokens", "content_filter": "refusal"}
    assert ours.stop == stops[choice["finish_reason"]]


@pytest.mark.parametrize("shape", CHAT)
async def test_A32_the_sdk_reads_a_completion_as_we_do(shape: str) -> None:
    async with ModelServer([SHAPES[shape]]) as server, client_of(server) as client:
        completion = await client.chat.completions.create(
            model="some-model", messages=[{"role": "user", "content": "x"}]
        )
    completion_agrees(completion, whole("chat", SHAPES[shape]))


@pytest.mark.parametrize("shape", CHAT)
async def test_A32_the_sdk_reads_a_stream_of_a_completion_as_we_do(shape: str) -> None:
    """Its helper refuses cut and filtered turns; the chunks are put together by its own accumulator below it."""
    async with ModelServer([SHAPES[shape]]) as server, client_of(server) as client:
        state = ChatCompletionStreamState()
        refused = SHAPES[shape].stop in ("max_tokens", "refusal")
        async for chunk in await client.chat.completions.create(
            model="some-model",
            messages=[{"role": "user", "content": "x"}],
            stream=True,
            stream_options={"include_usage": True},
        ):
            if not refused:
                state.handle_chunk(chunk)
    if not refused:
        completion_agrees(state.get_final_completion(), whole("chat", SHAPES[shape]))


@pytest.mark.parametrize("stream", [False, True])
async def test_the_sdk_carries_our_requests(stream: bool) -> None:
    for kind, name in ((OpenAIModel, "gpt-5.6-terra"), (ChatModel, "some-model")):
        async with ModelServer([SHAPES["thinking"], "Done."]) as server, client_of(server) as client:
            model = kind(name, transport=SdkTransport(client))
            first = await ask(model, user(), stream=stream, tools=(ADD,))
            last, _ = await ask_all(model, user(), first.message, results(first.message), stream=stream, tools=(ADD,))
            assert last.message.text == "Done."
            assert {one.headers["authorization"] for one in server.requests} == {f"Bearer {KEY}"}


@pytest.mark.parametrize("stream", [False, True])
async def test_azure_has_its_own_address_and_key(stream: bool) -> None:
    async with ModelServer([Turn("chat"), Turn("responses")]) as server:
        client = AsyncAzureOpenAI(api_key="key-1", api_version="2026-01-01", azure_endpoint=server.url, max_retries=0)
        async with client:
            chat = ChatModel("mine", transport=SdkTransport(client))
            assert (await ask(chat, stream=stream)).message.text == "chat"
            responses = OpenAIModel("mine", transport=SdkTransport(client))
            assert (await ask(responses, stream=stream)).message.text == "responses"
        assert server.requests[0].path.startswith("/openai/deployments/mine/chat/completions?api-version=")
        assert server.requests[1].path.startswith("/openai/responses?api-version=")
        assert {one.headers["api-key"] for one in server.requests} == {"key-1"}


async def test_errors_come_through_the_sdk_as_ours() -> None:
    turn = fail(429, "tokens", "slow", code="rate_limit_exceeded")
    async with ModelServer([turn]) as server, client_of(server) as client:
        with pytest.raises(RateLimited, match="slow"):
            await ask(OpenAIModel("gpt-5", transport=SdkTransport(client)))
