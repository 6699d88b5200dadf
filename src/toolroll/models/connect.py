"""Connect a model by its name: find its provider, the address and the key.

Keys and addresses come from the mapping that is handed in, never from the process: who calls decides whether what it
holds may be trusted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, cast

from toolroll._version import __version__
from toolroll.errors import AuthenticationFailed, UsageError
from toolroll.lazy import load
from toolroll.messages import KEY_MALFORMED, KEY_MISSING, MODEL_ADDRESS_INVALID, MODEL_ADDRESS_PLAIN, Template
from toolroll.models.anthropic.model import AnthropicModel
from toolroll.models.auto import AutoModel
from toolroll.models.catalog import (
    ALIASES,
    CHAT_PROVIDERS,
    LIMITS,
    ChatProvider,
    ModelLimits,
    ModelName,
    known_limits,
    limits_from_window,
    parse_model,
)
from toolroll.models.chat.model import ChatModel
from toolroll.models.chat.request import CallForm, ChatOptions
from toolroll.models.chat.settings import CHAT_RULES
from toolroll.models.exchange import WireModel
from toolroll.models.local import LocalOptions, local_model
from toolroll.models.model import DEFAULT_MAX_OUTPUT_TOKENS, Timeouts
from toolroll.models.openai.model import OpenAIModel
from toolroll.models.small import SmallModel
from toolroll.models.transport import HttpTransport
from toolroll.safe.net.urls import is_loopback

ANTHROPIC_URL: Final = "https://api.anthropic.com"
OPENAI_URL: Final = "https://api.openai.com/v1"
OLLAMA_URL: Final = CHAT_PROVIDERS["ollama"].url

ENDPOINT_MISSING: Final = Template(
    "model_endpoint_missing",
    "Azure needs the address of your resource.",
    "Set {variable}=https://NAME.openai.azure.com.",
)
AGENT: Final = {"user-agent": f"toolroll/{__version__}"}


_KINDS: Final[Mapping[CallForm, type[ChatModel]]] = {"auto": AutoModel, "native": ChatModel, "json": SmallModel}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectSettings:
    """What can be said about models beyond their names."""

    aliases: Mapping[str, str] | None = None
    """Short names; they come beside the ones we know, and before them."""
    limits: Mapping[str, ModelLimits] | None = None
    """Windows and limits by the beginning of a name; they come before the ones we know."""
    timeouts: Timeouts | None = None
    """How long a model may take."""
    strict: Literal["prefer", "off"] = "prefer"
    chat: ChatOptions | None = None
    calls: CallForm | None = None
    """How models behind Chat Completions call tools; a name that ends with `?calls=...` comes before it."""
    window_tokens: int | None = None
    """How much any of the models reads, if not set by its name."""
    output_tokens: int | None = None
    """How much any of the models writes in one answer, if not set by its name."""
    asks_server: bool = False
    """Whether a server on this machine is asked for the window of its model, where nobody has set one."""
    local: LocalOptions | None = None
    allow_plain_http: bool = False
    """Whether a key may travel unencrypted to another machine, as to a gateway inside one's own network."""


def connect(name: str, *, environment: Mapping[str, str], settings: ConnectSettings | None = None) -> WireModel:
    """Return the model of that name without sending anything yet; raise at once if its key is missing."""
    settings = settings or ConnectSettings()
    wanted = parse_model(name, {**ALIASES, **(settings.aliases or {})})
    model = _connect(wanted, environment, settings)
    model.limits = _set_limits(model.limits, wanted, settings)
    if settings.timeouts is not None:
        model.timeouts = settings.timeouts.filled_from(model.timeouts)
    return model


def _connect(wanted: ModelName, environment: Mapping[str, str], settings: ConnectSettings) -> WireModel:
    match wanted.provider:
        case "anthropic":
            return _anthropic(wanted, environment, settings)
        case "openai":
            return _openai(wanted, environment, settings)
        case "azure":
            return _azure(wanted, environment, settings)
        case "bedrock" | "vertex" as cloud:
            return _cloud(wanted, cloud, environment, settings)
        case "openai-compatible":
            return _compatible(wanted, environment, settings)
        case "local":
            return _local(wanted, settings)
        case provider:
            return _chat_provider(wanted, CHAT_PROVIDERS[provider], environment, settings)


def _anthropic(wanted: ModelName, environment: Mapping[str, str], settings: ConnectSettings) -> AnthropicModel:
    key = _key(environment, "ANTHROPIC_API_KEY", "Anthropic")
    transport = _transport(environment.get("ANTHROPIC_BASE_URL") or ANTHROPIC_URL, settings, key=key)
    return AnthropicModel(
        wanted.model,
        transport=transport,
        headers=AGENT | {"x-api-key": key},
        limits=_limits(wanted, settings),
        strict=settings.strict,
    )


def _openai(wanted: ModelName, environment: Mapping[str, str], settings: ConnectSettings) -> OpenAIModel:
    key = _key(environment, "OPENAI_API_KEY", "OpenAI")
    transport = _transport(environment.get("OPENAI_BASE_URL") or OPENAI_URL, settings, key=key)
    return OpenAIModel(
        wanted.model,
        transport=transport,
        headers=AGENT | _bearer(key),
        limits=_limits(wanted, settings),
        strict=settings.strict,
    )


