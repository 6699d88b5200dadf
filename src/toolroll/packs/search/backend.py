"""What a search backend is: a query goes in, a few hits come out, or a `ServiceFailed` that says why not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

MAX_HITS: Final = 5
"""What a model is shown of one search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """One page that a search found. Its text is short, on one line, and holds nothing that cannot be seen."""

    title: str
    url: str
    snippet: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFailed:
    """A backend that gave no answer, and why, in words without keys."""

    backend: str
    reason: str


class SearchBackend(Protocol):
    """Something that can search the web."""

    @property
    def name(self) -> str:
        """What failures and logs call it."""
        ...

    async def search(self, query: str, *, limit: int) -> Sequence[SearchHit]:
        """The best hits, at most `limit`; raises a `ToolrollError` where there is no answer."""
        ...
