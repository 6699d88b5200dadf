"""Whatever a conversation went through, and whoever it goes to next: the provider accepts the request."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.asking import ADD, results, user
from tests.models.histories import ORIGINS, histories, model_of
from tests.support.model_script import Block, Issued, Json, Text, Thinking, Turn, Use
from tests.support.model_server import KEY, MODELS, WIRES

from toolroll.errors import RequestRefused
from toolroll.kernel.data.messages import AssistantMessage, Message
from toolroll.kernel.define.tool import ToolDefinition
from toolroll.models.catalog import ModelLimits
from toolroll.models.chat.model import UNKNOWN_OUTPUT_TOKENS, ChatModel
from toolroll.models.chat.request import ChatOptions
from toolroll.models.exchange import WireModel
from toolroll.models.model import ModelRequest, WebSearch, Wire
from toolroll.models.transport import HttpTransport

HEADERS = {"x-api-key": KEY, "authorization": f"Bearer {KEY}", "anthropic-version": "2023-06-01"}
ALL: tuple[Wire, ...] = ("anthropic", "openai", "chat")


def body_of(model: WireModel, messages: Sequence[Message], *, stream: bool = False, **options: object) -> Json:
    request = ModelRequest(messages=messages, **options)  # type: ignore[arg-type]  # as the test says
    body: Json = json.loads(model.encode(request, stream=stream))
    return body


def faults(model: WireModel, body: Json, issued: Issued) -> list[str]:
    return list(WIRES[model.wire].faults_of(body, HEADERS, issued))


@given(histories(), st.sampled_from(ORIGINS), st.booleans())
@settings(max_examples=300)
def test_A31_A32_any_history_is_legal_for_any_model(
    made: tuple[list[Message], Issued], target: tuple[Wire, str], stream: bool
) -> None:
    """A provider switch in mid-run degrades, and never makes the provider refuse."""
    messages, issued = made
    model = model_of(*target)
    body = body_of(model, messages, stream=stream, tools=(ADD,), system="Be good.")
    assert faults(model, body, issued) == []


def turn_of(model: WireModel, turn: Turn, issued: Issued, **asked: object) -> AssistantMessage:
    module = WIRES[model.wire]
    answer = module.plain(module.answer(turn, {"model": model.model, **asked}, issued))
    return model.read(answer).message


@pytest.mark.parametrize("wire", ALL)
def test_A22_the_prefix_of_a_request_stays_the_same_bytes(wire: Wire) -> None:
    """A22: what one request sent, the next one begins with; only the moving breakpoints move."""
    model, issued = model_of(wire), Issued()
    messages: list[Message] = [user()]
    memo: dict[str, object] = {}
    before = b""
    for step in range(6):
        request = ModelRequest(messages=messages, tools=(ADD,), system="Be good.", memo=memo)
        sent = model.encode(request, stream=True)
        fresh = model.encode(ModelRequest(messages=messages, tools=(ADD,), system="Be good."), stream=True)
        assert fresh == sent  # what was kept is what would be made anew
        plain = sent.replace(b',"cache_control":{"type":"ephemeral"}', b"")
        assert plain.startswith(before[:-2])
        before = plain
        turn = turn_of(model, Turn([Text(f"step {step}"), Use("add", {"a": step})]), issued)
        messages = [*messages, turn, results(turn)]


def test_A22_anthropic_gets_breakpoints_at_the_stable_places() -> None:
    """A22: after the system text, and at the last two messages that are not the model's; at most four in all."""
    model, issued = model_of("anthropic"), Issued()
    messages: list[Message] = [user()]
    for _ in range(3):
        turn = turn_of(model, Turn(Use("add", {"a": 1})), issued)
        messages += [turn, results(turn)]
    body = body_of(model, messages, tools=(ADD,), system="Be good.")
    marked = [number for number, message in enumerate(body["messages"]) if "cache_control" in json.dumps(message)]
    assert marked == [4, 6]
    assert "cache_control" in body["messages"][6]["content"][-1]
    assert "cache_control" in body["system"][0]
    assert "cache_control" not in body["tools"][0]
    bare = body_of(model, messages, tools=(ADD,))
    assert "cache_control" in bare["tools"][-1]


