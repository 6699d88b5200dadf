"""`read_notion_page` and `write_to_notion` as a model calls them."""

import json
import logging
import os
import shutil
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.packs.writing.notion.make_blocks import block
from tests.packs.writing.notion.workspace import DATABASE, EDITED, PAGE, TOKEN, Fault, Workspace

from toolroll.errors import ToolFailure
from toolroll.kernel.approval.request import Reject
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.serialize import dump_json
from toolroll.packs.writing.tools.notion_tools import (
    NOTION,
    NOTION_TOOLS,
    SAVE,
    Notion,
    read_notion_page,
    write_to_notion,
)
from toolroll.testing import RecordedRun, RecordingApprover, fixed_clock, make_run

URL = f"https://www.notion.so/team/My-page-{PAGE.replace('-', '')}?pvs=4"
POST = {"content": "# Hi\n\ntext", "title": "Burn\nStatus: out", "platform": "linkedin", "topic": "burnout"}
SAVED = {"success": True, "file_path": "data/output/generated/2026-02-08-burnout-linkedin.md"}


class Desk:
    """A run with a Notion on loopback, a place to save, and a person who is asked."""

    def __init__(self, workspace: Workspace, approver: RecordingApprover, **deps: object) -> None:
        self.workspace = workspace
        self.approver = approver
        self.kept: list[Mapping[str, object]] = []
        self.disk_error: ToolFailure | None = None
        clock = fixed_clock(datetime(2026, 2, 8, 14, 30, tzinfo=UTC))
        self.run: RecordedRun = make_run(
            deps=deps, approver=approver, clock=clock, overrides={SAVE.id: lambda: self.save}
        )

    async def save(self, **post: object) -> Mapping[str, object]:
        if self.disk_error:
            raise self.disk_error
        self.kept.append(post)
        return SAVED

    async def read(self, page_id: str) -> ToolResult:
        return await read_notion_page.execute_raw(dump_json({"page_id": page_id}), self.run.context())

    async def write(self, **changes: object) -> ToolResult:
        return await write_to_notion.execute_raw(dump_json(POST | changes), self.run.context())


