"""The vendor's own client as oracle: it is satisfied by our server, it agrees with our reader, and it can carry us."""

import json

import httpx2
import pytest
from anthropic import AsyncAnthropic, AsyncAnthropicBedrock, AsyncAnthropicVertex
from tests.models.asking import ADD, ask, ask_all, results, text_of, user
from tests.models.shapes import SHAPES, meaning, whole
from tests.models.test_event_stream import frames_of
from tests.support.model_script import Fault, Turn, fail
from tests.support.model_server import KEY, ModelServer

from toolroll.errors import AuthenticationFailed, ModelTimeout, NetworkFailed, Overloaded, UsageError
from toolroll.models.anthropic.model import AnthropicModel
from toolroll.models.event_stream import AMAZON_CONTENT_TYPE
from toolroll.models.model import ModelRequest, ModelResponse
from toolroll.models.sdk import SdkTransport

READABLE = [name for name in SHAPES if name not in ("unknown block", "cut")]


def client_of(server: ModelServer, **options: object) -> AsyncAnthropic:
    return AsyncAnthropic(api_key=KEY, base_url=server.url, max_retries=0, **options)


def agrees(theirs: object, ours: ModelResponse) -> None:
    """Text, thoughts, calls, citations, counts and the reason to stop."""
    said = json.loads(theirs.model_dump_json())  # type: ignore[attr-defined]  # the SDK is not read by the type checker
    blocks = said["content"]
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    calls = [(block["id"], block["name"], block["input"]) for block in blocks if block["type"] == "tool_use"]
    thoughts = [block.get("thinking", "") for block in blocks if block["type"] in ("thinking", "redacted_thinking")]
    cited = [one["url"] for block in blocks if block["type"] == "text" for one in block.get("citations") or ()]
    meant = meaning(ours)
    assert (meant["text"], meant["calls"], meant["thoughts"]) == (text, calls, thoughts)
    assert [one.url for block in ours.message.blocks if block.type == "text" for one in block.citations] == cited
    usage, counted = said["usage"], ours.usage
    assert (counted.input_tokens, counted.output_tokens) == (usage["input_tokens"], usage["output_tokens"])
    assert counted.cache_read_tokens == usage["cache_read_input_tokens"]
    assert counted.cache_write_tokens == usage["cache_creation_input_tokens"]
    searches = (usage["server_tool_use"] or {}).get("web_search_requests", 0)
    assert counted.web_searches == searches
    assert ours.response_id == said["id"]
    stops = {"end_turn": "end", "tool_use": "tool_calls", "pause_turn": "pause", "something_new": "unknown"}
    assert ours.stop == stops.get(said["stop_reason"], said["stop_reason"])


@pytest.mark.parametrize("shape", READABLE)
async def test_A31_the_sdk_reads_an_answer_as_we_do(shape: str) -> None:
    async with ModelServer([SHAPES[shape]]) as server, client_of(server) as client:
        message = await client.messages.create(
            model="claude-sonnet-5-5", max_tokens=99, messages=[{"role": "user", "content": "x"}]
        )
    agrees(message, whole("anthropic", SHAPES[shape]))


@pytest.mark.parametrize("shape", READABLE)
async def test_A31_the_sdk_reads_a_stream_as_we_do(shape: str) -> None:
    async with ModelServer([SHAPES[shape], SHAPES[shape]]) as server, client_of(server) as client:
        asked = {"model": "claude-sonnet-5-5", "max_tokens": 99, "messages": [{"role": "user", "content": "x"}]}
        async with client.messages.stream(**asked) as stream:
            message = await stream.get_final_message()
        ours = await ask(server.model("anthropic"), stream=True)
    theirs = message.model_copy(update={"id": ours.response_id})
    agrees_but_for_ids(theirs, ours)


def agrees_but_for_ids(theirs: object, ours: ModelResponse) -> None:
    """Two answers of one script differ in the ids that the server gave out."""
    calls = [block for block in theirs.content if block.type == "tool_use"]  # type: ignore[attr-defined]
    for block, call in zip(calls, ours.message.calls, strict=True):
        block.id = call.id
    agrees(theirs, ours)