def test_A22_openai_gets_one_key_for_requests_that_begin_alike() -> None:
    model = model_of("openai")
    one = body_of(model, [user("a")], tools=(ADD,), system="s")["prompt_cache_key"]
    assert one == body_of(model, [user("b")], tools=(ADD,), system="s")["prompt_cache_key"]
    assert one != body_of(model, [user("a")], tools=(ADD,), system="t")["prompt_cache_key"]


def test_A20_the_system_text_has_its_own_field() -> None:
    """A20: beside the messages; chat servers have no other place for it than the first of them."""
    assert body_of(model_of("anthropic"), [user()], system="S")["system"] == [
        {"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}
    ]
    assert body_of(model_of("openai"), [user()], system="S")["instructions"] == "S"
    chat = body_of(model_of("chat"), [user()], system="S")["messages"]
    assert chat[0] == {"role": "system", "content": "S"}
    assert [one["role"] for one in body_of(model_of("chat"), [user()])["messages"]] == ["user"]


@pytest.mark.parametrize("wire", ALL)
def test_A36_output_is_limited_to_what_is_asked_for_and_allowed(wire: Wire) -> None:
    """A36: 16,384 by default; lower where the model allows less."""
    field = {"anthropic": "max_tokens", "openai": "max_output_tokens", "chat": "max_tokens"}[wire]
    model = model_of(wire)
    model.limits = ModelLimits()
    assert body_of(model, [user()])[field] == 16_384
    model.limits = ModelLimits(max_output_tokens=4_096)
    assert body_of(model, [user()])[field] == 4_096
    assert body_of(model, [user()], max_output_tokens=100)[field] == 100


def test_A36_A53_a_provider_knows_the_limit_of_a_model_that_we_do_not_know_and_a_server_here_does_not() -> None:
    model = model_of("chat")
    elsewhere = ChatModel("m", transport=HttpTransport("https://models.example/v1"))
    here = ChatModel("m", transport=HttpTransport("http://127.0.0.1:9/v1"))
    assert "max_tokens" not in body_of(elsewhere, [user()])
    assert body_of(here, [user()])["max_tokens"] == UNKNOWN_OUTPUT_TOKENS
    assert body_of(model, [user()], max_output_tokens=99)["max_tokens"] == 99


CLOSED = ToolDefinition(
    name="closed",
    description="All parameters required.",
    parameters={
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    },
)
OPEN = ToolDefinition(
    name="open",
    description="Takes a free-form map, which has no strict form.",
    parameters={
        "type": "object",
        "properties": {"map": {"type": "object", "additionalProperties": {"type": "string"}}},
        "required": ["map"],
        "additionalProperties": False,
    },
)


def test_A32_tools_are_strict_where_they_can_be() -> None:
    """A32: tool by tool; `strict` always stands there for OpenAI, whose default would be yes."""
    openai = body_of(model_of("openai"), [user()], tools=(ADD, CLOSED, OPEN))["tools"]
    assert [tool["strict"] for tool in openai] == [True, True, False]
    assert openai[0]["parameters"]["required"] == ["a", "b"]
    assert OPEN.parameters == openai[2]["parameters"]
    anthropic = body_of(model_of("anthropic"), [user()], tools=(ADD, CLOSED, OPEN))["tools"]
    assert [tool.get("strict") for tool in anthropic] == [True, True, None]
    chat = body_of(model_of("chat"), [user()], tools=(ADD, OPEN))["tools"]
    assert all("strict" not in tool["function"] for tool in chat)
    assert ADD.parameters == chat[0]["function"]["parameters"]


def test_A32_strict_can_be_turned_on_for_a_chat_server() -> None:
    model = ChatModel("m", transport=model_of("chat")._transport, options=ChatOptions(strict="prefer"))
    tools = body_of(model, [user()], tools=(ADD, OPEN))["tools"]
    assert [tool["function"].get("strict") for tool in tools] == [True, None]


@pytest.mark.parametrize("wire", ALL)
def test_tools_stay_and_are_forbidden_for_a_closing_turn(wire: Wire) -> None:
    """A22: leaving the tools out would throw away the cached prefix."""
    model = model_of(wire)
    body = body_of(model, [user()], tools=(ADD,), tool_choice="none")
    assert body["tools"] == body_of(model, [user()], tools=(ADD,))["tools"]
    assert body["tool_choice"] in ("none", {"type": "none"})
    assert "tool_choice" not in body_of(model, [user()], tool_choice="none")


ANSWER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
LOOSE = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}
FREE = {"type": "object", "additionalProperties": {"type": "string"}}


