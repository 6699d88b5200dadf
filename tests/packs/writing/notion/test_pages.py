"""Pages, read from and made in a Notion on loopback."""

import asyncio
import json
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from tests.packs.writing.notion.make_blocks import TREES, block
from tests.packs.writing.notion.workspace import DATABASE, EDITED, PAGE, SOURCE, TOKEN, Fault, Workspace
from tests.support.clock import time_passes

from toolroll.errors import ServiceFailed
from toolroll.packs.writing.notion import pages as module
from toolroll.packs.writing.notion.blocks import Block
from toolroll.packs.writing.notion.client import NotionClient
from toolroll.packs.writing.notion.from_markdown import from_markdown
from toolroll.packs.writing.notion.pages import Made, NewPage, make_page, read_page
from toolroll.packs.writing.notion.to_markdown import to_markdown

NOW = datetime(2026, 2, 8, 14, 30, tzinfo=UTC)


def new(content: str) -> NewPage:
    return NewPage(title="Вигорання", content=content, platform="x", topic="burnout", profile="default", created=NOW)


async def refused(client: NotionClient, content: str = "text", database: str = DATABASE) -> ServiceFailed:
    with pytest.raises(ServiceFailed) as caught:
        await make_page(client, database, new(content))
    return caught.value


# --- Reading -------------------------------------------------------------------------------------------


async def test_W17_a_page_is_read_with_title_content_and_date(workspace: Workspace, client: NotionClient) -> None:
    workspace.page(PAGE, "Мої думки", [block("paragraph", "Основна ідея: ...")])
    page = await read_page(client, PAGE)
    assert (page.title, page.content) == ("Мої думки", "# Мої думки\n\nОсновна ідея: ...")
    assert page.last_edited == EDITED


async def test_W17_a_page_without_title_or_content_is_read(workspace: Workspace, client: NotionClient) -> None:
    workspace.page(PAGE, "", [])
    assert (await read_page(client, PAGE)).content == ""
    workspace.pages[PAGE]["properties"] = 7
    assert (await read_page(client, PAGE)).title == ""


@pytest.mark.parametrize("count", [0, 1, 100, 101, 250])
async def test_W17_all_pages_of_results_are_read(workspace: Workspace, client: NotionClient, count: int) -> None:
    workspace.page(PAGE, "T", [block("toggle", "top", [block("paragraph", str(n)) for n in range(count)])])
    content = (await read_page(client, PAGE)).content
    assert content.split() == ["#", "T", "-", "top", *(str(number) for number in range(count))]


async def test_W17_other_pages_inside_are_named_not_read(workspace: Workspace, client: NotionClient) -> None:
    workspace.page(PAGE, "T", [{"type": "child_page", "child_page": {"title": "Secret", "children": [block("quote")]}}])
    assert (await read_page(client, PAGE)).content == "# T\n\n[page: Secret]"
    assert len(workspace.requests) == 2


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TREES)
async def test_W17_whatever_is_nested_is_read(workspace: Workspace, blocks: list[Block]) -> None:
    workspace.page_size = 2
    workspace.children.clear()
    workspace.page(PAGE, "T", json.loads(json.dumps(blocks)))
    async with NotionClient(TOKEN, base_url=workspace.url) as client:
        page = await read_page(client, PAGE)
    assert page.content == f"# T\n\n{to_markdown(blocks)}".strip()


async def test_W17_a_failure_deep_inside_is_told(workspace: Workspace, client: NotionClient) -> None:
    workspace.page(PAGE, "T", [block("toggle", "a", [block("paragraph", "b")]) for _ in range(5)])
    workspace.faults += [None, None, Fault(status=403)]
    with pytest.raises(ServiceFailed) as caught:
        await read_page(client, PAGE)
    assert caught.value.status == 403


@pytest.mark.parametrize("name", ["../users", "", 7, "ї"])
async def test_W17_an_id_out_of_an_answer_leads_nowhere(workspace: Workspace, client: NotionClient, name: Any) -> None:
    workspace.page(PAGE, "T", [block("toggle", "a", [block("paragraph", "b")])])
    workspace.children[PAGE][0]["id"] = name
    with pytest.raises(ServiceFailed, match="cannot be read"):
        await read_page(client, PAGE)
    assert len(workspace.requests) == 2


