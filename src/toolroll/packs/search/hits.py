"""The hits of a search, cleaned.

Titles and snippets are written by strangers. `make_hits` removes markup, invisible characters and endless text before
a model, a document or a terminal sees them, and drops links that do not lead to a public page.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import Final, TypeAlias
from urllib.parse import quote

from toolroll.errors import UrlRefused
from toolroll.safe.net.urls import check_url
from toolroll.safe.text import one_line, suspicious

MAX_HITS: Final = 5
"""What a model is shown of one search."""
MAX_TITLE_CHARACTERS: Final = 200
MAX_SNIPPET_CHARACTERS: Final = 600
"""Five of them with their titles stay under 1,500 tokens."""
MAX_LINK_CHARACTERS: Final = 2_048
"""What browsers and sitemaps take; a longer link is no use in a document."""

_READ_CHARACTERS: Final = 8_000
_TAG: Final = re.compile(r"<[/!A-Za-z][^<>]{0,500}>")
# No character has so large a number, and Python refuses to read one of 4,300 digits.
_NO_CHARACTER: Final = re.compile(r"&#[0-9]{8,};?")
_SCHEMES: Final = ("http", "https")
_PLAIN: Final = "/?:@!$&'()*+,;=-._~%[]"

RawHit: TypeAlias = tuple[str, str, str]
"""Title, link and snippet as they came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """One page that a search found. Its text is short, on one line, and holds nothing that cannot be seen."""

    title: str
    url: str
    snippet: str


def make_hits(found: Iterable[RawHit], *, limit: int) -> tuple[SearchHit, ...]:
    """Return the first hits that are links to public pages, each page once."""
    hits: dict[str, SearchHit] = {}
    for title, link, snippet in found:
        url = public_link(link)
        if url is not None and url not in hits:
            hits[url] = SearchHit(
                title=plain_text(title, MAX_TITLE_CHARACTERS) or url[:MAX_TITLE_CHARACTERS],
                url=url,
                snippet=plain_text(snippet, MAX_SNIPPET_CHARACTERS),
            )
        if len(hits) >= limit:
            break
    return tuple(hits.values())


def public_link(link: str) -> str | None:
    """Return the link in its one spelling, all ASCII, without fragment; None where it leads to no public page.

    Nothing is fetched here. But a link ends in documents, where a person follows it: `http://192.168.1.1/reboot` as a
    search result is an attack on them.
    """
    try:
        checked = check_url(link.strip(), schemes=_SCHEMES)
    except UrlRefused:
        return None
    url = quote(checked.url, safe=_PLAIN, errors="replace")
    return url if len(url) <= MAX_LINK_CHARACTERS else None


def plain_text(text: str, max_characters: int) -> str:
    """Return a text without markup on one line; drop what cannot be seen, and cut what is too long with `…`."""
    text = _without_tags(text[:_READ_CHARACTERS])
    words = " ".join("".join(char for char in text if _is_seen(char)).split())
    return one_line(words, max_characters)


def _without_tags(text: str) -> str:
    # Tags first: `&lt;b&gt;` is text about markup, not markup.
    return unescape(_NO_CHARACTER.sub("", _TAG.sub("", text)))


@lru_cache(maxsize=4_096)  # texts use few letters: 3 times as fast
def _is_seen(char: str) -> bool:
    if char.isascii():
        return char.isprintable() or char.isspace()
    # Blanks of all kinds become plain ones. A mark is judged on a letter, where it belongs.
    return char.isspace() or not suspicious(f"x{char}")
