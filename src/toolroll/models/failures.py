"""Turn the errors of providers into ours: bodies, status codes, waiting times, and words for a person."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
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
from toolroll.messages import MODEL_PAGE, MODEL_REDIRECT
from toolroll.models.shape import read_json
from toolroll.safe.secrets.redact import redact_line

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
    Overloaded: "Try again later.",
    ContextTooLong: "Shorten the conversation.",
    ContentRefused: "Say it differently, or ask another model.",
}

_SPENT_CODES: Final = frozenset(
    {
        "billing_error",
        "billing_hard_limit_reached",
        "billing_not_active",
        "insufficient_credits",
        "insufficient_quota",
        "monthly_spend_limit",
    }
)
"""Of providers and gateways: money is missing, whatever time to wait stands beside it."""
_SPENT: Final = ("quota", "credit", "billing", "spend", "insufficient", "budget")
# Each as some provider or server words it; "too long" alone would also fit a long id.
_TOO_LONG: Final = (
    "prompt is too long",
    "input is too long",
    "context length",
    "context_length",
    "context limit",
    "context size",
    "context window",
    "maximum context",
)

_SERVER_ERRORS: Final = 500
REDIRECTS: Final = frozenset(range(300, 400))


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBody:
    """What a provider says about an error, whatever shape it says it in."""

    kind: str = ""
    code: str = ""
    message: str = ""
    details: str = ""


def foreign_answer(status: int) -> ModelError:
    """Return the error for a redirect or a web page: something else than the provider is at the address."""
    if status in REDIRECTS:
        # Not followed, and its target not quoted: the key would go there, and anybody may have written it.
        return RequestRefused(MODEL_REDIRECT(status=status), status=status)
    return RequestRefused(MODEL_PAGE(), status=status)


def read_error(body: bytes) -> ErrorBody:
    """Read the error in the body of an answer; the page of a proxy has none."""
    try:
        answer = read_json(body)
    except ProviderFailed:
        return ErrorBody(message="an answer that is not the provider's")
    said = answer.get("detail") or answer.get("message")  # FastAPI's way, and some gateways'
    return find_error(answer) or ErrorBody(message=_word(said))


def find_error(answer: Mapping[str, Any]) -> ErrorBody | None:
    """Return the error in a JSON object: `{"error": {...}}`, `{"error": "..."}`, or none."""
    error = answer.get("error")
    if isinstance(error, Mapping) and error:
        return ErrorBody(
            kind=_word(error.get("type")),
            code=_word(error.get("code") or _detailed_code(error)),
            message=_word(error.get("message")),
            details=_word(error.get("details")) + _word(error.get("metadata")),
        )
    return ErrorBody(message=_word(error)) if error else None


def _detailed_code(error: Mapping[str, Any]) -> object:
    """Return the code among the details, which is where Anthropic puts it."""
    details = error.get("details")
    return details.get("error_code") if isinstance(details, Mapping) else None


def _word(value: object) -> str:
    return "" if value is None else str(value)


def classify_status(status: int | None) -> type[ModelError]:
    """Return the error that an HTTP status alone stands for."""
    if status is None or status >= _SERVER_ERRORS:
        return _BY_STATUS.get(status or 0, ProviderFailed)
    return _BY_STATUS.get(status, RequestRefused)


def sharpen(kind: type[ModelError], headers: Mapping[str, str], error: ErrorBody) -> type[ModelError]:
    """Return a more exact error where the provider's words say more than its status or type."""
    if not _SPENT_CODES.isdisjoint((error.code, error.kind)):
        return QuotaExceeded
    words = f"{error.code} {error.kind} {error.details} {error.message}".lower()
    if kind is RequestRefused and any(word in words for word in _TOO_LONG):
        return ContextTooLong
    if kind is RequestRefused and "content" in words and ("polic" in words or "filter" in words):
        return ContentRefused
    if kind is RateLimited and _is_spent(headers, words):
        return QuotaExceeded
    return kind


def _is_spent(headers: Mapping[str, str], words: str) -> bool:
    """Return whether a 429 means a spent quota rather than a fast client: no time to wait, and words about money."""
    if headers.get("x-should-retry") == "false":
        return True
    return retry_after(headers) is None and any(word in words for word in _SPENT)


def make_error(
    kind: type[ModelError], provider: str, error: ErrorBody, *, status: int | None, headers: Mapping[str, str]
) -> ModelError:
    """Make the error with a message for a person: who said what, and what to do. It never holds a key."""
    said = redact_line(error.message or error.kind or error.code or "no reason given", MAX_MESSAGE_CHARACTERS)
    number = f" ({status})" if status else ""
    advice = _ADVICE.get(kind)
    end = "" if said.endswith((".", "!", "?", "…")) else "."
    text = f"{provider}{number}: {said}" + (f"{end} {advice}" if advice else "")
    return kind(text, status=status, retry_after_s=retry_after(headers))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds a provider asks us to wait: from milliseconds, seconds or a date; None for nonsense."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    return seconds if seconds is not None else _until(text, headers.get("date"))


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _until(text: str | None, now: str | None) -> float | None:
    """Return the seconds until a date, by the server's own clock where it sends it: ours may be minutes off."""
    when = _moment(text)
    return None if when is None else max(0.0, (when - (_moment(now) or datetime.now(UTC))).total_seconds())


def _moment(text: str | None) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text or "")
    except (ValueError, TypeError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