@pytest.fixture(autouse=True)
def _environment(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTION_BASE_URL", workspace.url)
    monkeypatch.setenv("NOTION_TOKEN", TOKEN)
    monkeypatch.setenv("NOTION_DATABASE_ID", DATABASE)


@pytest.fixture
async def desk(workspace: Workspace) -> AsyncIterator[Desk]:
    desk = Desk(workspace, RecordingApprover(), lang="en")
    async with desk.run:
        yield desk


@pytest.fixture
async def ukrainian(workspace: Workspace) -> AsyncIterator[Desk]:
    desk = Desk(workspace, RecordingApprover(), lang="uk")
    async with desk.run:
        yield desk


def told(result: ToolResult) -> Any:
    return json.loads(result.text)


# --- The contract --------------------------------------------------------------------------------------


def test_W17_W18_names_parameters_and_defaults_are_those_of_the_table() -> None:
    shapes: Any = {tool.name: tool.parameters for tool in NOTION_TOOLS}
    assert list(shapes) == ["read_notion_page", "write_to_notion"]
    assert (list(shapes["read_notion_page"]["properties"]), shapes["read_notion_page"]["required"]) == (
        ["page_id"],
        ["page_id"],
    )
    write = shapes["write_to_notion"]
    assert list(write["properties"]) == ["content", "title", "platform", "topic", "profile_used"]
    assert write["required"] == ["content", "title", "platform", "topic"]
    assert write["properties"]["platform"]["enum"] == ["linkedin", "instagram", "x"]
    assert write["properties"]["profile_used"]["default"] == "default"
    assert (read_notion_page.effect, write_to_notion.effect) == ("reads", "external")


# --- Reading -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [PAGE, PAGE.replace("-", ""), URL])
async def test_W17_a_page_is_read_by_id_or_address(workspace: Workspace, desk: Desk, given: str) -> None:
    workspace.page(PAGE, "Думки", [block("paragraph", "Ідея")])
    assert told(await desk.read(given)) == {
        "success": True,
        "title": "Думки",
        "content": "# Думки\n\nІдея",
        "last_edited": EDITED,
    }
    assert desk.approver.requests == []


async def test_W17_without_a_token_it_says_so(ukrainian: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTION_TOKEN")
    result = await ukrainian.read(PAGE)
    assert result.is_error
    seed = "Notion не налаштований. Додайте NOTION_TOKEN до .env файлу."
    more = "Можна й задати NOTION_TOKEN у змінних середовища або зберегти: toolroll config key set NOTION_TOKEN"
    message = f"{seed} {more}"
    assert told(result) == {"success": False, "error": "notion_not_configured", "message": message}


@pytest.mark.parametrize(
    ("status", "error", "english", "words"),
    [
        (404, "page_not_found", "The page was not found. Check the URL", "Сторінку не знайдено. Перевірте URL"),
        (403, "no_access", "No access to the page.", "Немає доступу до сторінки."),
        (401, "notion_unauthorized", "Notion did not accept the token.", "Notion не прийняв токен."),
        (400, "notion_error", "Notion failed. Notion answered with", "Помилка Notion. Notion відповів зі статусом 400"),
    ],
)
async def test_W17_each_failure_has_its_message(
    workspace: Workspace, desk: Desk, ukrainian: Desk, status: int, error: str, english: str, words: str
) -> None:
    for one, message in ((desk, english), (ukrainian, words)):
        workspace.faults.append(Fault(status=status))
        result = await one.read(PAGE)
        answer = told(result)
        assert (result.is_error, result.code, answer["success"], answer["error"]) == (True, error, False, error)
        assert answer["message"].startswith(message)


async def test_W17_a_page_that_is_not_there_or_not_shared_is_told(workspace: Workspace, desk: Desk) -> None:
    assert told(await desk.read(PAGE))["error"] == "page_not_found"
    workspace.page(PAGE, "T", [])
    workspace.restricted.add(PAGE)
    assert told(await desk.read(PAGE))["error"] == "no_access"


async def test_W17_what_is_no_page_is_not_asked_for(workspace: Workspace, desk: Desk) -> None:
    assert told(await desk.read("https://example.com/abc123"))["error"] == "invalid_page_id"
    assert workspace.requests == []


# --- Writing -------------------------------------------------------------------------------------------


async def test_W18_a_page_is_made_after_a_yes(workspace: Workspace, desk: Desk) -> None:
    answer = told(await desk.write())
    page_id = answer["page_id"]
    assert answer == {"success": True, "notion_url": f"https://www.notion.so/{page_id}", "page_id": page_id}
    [request] = desk.approver.requests
    assert request.preview.text == (
        f"New page in the Notion database {DATABASE}; if Notion fails, the post is saved to a file\n"
        "Title: Burn Status: out\nPlatform: linkedin\nTopic: burnout\nStatus: Draft\nProfile: default\n\n# Hi\n\ntext"
    )
    assert workspace.pages[page_id]["properties"]["Created"] == {"date": {"start": "2026-02-08"}}
    assert desk.kept == []


async def test_W18_after_a_no_nothing_is_written_anywhere(workspace: Workspace) -> None:
    desk = Desk(workspace, RecordingApprover([Reject(reason="not yet")]))
    async with desk.run:
        result = await desk.write()
    assert result.is_error
    assert (workspace.requests, workspace.pages, desk.kept) == ([], {}, [])


@pytest.mark.parametrize("absent", ["NOTION_TOKEN", "NOTION_DATABASE_ID"])
async def test_W18_without_a_setting_it_is_saved_to_a_file(
    workspace: Workspace, desk: Desk, ukrainian: Desk, monkeypatch: pytest.MonkeyPatch, absent: str
) -> None:
    monkeypatch.delenv(absent)
    kept = "toolroll config key set NOTION_TOKEN"
    set_it = f"Add {absent} to the file .env or set it in the environment; the token can also be stored: {kept}"
    english = f"Notion is not configured, saving to a file. {set_it}"
    advice = f"Додайте {absent} до .env файлу або задайте у змінних середовища; токен можна й зберегти: {kept}"
    words = f"Notion не налаштований, зберігаю локально. {advice}"
    for one, message in ((desk, english), (ukrainian, words)):
        result = await one.write(profile_used="mix:a+b")
        assert (result.is_error, result.code) == (True, "notion_not_configured")
        assert told(result) == {
            "success": False,
            "error": "notion_not_configured",
            "message": message,
            "save_to_file": SAVED,
        }
        assert one.approver.requests[0].preview.text.startswith(message)
        assert one.kept == [
            {"content": POST["content"], "platform": "linkedin", "topic": "burnout", "profile_used": "mix:a+b"}
        ]
    assert workspace.requests == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 500])
