"""The searches of a run that failed, kept with it: a document's log names each of them."""

from collections.abc import Iterable, Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from toolroll.kernel.call.context import Run
from toolroll.packs.search.backend import SearchFailed

STATE: Final = "search.failures"
MAX_KEPT: Final = 100
"""All of a run's twenty searches by five backends; what comes after says nothing new."""


class FailedSearch(BaseModel):
    """One backend that did not answer one query."""

    model_config = ConfigDict(frozen=True)

    query: str
    backend: str
    reason: str
    at: str


def keep_failures(run: Run, query: str, failures: Iterable[SearchFailed]) -> None:
    """Write down which backends did not answer."""
    at = run.clock().isoformat(timespec="seconds")
    new = [FailedSearch(query=query, backend=one.backend, reason=one.reason, at=at) for one in failures]
    for one in new:
        run.logger.warning("the search by %s failed: %s", one.backend, one.reason)
    kept = [*failures_in(run.state), *new][:MAX_KEPT]
    if new:
        run.set_state(STATE, [one.model_dump(mode="json") for one in kept])


def failures_in(state: Mapping[str, object]) -> tuple[FailedSearch, ...]:
    """The failed searches in the state of a run, in order."""
    kept = state.get(STATE)
    try:
        return tuple(FailedSearch.model_validate(one) for one in kept) if isinstance(kept, list) else ()
    except ValidationError:
        return ()
