"""Tavily: `POST /search` with a bearer key."""

import json
from collections.abc import Sequence
from typing import Final

from toolroll.models.shape import text_of
from toolroll.packs.search.backend import Access, BackendContext, BackendSpec, SearchService
from toolroll.packs.search.hits import SearchHit, make_hits


class Tavily:
    """Searches with Tavily."""

    name: Final = "tavily"

    def __init__(self, access: Access, context: BackendContext) -> None:
        self._service = SearchService(title="Tavily", client=context.client)
        self._access = access

    async def search(self, query: str, *, limit: int) -> Sequence[SearchHit]:
        """Return the best hits."""
        headers = {"authorization": f"Bearer {self._access.key}", "content-type": "application/json"}
        content = json.dumps({"query": query, "max_results": limit, "search_depth": "basic"}).encode()
        answer = await self._service.fetch_object(
            "POST", f"{self._access.url}/search", headers=headers, content=content
        )
        found = self._service.list_objects(answer, "results")
        return make_hits(
            ((text_of(one, "title"), text_of(one, "url"), text_of(one, "content")) for one in found), limit=limit
        )


SPEC: Final = BackendSpec(
    name=Tavily.name,
    title="Tavily",
    make=Tavily,
    key_variable="TAVILY_API_KEY",
    url_variable="TAVILY_BASE_URL",
    default_url="https://api.tavily.com",
)
