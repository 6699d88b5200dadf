"""Settings: what is wrong with them is said before anything is sent, and what is right is seen on the wire."""

import json
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from hypothesis import given
from hypothesis import strategies as st
from openai import AsyncOpenAI
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import TypeAdapter
from tests.models.asking import ADD, ask, user
from tests.models.histories import model_of
from tests.support.model_script import Json
from tests.support.model_server import KEY, ModelServer

from toolroll.errors import UsageError
from toolroll.models.anthropic.model import AnthropicModel
from toolroll.models.catalog import ModelLimits
from toolroll.models.chat.model import ChatModel
from toolroll.models.exchange import WireModel
from toolroll.models.model import ModelRequest, Wire
from toolroll.models.openai.model import OpenAIModel
from toolroll.models.recording import Recording, RecordingModel, ReplayModel
from toolroll.models.scripted import ScriptedModel
from toolroll.models.sdk import SdkTransport
from toolroll.models.settings import (
    ModelSettings,
    SupportsSettings,
    check_settings,
    given_in,
    make_settings,
    merge_settings,
)

OLD, MIDDLE, OPTIONAL, NEW = "claude-haiku-4-5", "claude-sonnet-4-6", "claude-sonnet-5", "claude-sonnet-5-5"
GPT, GPT_4, O3 = "gpt-5.6-terra", "gpt-4.1", "o3"

Case = tuple[Wire, str | None, dict[str, Any], Json]

