"""Pages of Notion: read whole, with all that is nested in them; and made, in as many requests as they need."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import quote

from toolroll.errors import ServiceFailed
from toolroll.messages import Template
from toolroll.packs.writing.notion.blocks import Block, Json, body_of, items, kind_of, mapping, plain_text, text
from toolroll.packs.writing.notion.client import NotionClient, unreadable_error
from toolroll.packs.writing.notion.from_markdown import from_markdown
from toolroll.packs.writing.notion.inline import inline_markdown
from toolroll.packs.writing.notion.limits import batches, fit, plain_texts
from toolroll.packs.writing.notion.to_markdown import to_markdown

MAX_READ_BLOCKS: Final = 10_000
"""Of one page: some 300 printed sheets."""

MAX_READ_DEPTH: Final = 30
PARALLEL: Final = 3
"""Requests at a time; Notion allows three a second on average."""

CLEANUP_S: Final = 5.0
"""For the trash, after the deadline."""

STATUS: Final = "Draft"

PAGE_IN_PART: Final = Template("notion_page_in_part", "{reason} A part of the page is in Notion.")
PAGE_UNKNOWN: Final = Template("notion_page_unknown", "{reason} The page may be in Notion all the same.")
PAGE_TOO_DEEP: Final = Template("notion_page_too_deep", "The page is nested deeper than {most} levels.")
PAGE_TOO_LONG: Final = Template("notion_page_too_long", "The page has more than {most} blocks.")
NO_DATA_SOURCE: Final = Template(
    "notion_no_data_source", "The Notion database has no data source that the connection may use."
)

_REFUSED: Final = 400
_FAILED: Final = 500
_OTHER_PAGES: Final = frozenset({"child_page", "child_database"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page as it was read; `content` is Markdown that begins with the title."""

    title: str
    content: str
    last_edited: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPage:
    """What `write_to_notion` makes: the fields are the columns of the content calendar, `content` is Markdown."""

    title: str
    content: str
    platform: str
    topic: str
    profile: str
    created: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A page that is there now."""

    page_id: str
    url: str


async def read_page(client: NotionClient, page_id: str) -> Page:
    """Read the page with everything in it, within the client's deadline."""
    async with client.deadline():
        page = await client.get(f"pages/{page_id}")
        blocks = await _Reading(client).children(page_id, depth=0)
    rich = _find_title(mapping(page.get("properties")))
    title = " ".join(plain_text(rich).split())
    heading = f"# {' '.join(inline_markdown(rich).split())}" if title else ""
    content = "\n\n".join(part for part in (heading, to_markdown(blocks)) if part)
    return Page(title=title, content=content, last_edited=text(page.get("last_edited_time")))


async def make_page(client: NotionClient, database_id: str, new: NewPage) -> Made:
    """Create a draft in the first data source of a database within the client's deadline, or raise ServiceFailed."""
    making = _Making(client)
    try:
        async with client.deadline():
            return await making.make(database_id, new)
    except ServiceFailed as error:
        message = await making.describe_failure(error)
        raise ServiceFailed(message, status=error.status) from error


def properties_of(new: NewPage) -> Block:
    """Return the columns of the content calendar."""
    return {
        "Title": {"title": plain_texts(new.title)},
        "Platform": {"select": {"name": new.platform}},
        "Topic": {"rich_text": plain_texts(new.topic)},
        "Status": {"select": {"name": STATUS}},
        "Created": {"date": {"start": new.created.date().isoformat()}},
        "Profile": {"rich_text": plain_texts(new.profile)},
    }


