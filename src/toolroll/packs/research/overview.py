"""What is known of the ideas that were explored: their titles, modes, dates and costs, from their logs."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from toolroll.agent.cost import total_cost
from toolroll.errors import ToolrollError
from toolroll.packs.research.log import log_path, parse_log
from toolroll.packs.research.prompts import idea_title
from toolroll.packs.research.source import DOCUMENT, MAX_STORED_BYTES, IdeaEntry, ResearchSource

MAX_LOGS: Final = 100
"""That are read for one list: on GitHub each is a request."""
_AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class IdeaOverview:
    """One idea in a list. `cost_usd` is of all its explorations; None where one of them is unknown."""

    entry: IdeaEntry
    title: str
    mode: str | None = None
    model: str | None = None
    updated: str | None = None
    explorations: int = 0
    cost_usd: float | None = None

    @property
    def name(self) -> str:
        """Return the name that `show` takes: the folder of the idea."""
        return self.entry.path.removesuffix(f"/{DOCUMENT}")


async def read_overviews(source: ResearchSource, entries: Sequence[IdeaEntry]) -> list[IdeaOverview]:
    """Return what the logs say of these ideas; of an idea without a log, what its folder says."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def read(entry: IdeaEntry) -> IdeaOverview:
        async with gate:
            return await _read_overview(source, entry)

    known = await asyncio.gather(*map(read, entries[:MAX_LOGS]))
    return [*known, *(IdeaOverview(entry=entry, title=entry.title) for entry in entries[MAX_LOGS:])]


async def _read_overview(source: ResearchSource, entry: IdeaEntry) -> IdeaOverview:
    try:
        file = await source.read(log_path(entry.path), limit_bytes=MAX_STORED_BYTES)
    except ToolrollError:  # there is none, or it cannot be read: the document is listed all the same
        return IdeaOverview(entry=entry, title=entry.title)
    runs = [one for one in parse_log(file.content) if isinstance(one, Mapping) and "idea" in one]
    if not runs:
        return IdeaOverview(entry=entry, title=entry.title)
    last = runs[-1]
    return IdeaOverview(
        entry=entry,
        title=idea_title(_text(runs[0], "idea") or entry.title),
        mode=_text(last, "mode"),
        model=_text(last, "model"),
        updated=_text(last, "completed_at"),
        explorations=len(runs),
        cost_usd=total_cost(_number(one, "cost_usd") for one in runs),
    )


def _text(entry: Mapping[object, object], name: str) -> str | None:
    value = entry.get(name)
    return value if isinstance(value, str) else None


def _number(entry: Mapping[object, object], name: str) -> float | None:
    value = entry.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
