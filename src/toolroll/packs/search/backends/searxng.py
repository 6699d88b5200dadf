"""SearXNG, anybody's instance: `GET /search?format=json`, which its settings must allow."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode

from toolroll.errors import ServiceFailed
from toolroll.models.shape import text_of
from toolroll.packs.search.backend import Access, BackendContext, BackendSpec, SearchService
from toolroll.packs.search.hits import SearchHit, make_hits

_FORBIDDEN: Final = 403


class SearXNG:
    """Searches with a SearXNG instance; its address comes from the user, and may be private."""

    name: Final = "searxng"

    def __init__(self, access: Access, context: BackendContext) -> None:
        self._service = SearchService(title="SearXNG", client=context.client)
        self._access = access

    async def search(self, query: str, *, limit: int) -> Sequence[SearchHit]:
        """Return the best hits."""
        url = f"{self._access.url}/search?{urlencode({'q': query, 'format': 'json'})}"
        try:
            answer = await self._service.fetch_object("GET", url)
        except ServiceFailed as error:
            if error.status != _FORBIDDEN:
                raise
            message = "SearXNG does not give JSON (403). Its settings need `json` among search.formats."
            raise ServiceFailed(message, status=_FORBIDDEN) from error
        found = self._service.list_objects(answer, "results")
        if not found and answer.get("unresponsive_engines"):  # nothing found by nobody is no answer
            raise ServiceFailed("None of the engines of SearXNG answered.")
        return make_hits(
            ((text_of(one, "title"), text_of(one, "url"), text_of(one, "content")) for one in found), limit=limit
        )


SPEC: Final = BackendSpec(name=SearXNG.name, title="SearXNG", make=SearXNG, url_variable="SEARXNG_URL")
