"""The source ledger (R12): every page that a run was shown or cites, with title, link, time and hash.

The ledger is part of the run's state, one value a source, so it survives a pause, a trim, a compaction and a resume.
An agent gets `record_sources` as `on_turn` for what the provider itself finds; our own search tool records its hits
itself. Failed searches are recorded in the same way.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from toolroll.journal.journal import Recording
from toolroll.journal.records import StateSet
from toolroll.kernel.approval.request import content_hash
from toolroll.kernel.call.context import Run
from toolroll.kernel.data.messages import AssistantMessage, ServerBlock, TextBlock
from toolroll.packs.search.chain import SearchFailed
from toolroll.packs.search.hits import RawHit, make_hits

SOURCES_STATE: Final = "search.source"
QUERIES_STATE: Final = "search.query"
MAX_SOURCES: Final = 500
"""Of one run: a hundred searches of five."""

_KEY_DIGITS: Final = 16
_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]()<>#+!|~$^&])")


class Source(BaseModel):
    """A page that a run knows of. `number` is its place in the ledger, `by` who found it first.

    `hash` is of what was seen of it then: link, title and text. `cited` says that the model has named it as the place
    of a statement.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    number: int
    title: str
    url: str
    found_at: str
    hash: str
    by: str
    cited: bool = False


class SourceLedger:
    """The sources of a run on its way."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def __len__(self) -> int:
        return sum(1 for name in self._run.state if name.startswith(f"{SOURCES_STATE}:"))

    def add(self, found: Iterable[RawHit], *, by: str, cited: bool = False) -> None:
        """Keep what was found; a page that is known keeps its number and time, and may come to be cited."""
        for hit in make_hits(found, limit=MAX_SOURCES):
            name = f"{SOURCES_STATE}:{content_hash(hit.url)[:_KEY_DIGITS]}"
            known = _parse_source(self._run.state.get(name))
            if known is None and len(self) < MAX_SOURCES:
                source = Source(
                    number=len(self) + 1,
                    title=hit.title,
                    url=hit.url,
                    found_at=self._run.clock().isoformat(timespec="seconds"),
                    hash=content_hash(f"{hit.url}\n{hit.title}\n{hit.snippet}"),
                    by=by,
                    cited=cited,
                )
                self._run.set_state(name, source.model_dump(mode="json"))
            elif known is not None and cited and not known.cited:
                self._run.set_state(name, known.model_copy(update={"cited": True}).model_dump(mode="json"))


def record_sources(run: Run, message: AssistantMessage) -> None:
    """Put what the provider has found and cited in a turn into the ledger of the run: for an agent's `on_turn`."""
    ledger, by = SourceLedger(run), message.origin.wire if message.origin is not None else "model"
    for block in message.blocks:
        if isinstance(block, ServerBlock):
            record_queries(run, block.queries)
            ledger.add(((one.title, one.url, one.cited_text) for one in block.sources), by=by)
        elif isinstance(block, TextBlock):
            ledger.add(((one.title, one.url, one.cited_text) for one in block.citations), by=by, cited=True)


def record_queries(run: Run, queries: Iterable[str]) -> None:
    """Keep what a provider has searched for with the run; everybody who watches is told."""
    for query in queries:
        count = sum(1 for name in run.state if name.startswith(f"{QUERIES_STATE}:"))
        if count < MAX_SOURCES:
            run.set_state(f"{QUERIES_STATE}:{count + 1}", query)


def read_sources(state: Mapping[str, object]) -> tuple[Source, ...]:
    """Return the sources in the state of a run, by number, without damaged ones."""
    kept = (_parse_source(value) for name, value in state.items() if name.startswith(f"{SOURCES_STATE}:"))
    return tuple(sorted((one for one in kept if one is not None), key=lambda source: source.number))


def final_state(recording: Recording) -> dict[str, object]:
    """Return the state of a recorded run at its end, the ledger included."""
    return {record.name: record.value for _, record in recording if isinstance(record, StateSet)}


def footnotes(sources: Iterable[Source]) -> str:
    """Return the sources as Markdown footnotes, a line each: number, title, link and the day it was found."""
    return "\n".join(
        f"[^{one.number}]: [{_escape(one.title)}](<{one.url}>), found {one.found_at[:10]}" for one in sources
    )


def cited_text(message: AssistantMessage, sources: Sequence[Source]) -> str:
    """Return what a model wrote, with a footnote mark after each statement that has a source."""
    numbers = {source.url: source.number for source in sources}
    return "".join(_mark(block, numbers) for block in message.blocks if isinstance(block, TextBlock))


def find_linked(text: str, sources: Iterable[Source]) -> tuple[Source, ...]:
    """Find the sources that a text refers to, by their link or by their footnote mark."""
    marks = set(re.findall(r"\[\^([0-9]{1,9})\](?!:)", text))
    return tuple(one for one in sources if str(one.number) in marks or one.url in text)


def _mark(block: TextBlock, numbers: Mapping[str, int]) -> str:
    cited = make_hits(((one.title, one.url, "") for one in block.citations), limit=MAX_SOURCES)
    marks = "".join(f"[^{numbers[hit.url]}]" for hit in cited if hit.url in numbers)
    if not marks:
        return block.text
    said = block.text.rstrip()
    return f"{said}{marks}{block.text[len(said) :]}"


def _parse_source(kept: object) -> Source | None:
    if kept is None:
        return None
    try:
        return Source.model_validate(kept)
    except ValidationError:
        return None


def _escape(title: str) -> str:
    return _MARKDOWN.sub(r"\\\1", title)


FAILURES_STATE: Final = "search.failures"
MAX_FAILURES: Final = 100
"""All of a run's twenty searches by five backends; what comes after says nothing new."""


class FailedSearch(BaseModel):
    """One backend that did not answer one query."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    query: str
    backend: str
    reason: str
    at: str


def record_failures(run: Run, query: str, failures: Iterable[SearchFailed]) -> None:
    """Write down which backends did not answer."""
    at = run.clock().isoformat(timespec="seconds")
    new = [FailedSearch(query=query, backend=one.backend, reason=one.reason, at=at) for one in failures]
    for one in new:
        run.logger.warning("the search by %s failed: %s", one.backend, one.reason)
    kept = [*read_failures(run.state), *new][:MAX_FAILURES]
    if new:
        run.set_state(FAILURES_STATE, [one.model_dump(mode="json") for one in kept])


def read_failures(state: Mapping[str, object]) -> tuple[FailedSearch, ...]:
    """Return the failed searches in the state of a run, in order."""
    kept = state.get(FAILURES_STATE)
    try:
        return tuple(FailedSearch.model_validate(one) for one in kept) if isinstance(kept, list) else ()
    except ValidationError:
        return ()
