"""SearXNG, anybody's instance: `GET /search?format=json`, which its settings must allow."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from toolroll.errors import ServiceFailed
from toolroll.models.body import text_of
from toolroll.packs.search.fetch import fetch_object, list_objects
from toolroll.packs.search.hits import SearchHit, make_hits

if TYPE_CHECKING:
    import httpx2

_FORBIDDEN: Final = 403


class SearXNG:
    """Searches with a SearXNG instance; its address comes from the user, and may be private."""

    name: Final = "searxng"

    def __init__(self, *, client: "httpx2.AsyncClient", base_url: str) -> None:
        self._client = client
        self._url = f"{base_url.rstrip('/')}/search"

    async def search(self, query: str, *, limit: int) -> Sequence[SearchHit]:
        """The best hits."""
        asked = {"q": query, "format": "json"}
        try:
            answer = await fetch_object(self._client, self._client.build_request("GET", self._url, params=asked))
        except ServiceFailed as error:
            if error.status != _FORBIDDEN:
                raise
            why = "it does not give JSON (403); its settings need `json` among search.formats"
            raise ServiceFailed(why, status=_FORBIDDEN) from error
        found = list_objects(answer, "results")
        if not found and answer.get("unresponsive_engines"):  # nothing found by nobody is no answer
            raise ServiceFailed("none of its engines answered")
        return make_hits(
            ((text_of(one, "title"), text_of(one, "url"), text_of(one, "content")) for one in found), limit=limit
        )