async def test_W17_a_page_without_end_is_told(
    workspace: Workspace, client: NotionClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.page(PAGE, "T", [block("toggle", "a", [block("toggle", "b", [block("paragraph", "c")])])])
    monkeypatch.setattr(module, "MAX_READ_DEPTH", 1)
    with pytest.raises(ServiceFailed, match="deeper than 1 level"):
        await read_page(client, PAGE)
    monkeypatch.setattr(module, "MAX_READ_BLOCKS", 1)
    with pytest.raises(ServiceFailed, match="more than 1 blocks"):
        await read_page(client, PAGE)


async def test_W17_a_slow_page_is_left(workspace: Workspace) -> None:
    workspace.page(PAGE, "T", [])
    workspace.faults += [None, Fault(hang=True)]
    async with NotionClient(TOKEN, base_url=workspace.url, timeout_s=0.2) as client:
        with pytest.raises(ServiceFailed, match=r"within 0\.2 seconds"):
            await read_page(client, PAGE)


# --- Making --------------------------------------------------------------------------------------------


async def test_W18_a_page_is_made_in_the_data_source(workspace: Workspace, client: NotionClient) -> None:
    made = await make_page(client, DATABASE, new("# Hi\n\ntext"))
    page = workspace.pages[made.page_id]
    assert made == Made(page_id=made.page_id, url=f"https://www.notion.so/{made.page_id}")
    assert page["parent"] == {"type": "data_source_id", "data_source_id": SOURCE}
    assert page["properties"] == {
        "Title": {"title": [{"type": "text", "text": {"content": "Вигорання"}}]},
        "Platform": {"select": {"name": "x"}},
        "Topic": {"rich_text": [{"type": "text", "text": {"content": "burnout"}}]},
        "Status": {"select": {"name": "Draft"}},
        "Created": {"date": {"start": "2026-02-08"}},
        "Profile": {"rich_text": [{"type": "text", "text": {"content": "default"}}]},
    }
    assert workspace.tree(made.page_id) == from_markdown("# Hi\n\ntext")


@pytest.mark.parametrize("content", ["", "x" * 50_000, "\n\n".join("abc" * 100), "- a\n" * 250, "- " * 15 + "deep"])
async def test_W18_a_page_of_any_size_arrives_whole(workspace: Workspace, client: NotionClient, content: str) -> None:
    made = await make_page(client, DATABASE, new(content))
    arrived = to_markdown(workspace.tree(made.page_id))
    letters = [char for char in content if char.isalpha()]
    assert [char for char in arrived if char.isalpha()] == letters


async def test_W18_a_database_without_a_data_source_is_told(workspace: Workspace, client: NotionClient) -> None:
    workspace.sources = []
    assert "no data source" in (await refused(client)).message
    assert (await refused(client, database=PAGE)).status == 404
    workspace.sources = [{"id": "../.."}]
    assert (await refused(client)).message == "Notion sent an answer that cannot be read."
    assert not any(asked.method == "POST" for asked in workspace.requests)


@pytest.mark.parametrize(
    ("fault", "is_open"),
    [
        (Fault(status=400), False),
        (Fault(status=502, done=True), True),
        (Fault(cut=True, done=True), True),
        (Fault(status=200, body=b"{}", done=True), True),
    ],
    ids=["refused", "failed", "cut", "odd"],
)
async def test_W18_a_page_that_may_be_there_is_told(
    workspace: Workspace, client: NotionClient, fault: Fault, is_open: bool
) -> None:
    workspace.faults += [None, fault]
    assert ("may be in Notion" in (await refused(client)).message) is is_open
    assert len(workspace.requests) == 2


LONG = "\n\n".join("ab" * 80)


async def test_W18_half_a_page_goes_to_the_trash(workspace: Workspace, client: NotionClient) -> None:
    workspace.faults += [None, None, Fault(status=500)]
    error = await refused(client, LONG)
    assert (error.status, error.message) == (500, "Notion answered with status 500. internal_server_error: Oops")
    [page] = workspace.pages.values()
    assert page["in_trash"] is True


async def test_W18_half_a_page_that_stays_is_told(workspace: Workspace, client: NotionClient) -> None:
    workspace.faults += [None, None, Fault(status=500), Fault(status=500)]
    assert "A part of the page is in Notion." in (await refused(client, LONG)).message


async def test_W18_the_trash_is_not_waited_for(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CLEANUP_S", 3_600)
    workspace.faults += [None, None, Fault(hang=True), Fault(hang=True)]
    workspace.on_hang = partial(asyncio.get_running_loop().call_soon_threadsafe, time_passes, 3_600)
    async with NotionClient(TOKEN, base_url=workspace.url, timeout_s=3_600) as client:
        error = await refused(client, LONG)
    assert error.message == "Notion did not answer within 3600 seconds. A part of the page is in Notion."