WRITTEN: list[Case] = [
    ("anthropic", MIDDLE, {"temperature": 0.2}, {"temperature": 0.2}),
    ("anthropic", MIDDLE, {"top_p": 0.9}, {"top_p": 0.9}),
    ("anthropic", NEW, {"stop_sequences": ["END"]}, {"stop_sequences": ["END"]}),
    ("anthropic", NEW, {"max_output_tokens": 77}, {"max_tokens": 77}),
    ("anthropic", NEW, {"thinking": "low"}, {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}),
    ("anthropic", NEW, {"thinking": "off"}, {"thinking": {"type": "between_tools"}}),
    ("anthropic", OPTIONAL, {"thinking": "off"}, {"thinking": {"type": "disabled"}}),
    ("anthropic", OLD, {"thinking": "medium"}, {"thinking": {"type": "enabled", "budget_tokens": 4_096}}),
    ("anthropic", MIDDLE, {"tool_choice": "required"}, {"tool_choice": {"type": "any"}}),
    ("anthropic", MIDDLE, {"tool_choice": "add"}, {"tool_choice": {"type": "tool", "name": "add"}}),
    ("anthropic", NEW, {"tool_choice": "none"}, {"tool_choice": {"type": "none"}}),
    (
        *("anthropic", NEW, {"parallel_tool_calls": False}),
        {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
    ),
    ("anthropic", NEW, {"service_tier": "standard_only"}, {"service_tier": "standard_only"}),
    ("anthropic", NEW, {"extra_body": {"metadata": {"user_id": "u"}}}, {"metadata": {"user_id": "u"}}),
    ("openai", GPT_4, {"temperature": 0.2, "top_p": 0.9}, {"temperature": 0.2, "top_p": 0.9}),
    ("openai", GPT, {"temperature": 1.5, "thinking": "off"}, {"temperature": 1.5, "reasoning": {"effort": "none"}}),
    ("openai", GPT, {"thinking": "high"}, {"reasoning": {"effort": "high"}}),
    ("openai", GPT, {"max_output_tokens": 77}, {"max_output_tokens": 77}),
    ("openai", GPT, {"tool_choice": "required"}, {"tool_choice": "required"}),
    ("openai", GPT, {"tool_choice": "add"}, {"tool_choice": {"type": "function", "name": "add"}}),
    ("openai", GPT, {"tool_choice": "none"}, {"tool_choice": "none"}),
    ("openai", GPT, {"parallel_tool_calls": False}, {"parallel_tool_calls": False}),
    ("openai", GPT, {"service_tier": "flex"}, {"service_tier": "flex"}),
    ("openai", GPT, {"cache": "24h"}, {"prompt_cache_retention": "24h"}),
    ("openai", GPT, {"cache": "30m"}, {"prompt_cache_options": {"ttl": "30m"}}),
    ("openai", GPT, {"cache": "off"}, {"prompt_cache_options": {"mode": "explicit"}}),
    ("openai", GPT, {"extra_body": {"truncation": "auto"}}, {"truncation": "auto"}),
    ("chat", None, {"temperature": 0.2, "top_p": 0.9}, {"temperature": 0.2, "top_p": 0.9}),
    ("chat", None, {"stop_sequences": ("a", "b")}, {"stop": ["a", "b"]}),
    ("chat", None, {"seed": 7}, {"seed": 7}),
    ("chat", None, {"max_output_tokens": 77}, {"max_tokens": 77}),
    ("chat", None, {"thinking": "low"}, {"reasoning_effort": "low"}),
    ("chat", None, {"thinking": "off"}, {"reasoning_effort": "none"}),
    ("chat", None, {"tool_choice": "required"}, {"tool_choice": "required"}),
    ("chat", None, {"tool_choice": "add"}, {"tool_choice": {"type": "function", "function": {"name": "add"}}}),
    ("chat", None, {"tool_choice": "none"}, {"tool_choice": "none"}),
    ("chat", None, {"parallel_tool_calls": True}, {"parallel_tool_calls": True}),
    ("chat", None, {"service_tier": "flex"}, {"service_tier": "flex"}),
    ("chat", None, {"extra_body": {"top_k": 5}}, {"top_k": 5}),
]
ORACLES: dict[Wire, TypeAdapter[Any]] = {
    "anthropic": TypeAdapter(MessageCreateParamsNonStreaming),
    "openai": TypeAdapter(ResponseCreateParamsNonStreaming),
    "chat": TypeAdapter(CompletionCreateParamsNonStreaming),
}
LEFT_OUT = {"temperature", "top_p"}
"""What Anthropic's package no longer knows: the models that take it are older."""


def request_of(settings: ModelSettings | None) -> ModelRequest:
    """The request that an agent with one tool makes of them."""
    choice = "auto" if settings is None else settings.tool_choice or "auto"
    tokens = {} if settings is None or settings.max_output_tokens is None else {"tokens": settings.max_output_tokens}
    return ModelRequest(
        messages=[user()],
        tools=(ADD,),
        system="Be good.",
        tool_choice=choice,
        settings=settings,
        max_output_tokens=tokens.get("tokens", 16_384),
    )


def body_of(model: WireModel, settings: ModelSettings | None) -> Json:
    body: Json = json.loads(model.encode(request_of(settings), stream=False))
    return body


@pytest.mark.parametrize(("wire", "name", "given", "written"), WRITTEN, ids=lambda value: str(value)[:40])
def test_A40_every_setting_is_seen_on_the_wire(
    wire: Wire, name: str | None, given: dict[str, Any], written: Json
) -> None:
    """Exactly the fields that the vendor documents for it, and its own package takes them."""
    model, settings = model_of(wire, name), make_settings(given)
    assert settings is not None
    model.check_settings(settings)
    plain, body = body_of(model, None), body_of(model, settings)
    assert written == {key: value for key, value in body.items() if plain.get(key) != value}
    judged = {key: value for key, value in body.items() if wire != "anthropic" or key not in LEFT_OUT}
    if "extra_body" not in given:
        ORACLES[wire].validate_python(judged, strict=False)


@pytest.mark.parametrize("wire", ["anthropic", "openai", "chat"])
async def test_A40_both_sdks_send_the_settings_as_we_wrote_them(wire: Wire) -> None:
    settings = ModelSettings(thinking="low", extra_headers={"x-team": "tea"}, parallel_tool_calls=False)
    options = {"api_key": KEY, "max_retries": 0}
    async with ModelServer(["fine"], lenient=True) as server:
        clients: dict[Wire, Any] = {
            "anthropic": AsyncAnthropic(base_url=server.url, **options),
            "openai": AsyncOpenAI(base_url=f"{server.url}/v1", **options),
            "chat": AsyncOpenAI(base_url=f"{server.url}/v1", **options),
        }
        kinds: dict[Wire, Any] = {"anthropic": AnthropicModel, "openai": OpenAIModel, "chat": ChatModel}
        async with clients[wire] as client:
            model = kinds[wire](model_of(wire).model, transport=SdkTransport(client))
            await ask(model, tools=(ADD,), settings=settings)
    [received] = server.requests
    assert received.headers["x-team"] == "tea"
    assert "low" in json.dumps(received.body)


async def test_A40_extra_headers_travel_over_our_own_transport_too() -> None:
    async with ModelServer(["fine", "fine"]) as server:
        model = server.model("anthropic")
        await ask(model, settings=ModelSettings(extra_headers={"anthropic-beta": "new-2026"}))
        await ask(model)
    assert [received.headers.get("anthropic-beta") for received in server.requests] == ["new-2026", None]


def test_A40_the_cache_of_anthropic_lives_longer_or_not_at_all() -> None:
    model = model_of("anthropic")
    for wish, mark in (("1h", {"type": "ephemeral", "ttl": "1h"}), ("5m", {"type": "ephemeral", "ttl": "5m"})):
        body = body_of(model, ModelSettings(cache=wish))  # type: ignore[arg-type]  # as listed
        assert mark == body["system"][0]["cache_control"] == body["messages"][0]["content"][-1]["cache_control"]
    assert "cache_control" not in json.dumps(body_of(model, ModelSettings(cache="off")))
    bare = ModelRequest(messages=[user()], tools=(ADD,), settings=ModelSettings(cache="off"))
    assert b"cache_control" not in model.encode(bare, stream=False)


REFUSED: list[tuple[Wire, str | None, dict[str, Any], str]] = [
    ("anthropic", NEW, {"temperature": 0.2}, "temperature"),
    ("anthropic", NEW, {"tool_choice": "required"}, "tool_choice"),
    ("anthropic", NEW, {"seed": 1}, "seed"),
    ("anthropic", NEW, {"thinking": "minimal"}, "thinking"),
    ("anthropic", NEW, {"cache": "24h"}, "cache"),
    ("anthropic", "claude-opus-5-5", {"thinking": "off"}, "thinking"),
    ("anthropic", OPTIONAL, {"tool_choice": "add"}, "tool_choice"),
    ("anthropic", MIDDLE, {"tool_choice": "add", "thinking": "low"}, "tool_choice"),
    ("anthropic", MIDDLE, {"temperature": 0.2, "thinking": "low"}, "temperature"),
    ("anthropic", MIDDLE, {"temperature": 1.5}, "temperature"),
    ("anthropic", MIDDLE, {"temperature": 0.5, "top_p": 0.5}, "top_p"),
    ("anthropic", NEW, {"service_tier": "flex"}, "service_tier"),
    ("openai", GPT, {"temperature": 0.2}, "temperature"),
    ("openai", GPT, {"stop_sequences": ("a",)}, "stop_sequences"),
    ("openai", GPT, {"seed": 1}, "seed"),
    ("openai", O3, {"thinking": "off"}, "thinking"),
    ("openai", O3, {"temperature": 1}, "temperature"),
    ("openai", GPT_4, {"thinking": "low"}, "thinking"),
    ("openai", GPT, {"cache": "1h"}, "cache"),
    ("chat", None, {"cache": "1h"}, "cache"),
    ("chat", None, {"stop_sequences": tuple("abcde")}, "stop_sequences"),
]


@pytest.mark.parametrize(("wire", "name", "given", "fault"), REFUSED, ids=lambda value: str(value)[:40])
def test_A40_what_a_model_does_not_take_is_refused_before_it_is_asked(
    wire: Wire, name: str | None, given: dict[str, Any], fault: str
) -> None:
    settings = make_settings(given)
    assert settings is not None
    with pytest.raises(UsageError, match=rf"does not take {fault}="):
        model_of(wire, name).check_settings(settings)


def test_A40_conflicts_go_away_when_thinking_is_off() -> None:
    model_of("anthropic", OPTIONAL).check_settings(ModelSettings(tool_choice="add", thinking="off"))
    model_of("anthropic", MIDDLE).check_settings(ModelSettings(temperature=0.2, thinking="off"))
    model_of("openai", GPT).check_settings(ModelSettings(top_p=0.2, thinking="off"))
    assert "reasoning" not in body_of(model_of("openai", GPT_4), ModelSettings(thinking="off"))


def test_A40_an_output_limit_above_what_the_model_writes_is_refused() -> None:
    model = model_of("chat")
    model.limits = ModelLimits(max_output_tokens=100)
    model.check_settings(ModelSettings(max_output_tokens=100))
    with pytest.raises(UsageError, match="writes up to 100"):
        model.check_settings(ModelSettings(max_output_tokens=101))


def test_A40_an_older_model_needs_room_to_think() -> None:
    settings = ModelSettings(thinking="low", max_output_tokens=1_000)
    with pytest.raises(UsageError, match="cannot think"):
        body_of(model_of("anthropic", OLD), settings)


def test_A40_extra_body_adds_and_joins_but_replaces_nothing() -> None:
    model = model_of("openai", GPT)
    joined = body_of(model, ModelSettings(thinking="low", extra_body={"reasoning": {"summary": "auto"}}))
    assert joined["reasoning"] == {"effort": "low", "summary": "auto"}
    with pytest.raises(UsageError, match="extra_body would replace 'model'"):
        body_of(model, ModelSettings(extra_body={"model": "another"}))


WRONG: list[dict[str, Any]] = [
    {"temperature": -1},
    {"temperature": 3},
    {"temperature": True},
    {"temperature": float("nan")},
    {"top_p": 0},
    {"top_p": 1.1},
    {"stop_sequences": "END"},
    {"stop_sequences": [""]},
    {"seed": 1.5},
    {"max_output_tokens": 0},
    {"thinking": "hard"},
    {"tool_choice": ""},
    {"parallel_tool_calls": 1},
    {"service_tier": ""},
    {"cache": "2h"},
    {"extra_headers": {"Authorization": "Bearer x"}},
    {"extra_headers": {"x-api-key": "x"}},
    {"extra_headers": {"Cookie": "x"}},
    {"extra_headers": {"content-type": "text/plain"}},
    {"extra_headers": {"x": "a\nb"}},
    {"extra_headers": ["x"]},
    {"extra_body": {"x": object()}},
    {"extra_body": "x"},
]


@pytest.mark.parametrize("given", WRONG, ids=range(len(WRONG)))
def test_A40_a_wrong_value_is_refused_with_what_it_must_be(given: dict[str, Any]) -> None:
    [name] = given
    for make in (make_settings, lambda values: ModelSettings(**values)):
        with pytest.raises(UsageError, match=rf"^{name} is "):
            make(given)


def test_A40_an_unknown_setting_is_an_error_that_names_the_right_one() -> None:
    with pytest.raises(UsageError, match="Did you mean temperature"):
        make_settings({"temprature": 0.1})
    with pytest.raises(UsageError, match="settings is ModelSettings or a dictionary"):
        make_settings(3)  # type: ignore[arg-type]  # what a user may write


def test_A40_settings_of_a_run_come_over_those_of_the_agent() -> None:
    agent = ModelSettings(temperature=0.2, seed=1, extra_headers={"a": "1"}, parallel_tool_calls=False)
    merged = merge_settings(agent, {"temperature": 0.5, "seed": None, "extra_headers": {"b": "2"}})
    assert merged == ModelSettings(temperature=0.5, extra_headers={"a": "1", "b": "2"}, parallel_tool_calls=False)
    assert merge_settings(agent, ModelSettings(seed=2)) == ModelSettings(
        temperature=0.2, seed=2, extra_headers={"a": "1"}, parallel_tool_calls=False
    )
    assert merge_settings(None, {}) is None
    assert merge_settings(ModelSettings(seed=1), {"seed": None}) is None


SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "temperature": st.floats(0, 2),
        "top_p": st.floats(0.1, 1),
        "stop_sequences": st.lists(st.text(min_size=1), max_size=4),
        "seed": st.integers(),
        "tool_choice": st.sampled_from(["auto", "none", "required", "add"]),
        "parallel_tool_calls": st.booleans(),
        "keep_tool_choice": st.booleans(),
        "extra_body": st.dictionaries(st.text(), st.one_of(st.none(), st.integers(), st.text())),
    },
)


