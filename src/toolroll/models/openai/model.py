"""OpenAI's models over the Responses API."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final, Literal

from toolroll.errors import (
    AuthenticationFailed,
    ContentRefused,
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
from toolroll.models.catalog import ModelLimits
from toolroll.models.exchange import WireModel
from toolroll.models.failures import ErrorBody, classify_status, make_error, sharpen
from toolroll.models.model import ModelRequest, ModelResponse, Wire
from toolroll.models.openai.request import head, message_items
from toolroll.models.openai.response import ResponseAssembly, read_response
from toolroll.models.openai.settings import rules_of
from toolroll.models.settings import SettingRules
from toolroll.models.transport import Transport
from toolroll.models.wire_json import Json, join

_CODES: Final[Mapping[str, type[ModelError]]] = {
    "invalid_api_key": AuthenticationFailed,
    "insufficient_quota": QuotaExceeded,
    "billing_hard_limit_reached": QuotaExceeded,
    "billing_not_active": QuotaExceeded,
    "rate_limit_exceeded": RateLimited,
    "context_length_exceeded": ContextTooLong,
    "content_filter": ContentRefused,
    "content_policy_violation": ContentRefused,
    "image_content_policy_violation": ContentRefused,
    "misalignment_policy_violation": ContentRefused,
    "bio_policy": ContentRefused,
    # Despite its name: what the moderation of prompts answers.
    "invalid_prompt": ContentRefused,
    "model_not_found": RequestRefused,
    "server_is_overloaded": Overloaded,
    "slow_down": Overloaded,
    "server_error": ProviderFailed,
    "vector_store_timeout": ModelTimeout,
}

_TYPES: Final[Mapping[str, type[ModelError]]] = {
    "authentication_error": AuthenticationFailed,
    "permission_error": PermissionRefused,
    "insufficient_quota": QuotaExceeded,
    "rate_limit_error": RateLimited,
    "overloaded_error": Overloaded,
    "timeout_error": ModelTimeout,
    "invalid_request_error": RequestRefused,
    "exceed_context_size_error": ContextTooLong,  # llama.cpp
}


class OpenAIModel(WireModel):
    """A model behind `POST /responses`."""

    wire: ClassVar[Wire] = "openai"
    path: ClassVar[str] = "/responses"

    def __init__(
        self,
        model: str,
        *,
        transport: Transport,
        headers: Mapping[str, str] | None = None,
        limits: ModelLimits | None = None,
        strict: Literal["prefer", "off"] = "prefer",
    ) -> None:
        super().__init__(model, transport=transport, headers=headers, limits=limits)
        self._strict: Literal["prefer", "off"] = strict

    def setting_rules(self) -> SettingRules:
        """Return what this generation of models takes."""
        return rules_of(self.model)

    def head(self, request: ModelRequest, stream: bool, /) -> Json:  # noqa: FBT001 - as in the base
        """Return everything of a request but its messages."""
        return head(
            request,
            model=self.model,
            stream=stream,
            max_tokens=self.max_output_tokens(request),
            strict=self._strict,
            reasons=rules_of(self.model).samples != "always",  # else it has no reasoning, and refuses to be asked
        )

    def message_json(self, message: Message, /) -> Iterable[Json]:
        """Return the items of one message."""
        return message_items(message, to=self.origin)

    def join(self, head: bytes, pieces: list[bytes], request: ModelRequest) -> bytes:  # noqa: ARG002 - as in the base
        """Return the body; the provider caches prefixes without being asked."""
        return join(head, "input", pieces)

    def assembly(self) -> ResponseAssembly:
        """Return an object that puts the events of one stream together."""
        return ResponseAssembly(self.fail)

    def read(self, answer: dict[str, Any]) -> ModelResponse:
        """Read a whole answer."""
        return read_response(answer, origin=self.origin)

    def failure(self, status: int | None, headers: Mapping[str, str], error: ErrorBody) -> ModelError:
        """Return the error that the provider's answer stands for."""
        return classify_error(status, headers, error)


def classify_error(
    status: int | None, headers: Mapping[str, str], error: ErrorBody, *, provider: str = "OpenAI"
) -> ModelError:
    """Choose the error class. The status says more than the type: a wrong key has the type of an invalid request."""
    kind = _CODES.get(error.code)
    if kind is None:
        kind = _TYPES.get(error.kind) or ProviderFailed if status is None else classify_status(status)
    return make_error(sharpen(kind, headers, error), provider, error, status=status, headers=headers)
