"""Anthropic's errors in the words of our taxonomy."""

from collections.abc import Mapping
from typing import Any, Final

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
from toolroll.models.failures import by_status, is_spent, make, retry_after

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


def failure(
    status: int | None, headers: Mapping[str, str], kind: str, message: str, error: Mapping[str, Any]
) -> ModelError:
    """The error behind an answer that was none, or behind an error event inside a stream."""
    found = _KINDS.get(kind) or by_status(status)
    if found is RequestRefused and "too long" in message:
        found = ContextTooLong
    if found is RequestRefused and "content" in message and "polic" in message:
        found = ContentRefused
    if found is RateLimited and is_spent(headers, error, message):
        found = QuotaExceeded
    return make(found, "Anthropic", message or kind, status=status, retry_after_s=retry_after(headers))
