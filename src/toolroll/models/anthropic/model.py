"""Anthropic's models over the Messages API."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final, Literal

from toolroll.errors import (
    AuthenticationFailed,
    ContextTooLong,
    ModelError,
    ModelTimeout,
    Overloaded,
    PermissionRefused,
    ProviderFailed,
    QuotaExceeded,
    RateLimited,
    RequestRefused,
)
from toolroll.kernel.data.messages import Message
from toolroll.models.anthropic.request import breakpoints, head, message_json, with_breakpoint
from toolroll.models.anthropic.response import MessageAssembly, read_message
from toolroll.models.anthropic.settings import cache_mark_bytes, traits_of
from toolroll.models.catalog import ModelLimits
from toolroll.models.exchange import WireModel
from toolroll.models.failures import ErrorBody, classify_status, make_error, sharpen
from toolroll.models.model import ModelRequest, ModelResponse, Wire
from toolroll.models.settings import SettingRules
from toolroll.models.transport import Transport
from toolroll.models.wire_json import Json, join

_KINDS: Final[Mapping[str, type[ModelError]]] = {
    "authentication_error": AuthenticationFailed,
    "permission_error": PermissionRefused,
    "billing_error": QuotaExceeded,
    "rate_limit_error": RateLimited,
    "overloaded_error": Overloaded,
    "timeout_error": ModelTimeout,
    "invalid_request_error": RequestRefused,
    "not_found_error": RequestRefused,
    "request_too_large": ContextTooLong,
    "api_error": ProviderFailed,
}

API_VERSION: Final = "2023-06-01"


class AnthropicModel(WireModel):
    """A model behind `POST /v1/messages`."""

    wire: ClassVar[Wire] = "anthropic"
    path: ClassVar[str] = "/v1/messages"

    def __init__(
        self,
        model: str,
        *,
        transport: Transport,
        headers: Mapping[str, str] | None = None,
        limits: ModelLimits | None = None,
        strict: Literal["prefer", "off"] = "prefer",
    ) -> None:
        version = {"anthropic-version": API_VERSION}
        super().__init__(model, transport=transport, headers=version | dict(headers or {}), limits=limits)
        self._strict: Literal["prefer", "off"] = strict

    def setting_rules(self) -> SettingRules:
        """Return what this generation of Claude takes."""
        return traits_of(self.model).rules

    def head(self, request: ModelRequest, stream: bool, /) -> Json:  # noqa: FBT001 - as in the base
        """Return everything of a request but its messages."""
        tokens = self.max_output_tokens(request)
        return head(request, model=self.model, stream=stream, max_tokens=tokens, strict=self._strict)

    def message_json(self, message: Message, /) -> Iterable[Json]:
        """Return one JSON message for each message."""
        return (message_json(message, to=self.origin),)

    def join(self, head: bytes, pieces: list[bytes], request: ModelRequest) -> bytes:
        """Return the body, with the moving breakpoints of the prompt cache."""
        mark = cache_mark_bytes(request.settings)
        if mark is not None:
            for number in breakpoints(request.messages):
                pieces[number] = with_breakpoint(pieces[number], mark)
        return join(head, "messages", pieces)

    def assembly(self) -> MessageAssembly:
        """Return an object that puts the events of one stream together."""
        return MessageAssembly(self.fail)

    def read(self, answer: dict[str, Any]) -> ModelResponse:
        """Read a whole message."""
        return read_message(answer, origin=self.origin)

    def failure(self, status: int | None, headers: Mapping[str, str], error: ErrorBody) -> ModelError:
        """Return the error that the provider's answer stands for."""
        kind = sharpen(_KINDS.get(error.kind) or classify_status(status), headers, error)
        return make_error(kind, "Anthropic", error, status=status, headers=headers)
