"""From a name to a model."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.asking import ask, user
from tests.support.model_server import ModelServer

from toolroll.errors import AuthenticationFailed, UsageError
from toolroll.models.anthropic.model import AnthropicModel
from toolroll.models.catalog import LIMITS, ModelLimits, known_limits, limits_of, parse_model
from toolroll.models.chat.model import ChatModel
from toolroll.models.chat.request import ChatOptions
from toolroll.models.connect import ConnectSettings, connect
from toolroll.models.exchange import WireModel
from toolroll.models.model import ModelRequest
from toolroll.models.openai.model import OpenAIModel
from toolroll.models.transport import HttpTransport
from toolroll.safe.net.urls import is_loopback

KEYS = {"ANTHROPIC_API_KEY": "sk-ant-x", "OPENAI_API_KEY": "sk-x"}


def address(model: WireModel) -> str:
    assert isinstance(model._transport, HttpTransport)
    return model._transport._base_url


@pytest.mark.parametrize(
    ("name", "kind", "model", "url"),
    [
        ("anthropic:claude-sonnet-5-5", AnthropicModel, "claude-sonnet-5-5", "https://api.anthropic.com"),
        ("sonnet", AnthropicModel, "claude-sonnet-5-5", "https://api.anthropic.com"),
        ("opus", AnthropicModel, "claude-opus-5-5", "https://api.anthropic.com"),
        ("haiku", AnthropicModel, "claude-haiku-5-5", "https://api.anthropic.com"),
        ("openai:gpt-5.6-terra", OpenAIModel, "gpt-5.6-terra", "https://api.openai.com/v1"),
        ("ollama:qwen3:8b", ChatModel, "qwen3:8b", "http://localhost:11434/v1"),
        ("openai-compatible:a/b@https://h.example/v1/", ChatModel, "a/b", "https://h.example/v1"),
    ],
)
def test_A30_names_lead_to_models(name: str, kind: type[WireModel], model: str, url: str) -> None:
    """A30: by provider, or by an alias from one table."""
    made = connect(name, environment=KEYS)
    assert isinstance(made, kind)
    assert (made.model, address(made)) == (model, url)


def test_A30_aliases_and_limits_can_be_set() -> None:
    settings = ConnectSettings(
        aliases={"mine": "ollama:tiny"},
        limits={"tiny": ModelLimits(max_output_tokens=512), "claude-": ModelLimits(max_output_tokens=1_000)},
    )
    assert connect("mine", environment={}, settings=settings).limits == ModelLimits(max_output_tokens=512)
    assert connect("sonnet", environment=KEYS, settings=settings).limits == ModelLimits(max_output_tokens=1_000)


def test_A30_addresses_come_from_the_environment_that_is_given() -> None:
    environment = KEYS | {"ANTHROPIC_BASE_URL": "https://gate.example/a", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1/"}
    assert address(connect("sonnet", environment=environment)) == "https://gate.example/a"
    assert address(connect("openai:gpt-5", environment=environment)) == "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(("name", "variable"), [("sonnet", "ANTHROPIC_API_KEY"), ("openai:gpt-5", "OPENAI_API_KEY")])
@pytest.mark.parametrize("value", [None, "", "  "])
def test_A34_a_missing_key_says_which_variable_to_set(name: str, variable: str, value: str | None) -> None:
    environment = {} if value is None else {variable: value}
    with pytest.raises(AuthenticationFailed, match=f"Set {variable}"):
        connect(name, environment=environment)


def test_A34_a_key_that_cannot_be_one_is_not_shown() -> None:
    """A34: the HTTP library would quote it in its complaint about the header."""
    for key in ("sk-secret\nmore", "sk-секрет"):
        with pytest.raises(AuthenticationFailed) as caught:
            connect("sonnet", environment={"ANTHROPIC_API_KEY": key})
        assert "secret" not in str(caught.value)
    padded = connect("sonnet", environment={"ANTHROPIC_API_KEY": " sk-ant-x\n"})
    assert padded._headers["x-api-key"] == "sk-ant-x"


def test_A30_a_compatible_server_gets_its_own_key_and_never_openais() -> None:
    name = "openai-compatible:m@https://h.example/v1"
    assert "authorization" not in connect(name, environment=KEYS)._headers
    own = connect(name, environment=KEYS | {"OPENAI_COMPATIBLE_API_KEY": "abc"})
    assert own._headers["authorization"] == "Bearer abc"
    assert "authorization" not in connect("ollama:m", environment=KEYS)._headers


def test_a_key_does_not_travel_unencrypted() -> None:
    for url in ("http://gate.example", "http://127.evil.example", "http://10.0.0.5:8000"):
        with pytest.raises(UsageError, match="unencrypted"):
            connect("sonnet", environment=KEYS | {"ANTHROPIC_BASE_URL": url})
    plain = ConnectSettings(allow_plain_http=True)
    connect("sonnet", environment=KEYS | {"ANTHROPIC_BASE_URL": "http://gate.example"}, settings=plain)
    connect("openai-compatible:m@http://gate.example/v1", environment=KEYS)
    with pytest.raises(UsageError, match="no address"):
        connect("sonnet", environment=KEYS | {"ANTHROPIC_BASE_URL": "ftp://gate.example"})


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost:1/v1", True),
        ("http://127.0.0.1", True),
        ("http://[::1]:8080", True),
        ("http://127.evil.example", False),
        ("http://10.0.0.1", False),
        ("http://", False),
    ],
)
def test_what_is_on_this_machine(url: str, expected: bool) -> None:
    assert is_loopback(url) == expected


@pytest.mark.parametrize(
    "name",
    [
        *("", ":", "sonnet:", "claude", "anthropic", "anthropic:", "mistrall:large", "Anthropic:x", " sonnet"),
        *("openai-compatible:m", "openai-compatible:@http://h", "openai-compatible:m@", "openai-compatible:m@h/v1"),
        *("openai-compatible:m@ftp://h", "openai-compatible:m@http://"),
    ],
)
def test_A30_a_name_that_means_nothing_says_what_would(name: str) -> None:
    with pytest.raises(UsageError, match=r"anthropic:NAME|needs an address"):
        connect(name, environment=KEYS)


def test_A30_a_local_model_is_promised_and_not_there() -> None:
    with pytest.raises(UsageError, match="ollama:NAME"):
        connect("local:tiny.gguf", environment={})


@given(st.text(max_size=60))
def test_A30_no_name_does_anything_else_than_parse_or_be_refused(name: str) -> None:
    try:
        parsed = parse_model(name)
    except UsageError:
        return
    assert parsed.model


def test_A30_limits_go_by_the_longest_beginning() -> None:
    assert limits_of("gpt-5.4-mini-2026-01-01").window_tokens == 400_000
    assert limits_of("gpt-5.4-pro").window_tokens == 1_050_000
    assert limits_of("claude-sonnet-5-5").window_tokens == 1_000_000
    assert limits_of("claude-sonnet-4-5").window_tokens == 200_000
    assert limits_of("olmo-3") == ModelLimits()
    assert known_limits("olmo-3") is None
    assert all(limits.max_output_tokens <= limits.window_tokens for limits in LIMITS.values())


def test_A36_a_connected_model_knows_what_it_may_write() -> None:
    """A36: asked for more than that, it asks the provider for less."""
    model = connect("openai:gpt-4-turbo", environment=KEYS)
    assert b'"max_output_tokens":4096' in model.encode(ModelRequest(messages=[user()]), stream=False)
    assert connect("ollama:gpt-4-turbo", environment={}).limits is None


async def test_A30_connected_models_can_be_asked() -> None:
    async with ModelServer(["a", "b", "c"]) as server:
        environment = KEYS | {"ANTHROPIC_BASE_URL": server.url, "OPENAI_BASE_URL": f"{server.url}/v1"}
        names = ["sonnet", "openai:gpt-5.6-terra", f"openai-compatible:m@{server.url}/v1"]
        settings = ConnectSettings(chat=ChatOptions(stream_usage=False))
        for name, expected in zip(names, "abc", strict=True):
            model = connect(name, environment=environment, settings=settings)
            assert (await ask(model, stream=True)).message.text == expected
            await model.aclose()
        assert "stream_options" not in server.requests[2].body
        assert {one.headers["user-agent"].partition("/")[0] for one in server.requests} == {"toolroll"}


def test_connecting_loads_no_http_library() -> None:
    """Eleven interpreter starts; only who talks to a provider pays them."""
    code = (
        "import sys\n"
        "from toolroll.models.connect import connect\n"
        "connect('ollama:x', environment={})\n"
        "assert not {'httpx2', 'anthropic', 'openai', 'genai_prices', 'asyncio'} & set(sys.modules), sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
