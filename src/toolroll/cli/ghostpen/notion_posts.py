"""Posts to learn from that are pages in Notion. Apart from other sources, as few people need the client for it."""

import asyncio
import os
from collections.abc import Sequence

from toolroll.cli.ghostpen.context import CommandContext
from toolroll.errors import ServiceFailed, ToolFailure, UsageError
from toolroll.home.keys import with_keys
from toolroll.packs.writing.notion import client as notion
from toolroll.packs.writing.notion.blocks import find_id
from toolroll.packs.writing.notion.client import describe_notion_error, error_code
from toolroll.packs.writing.notion.pages import read_page
from toolroll.packs.writing.tools.notion_tools import TOKEN
from toolroll.safe.paths.names import quote_path


def read_notion_pages(context: CommandContext, pages: Sequence[str]) -> list[str]:
    """Return the texts of pages; `ToolFailure` where Notion is not set up or does not give them."""
    token = with_keys(os.environ).get(TOKEN, "").strip()
    if not token:
        raise ToolFailure(context.text("notion_not_configured", missing=TOKEN), code="notion_not_configured")
    ids = [find_id(page) for page in pages]
    if None in ids:
        raise UsageError(f"{context.text('notion_invalid_page')} '{quote_path(pages[ids.index(None)])}'")
    return asyncio.run(_read_all(context, token, [one for one in ids if one]))


async def _read_all(context: CommandContext, token: str, ids: Sequence[str]) -> list[str]:
    try:
        async with notion.NotionClient(token, base_url=notion.API_URL) as client:
            return [(await read_page(client, one)).content for one in ids]
    except ServiceFailed as error:
        code = error_code(error)
        raise ToolFailure(describe_notion_error(code, context.lang, detail=error), code=code) from error
