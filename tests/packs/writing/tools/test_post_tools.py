"""`save_to_file` and `read_past_posts`: names, parameters, defaults and answers as specified; nothing without a yes."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from tests.packs.writing.profiles.samples import draft

from toolroll.kernel.approval.policy import Policy, Rule
from toolroll.kernel.approval.request import Approve, Decision, Reject
from toolroll.kernel.call.events import Progress
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.serialize import dump_json
from toolroll.packs.writing.posts import sync as post_step
from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.tools.post_tools import MAX_LIMIT, NOT_WHOLE, POST_TOOLS, read_past_posts, save_to_file
from toolroll.testing import RecordedRun, RecordingApprover, check_tool, make_run

BY_NAME = {tool.name: tool for tool in POST_TOOLS}
POST = {"content": "Текст поста", "platform": "linkedin", "topic": "burnout"}


class Writer:
    def __init__(self, run: RecordedRun, approver: RecordingApprover) -> None:
        self.run = run
        self.approver = approver

    async def __call__(self, name: str, **arguments: object) -> ToolResult:
        return await BY_NAME[name].execute_raw(dump_json(arguments), self.run.context())

    async def json(self, name: str, **arguments: object) -> dict[str, Any]:
        return cast("dict[str, Any]", json.loads((await self(name, **arguments)).text))


@asynccontextmanager
async def writing(
    data: Path, *decisions: Decision, lang: str = "en", policy: Policy | None = None
) -> AsyncIterator[Writer]:
    approver = RecordingApprover(list(decisions)) if decisions else RecordingApprover()
    clock = lambda: datetime(2026, 2, 8, 14, 30, tzinfo=UTC)  # noqa: E731
    run = make_run(deps={"data": data, "lang": lang}, approver=approver, clock=clock, policy=policy)
    async with run:
        yield Writer(run, approver)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data"


def shape(name: str) -> tuple[dict[str, dict[str, object]], list[str]]:
    schema = cast("dict[str, Any]", BY_NAME[name].parameters)
    kept = ("type", "enum", "default", "items")
    return (
        {one: {key: of[key] for key in kept if key in of} for one, of in schema["properties"].items()},
        schema["required"],
    )


def test_W14_W15_names_parameters_defaults_and_enums_are_those_specified() -> None:
    assert [tool.name for tool in POST_TOOLS] == ["read_past_posts", "save_to_file"]
    assert shape("read_past_posts") == (
        {
            "keywords": {"type": "array", "items": {"type": "string"}},
            "platform": {"type": "string", "enum": ["linkedin", "instagram", "x", "all"], "default": "all"},
            "limit": {"type": "number", "default": 5},
        },
        ["keywords"],
    )
    assert shape("save_to_file") == (
        {
            "content": {"type": "string"},
            "platform": {"type": "string", "enum": ["linkedin", "instagram", "x"]},
            "topic": {"type": "string"},
            "profile_used": {"type": "string", "default": "default"},
        },
        ["content", "platform", "topic"],
    )


async def test_W15_a_post_is_saved_after_a_yes_to_what_was_shown(data: Path) -> None:
    async with writing(data) as writer:
        answer = await writer.json("save_to_file", **POST)
    assert answer == {"success": True, "file_path": "data/output/generated/2026-02-08-burnout-linkedin.md"}
    [asked] = writer.approver.requests
    assert asked.preview.text == f"Save as {answer['file_path']}:\n\nТекст поста"
    assert "style_profile_version: null\n---\n\nТекст поста\n" in Path(answer["file_path"]).read_text()


async def test_W15_a_name_that_is_taken_is_shown_as_it_will_be_saved(data: Path) -> None:
    async with writing(data) as writer:
        for end in ("", "-2", "-3"):
            answer = await writer.json("save_to_file", **POST)
            assert answer["file_path"] == f"data/output/generated/2026-02-08-burnout-linkedin{end}.md"
            assert writer.approver.requests[-1].preview.text.startswith(f"Save as {answer['file_path']}:")


async def test_W15_nothing_is_saved_after_a_no(data: Path) -> None:
    async with writing(data, Reject("ще ні")) as writer:
        result = await writer("save_to_file", **POST)
    assert result.is_error
    assert not data.exists()


async def test_W15_what_the_person_made_of_it_is_saved_and_told(data: Path) -> None:
    async with writing(data, Approve(edited="Мій текст")) as writer:
        answer = await writer.json("save_to_file", **POST)
    assert answer["content"] == "Мій текст"
    assert Path(answer["file_path"]).read_text().endswith("---\n\nМій текст\n")


@pytest.mark.parametrize(("lang", "message"), [("en", "There is no text"), ("uk", "Немає тексту")])
async def test_W15_an_empty_post_is_refused_before_anybody_is_asked(data: Path, lang: str, message: str) -> None:
    async with writing(data, lang=lang) as writer:
        answer = await writer.json("save_to_file", **{**POST, "content": " \n"})
    assert (answer["success"], answer["error"], answer["message"][: len(message)]) == (False, "empty_post", message)
    assert writer.approver.requests == []


@pytest.mark.parametrize(("lang", "message"), [("en", "Saving failed."), ("uk", "Помилка збереження.")])
async def test_W15_W34_on_a_disk_error_the_text_is_handed_back(data: Path, lang: str, message: str) -> None:
    data.mkdir()
    (data / "output").write_text("a file in the place of the folder")
    async with writing(data, lang=lang) as writer:
        result = await writer("save_to_file", **POST)
    answer = json.loads(result.text)
    assert (result.is_error, result.code) == (True, "disk_error")
    assert (answer["success"], answer["error"], answer["content"]) == (False, "disk_error", "Текст поста")
    assert answer["message"].startswith(message)


@pytest.mark.parametrize(
    ("used", "version"), [("default", "1"), ("mix:default+alex", "1"), ("nobody", "null"), ("../x", "null")]
)
async def test_W15_the_version_of_the_profile_or_of_a_mix_its_base_is_kept(data: Path, used: str, version: str) -> None:
    ProfileStore(data).create(draft(), now=datetime(2026, 2, 1, tzinfo=UTC))
    async with writing(data) as writer:
        answer = await writer.json("save_to_file", **POST, profile_used=used)
    assert f"style_profile_version: {version}\n" in Path(answer["file_path"]).read_text()


async def test_W15_outside_of_the_working_folder_the_path_is_whole(data: Path, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    os.chdir(tmp_path / "work")
    async with writing(data) as writer:
        answer = await writer.json("save_to_file", **POST)
    assert answer["file_path"] == str(data / "output/generated/2026-02-08-burnout-linkedin.md")


async def test_W14_posts_are_answered_with_previews(data: Path) -> None:
    async with writing(data) as writer:
        assert await writer.json("read_past_posts", keywords=["a"]) == {"success": True, "posts": [], "total_found": 0}
        await writer("save_to_file", **{**POST, "content": "Вигорання " * 100})
        await writer("save_to_file", **{**POST, "platform": "x", "content": "Вигорання"})
        answer = await writer.json("read_past_posts", keywords=["вигорання"], platform="linkedin")
    assert answer == {
        "success": True,
        "posts": [
            {
                "file": "2026-02-08-burnout-linkedin.md",
                "platform": "linkedin",
                "topic": "burnout",
                "created": "2026-02-08T14:30:00Z",
                "profile_used": "default",
                "preview": ("Вигорання " * 100)[:200],
            }
        ],
        "total_found": 1,
    }


@pytest.mark.parametrize(("limit", "count"), [(1, 1), (2.0, 2), (0, 0), (-5, 0), (1e300, 3), (MAX_LIMIT, 3)])
async def test_W14_any_limit_is_taken(data: Path, limit: float, count: int) -> None:
    async with writing(data) as writer:
        for _ in range(3):
            await writer("save_to_file", **POST)
        answer = await writer.json("read_past_posts", keywords=["burnout"], limit=limit)
    assert (len(answer["posts"]), answer["total_found"]) == (count, 3)


async def test_W14_a_folder_that_cannot_be_read_is_told(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with writing(data) as writer:
        await writer("save_to_file", **POST)

        def fails(*_: object, **__: object) -> int:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("toolroll.packs.writing.storage.os.open", fails)
        answer = await writer.json("read_past_posts", keywords=["burnout"])
    assert (answer["success"], answer["error"]) == (False, "file_system")


def test_W14_W15_tools_are_labelled_by_what_they_do() -> None:
    assert (read_past_posts.effect, read_past_posts.labels) == ("reads", frozenset({"private", "untrusted"}))
    assert save_to_file.effect == "writes"


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_W14_W15_tools_pass_the_check_for_tools(name: str) -> None:
    assert check_tool(BY_NAME[name], examples=20).tool == name


async def test_W14_while_many_posts_are_read_it_says_how_far_it_is(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(post_step, "PROGRESS_AFTER_S", -1.0)
    async with writing(data) as writer:
        await writer("save_to_file", **POST)
        assert (await writer.json("read_past_posts", keywords=["burnout"]))["total_found"] == 1
        told = [event for event in writer.run.events if isinstance(event, Progress)]
    assert [(one.message, one.fraction) for one in told] == [("read 0 of 1 posts for the first time", 0.0)]


async def test_W14_where_there_was_no_time_for_all_posts_it_says_so(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(post_step, "MAX_BUILD_S", -1.0)
    async with writing(data) as writer:
        await writer("save_to_file", **POST)
        answer = await writer.json("read_past_posts", keywords=["burnout"])
    assert answer == {"success": True, "posts": [], "total_found": 0, "note": NOT_WHOLE}


async def test_XP20_posts_that_a_rule_denies_are_neither_found_nor_counted_nor_made(data: Path) -> None:
    async with writing(data) as writer:
        for topic in ("burnout", "secret plan", "tea"):
            await writer.json("save_to_file", **POST | {"topic": topic})
    denying = Policy((Rule(action="deny", path="output/generated/*secret*"),))
    async with writing(data, policy=denying) as writer:
        found = await writer.json("read_past_posts", keywords=["Текст"], limit=1)
        assert (len(found["posts"]), found["total_found"]) == (1, 2)
        assert "secret" not in dump_json(await writer.json("read_past_posts", keywords=["Текст"]))
        refused = await writer.json("save_to_file", **POST | {"topic": "secret idea"})
    assert (refused["error"], writer.approver.requests) == ("path_validation", [])