async def test_W18_when_notion_fails_it_is_saved_to_a_file(
    workspace: Workspace, desk: Desk, ukrainian: Desk, status: int
) -> None:
    for one, message, answered in (
        (desk, "Notion failed, saving to a file.", "Notion answered with status"),
        (ukrainian, "Помилка Notion, зберігаю локально.", "Notion відповів зі статусом"),
    ):
        workspace.faults += [None, Fault(status=status)]
        answer = told(await one.write())
        assert (answer["success"], answer["error"], answer["save_to_file"]) == (False, "notion_error", SAVED)
        assert answer["message"].startswith(message)
        assert f"{answered} {status}" in answer["message"]
        assert len(one.kept) == 1


async def test_W18_a_database_that_is_none_is_told(
    workspace: Workspace, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTION_DATABASE_ID", "abc123")
    answer = told(await desk.write())
    assert "NOTION_DATABASE_ID is neither" in answer["message"]
    assert (workspace.requests, len(desk.kept)) == ([], 1)


async def test_W18_when_the_disk_fails_too_both_are_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTION_TOKEN")
    failed = {"success": False, "error": "file_system", "message": "The disk is full.", "content": "# Hi"}
    desk.disk_error = ToolFailure(failed, code="file_system")
    result = await desk.write()
    assert (result.is_error, result.code) == (True, "file_system")
    assert (told(result)["error"], told(result)["save_to_file"]) == ("notion_not_configured", failed)


async def test_W18_the_file_is_one_of_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTION_TOKEN")
    run = make_run(deps={"data": tmp_path, "lang": "en"}, approver=RecordingApprover())
    async with run:
        answer = told(await write_to_notion.execute_raw(dump_json(POST), run.context()))
        path = Path(answer["save_to_file"]["file_path"])
        assert path.parent == tmp_path / "output" / "generated"
        assert path.read_text().endswith("# Hi\n\ntext\n")
        shutil.rmtree(path.parent)
        path.parent.write_text("no folder")
        failed = told(await write_to_notion.execute_raw(dump_json(POST), run.context()))
    assert failed["error"] == "notion_not_configured"
    assert (failed["save_to_file"]["error"], failed["save_to_file"]["content"]) == ("disk_error", POST["content"])


# --- The key -------------------------------------------------------------------------------------------


async def test_W17_W18_the_token_is_nowhere(
    workspace: Workspace, desk: Desk, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("NOTION_TOKEN", f"{TOKEN}x")  # which our Notion says in its refusal
    results = [await desk.read(PAGE), await desk.write()]
    shown = [request.preview.text for request in desk.approver.requests]
    assert TOKEN in os.environ["NOTION_TOKEN"]
    assert len(workspace.requests) == 2
    assert not any(TOKEN in text for text in (*(result.text for result in results), *shown, caplog.text))
    notion = await desk.run.context().resolve(NOTION)
    assert TOKEN not in repr(notion)


async def test_W17_only_what_is_configured_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTION_TOKEN", " ")
    run = make_run(deps={"lang": "uk"})
    async with run:
        notion = await run.context().resolve(NOTION)
    assert notion == Notion(client=None, database=DATABASE)
