"""Brave: `GET /res/v1/web/search` with a subscription token."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode

from toolroll.models.shape import text_of
from toolroll.packs.search.backend import Access, BackendContext, BackendSpec, SearchService
from toolroll.packs.search.hits import SearchHit, make_hits


class Brave:
    """Searches with Brave."""

    name: Final = "brave"

    def __init__(self, access: Access, context: BackendContext) -> None:
        self._service = SearchService(title="Brave", client=context.client)
        self._access = access

    async def search(self, query: str, *, limit: int) -> Sequence[SearchHit]:
        """Return the best hits."""
        headers = {"x-subscription-token": self._access.key, "accept": "application/json"}
        url = f"{self._access.url}/res/v1/web/search?{urlencode({'q': query, 'count': limit})}"
        answer = await self._service.fetch_object("GET", url, headers=headers)
        web = answer.get("web", {"results": []})  # which is left out where nothing was found
        if not isinstance(web, dict):
            raise self._service.unreadable_error()
        found = self._service.list_objects(web, "results")
        return make_hits(
            ((text_of(one, "title"), text_of(one, "url"), text_of(one, "description")) for one in found), limit=limit
        )


SPEC: Final = BackendSpec(
    name=Brave.name,
    title="Brave",
    make=Brave,
    key_variable="BRAVE_API_KEY",
    url_variable="BRAVE_BASE_URL",
    default_url="https://api.search.brave.com",
)
