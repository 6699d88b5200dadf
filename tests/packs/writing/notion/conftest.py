"""A client of Notion that waits for nothing."""

from collections.abc import AsyncIterator

import pytest
from tests.packs.writing.notion.workspace import TOKEN, Workspace

from toolroll.packs.writing.notion.client import NotionClient


@pytest.fixture
def pauses() -> list[float]:
    """How long the client would have waited."""
    return []


@pytest.fixture
async def client(workspace: Workspace, pauses: list[float]) -> AsyncIterator[NotionClient]:
    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async with NotionClient(TOKEN, base_url=workspace.url, sleep=sleep) as client:
        yield client
