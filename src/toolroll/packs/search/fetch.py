"""One request to a search service: bounded in size, never redirected, its failures in our own words.

The host is a fixed one or the user's own; what it answers may lead us nowhere. So redirects are not followed, wherever
they point, and none of the service's words get into a failure: they are text of strangers like any other.
"""

import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from toolroll.errors import JsonRefused, ServiceFailed
from toolroll.kernel.arguments.parse import parse_json

if TYPE_CHECKING:
    import httpx2

MAX_ANSWER_BYTES: Final = 2_097_152
"""Twenty results with all their extras are under 200 kB."""

OK: Final = 200
_REDIRECTS: Final = range(300, 400)
_SERVER_ERRORS: Final = 500
_WORDS: Final[Mapping[int, str]] = {
    401: "the key was refused",
    402: "the plan is used up",
    403: "access was refused",
    429: "too many requests, or the plan is used up",
}
_HEADERS: Final = {"accept-encoding": "gzip", "user-agent": "toolroll"}
_GZIP_WINDOW: Final = 31
"""zlib's word for: a gzip header, and the largest window."""


async def fetch(client: "httpx2.AsyncClient", request: "httpx2.Request", *, limit: int = MAX_ANSWER_BYTES) -> bytes:
    """The body of a good answer; `ServiceFailed` for any other, or for none."""
    import httpx2  # noqa: PLC0415 - eleven interpreter starts; only who searches pays them

    request.headers.update(_HEADERS)
    try:
        answer = await client.send(request, stream=True, follow_redirects=False)
        try:
            if answer.status_code != OK:
                raise _status_error(answer.status_code)
            return _decompress(
                await _read_body(answer, limit), answer.headers.get("content-encoding", "").lower(), limit
            )
        finally:
            await answer.aclose()
    except httpx2.TimeoutException as error:
        raise ServiceFailed("it did not answer in time") from error
    except httpx2.RequestError as error:  # whose words may hold the address, and so a key
        raise ServiceFailed(f"the connection failed ({type(error).__name__})") from error


async def fetch_object(client: "httpx2.AsyncClient", request: "httpx2.Request") -> dict[str, Any]:
    """The JSON object of a good answer."""
    body = await fetch(client, request)
    try:
        answer = parse_json(body, limit_bytes=MAX_ANSWER_BYTES)
    except JsonRefused as error:
        raise unreadable_error() from error
    if not isinstance(answer, dict):
        raise unreadable_error()
    return answer


def list_objects(answer: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    """The objects of a list in an answer; a list that is missing is a failure, entries that are none are left out."""
    found = answer.get(key)
    if not isinstance(found, list):
        raise unreadable_error()
    return [one for one in found if isinstance(one, dict)]


def unreadable_error() -> ServiceFailed:
    """What is said of an answer that has not the promised form."""
    return ServiceFailed("it sent an answer that cannot be read")


def _status_error(status: int) -> ServiceFailed:
    if status in _REDIRECTS:
        why = "it answered with a redirect, and those are not followed"
    elif status >= _SERVER_ERRORS:
        why = "it failed"
    else:
        why = _WORDS.get(status, "it refused the request")
    return ServiceFailed(f"{why} ({status})", status=status)


async def _read_body(answer: "httpx2.Response", limit: int) -> bytes:
    body = bytearray()
    async for chunk in answer.aiter_raw():
        body += chunk
        if len(body) > limit:
            raise _too_large_error(limit)
    return bytes(body)


def _decompress(body: bytes, encoding: str, limit: int) -> bytes:
    """Unpacked here, not by the HTTP library: a megabyte of gzip can be a gigabyte of text."""
    if encoding in ("", "identity"):
        return body
    if encoding != "gzip":
        raise unreadable_error()
    try:
        text = zlib.decompressobj(_GZIP_WINDOW).decompress(body, limit + 1)
    except zlib.error as error:
        raise unreadable_error() from error
    if len(text) > limit:
        raise _too_large_error(limit)
    return text


def _too_large_error(limit: int) -> ServiceFailed:
    return ServiceFailed(f"its answer has more than {limit:,} bytes")
