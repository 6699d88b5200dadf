"""The source ledger (R12): every page that a run was shown or cites, with title, link, time and hash.

Kept with the run as plain data, one value a source: it survives a pause, a trim, a compaction and a resume, and links
in a document lead back to it. `keep_sources` is what an agent is given as `on_turn`, for what the provider itself
finds; what our own tool finds, the tool keeps.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from toolroll.journal.journal import Recording
from toolroll.journal.records import StateSet
from toolroll.kernel.approval.request import content_hash
from toolroll.kernel.call.context import Run
from toolroll.kernel.data.messages import AssistantMessage, ServerBlock, TextBlock
from toolroll.packs.search.hits import Found, hits_of

STATE: Final = "search.source"
MAX_SOURCES: Final = 500
"""Of one run: a hundred searches of five."""

_KEY_DIGITS: Final = 16
_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]()<>#+!|~$^&])")


class Source(BaseModel):
    """A page that a run knows of. `number` is its place in the ledger, `by` who found it first.

    `hash` is of what was seen of it then: link, title and text. `cited` says that the model has named it as the place
    of a statement.
    """

    model_config = ConfigDict(frozen=True)

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
        return sum(1 for name in self._run.state if name.startswith(f"{STATE}:"))

    def add(self, found: Iterable[Found], *, by: str, cited: bool = False) -> None:
        """Keep what was found; a page that is known keeps its number and time, and may come to be cited."""
        for hit in hits_of(found, limit=MAX_SOURCES):
            name = f"{STATE}:{content_hash(hit.url)[:_KEY_DIGITS]}"
            known = _source(self._run.state.get(name))
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


def keep_sources(run: Run, message: AssistantMessage) -> None:
    """Put what the provider has found and cited in a turn into the ledger of the run: for an agent's `on_turn`."""
    ledger, by = SourceLedger(run), message.origin.wire if message.origin is not None else "model"
    for block in message.blocks:
        if isinstance(block, ServerBlock):
            ledger.add(((one.title, one.url, one.cited_text) for one in block.sources), by=by)
        elif isinstance(block, TextBlock):
            ledger.add(((one.title, one.url, one.cited_text) for one in block.citations), by=by, cited=True)


def sources_in(state: Mapping[str, object]) -> tuple[Source, ...]:
    """The ledger in the state of a run, by number; what is damaged is left out."""
    kept = (_source(value) for name, value in state.items() if name.startswith(f"{STATE}:"))
    return tuple(sorted((one for one in kept if one is not None), key=lambda source: source.number))


def state_in(recording: Recording) -> dict[str, object]:
    """What a recorded run had kept at its end, the ledger included."""
    return {record.name: record.value for _, record in recording if isinstance(record, StateSet)}


def footnotes(sources: Iterable[Source]) -> str:
    """The sources as Markdown footnotes, a line each: number, title, link and the day it was found."""
    return "\n".join(
        f"[^{one.number}]: [{_escaped(one.title)}](<{one.url}>), found {one.found_at[:10]}" for one in sources
    )


def cited_text(message: AssistantMessage, sources: Sequence[Source]) -> str:
    """What a model wrote, with a footnote mark after each statement that it gives a source for."""
    numbers = {source.url: source.number for source in sources}
    return "".join(_marked(block, numbers) for block in message.blocks if isinstance(block, TextBlock))


def linked_in(text: str, sources: Iterable[Source]) -> tuple[Source, ...]:
    """The sources that a text refers to, by their link or by their footnote mark."""
    marks = set(re.findall(r"\[\^([0-9]{1,9})\](?!:)", text))
    return tuple(one for one in sources if str(one.number) in marks or one.url in text)


def _marked(block: TextBlock, numbers: Mapping[str, int]) -> str:
    cited = hits_of(((one.title, one.url, "") for one in block.citations), limit=MAX_SOURCES)
    marks = "".join(f"[^{numbers[hit.url]}]" for hit in cited if hit.url in numbers)
    if not marks:
        return block.text
    said = block.text.rstrip()
    return f"{said}{marks}{block.text[len(said) :]}"


def _source(kept: object) -> Source | None:
    if kept is None:
        return None
    try:
        return Source.model_validate(kept)
    except ValidationError:
        return None


def _escaped(title: str) -> str:
    return _MARKDOWN.sub(r"\\\1", title)
