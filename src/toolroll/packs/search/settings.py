"""Which backends there are for a user: by the keys and addresses of their environment, in a fixed order.

Anthropic, Tavily, Brave, SearXNG, and last the one that needs no key. All of it comes from the user alone, so an
address may be private; one that would send a key unencrypted to another machine is refused at once.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from toolroll.errors import UsageError
from toolroll.packs.search.backends.anthropic import ANTHROPIC_URL, AnthropicSearch, SpendListener
from toolroll.packs.search.backends.brave import BRAVE_URL, Brave
from toolroll.packs.search.backends.duckduckgo import DUCKDUCKGO_URL, DuckDuckGo
from toolroll.packs.search.backends.searxng import SearXNG
from toolroll.packs.search.backends.tavily import TAVILY_URL, Tavily
from toolroll.packs.search.chain import TIMEOUT_S
from toolroll.packs.search.hits import SearchBackend
from toolroll.safe.net.urls import is_loopback

if TYPE_CHECKING:
    import httpx2

_THIS_MACHINE: Final = ("all://localhost", "all://127.0.0.1", "all://[::1]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Access:
    """A backend with a key: where it is, and the key, which no `repr` shows."""

    url: str
    key: str

    def __repr__(self) -> str:
        return f"_Line({self.url!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """What the environment says about searching, checked."""

    anthropic: _Access | None = None
    tavily: _Access | None = None
    brave: _Access | None = None
    searxng: str | None = None
    keyless: str = DUCKDUCKGO_URL

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "SearchSettings":
        """The settings of an environment; `UsageError` says which variable makes no sense."""
        searxng = environment.get("SEARXNG_URL", "").strip()
        return cls(
            anthropic=_read_access(environment, "ANTHROPIC", ANTHROPIC_URL),
            tavily=_read_access(environment, "TAVILY", TAVILY_URL),
            brave=_read_access(environment, "BRAVE", BRAVE_URL),
            searxng=_check_address("SEARXNG_URL", searxng) if searxng else None,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The backends there will be, in order."""
        keyed = ((self.anthropic, AnthropicSearch.name), (self.tavily, Tavily.name), (self.brave, Brave.name))
        names = [name for line, name in keyed if line is not None]
        return (*names, *((SearXNG.name,) if self.searxng else ()), DuckDuckGo.name)


def make_backends(
    environment: "Mapping[str, str] | SearchSettings",
    *,
    client: "httpx2.AsyncClient",
    spend: SpendListener | None = None,
) -> tuple[SearchBackend, ...]:
    """All backends there are keys and addresses for, in their order; the keyless one is always the last."""
    known = environment if isinstance(environment, SearchSettings) else SearchSettings.from_environment(environment)
    found: list[SearchBackend] = []
    if (line := known.anthropic) is not None:
        found.append(AnthropicSearch(client=client, key=line.key, base_url=line.url, spend=spend))
    if (line := known.tavily) is not None:
        found.append(Tavily(client=client, key=line.key, base_url=line.url))
    if (line := known.brave) is not None:
        found.append(Brave(client=client, key=line.key, base_url=line.url))
    if known.searxng is not None:
        found.append(SearXNG(client=client, base_url=known.searxng))
    return (*found, DuckDuckGo(client=client, base_url=known.keyless))


async def open_client() -> "AsyncIterator[httpx2.AsyncClient]":
    """A client for all backends: no redirects, no cookies kept, no proxy to this machine."""
    import httpx2  # noqa: PLC0415 - eleven interpreter starts; only who searches pays them

    direct: dict[str, httpx2.AsyncBaseTransport | None] = dict.fromkeys(_THIS_MACHINE)
    async with httpx2.AsyncClient(follow_redirects=False, timeout=TIMEOUT_S, mounts=direct) as client:
        yield client


def _read_access(environment: Mapping[str, str], service: str, url: str) -> _Access | None:
    variable = f"{service}_API_KEY"
    key = environment.get(variable, "").strip()
    if not key:
        return None
    if not (key.isascii() and key.isprintable()):  # the HTTP library would quote it in its complaint
        raise UsageError(f"{variable} holds characters that no key has. Copy the key again.")
    named = f"{service}_BASE_URL"
    address = _check_address(named, environment.get(named, "").strip() or url)
    if address.startswith("http://") and not is_loopback(address):
        raise UsageError(f"{named} would send the key unencrypted. Use an address that begins with https://.")
    return _Access(url=address, key=key)


def _check_address(variable: str, url: str) -> str:
    try:
        parts = urlsplit(url)
        is_fine = parts.scheme in ("http", "https") and bool(parts.hostname) and not (parts.query or parts.fragment)
    except ValueError:
        is_fine = False
    if not is_fine:
        raise UsageError(f"{variable} is no address of a search service. It must begin with https:// or http://.")
    return url
