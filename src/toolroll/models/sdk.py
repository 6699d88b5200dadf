"""An official SDK client as the transport: for clouds, and for credentials that only it knows how to get.

    AnthropicModel("claude-sonnet-5-5", transport=SdkTransport(AsyncAnthropicBedrock(...)))
    OpenAIModel("gpt-5.6-terra", transport=SdkTransport(AsyncAzureOpenAI(...)))

The client keeps what is its own: addresses, credentials, signatures, proxies. Requests, answers and retries stay ours.
"""

import sys
from asyncio import AbstractEventLoop, get_running_loop
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final, Literal, TypeAlias

import httpx2

from toolroll.errors import AuthenticationFailed, ModelTimeout, NetworkFailed, UsageError
from toolroll.models.connections import http_failures
from toolroll.models.event_stream import AMAZON_CONTENT_TYPE, decode_amazon_frames
from toolroll.models.reply import Reply
from toolroll.models.shape import read_json
from toolroll.safe.secrets.redact import redact_line

_SDKS: Final = ("anthropic", "openai")
_PLAIN: Final = ("AsyncAnthropic", "AsyncOpenAI")
_SHOWN_CHARACTERS: Final = 300


class SdkTransport:
    """Sends through a client of the `anthropic` or `openai` package, which stays the caller's to close."""

    def __init__(self, client: object) -> None:
        self._client: Any = client
        self._sdk = _sdk_of(client)
        # The clients for clouds rewrite address and body, and need it as data; the plain ones take bytes.
        self._takes_bytes = type(client).__name__ in _PLAIN and type(client).__module__.startswith(_SDKS)

    @asynccontextmanager
    async def post(self, path: str, *, headers: Mapping[str, str], body: bytes) -> AsyncIterator[Reply]:
        """Send the request and hand over the answer while the connection is open."""
        answer = await self._send(path, headers, body)
        try:
            async with http_failures():
                yield _reply(answer)
        finally:
            await answer.aclose()

    async def aclose(self) -> None:
        """Do nothing: the client is the caller's."""

    async def _send(self, path: str, headers: Mapping[str, str], body: bytes) -> httpx2.Response:
        sdk: Any = self._sdk
        sent: dict[str, object] = {"content": body} if self._takes_bytes else {"body": read_json(body)}
        options = {"headers": dict(headers), "max_retries": 0}
        try:
            answer: httpx2.Response = await self._client.post(
                path,
                **sent,
                cast_to=httpx2.Response,
                options=options,
                stream=True,
                stream_cls=sdk.AsyncStream[object],
            )
        except sdk.APIStatusError as error:
            answer = error.response
        except sdk.APITimeoutError as error:
            raise ModelTimeout("The provider did not answer in time.") from error
        except sdk.APIConnectionError as error:
            raise NetworkFailed(f"The connection to the provider failed: {_describe_error(error)}.") from error
        except (TypeError, ValueError, RuntimeError, _root_error(sdk)) as error:
            # Raised before anything is sent: no key, no region, no project, a token that cannot be renewed.
            raise AuthenticationFailed(f"The SDK client cannot send the request: {_describe_error(error)}") from error
        return answer


Cloud: TypeAlias = Literal["bedrock", "vertex"]

_LIBRARIES: Final[Mapping[Cloud, str]] = {"bedrock": "botocore", "vertex": "google.auth"}
"""What the SDK needs to find the credentials of a cloud."""
SETTINGS: Final[Mapping[Cloud, Mapping[str, str]]] = {
    "bedrock": {
        "AWS_REGION": "aws_region",
        "AWS_BEARER_TOKEN_BEDROCK": "api_key",
        "AWS_ACCESS_KEY_ID": "aws_access_key",
        "AWS_SECRET_ACCESS_KEY": "aws_secret_key",
        "AWS_SESSION_TOKEN": "aws_session_token",
        "AWS_PROFILE": "aws_profile",
        "ANTHROPIC_BEDROCK_BASE_URL": "base_url",
    },
    "vertex": {
        "CLOUD_ML_REGION": "region",
        "ANTHROPIC_VERTEX_PROJECT_ID": "project_id",
        "ANTHROPIC_VERTEX_BASE_URL": "base_url",
    },
}
"""The variables that the SDK documents for each cloud, and its name for each."""


class CloudTransport:
    """Sends through clients of the SDK for a cloud: one for each event loop, made when it is first needed."""

    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make
        self._clients: dict[AbstractEventLoop, Any] = {}

    @asynccontextmanager
    async def post(self, path: str, *, headers: Mapping[str, str], body: bytes) -> AsyncIterator[Reply]:
        """Send the request and hand over the answer while the connection is open."""
        loop = get_running_loop()
        if loop not in self._clients:
            self._clients = {other: kept for other, kept in self._clients.items() if not other.is_closed()}
            self._clients[loop] = self._make()
        async with SdkTransport(self._clients[loop]).post(path, headers=headers, body=body) as reply:
            yield reply

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        client = self._clients.pop(get_running_loop(), None)
        if client is not None:
            await client.close()


def cloud_transport(cloud: Cloud, environment: Mapping[str, str]) -> CloudTransport:
    """Return a transport to Claude at a cloud, set by the variables of the SDK; raise at once if something is missing.

    What the environment does not say, the SDK looks for where the cloud's own tools keep it.
    """
    given = {name: environment[variable] for variable, name in SETTINGS[cloud].items() if environment.get(variable)}
    if "api_key" in given:  # the SDK takes one or the other
        given = {name: given[name] for name in ("api_key", "aws_region", "base_url") if name in given}
    if find_spec("anthropic") is None or not ("api_key" in given or _is_installed(_LIBRARIES[cloud])):
        raise UsageError(
            f"Models at {cloud}: need the SDK of the vendor. Install it with: pip install 'toolroll[{cloud}]'."
        )
    region = "aws_region" if cloud == "bedrock" else "region"
    if region not in given:
        variable = next(one for one, name in SETTINGS[cloud].items() if name == region)
        raise UsageError(f"Models at {cloud}: need a region. Set {variable}, for example to eu-west-1.")
    sdk: Any = import_module("anthropic")
    kind = sdk.AsyncAnthropicBedrock if cloud == "bedrock" else sdk.AsyncAnthropicVertex
    return CloudTransport(lambda: kind(**given, max_retries=0))


def _is_installed(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except ModuleNotFoundError:  # of the package that it is a part of
        return False


def _sdk_of(client: object) -> ModuleType:
    for kind in type(client).__mro__:
        package = kind.__module__.partition(".")[0]
        if package in _SDKS and hasattr(client, "post"):
            return sys.modules[package]
    raise UsageError(f"{type(client).__name__} is no asynchronous client of the anthropic or openai package.")


def _root_error(sdk: Any) -> type[Exception]:
    found: type[Exception] = sdk.AnthropicError if sdk.__name__ == "anthropic" else sdk.OpenAIError
    return found


def _reply(answer: httpx2.Response) -> Reply:
    chunks: AsyncIterator[bytes] = answer.aiter_bytes()
    if answer.headers.get("content-type", "").startswith(AMAZON_CONTENT_TYPE):
        chunks = decode_amazon_frames(chunks)
    return Reply(status=answer.status_code, headers=answer.headers, chunks=chunks)


def _describe_error(error: Exception) -> str:
    return redact_line(str(error.__cause__ or error), _SHOWN_CHARACTERS) or type(error).__name__
