"""What a search backend is, what it needs from the environment, and how it asks its service.

What a service says about a failure is text of strangers like any other, so none of it gets into an error.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias
from urllib.parse import urlsplit

from toolroll.errors import JsonRefused, ServiceFailed, UsageError
from toolroll.kernel.arguments.parse import parse_json
from toolroll.kernel.data.messages import Origin
from toolroll.kernel.data.usage import Usage
from toolroll.messages import SERVICE_UNREADABLE
from toolroll.packs.search.hits import SearchHit
from toolroll.safe.net.http import HttpClient, HttpLimits, Method
from toolroll.safe.net.urls import is_loopback

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

SpendListener: TypeAlias = Callable[[Origin, Usage], None]
"""Is called with what a side call to a model has used."""


class SearchBackend(Protocol):
    """Something that can search the web."""

    @property
    def name(self) -> str:
        """Return the name of the backend in failures and logs."""
        ...

    async def search(self, query: str, *, limit: int) -> Sequence[SearchHit]:
        """Return the best hits, at most `limit`; raise a `ToolrollError` where there is no answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The address of a search service, and its key, which no `repr` shows."""

    url: str
    key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendContext:
    """What the backends of a run share: the HTTP client, and who counts the tokens of side calls."""

    client: HttpClient
    spend: SpendListener | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendSpec:
    """A search backend as `toolroll.packs.search.backends` lists it.

    It is used where its key is set, or, if it needs no key, where its address is known: `url_variable` names the
    variable for another address than `default_url`.
    """

    name: str
    title: str
    make: Callable[[Access, BackendContext], SearchBackend]
    key_variable: str = ""
    url_variable: str = ""
    default_url: str = ""

    def read_access(self, environment: Mapping[str, str]) -> Access | None:
        """Return how to reach the service; None where a user has not set it up. UsageError names a wrong variable."""
        key = environment.get(self.key_variable, "").strip() if self.key_variable else ""
        if self.key_variable and not key:
            return None
        if not (key.isascii() and key.isprintable()):  # the HTTP library would quote it in its complaint
            raise UsageError(f"{self.key_variable} holds characters that no key has. Copy the key again.")
        url = (environment.get(self.url_variable, "").strip() if self.url_variable else "") or self.default_url
        if not url:
            return None
        if not _is_address(url):
            raise UsageError(
                f"{self.url_variable} is no address of a search service. It must begin with https:// or http://."
            )
        if key and url.startswith("http://") and not is_loopback(url):
            raise UsageError(
                f"{self.url_variable} would send the key unencrypted. Use an address that begins with https://."
            )
        return Access(url=url.rstrip("/"), key=key)


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port  # a ValueError above 65535
        return parts.scheme in ("http", "https") and bool(parts.hostname) and not (parts.query or parts.fragment)
    except ValueError:
        return False


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
