"""What `toolroll explore list` and `show` do: list the ideas that were explored, and show their documents."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeVar

from toolroll.apps.explore import open_source
from toolroll.apps.project import ResearchPlace
from toolroll.cli.render.document import show_markdown
from toolroll.cli.render.prose import notify
from toolroll.cli.session import DONE, Session
from toolroll.packs.research.ideas import find_idea
from toolroll.packs.research.overview import IdeaOverview, read_overviews
from toolroll.packs.research.source import MAX_STORED_BYTES, ResearchSource
from toolroll.safe.text import one_line

T = TypeVar("T")

MAX_TITLE_CHARACTERS: Final = 60
MAX_MODE_CHARACTERS: Final = 11
"""Of the longest mode of our own; one's own may be cut."""
_CENTS_FROM_USD: Final = 0.1


def list_ideas(session: Session, *, ideas: Path | None, repo: str | None, branch: str | None) -> int:
    """List the ideas that were explored; return the exit code."""

    async def work(source: ResearchSource) -> list[IdeaOverview]:
        return await read_overviews(source, await source.list_ideas())

    found = _read_source(work, ideas, repo, branch)
    if session.json:
        session.write_json({"ideas": [_overview_fields(one) for one in found]})
    elif found:
        session.show("\n".join(map(_format_overview, found)), hang=12)
        notify("Show one: toolroll explore show NAME (the last column, or a part of it)")
    else:
        notify("Nothing was explored here yet. Start with 'toolroll explore IDEA'.")
    return DONE


def show_document(session: Session, name: str, *, ideas: Path | None, repo: str | None, branch: str | None) -> int:
    """Show the document about an idea; return the exit code."""

    async def work(source: ResearchSource) -> tuple[str, str, str]:
        path = find_idea(name, await source.list_ideas()).path
        return path, source.where(path), (await source.read(path, limit_bytes=MAX_STORED_BYTES)).content

    path, where, content = _read_source(work, ideas, repo, branch)
    if session.json:
        session.write_json({"path": path, "where": where, "content": content})
    else:
        show_markdown(session, content)
    return DONE


def _overview_fields(found: IdeaOverview) -> dict[str, object]:
    return {
        "path": found.entry.path,
        "name": found.name,
        "title": found.title,
        "date": found.entry.date.isoformat() if found.entry.date else None,
        "updated": found.updated,
        "mode": found.mode,
        "model": found.model,
        "explorations": found.explorations,
        "cost_usd": found.cost_usd,
    }


def _format_overview(found: IdeaOverview) -> str:
    day = found.entry.date.isoformat() if found.entry.date else "no date"
    mode = one_line(found.mode or "-", MAX_MODE_CHARACTERS)
    title = one_line(found.title, MAX_TITLE_CHARACTERS)
    updates = f" (+{found.explorations - 1})" if found.explorations > 1 else ""
    return f"{day:<10}  {mode:<{MAX_MODE_CHARACTERS}} {_format_cost(found):>8}  {title}{updates}  {found.name}"


def _format_cost(found: IdeaOverview) -> str:
    cost = found.cost_usd
    if cost is None or not found.explorations:
        return "-"
    return f"${cost:.2f}" if not cost or cost >= _CENTS_FROM_USD else f"${cost:.4f}"


def _read_source(
    work: Callable[[ResearchSource], Awaitable[T]], ideas: Path | None, repo: str | None, branch: str | None
) -> T:
    """Return what `work` reads from the place that research is kept in."""
    place = ResearchPlace(ideas=None if ideas is None else str(ideas), repo=repo, branch=branch)

    async def read() -> T:
        async with open_source(place, os.environ) as source:
            return await work(source)

    return asyncio.run(read())
