"""DuckDuckGo's page for browsers without scripts: needs no key, and says no to who asks too often."""

from collections.abc import Sequence
from html.parser import HTMLParser
from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit

from toolroll.errors import ServiceFailed
from toolroll.packs.search.backend import Access, BackendContext, BackendSpec, SearchService
from toolroll.packs.search.hits import RawHit, SearchHit, make_hits

MAX_PAGE_BYTES: Final = 524_288
"""A page of results has 40 kB."""

_ACCEPTED: Final = 202
"""How it says that it takes us for a robot, with a page that asks to pick out ducks."""
_OWN: Final = "duckduckgo.com"
_TITLE, _SNIPPET = "result__a", "result__snippet"


class DuckDuckGo:
    """Searches with DuckDuckGo, without a key."""

    name: Final = "duckduckgo"

    def __init__(self, access: Access, context: BackendContext) -> None:
        self._service = SearchService(title="DuckDuckGo", client=context.client)
        self._access = access

    async def search(self, query: str, *, limit: int) -> Sequence[SearchHit]:
        """Return the best hits."""
        try:
            page = await self._service.fetch(
                "POST",
                f"{self._access.url}/html/",
                headers={"content-type": "application/x-www-form-urlencoded"},
                content=urlencode({"q": query, "b": ""}).encode(),
                body_bytes=MAX_PAGE_BYTES,
            )
        except ServiceFailed as error:
            if error.status != _ACCEPTED:
                raise
            raise _robot_error() from error
        return make_hits(parse_page(page.decode("utf-8", "replace")), limit=limit)


SPEC: Final = BackendSpec(
    name=DuckDuckGo.name, title="DuckDuckGo", make=DuckDuckGo, default_url="https://html.duckduckgo.com"
)


def parse_page(page: str) -> Sequence[RawHit]:
    """Return what a page of results lists, without advertisements; raise ServiceFailed for a page of another kind."""
    reader = _PageParser()
    try:
        reader.feed(page)
        reader.close()
    except (AssertionError, ValueError) as error:  # for a broken declaration, and for a number of 4,300 digits
        raise _unreadable_error() from error
    if reader.found or reader.has_nothing:
        return [(title, link, snippet) for title, link, snippet in reader.found if link]
    raise _robot_error() if reader.is_challenge else _unreadable_error()


def _robot_error() -> ServiceFailed:
    return ServiceFailed("DuckDuckGo takes us for a robot. Wait a while, or set a key for another search.")


def _unreadable_error() -> ServiceFailed:
    return ServiceFailed("DuckDuckGo sent an answer that cannot be read.")


class _PageParser(HTMLParser):
    """Gathers titles with their links, and the snippet after each."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[list[str]] = []
        self.has_nothing = False
        self.is_challenge = False
        self._into: int | None = None
        """Which of title and snippet the text belongs to, while it belongs to one."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notice where a title or a snippet begins, and what kind of page this is."""
        named = {name: value or "" for name, value in attrs}
        classes = named.get("class", "").split()
        if tag == "a" and _TITLE in classes:
            self.found.append(["", _link_target(named.get("href", "")), ""])
            self._into = 0
        elif _SNIPPET in classes and self.found:
            self._into = 2
        self.has_nothing |= "no-results" in classes
        self.is_challenge |= named.get("id") == "challenge-form"

    def handle_endtag(self, tag: str) -> None:
        """Notice where it ends: titles and snippets hold bold text at most."""
        if tag != "b":
            self._into = None

    def handle_data(self, data: str) -> None:
        """Take the text where it belongs."""
        if self._into is not None:
            self.found[-1][self._into] += data


def _link_target(href: str) -> str:
    """Return the page behind a link of theirs (`//duckduckgo.com/l/?uddg=...`); empty for an advertisement."""
    try:
        parts = urlsplit(href, scheme="https")
        if parts.hostname is None or not f".{parts.hostname}".endswith(f".{_OWN}"):
            return href
        return parse_qs(parts.query, max_num_fields=20).get("uddg", [""])[0] if parts.path == "/l/" else ""
    except ValueError:
        return ""
