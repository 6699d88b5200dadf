"""Brave: `GET /res/v1/web/search` with a subscription token."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from toolroll.models.body import text_of
from toolroll.packs.search.fetch import fetch_object, list_objects, unreadable_error
from toolroll.packs.search.hits import SearchHit, make_hits

if TYPE_CHECKING:
    import httpx2

BRAVE_URL: Final = "https://api.search.brave.com"


class Brave:
    """Searches with Brave."""

    name: Final = "brave"

    def __init__(self, *, client: "httpx2.AsyncClient", key: str, base_url: str = BRAVE_URL) -> None:
        self._client = client
        self._key = key
        self._url = f"{base_url.rstrip('/')}/res/v1/web/search"

    async def search(self, query: str, *, limit: int) -> Sequence[SearchHit]:
        """The best hits."""
        headers = {"x-subscription-token": self._key, "accept": "application/json"}
        asked = {"q": query, "count": str(limit)}
        answer = await fetch_object(
            self._client, self._client.build_request("GET", self._url, headers=headers, params=asked)
        )
        web = answer.get("web", {"results": []})  # which is left out where nothing was found
        if not isinstance(web, dict):
            raise unreadable_error()
        found = list_objects(web, "results")
        return make_hits(
            ((text_of(one, "title"), text_of(one, "url"), text_of(one, "description")) for one in found), limit=limit
        )
