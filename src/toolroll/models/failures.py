"""What every provider's errors have in common: status codes, waiting times, and words for a person."""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

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
from toolroll.safe.secrets import redact
from toolroll.safe.text import one_line

MAX_MESSAGE_CHARACTERS: Final = 500
"""What is shown of a provider's own words; some send whole pages of HTML."""

_BY_STATUS: Final[Mapping[int, type[ModelError]]] = {
    400: RequestRefused,
    401: AuthenticationFailed,
    402: QuotaExceeded,
    403: PermissionRefused,
    404: RequestRefused,
    408: ModelTimeout,
    409: ProviderFailed,
    413: ContextTooLong,
    422: RequestRefused,
    429: RateLimited,
    503: Overloaded,
    504: ModelTimeout,
    529: Overloaded,
}

_ADVICE: Final[Mapping[type[ModelError], str]] = {
    AuthenticationFailed: "Check the API key.",
    PermissionRefused: "The key may not use this model or feature.",
    QuotaExceeded: "Add credit or raise the spending limit; waiting does not help.",
    RateLimited: "Wait a little, or send less at once.",
    ContextTooLong: "Shorten the conversation.",
}

_SPENT: Final = ("quota", "credit", "billing", "spend", "insufficient", "budget")


def by_status(status: int | None) -> type[ModelError]:
    """The error that an HTTP status alone stands for."""
    if status is None or status >= 500:  # noqa: PLR2004 - the class of server errors
        return _BY_STATUS.get(status or 0, ProviderFailed)
    return _BY_STATUS.get(status, RequestRefused)


def make(
    kind: type[ModelError], provider: str, message: str, *, status: int | None, retry_after_s: float | None
) -> ModelError:
    """The error with a message for a person: who said what, and what to do. Never with a key in it."""
    said = one_line(redact(message), MAX_MESSAGE_CHARACTERS)
    number = f" ({status})" if status else ""
    advice = _ADVICE.get(kind)
    text = f"{provider}{number}: {said}" + (f" {advice}" if advice else "")
    return kind(text, status=status, retry_after_s=retry_after_s)


def is_spent(headers: Mapping[str, str], error: Mapping[str, Any], message: str) -> bool:
    """Whether a 429 means an empty purse rather than haste: no time to wait, and words about money."""
    words = json.dumps([error.get("code"), error.get("type"), error.get("details"), message]).lower()
    return retry_after(headers) is None and any(word in words for word in _SPENT)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds a provider asks us to wait: in milliseconds, seconds or as a date; nonsense counts as none."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    return seconds if seconds is not None else _until(text)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _until(text: str | None) -> float | None:
    try:
        when = parsedate_to_datetime(text or "")
    except (ValueError, TypeError):
        return None
    moment = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