def test_the_form_of_an_answer_is_asked_for() -> None:
    wanted = body_of(model_of("openai"), [user()], output_schema=ANSWER)["text"]["format"]
    assert (wanted["type"], wanted["name"], wanted["strict"]) == ("json_schema", "answer", True)
    for schema in (LOOSE, FREE):
        wanted = body_of(model_of("openai"), [user()], output_schema=schema)["text"]["format"]
        assert (schema, False) == (wanted["schema"], wanted["strict"])
    anthropic = model_of("anthropic")
    for schema in (ANSWER, LOOSE):
        config = body_of(anthropic, [user()], output_schema=schema, tools=(ADD,))["output_config"]
        assert (config["format"]["type"], list(config["format"]["schema"]["properties"])) == ("json_schema", ["n"])
    assert "output_config" not in body_of(anthropic, [user()], output_schema=FREE)


def test_the_form_of_an_answer_and_calls_exclude_each_other_for_chat_servers() -> None:
    model = model_of("chat")
    asked = {"type": "json_schema", "json_schema": {"name": "answer", "schema": ANSWER}}
    assert asked == body_of(model, [user()], output_schema=ANSWER)["response_format"]
    assert "response_format" not in body_of(model, [user()], output_schema=ANSWER, tools=(ADD,))
    closing = body_of(model, [user()], output_schema=ANSWER, tools=(ADD,), tool_choice="none")
    assert asked == closing["response_format"]


def test_the_form_of_an_answer_takes_its_share_of_the_strict_budget() -> None:
    """Anthropic counts optional parameters over tools and answer together: 24 in all."""
    many = {f"p{number}": {"type": "integer"} for number in range(20)}
    answer = {"type": "object", "properties": many, "additionalProperties": False}
    tool = ToolDefinition(name="t", description="", parameters=answer)
    model = model_of("anthropic")
    assert body_of(model, [user()], tools=(tool,))["tools"][0].get("strict")
    assert not body_of(model, [user()], tools=(tool,), output_schema=answer)["tools"][0].get("strict")


def test_A33_web_search_is_the_providers_own_where_it_has_one() -> None:
    search = WebSearch(max_uses=3, allowed_domains=("a.example",))
    tool = body_of(model_of("anthropic"), [user()], web_search=search)["tools"][-1]
    assert (tool["name"], tool["max_uses"], tool["allowed_domains"]) == ("web_search", 3, ["a.example"])
    blocked = body_of(model_of("anthropic"), [user()], web_search=WebSearch(blocked_domains=("b.example",)))
    assert blocked["tools"][-1]["blocked_domains"] == ["b.example"]
    body = body_of(model_of("openai"), [user()], web_search=search)
    assert body["tools"][-1] == {"type": "web_search", "filters": {"allowed_domains": ["a.example"]}}
    assert body["max_tool_calls"] == 3
    assert "web_search_call.action.sources" in body["include"]
    assert body_of(model_of("openai"), [user()], web_search=WebSearch())["tools"][-1] == {"type": "web_search"}


def test_A33_what_a_provider_cannot_do_is_refused_and_not_ignored() -> None:
    with pytest.raises(RequestRefused, match="allowed ones instead"):
        body_of(model_of("openai"), [user()], web_search=WebSearch(blocked_domains=("b.example",)))
    with pytest.raises(RequestRefused, match="Offer a search tool"):
        body_of(model_of("chat"), [user()], web_search=WebSearch())
    assert [model_of(wire).has_web_search for wire in ALL] == [True, True, False]