@pytest.mark.parametrize("stream", [False, True])
async def test_the_sdk_carries_our_requests(stream: bool) -> None:
    """Its own headers and ours, our bytes, our reader."""
    async with ModelServer([SHAPES["parallel"], "Done."]) as server, client_of(server) as client:
        model = AnthropicModel("claude-sonnet-5-5", transport=SdkTransport(client))
        first, deltas = await ask_all(model, user(), stream=stream, tools=(ADD,))
        assert bool(deltas) == stream
        last, deltas = await ask_all(model, user(), first.message, results(first.message), stream=stream, tools=(ADD,))
        assert last.message.text == "Done."
        assert text_of(deltas) == ("Done." if stream else "")
        assert {one.headers["authorization"] for one in server.requests} == {f"Bearer {KEY}"}
        asked = ModelRequest(messages=[user()], tools=(ADD,))
        assert server.requests[0].raw == model.encode(asked, stream=stream)
        await model.aclose()


async def test_the_sdk_does_not_retry_for_us() -> None:
    turns: list[Turn | str] = [fail(529, "overloaded_error", "busy", headers={"retry-after": "3"}), "never"]
    async with ModelServer(turns) as server:
        client = AsyncAnthropic(api_key=KEY, base_url=server.url)
        async with client:
            model = AnthropicModel("m", transport=SdkTransport(client))
            with pytest.raises(Overloaded, match="busy") as caught:
                await ask(model, stream=True)
        assert (caught.value.retry_after_s, len(server.requests)) == (3.0, 1)


async def test_failures_of_the_sdk_are_our_errors() -> None:
    async with ModelServer([Turn(fault=Fault(stall=True))]) as server, client_of(server, timeout=0.05) as hasty:
        with pytest.raises(ModelTimeout):
            await ask(AnthropicModel("m", transport=SdkTransport(hasty)))
    async with ModelServer([Turn("hello there", fault=Fault(cut_after_events=3))]) as server:
        async with client_of(server) as client:
            with pytest.raises(NetworkFailed):
                await ask(AnthropicModel("m", transport=SdkTransport(client)), stream=True)
        gone = server.url
    async with AsyncAnthropic(api_key=KEY, base_url=gone) as client:
        with pytest.raises(NetworkFailed, match="connection to the provider failed"):
            await ask(AnthropicModel("m", transport=SdkTransport(client)))


async def test_vertex_has_its_own_address_and_token() -> None:
    async with ModelServer(["hello", "again"]) as server:
        client = AsyncAnthropicVertex(
            region="here", project_id="mine", access_token="token-1", base_url=server.url, max_retries=0
        )
        async with client:
            model = AnthropicModel("claude-sonnet-5-5", transport=SdkTransport(client))
            assert (await ask(model, stream=True)).message.text == "hello"
            assert (await ask(model)).message.text == "again"
        first = server.requests[0]
        assert first.path.endswith("/publishers/anthropic/models/claude-sonnet-5-5:streamRawPredict")
        assert first.headers["authorization"] == "Bearer token-1"
        assert first.body["anthropic_version"]


async def test_bedrock_has_its_own_address_and_key() -> None:
    async with ModelServer(["hello"]) as server:
        client = AsyncAnthropicBedrock(aws_region="here", api_key="key-1", base_url=server.url, max_retries=0)
        async with client:
            model = AnthropicModel("claude-sonnet-5-5", transport=SdkTransport(client))
            assert (await ask(model)).message.text == "hello"
        assert server.requests[0].path == "/model/claude-sonnet-5-5/invoke"
        assert server.requests[0].headers["authorization"] == "Bearer key-1"


async def test_bedrock_streams_in_frames_of_its_own() -> None:
    framed = Turn(fault=Fault(body=frames_of("thinking"), headers={"content-type": AMAZON_CONTENT_TYPE}))
    async with ModelServer([framed]) as server:
        client = AsyncAnthropicBedrock(aws_region="here", api_key="key-1", base_url=server.url, max_retries=0)
        async with client:
            model = AnthropicModel("claude-sonnet-5-5", transport=SdkTransport(client))
            response, deltas = await ask_all(model, stream=True)
        assert server.requests[0].path == "/model/claude-sonnet-5-5/invoke-with-response-stream"
    assert meaning(response) == meaning(whole("anthropic", SHAPES["thinking"]))
    assert text_of(deltas) == "Adding."


async def test_a_client_without_credentials_says_so() -> None:
    async with AsyncAnthropicVertex(region="here", access_token="t", base_url="http://127.0.0.1:1") as client:
        with pytest.raises(AuthenticationFailed, match="project_id"):
            await ask(AnthropicModel("m", transport=SdkTransport(client)))


async def test_only_clients_of_the_sdks_are_taken() -> None:
    async with httpx2.AsyncClient() as other:
        with pytest.raises(UsageError, match="no asynchronous client"):
            SdkTransport(other)
