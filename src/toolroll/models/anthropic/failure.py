"""Anthropic's errors in the words of our taxonomy."""

from collections.abc import Mapping
from typing import Final

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
from toolroll.models.failures import ErrorBody, by_status, make, sharpen

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


def failure(status: int | None, headers: Mapping[str, str], error: ErrorBody) -> ModelError:
    """The error behind an answer that was none, or behind an error event inside a stream."""
    kind = sharpen(_KINDS.get(error.kind) or by_status(status), headers, error)
    return make(kind, "Anthropic", error, status=status, headers=headers)