def test_openai_stores_nothing_and_gives_its_reasoning_encrypted() -> None:
    body = body_of(model_of("openai"), [user()])
    assert (body["store"], body["include"]) == (False, ["reasoning.encrypted_content"])
    assert "include" not in body_of(model_of("openai", "gpt-4o"), [user()])


@pytest.mark.parametrize("last", [[], [Text("")], [Text(" \n")], [Thinking("more")]])
def test_reasoning_that_nothing_follows_stays_behind(last: list[Block]) -> None:
    """OpenAI refuses it, as in a turn that was cut while the model still thought."""
    model, issued = model_of("openai"), Issued()
    turn = turn_of(model, Turn([Thinking("so"), *last]), issued, include=["reasoning.encrypted_content"])
    body = body_of(model, [user(), turn, user()])
    assert faults(model, body, issued) == []
    assert body["input"][1] == {"role": "assistant", "content": "(no text)"}
    whole = turn_of(model, Turn([Thinking("so"), Text("done")]), issued, include=["reasoning.encrypted_content"])
    assert body_of(model, [user(), whole])["input"][1]["type"] == "reasoning"


def test_usage_of_a_stream_is_asked_for_unless_the_server_minds() -> None:
    model = model_of("chat")
    assert body_of(model, [user()], stream=True)["stream_options"] == {"include_usage": True}
    assert "stream_options" not in body_of(model, [user()])
    quiet = ChatModel("m", transport=model._transport, options=ChatOptions(stream_usage=False))
    assert "stream_options" not in body_of(quiet, [user()], stream=True)


def test_extra_fields_of_a_request_win() -> None:
    for wire in ALL:
        assert body_of(model_of(wire), [user()], extra={"temperature": 0.5})["temperature"] == 0.5


def test_reasoning_goes_back_to_a_chat_server_with_the_calls_it_led_to() -> None:
    model, issued = model_of("chat"), Issued()
    turn = turn_of(model, Turn([Thinking("so"), Use("add", {"a": 1})]), issued)
    sent = body_of(model, [user(), turn, results(turn)])["messages"][1]
    assert sent["reasoning_content"] == "so"
    other = body_of(model_of("chat", "another"), [user(), turn, results(turn)])["messages"][1]
    assert "reasoning_content" not in other
    plain = turn_of(model, Turn([Thinking("so"), Text("done")]), issued)
    assert "reasoning_content" not in body_of(model, [user(), plain, user()])["messages"][1]
    silent = ChatModel(MODELS["chat"], transport=model._transport, options=ChatOptions(send_reasoning=False))
    assert "reasoning_content" not in body_of(silent, [user(), turn, results(turn)])["messages"][1]


def test_what_a_chat_server_keeps_beside_a_call_goes_back() -> None:
    model = model_of("chat")
    turn = turn_of(model, Turn([Use("add", {"a": 1})], options=frozenset({"signed_calls"})), Issued())
    call = body_of(model, [user(), turn, results(turn)])["messages"][1]["tool_calls"][0]
    assert "thought_signature" in call["extra_content"]["google"]
    other = body_of(model_of("chat", "another"), [user(), turn, results(turn)])["messages"][1]["tool_calls"][0]
    assert "extra_content" not in other


def test_two_models_of_one_run_do_not_share_what_was_encoded() -> None:
    """A fallback to another model in mid-run uses the same memo."""
    issued = Issued()
    first, second = model_of("anthropic"), model_of("anthropic", "claude-opus-5-5")
    turn = turn_of(first, Turn([Thinking("so"), Text("done")]), issued)
    messages: list[Message] = [user(), turn, user()]
    memo: dict[str, object] = {}
    own = body_of(first, messages, memo=memo)
    other = body_of(second, messages, memo=memo)
    assert [block["type"] for block in own["messages"][1]["content"]] == ["thinking", "text"]
    assert [block["type"] for block in other["messages"][1]["content"]] == ["text"]
    assert other["model"] == "claude-opus-5-5"