class _Reading:
    """One page being read: how many blocks there are so far, and how many requests are on their way."""

    def __init__(self, client: NotionClient) -> None:
        self._client = client
        self._gate = asyncio.Semaphore(PARALLEL)
        self._count = 0

    async def children(self, block_id: str, *, depth: int) -> list[Block]:
        """Return the blocks inside a page or block, each with those inside of it."""
        if depth > MAX_READ_DEPTH:
            raise ServiceFailed(PAGE_TOO_DEEP(most=MAX_READ_DEPTH), status=200)
        found = await self._all(block_id)
        try:
            async with asyncio.TaskGroup() as group:
                whole = [group.create_task(self._whole(block, depth)) for block in found]
        except BaseExceptionGroup as failed:  # the others were ended; one reason is enough
            raise failed.exceptions[0] from None
        return [task.result() for task in whole]

    async def _whole(self, block: Json, depth: int) -> Block:
        kind = kind_of(block)
        if block.get("has_children") is not True or kind in _OTHER_PAGES:
            return dict(block)
        inner = await self.children(_check_id(block.get("id")), depth=depth + 1)
        return {**block, kind: {**body_of(block), "children": inner}}

    async def _all(self, block_id: str) -> list[Json]:
        """Return all pages of results, which have a hundred blocks each."""
        found: list[Json] = []
        cursor = ""
        while True:
            async with self._gate:
                answer = await self._client.get(f"blocks/{block_id}/children?page_size=100{cursor}")
            found += items(answer.get("results"))
            self._count += len(items(answer.get("results")))
            if self._count > MAX_READ_BLOCKS:
                raise ServiceFailed(PAGE_TOO_LONG(most=f"{MAX_READ_BLOCKS:,}"), status=200)
            following = text(answer.get("next_cursor"))
            if answer.get("has_more") is not True or not following:
                return found
            cursor = f"&start_cursor={quote(following, safe='')}"


async def _data_source(client: NotionClient, database_id: str) -> str:
    """Since 2025-09-03 a page is in a data source, of which a database has at least one."""
    database = await client.get(f"databases/{database_id}")
    sources = items(database.get("data_sources"))
    if not sources:
        raise ServiceFailed(NO_DATA_SOURCE(), status=200)
    return _check_id(sources[0].get("id"))


class _Making:
    """One page being made: how far it has come, for the case that it comes no further."""

    def __init__(self, client: NotionClient) -> None:
        self._client = client
        self._is_sent = False
        self._page_id = ""

    async def make(self, database_id: str, new: NewPage) -> Made:
        """Make it: with the first portion of its blocks, then the others."""
        first, *rest = list(batches(fit(from_markdown(new.content)))) or [[]]
        source = await _data_source(self._client, database_id)
        parent = {"type": "data_source_id", "data_source_id": source}
        self._is_sent = True
        page = await self._client.post("pages", {"parent": parent, "properties": properties_of(new), "children": first})
        self._page_id = _check_id(page.get("id"))
        for batch in rest:
            await self._client.patch(f"blocks/{self._page_id}/children", {"children": batch})
        return Made(page_id=self._page_id, url=text(page.get("url")))

    async def describe_failure(self, error: ServiceFailed) -> str:
        """Return the message about a page that was not finished. Half a page is worse than none: it is trashed."""
        if self._page_id:
            return error.message if await self._trash() else PAGE_IN_PART(reason=error.message)
        is_open = self._is_sent and (error.status is None or error.status < _REFUSED or error.status >= _FAILED)
        return PAGE_UNKNOWN(reason=error.message) if is_open else error.message

    async def _trash(self) -> bool:
        try:
            async with asyncio.timeout(CLEANUP_S):
                await self._client.patch(f"pages/{self._page_id}", {"in_trash": True})
        except (ServiceFailed, TimeoutError):
            return False
        return True


def _find_title(properties: Mapping[str, object]) -> object:
    """Return the title, whatever its column is called."""
    found = (mapping(value) for value in properties.values())
    return next((one.get("title") for one in found if one.get("type") == "title"), None)


def _check_id(value: object) -> str:
    """Return an id out of an answer, before it becomes part of an address."""
    found = text(value)
    if not found or not found.isascii() or not found.replace("-", "").isalnum():
        raise unreadable_error()
    return found
