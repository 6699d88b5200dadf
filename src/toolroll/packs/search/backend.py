"""What a search backend is: what it needs from the environment, how it is made, and what it does."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias
from urllib.parse import urlsplit

from toolroll.errors import UsageError
from toolroll.kernel.data.messages import Origin
from toolroll.kernel.data.usage import Usage
from toolroll.packs.search.hits import SearchHit
from toolroll.safe.net.http import HttpClient
from toolroll.safe.net.urls import is_loopback

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
