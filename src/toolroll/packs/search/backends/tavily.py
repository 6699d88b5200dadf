"""Tavily: `POST /search` with a bearer key."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from toolroll.models.body import text_of
from toolroll.packs.search.fetch import fetch_object, list_objects
from toolroll.packs.search.hits import SearchHit, make_hits

if TYPE_CHECKING:
    import httpx2

TAVILY_URL: Final = "https://api.tavily.com"


class Tavily:
    """Searches with Tavily."""

    name: Final = "tavily"

    def __init__(self, *, client: "httpx2.AsyncClient", key: str, base_url: str = TAVILY_URL) -> None:
        self._client = client
        self._key = key
        self._url = f"{base_url.rstrip('/')}/search"

    async def search(self, query: str, *, limit: int) -> Sequence[SearchHit]:
        """The best hits."""
        headers = {"authorization": f"Bearer {self._key}"}
        asked = {"query": query, "max_results": limit, "search_depth": "basic"}
        answer = await fetch_object(
            self._client, self._client.build_request("POST", self._url, headers=headers, json=asked)
        )
        found = list_objects(answer, "results")
        return make_hits(
            ((text_of(one, "title"), text_of(one, "url"), text_of(one, "content")) for one in found), limit=limit
        )
