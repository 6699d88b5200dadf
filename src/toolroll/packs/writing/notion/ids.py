"""Ids of Notion, in every form in which a person pastes one."""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

MAX_CHARACTERS: Final = 2_000
"""Of an address: what Notion itself takes."""

_HOSTS: Final = ("notion.so", "notion.site", "notion.com")
_SCHEMES: Final = frozenset({"http", "https", "notion"})
_HEX: Final = "[0-9a-fA-F]"
# The id stands at the end of a page's name, after a dash: `My-page-0123...`, or alone.
_ID: Final = re.compile(
    rf"(?:^|.*-)({_HEX}{{32}}|{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}})", re.DOTALL
)


def find_id(given: str) -> str | None:
    """The id in an id, a page's name or an address, as 8-4-4-4-12 in lower case; None where there is none.

    An address must be one of Notion's own: that of another site may carry an id, but it names another page.
    """
    text = given.strip()
    if len(text) > MAX_CHARACTERS:
        return None
    places = _places(text) if "/" in text or "?" in text else iter((text,))
    return next((found for place in places if (found := _id_at_end(place)) is not None), None)


def _places(address: str) -> Iterator[str]:
    """Where in an address an id may be, the likeliest first."""
    try:
        url = urlsplit(address if "://" in address else f"https://{address}")
        host = url.hostname or ""
    except ValueError:  # such as a bracket that never closes
        return
    if url.scheme not in _SCHEMES or not any(host == one or host.endswith(f".{one}") for one in _HOSTS):
        return
    # A page that is open over its database: the path is the database's, `p` is the page's.
    yield from parse_qs(url.query).get("p", ())
    yield unquote(url.path.rstrip("/").rpartition("/")[2])


def _id_at_end(text: str) -> str | None:
    match = _ID.fullmatch(text)
    if match is None:
        return None
    digits = match[1].replace("-", "").lower()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
