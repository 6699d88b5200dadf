"""Providers by name: address, key and quirks of each, from one table."""

import json
import sys
from typing import Any

import pytest
from tests.models.asking import ADD, ask, results, user
from tests.models.histories import model_of
from tests.models.test_connect import address
from tests.support.model_script import Fault, Turn
from tests.support.model_server import ModelServer

from toolroll.errors import AuthenticationFailed, UsageError
from toolroll.home.keys import KEYS
from toolroll.kernel.data.messages import CallBlock, ReasoningBlock, TextBlock
from toolroll.models.anthropic.model import AnthropicModel
from toolroll.models.catalog import CHAT_PROVIDERS
from toolroll.models.chat.model import ChatModel
from toolroll.models.connect import connect
from toolroll.models.model import ModelRequest
from toolroll.models.openai.model import OpenAIModel
from toolroll.models.settings import ModelSettings

KEYED = sorted(name for name, one in CHAT_PROVIDERS.items() if one.key_variable and one.needs_key)


def body_of(name: str, *, stream: bool = False, **given: object) -> dict[str, object]:
    provider = CHAT_PROVIDERS[name]
    model = connect(f"{name}:some-model", environment={provider.key_variable or "NO_KEY": "k"})
    settings = ModelSettings(**given)  # type: ignore[arg-type]  # as the test says
    model.check_settings(settings)
    tokens = settings.max_output_tokens or 16_384
    request = ModelRequest(messages=[user()], tools=(ADD,), settings=settings, max_output_tokens=tokens)
    body: dict[str, object] = json.loads(model.encode(request, stream=stream))
    return body


@pytest.mark.parametrize("name", sorted(CHAT_PROVIDERS))
def test_A48_a_provider_has_its_address_and_its_own_key(name: str) -> None:
    provider = CHAT_PROVIDERS[name]
    others = {key: "k" for key in KEYS if key != provider.key_variable}
    if name in KEYED:
        with pytest.raises(AuthenticationFailed, match=f"Set {provider.key_variable}"):
            connect(f"{name}:m", environment=others)
    environment = {provider.key_variable: "secret"} if provider.key_variable else {}
    made = connect(f"{name}:a/b:c", environment=environment)
    assert isinstance(made, ChatModel)
    assert ("a/b:c", provider.url) == (made.model, address(made))
    assert ("authorization" in made._headers) == bool(provider.key_variable)
    if provider.url_variable:
        moved = connect(f"{name}:m", environment=environment | {provider.url_variable: "https://gate.example/v1"})
        assert address(moved) == "https://gate.example/v1"
    assert provider.key_variable is None or provider.key_variable in KEYS


def test_A48_a_server_of_ones_own_needs_no_key() -> None:
    made = connect("vllm:m", environment={})
    assert "authorization" not in made._headers


def test_A48_azure_speaks_responses_at_the_address_of_the_resource() -> None:
    environment = {"AZURE_OPENAI_API_KEY": "k", "AZURE_OPENAI_ENDPOINT": "https://mine.openai.azure.com/"}
    made = connect("azure:my-deployment", environment=environment)
    assert isinstance(made, OpenAIModel)
    assert address(made) == "https://mine.openai.azure.com/openai/v1"
    assert made._headers["api-key"] == "k"
    with pytest.raises(UsageError, match="Set AZURE_OPENAI_ENDPOINT"):
        connect("azure:x", environment={"AZURE_OPENAI_API_KEY": "k"})


def test_A48_quirks_are_written_as_each_provider_documents_them() -> None:
    assert body_of("mistral", seed=3)["random_seed"] == 3
    assert "stream_options" not in body_of("mistral", stream=True)
    assert "stream_options" in body_of("groq", stream=True)
    assert body_of("groq", max_output_tokens=9)["max_completion_tokens"] == 9
    assert body_of("xai", max_output_tokens=9)["max_completion_tokens"] == 9
    assert body_of("mistral", thinking="high")["reasoning_effort"] == "high"
    assert body_of("xai", thinking="off")["reasoning_effort"] == "none"
    assert body_of("openrouter", thinking="low")["reasoning"] == {"effort": "low"}
    assert body_of("deepseek", thinking="off")["thinking"] == {"type": "disabled"}
    assert body_of("deepseek", thinking="high")["thinking"] == {"type": "enabled"}
    assert body_of("vllm", thinking="off")["chat_template_kwargs"] == {"enable_thinking": False}
    assert body_of("gemini", thinking="off")["reasoning_effort"] == "none"
    assert body_of("together", thinking="low")["reasoning_effort"] == "low"
    assert body_of("fireworks", thinking="off")["reasoning_effort"] == "none"


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("gemini", {"seed": 1}),
        ("mistral", {"thinking": "low"}),
        ("deepseek", {"thinking": "medium"}),
        ("deepseek", {"seed": 1}),
        ("xai", {"thinking": "minimal"}),
        ("lmstudio", {"thinking": "low"}),
        ("ollama", {"tool_choice": "required"}),
        ("openrouter", {"service_tier": "flex"}),
        ("together", {"parallel_tool_calls": False}),
    ],
)
def test_A48_what_a_provider_does_not_take_is_refused(name: str, given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="does not take"):
        body_of(name, **given)


