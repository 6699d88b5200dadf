"""OpenAI's errors in the words of our taxonomy; compatible servers speak of theirs the same way."""

from collections.abc import Mapping
from typing import Final

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
from toolroll.models.failures import ErrorBody, by_status, make, sharpen

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


def failure(
    status: int | None, headers: Mapping[str, str], error: ErrorBody, *, provider: str = "OpenAI"
) -> ModelError:
    """The error behind an answer that was none. A status says more than a type: a wrong key is an invalid request."""
    kind = _CODES.get(error.code)
    if kind is None:
        kind = _TYPES.get(error.kind) or ProviderFailed if status is None else by_status(status)
    return make(sharpen(kind, headers, error), provider, error, status=status, headers=headers)
