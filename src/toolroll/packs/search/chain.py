"""The chain of backends: the first that answers in time wins, and each one that failed is named.

`RunQuota` and `searches_over` limit the searches of a whole run; the limits of providers count per request only.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from toolroll.agent.result import Step
from toolroll.errors import ToolrollError
from toolroll.kernel.call.context import Run
from toolroll.packs.search.backend import TIMEOUT_S, SearchBackend
from toolroll.packs.search.hits import MAX_HITS, SearchHit
from toolroll.safe.secrets.redact import redact_line

MAX_REASON_CHARACTERS: Final = 200
QUOTA: Final = "quota"
"""Stands for a backend's name where the run has used up its searches."""
MAX_SEARCHES: Final = 20
"""For one run: five steps of the provider's five would be more, and an exploration needs about ten."""

QUOTA_STATE: Final = "search.used"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFailed:
    """A backend that gave no answer, and why, in a sentence without keys."""

    backend: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """What came of a search. `used` is the backend that answered, None where none did; `failures` those before it."""

    hits: tuple[SearchHit, ...] = ()
    used: str | None = None
    failures: tuple[SearchFailed, ...] = ()

    @property
    def is_spent(self) -> bool:
        """Return whether nobody was asked, because the run has searched enough."""
        return any(one.backend == QUOTA for one in self.failures)


class SearchChain:
    """Asks one backend after the other. Failing is an answer too: nothing here ends a run."""

    def __init__(
        self, backends: Sequence[SearchBackend], *, timeout_s: float = TIMEOUT_S, quota: "RunQuota | None" = None
    ) -> None:
        self._backends = tuple(backends)
        self._timeout_s = timeout_s
        self._quota = quota

    async def search(self, query: str, *, limit: int = MAX_HITS) -> SearchAnswer:
        """Return the hits of the first backend that answers."""
        if self._quota is not None and not self._quota.take():
            spent = SearchFailed(backend=QUOTA, reason="This run has used up its searches.")
            return SearchAnswer(failures=(spent,))
        failures: list[SearchFailed] = []
        for backend in self._backends:
            found = await self._ask(backend, query, limit)
            if not isinstance(found, SearchFailed):
                return SearchAnswer(hits=found, used=backend.name, failures=tuple(failures))
            failures.append(found)
        return SearchAnswer(failures=tuple(failures))

    async def _ask(self, backend: SearchBackend, query: str, limit: int) -> tuple[SearchHit, ...] | SearchFailed:
        try:
            async with asyncio.timeout(self._timeout_s):
                return tuple(await backend.search(query, limit=limit))[:limit]
        except TimeoutError:
            reason = f"{backend.name} did not answer within {self._timeout_s:g} seconds."
        except ToolrollError as error:
            reason = redact_line(error.message, MAX_REASON_CHARACTERS)
        return SearchFailed(backend=backend.name, reason=reason)


class RunQuota:
    """Counts the searches of a run, with the run: one that is resumed goes on counting."""

    def __init__(self, run: Run, *, limit: int = MAX_SEARCHES) -> None:
        self._run = run
        self.limit = limit

    @property
    def used(self) -> int:
        """Return the number of searches so far."""
        kept = self._run.state.get(QUOTA_STATE)
        return kept if isinstance(kept, int) else 0

    def take(self) -> bool:
        """Count one more search; False where there may be none."""
        used = self.used
        if used >= self.limit:
            return False
        self._run.set_state(QUOTA_STATE, used + 1)
        return True


@dataclass(frozen=True, slots=True)
class searches_over:  # noqa: N801 - reads as the word it is in an agent's definition
    """Stop the run once the provider itself has made more than so many searches in it."""

    searches: int = MAX_SEARCHES

    def __call__(self, steps: Sequence[Step]) -> str | None:
        """Return why to stop, if it is time."""
        made = sum(step.usage.web_searches for step in steps)
        return f"searches_over({self.searches})" if made > self.searches else None