def test_A48_thought_signatures_of_gemini_go_back_with_their_calls() -> None:
    """As its compatible endpoint sends them: beside the call, in `extra_content.google`."""
    signature = {"google": {"thought_signature": "c2lnbmF0dXJl"}}
    call = {
        "id": "function-call-1",
        "type": "function",
        "function": {"name": "add", "arguments": '{"a":1}'},
        "extra_content": signature,
    }
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    model = connect("gemini:gemini-3-pro", environment={"GEMINI_API_KEY": "k"})
    turn = model.read(answer).message
    assert [CallBlock] == [type(block) for block in turn.blocks]
    request = ModelRequest(messages=[user(), turn, results(turn)], tools=(ADD,))
    sent = json.loads(model.encode(request, stream=False))["messages"][1]["tool_calls"][0]
    assert signature == sent["extra_content"]
    other = json.loads(model_of("chat", "another").encode(request, stream=False))["messages"][1]["tool_calls"][0]
    assert "extra_content" not in other


def test_A48_encrypted_thoughts_of_openrouter_go_back_with_their_calls() -> None:
    """As it hands on Gemini's signatures: `reasoning_details` without any text."""
    details = [{"type": "reasoning.encrypted", "data": "c2lnbmF0dXJl", "id": "call-1", "index": 0}]
    call = {"index": 0, "id": "call-1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    said = {"role": "assistant", "content": None, "reasoning": None, "reasoning_details": details, "tool_calls": [call]}
    whole = {"choices": [{"message": said, "finish_reason": "tool_calls"}]}
    model = connect("openrouter:google/gemini-3-pro", environment={"OPENROUTER_API_KEY": "k"})
    assembly = model.assembly()
    assembly.feed(json.dumps({"choices": [{"delta": said, "finish_reason": "tool_calls"}]}))
    for answer in (whole, assembly.finish()):
        turn = model.read(answer).message
        request = ModelRequest(messages=[user(), turn, results(turn)], tools=(ADD,))
        sent = json.loads(model.encode(request, stream=False))["messages"][1]
        assert details == sent["reasoning_details"]
        assert "reasoning" not in sent


THINKING = {"type": "thinking", "thinking": [{"type": "text", "text": "Two and "}, {"type": "text", "text": "two."}]}


def test_A48_thoughts_of_mistral_come_as_parts_of_the_content() -> None:
    model = connect("mistral:magistral-small-latest", environment={"MISTRAL_API_KEY": "k"})
    message = {"role": "assistant", "content": [THINKING, {"type": "text", "text": "Four."}]}
    turn = model.read({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).message
    assert [(type(block), getattr(block, "text", "")) for block in turn.blocks] == [
        (ReasoningBlock, "Two and two."),
        (TextBlock, "Four."),
    ]
    sent = json.loads(model.encode(ModelRequest(messages=[user(), turn, user()]), stream=False))["messages"][1]
    assert sent == {"role": "assistant", "content": "Four."}


async def test_A48_thoughts_of_mistral_are_told_apart_while_streaming() -> None:
    call = {"index": 0, "id": "c1", "function": {"name": "add", "arguments": "{}"}}
    deltas: list[dict[str, Any]] = [{"content": [THINKING]}, {"content": "Fo"}, {"content": [{"text": "ur."}]}]
    assembly = model_of("chat", "magistral").assembly()
    shown = [
        delta
        for one in (*deltas, {"tool_calls": [call]})
        for delta in assembly.feed(json.dumps({"id": "r", "choices": [{"delta": one}]}))
    ]
    assembly.feed("[DONE]")
    assert [type(delta).__name__ for delta in shown] == ["ReasoningDelta", "TextDelta", "TextDelta", "CallDelta"]
    turn = model_of("chat", "magistral").read(dict(assembly.finish())).message
    assert [getattr(block, "text", "") for block in turn.blocks] == ["Two and two.", "Four.", ""]


async def test_A48_calls_of_gemini_may_come_without_an_index_and_end_with_stop() -> None:
    signature = {"google": {"thought_signature": "c2lnbmF0dXJl"}}
    pieces: list[dict[str, Any]] = [
        {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a":'}},
        {"function": {"arguments": '1,"b":2}'}},
        {"extra_content": signature},
        {"id": "c2", "type": "function", "function": {"name": "add", "arguments": '{"a":3,"b":4}'}},
    ]
    model = connect("gemini:gemini-3-pro", environment={"GEMINI_API_KEY": "k"})
    assembly = model.assembly()
    for one in pieces:
        assembly.feed(json.dumps({"id": "r", "choices": [{"delta": {"tool_calls": [one]}}]}))
    assembly.feed(json.dumps({"id": "r", "choices": [{"delta": {}, "finish_reason": "stop"}]}))
    read = model.read(dict(assembly.finish()))
    assert read.stop == "tool_calls"
    assert [call.arguments for call in read.message.calls] == ['{"a":1,"b":2}', '{"a":3,"b":4}']
    first = read.message.blocks[0]
    assert isinstance(first, CallBlock)
    assert first.raw is not None
    assert first.raw["extra_content"] == signature


@pytest.mark.parametrize("at", ["first", "last"])
async def test_A48_thought_signatures_of_gemini_are_kept_while_streaming(at: str) -> None:
    """Beside the first piece of a call, or in a piece of their own without arguments."""
    signature = {"google": {"thought_signature": "c2lnbmF0dXJl"}}
    first: dict[str, Any] = {"index": 0, "id": "c1", "type": "function", "function": {"name": "add", "arguments": ""}}
    pieces: list[dict[str, Any]] = [first, {"index": 0, "function": {"arguments": '{"a":1,"b":2}'}}]
    if at == "first":
        first["extra_content"] = signature
    else:
        pieces.append({"index": 0, "function": {"arguments": ""}, "extra_content": signature})
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": [piece]}}]} for piece in pieces]
    ended = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    body = b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in [*chunks, ended]) + b"data: [DONE]\n\n"
    streamed = Turn(fault=Fault(body=body, headers={"content-type": "text/event-stream"}))
    async with ModelServer([streamed], lenient=True) as server:
        environment = {"GEMINI_API_KEY": "k", "GEMINI_BASE_URL": f"{server.url}/v1"}
        model = connect("gemini:gemini-3-pro", environment=environment)
        turn = (await ask(model, stream=True)).message
        await model.aclose()
    assert [call.arguments for call in turn.calls] == ['{"a":1,"b":2}']
    request = ModelRequest(messages=[user(), turn, results(turn)], tools=(ADD,))
    sent = json.loads(model.encode(request, stream=False))["messages"][1]["tool_calls"][0]
    assert signature == sent["extra_content"]


async def test_A48_bedrock_is_named_and_asked_through_the_sdk() -> None:
    async with ModelServer(["hello", "again"]) as server:
        environment = {
            "AWS_REGION": "eu-west-1",
            "AWS_BEARER_TOKEN_BEDROCK": "key-1",
            "AWS_PROFILE": "not used with a key",
            "ANTHROPIC_BEDROCK_BASE_URL": server.url,
        }
        model = connect("bedrock:eu.anthropic.claude-sonnet-5-5", environment=environment)
        assert (await ask(model)).message.text == "hello"
        assert (await ask(model)).message.text == "again"
        await model.aclose()
        await model.aclose()
    assert server.requests[0].path == "/model/eu.anthropic.claude-sonnet-5-5/invoke"
    assert server.requests[0].headers["authorization"] == "Bearer key-1"
    assert model.limits is not None
    assert model.limits.window_tokens == 1_000_000


async def test_A48_vertex_is_named_and_asked_through_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolroll.models.sdk._is_installed", lambda _: True)
    environment = {"CLOUD_ML_REGION": "global", "ANTHROPIC_VERTEX_PROJECT_ID": "mine"}
    model = connect("vertex:claude-sonnet-5-5", environment=environment)
    assert isinstance(model, AnthropicModel)
    client: Any = model._transport._make()  # type: ignore[attr-defined]  # what would be asked
    async with client:
        assert (client.region, client.project_id) == ("global", "mine")
        assert str(client.base_url) == "https://aiplatform.googleapis.com/v1/"


@pytest.mark.parametrize(
    ("name", "environment", "told"),
    [
        ("bedrock:m", {"AWS_REGION": "here"}, r"pip install 'toolroll\[bedrock\]'"),
        ("vertex:m", {"CLOUD_ML_REGION": "here"}, r"pip install 'toolroll\[vertex\]'"),
        ("bedrock:m", {"AWS_BEARER_TOKEN_BEDROCK": "k"}, "Set AWS_REGION"),
    ],
)
def test_A48_a_cloud_says_what_it_lacks(
    name: str, environment: dict[str, str], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "botocore", None)
    monkeypatch.setitem(sys.modules, "google", None)
    with pytest.raises(UsageError, match=told):
        connect(name, environment=environment)