def _compatible(wanted: ModelName, environment: Mapping[str, str], settings: ConnectSettings) -> ChatModel:
    """Connect with the server's own key, or with none: OpenAI's key is never sent to another server."""
    variable = "OPENAI_COMPATIBLE_API_KEY"
    headers = _bearer(_key(environment, variable, "the model server")) if environment.get(variable) else {}
    assert wanted.base_url is not None
    return _chat(wanted, wanted.base_url, headers, settings)


def _chat_provider(
    wanted: ModelName, provider: ChatProvider, environment: Mapping[str, str], settings: ConnectSettings
) -> ChatModel:
    variable = provider.key_variable
    has_key = variable is not None and (provider.needs_key or bool(environment.get(variable)))
    headers = _bearer(_key(environment, variable, provider.title)) if variable and has_key else {}
    url = environment.get(provider.url_variable or "") or provider.url
    return _chat(wanted, url, headers, replace(settings, chat=settings.chat or chat_options(provider)))


def chat_options(provider: ChatProvider) -> ChatOptions:
    """Return what a provider takes, as the table says."""
    takes = frozenset(CHAT_RULES.takes) - {*provider.takes_not}
    return ChatOptions(
        stream_usage=provider.stream_usage,
        max_tokens_field=provider.max_tokens_field,
        seed_field=provider.seed_field,
        thinking_field=provider.thinking_field,
        rules=replace(CHAT_RULES, takes=takes, thinking=provider.thinking),
    )


def _azure(wanted: ModelName, environment: Mapping[str, str], settings: ConnectSettings) -> OpenAIModel:
    """Connect a deployment of Azure OpenAI over its v1 API, which needs no version and takes the Responses wire."""
    key = _key(environment, "AZURE_OPENAI_API_KEY", "Azure OpenAI")
    endpoint = environment.get("AZURE_OPENAI_ENDPOINT", "").strip()
    if not endpoint:
        raise UsageError(ENDPOINT_MISSING(variable="AZURE_OPENAI_ENDPOINT"))
    return OpenAIModel(
        wanted.model,
        transport=_transport(f"{endpoint.rstrip('/')}/openai/v1", settings, key=key),
        headers=AGENT | {"api-key": key},
        limits=_limits(wanted, settings),
        strict=settings.strict,
    )


def _cloud(wanted: ModelName, cloud: str, environment: Mapping[str, str], settings: ConnectSettings) -> AnthropicModel:
    """Connect Claude at a cloud, whose credentials only the vendor's SDK can get."""
    name = wanted.model.rpartition("anthropic.")[2]  # Bedrock: eu.anthropic.claude-...
    return AnthropicModel(
        wanted.model,
        transport=load("toolroll.models.sdk:cloud_transport")(cloud, environment),
        headers=AGENT,
        limits=_limits(replace(wanted, model=name), settings),
        strict=settings.strict,
    )


def _chat(wanted: ModelName, url: str, headers: Mapping[str, str], settings: ConnectSettings) -> ChatModel:
    transport = _transport(url, settings, key=headers.get("authorization", ""))
    chat = settings.chat or ChatOptions()
    calls = wanted.calls or settings.calls or chat.calls
    # Only limits that were set: a name that begins like one of ours says little about what a server has behind it.
    limits = known_limits(wanted.model, settings.limits or {})
    if limits is None and settings.asks_server and not (wanted.window_tokens or settings.window_tokens):
        window = load("toolroll.models.server_limits:ask_window")(url, wanted.model)
        limits = None if window is None else limits_from_window(window)
    kind = _KINDS[cast("CallForm", calls)]
    return kind(wanted.model, transport=transport, headers={**AGENT, **headers}, limits=limits, options=chat)


def _local(wanted: ModelName, settings: ConnectSettings) -> SmallModel:
    return local_model(wanted.model, options=settings.local, chat=settings.chat)


def _limits(wanted: ModelName, settings: ConnectSettings) -> ModelLimits | None:
    return known_limits(wanted.model, settings.limits or {}) or known_limits(wanted.model, LIMITS)


def _set_limits(known: ModelLimits | None, wanted: ModelName, settings: ConnectSettings) -> ModelLimits | None:
    """Return the limits with what a person has set: in the name of the model, else in the settings."""
    window = wanted.window_tokens or settings.window_tokens
    output = wanted.output_tokens or settings.output_tokens
    if window is None and output is None:
        return known
    if window is None:
        return replace(known or ModelLimits(), max_output_tokens=output or DEFAULT_MAX_OUTPUT_TOKENS)
    made = limits_from_window(window)
    return made if output is None else replace(made, max_output_tokens=output)


def _bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def _key(environment: Mapping[str, str], variable: str, provider: str) -> str:
    key = environment.get(variable, "").strip()
    if not key:
        raise AuthenticationFailed(KEY_MISSING(provider=provider, variable=variable))
    if not (key.isascii() and key.isprintable()):  # the HTTP library would quote it in its complaint
        raise AuthenticationFailed(KEY_MALFORMED(variable=variable))
    return key


def _transport(url: str, settings: ConnectSettings, *, key: str) -> HttpTransport:
    if not url.startswith(("http://", "https://")):
        raise UsageError(MODEL_ADDRESS_INVALID(url=repr(url)))
    if key and url.startswith("http://") and not (is_loopback(url) or settings.allow_plain_http):
        raise UsageError(MODEL_ADDRESS_PLAIN(url=repr(url)))
    timeouts = settings.timeouts or Timeouts()
    return HttpTransport(url, timeout_s=timeouts.turn_s, connect_timeout_s=timeouts.connect_s)
