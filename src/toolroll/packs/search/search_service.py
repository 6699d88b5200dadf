"""Requests to a search service, with failures in our own words.

What a service says about a failure is text of strangers like any other, so none of it gets into an error.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from toolroll.errors import JsonRefused, ServiceFailed
from toolroll.kernel.arguments.parse import parse_json
from toolroll.messages import SERVICE_UNREADABLE
from toolroll.safe.net.http import HttpClient, HttpLimits, Method

TIMEOUT_S: Final = 10.0
LIMITS: Final = HttpLimits(total_s=TIMEOUT_S, body_bytes=2_097_152)
"""Twenty results with all their extras are under 200 kB."""

_OK: Final = 200
_REDIRECTS: Final = range(300, 400)
_SERVER_FAILED: Final = 500
_STATUS_TEXTS: Final[Mapping[int, str]] = {
    401: "refused the key",
    402: "says that the plan is used up",
    403: "refused access",
    429: "got too many requests, or the plan is used up",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchService:
    """One search service; `title` is its name in errors."""

    title: str
    client: HttpClient

    async def fetch(
        self,
        method: Method,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        body_bytes: int | None = None,
    ) -> bytes:
        """Return the body of a good answer; raise ServiceFailed for any other, or for none. Redirects are refused."""
        answer = await self.client.request(
            method, url, service=self.title, headers=headers, content=content, body_bytes=body_bytes
        )
        if answer.status != _OK:
            raise ServiceFailed(f"{self.title} {_describe_status(answer.status)}.", status=answer.status)
        return answer.body

    async def fetch_object(
        self, method: Method, url: str, *, headers: Mapping[str, str] | None = None, content: bytes | None = None
    ) -> dict[str, Any]:
        """Return the JSON object of a good answer."""
        body = await self.fetch(method, url, headers=headers, content=content)
        try:
            answer = parse_json(body, limit_bytes=LIMITS.body_bytes)
        except JsonRefused as error:
            raise self.unreadable_error() from error
        if not isinstance(answer, dict):
            raise self.unreadable_error()
        return answer

    def list_objects(self, answer: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
        """Return the objects of a list in an answer, without other entries; a list that is missing is a failure."""
        found = answer.get(key)
        if not isinstance(found, list):
            raise self.unreadable_error()
        return [one for one in found if isinstance(one, dict)]

    def unreadable_error(self) -> ServiceFailed:
        """Return the error for an answer that has not the documented form."""
        return ServiceFailed(SERVICE_UNREADABLE(service=self.title), status=_OK)


def _describe_status(status: int) -> str:
    if status in _REDIRECTS:
        return f"answered with a redirect, which is not followed ({status})"
    if status >= _SERVER_FAILED:
        return f"failed ({status})"
    return f"{_STATUS_TEXTS.get(status, 'refused the request')} ({status})"