@given(SETTINGS)
def test_A40_what_is_recorded_of_settings_is_read_back(given: dict[str, Any]) -> None:
    settings = make_settings(given)
    if settings is not None:
        assert settings == make_settings(json.loads(json.dumps(settings.to_record())))
        assert given_in(settings)


def test_A40_a_model_that_declares_nothing_takes_only_a_limit() -> None:
    class Mine:
        pass

    check_settings(Mine(), None, "mine")
    check_settings(Mine(), ModelSettings(max_output_tokens=5), "mine")
    with pytest.raises(UsageError, match=r"mine does not take temperature=0\.5"):
        check_settings(Mine(), ModelSettings(temperature=0.5), "mine")


def test_A40_models_that_stand_for_others_take_what_those_take() -> None:
    settings = ModelSettings(seed=1)
    for model in (ScriptedModel([]), ReplayModel(Recording(origin=ScriptedModel([]).origin))):
        assert isinstance(model, SupportsSettings)
        check_settings(model, settings, "x")
    with pytest.raises(UsageError, match="does not take seed"):
        check_settings(RecordingModel(model_of("anthropic")), settings, "x")


async def test_A40_a_recording_keeps_the_settings_and_replay_compares_them() -> None:
    recorder = RecordingModel(ScriptedModel(["hello"]))
    await ask(recorder, settings=ModelSettings(seed=1, stop_sequences=("a",)))
    kept = Recording.from_lines(recorder.recording.to_lines())
    replayed = ReplayModel(kept, strict=False)
    await ask(replayed, settings=ModelSettings(seed=2, stop_sequences=("a",)))
    assert [one.place for one in replayed.differences] == ["settings.seed"]
