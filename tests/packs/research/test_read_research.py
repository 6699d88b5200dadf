"""`read_research` in each place that research can be kept, by the cases that were agreed on; memory and log."""

import asyncio
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.packs.research.conftest import Shelf
from tests.packs.research.hub import TOKEN, Fault, Hub

from toolroll.errors import NotText, ServiceFailed
from toolroll.kernel.approval.policy import Policy, Rule
from toolroll.kernel.call.context import Run
from toolroll.kernel.call.result import ToolResult
from toolroll.kernel.data.labels import collect_labels
from toolroll.packs.research.github import GitHubSource
from toolroll.packs.research.local import LocalSource
from toolroll.packs.research.read_research import READ_BEFORE, SOURCE, describe_failure, read_research
from toolroll.packs.research.source import ResearchFile, ResearchSource

PATH = "2025-01-31-my-idea/research.md"
KB50 = 51_200


def run_over(source: ResearchSource, **options: Any) -> Run:
    return Run(overrides={SOURCE.id: lambda: source}, **options)


async def called(run: Run, path: str) -> ToolResult:
    return await read_research.execute_raw(json.dumps({"path": path}), run.context())


async def answer_of(source: ResearchSource, path: str) -> dict[str, Any]:
    async with run_over(source) as run:
        result = await called(run, path)
    answer: dict[str, Any] = json.loads(result.text)
    assert result.is_error is not answer["ok"]
    assert result.code == answer.get("error_type")
    return answer


def failed(kind: str, message: str) -> dict[str, Any]:
    return {"ok": False, "error_type": kind, "message": message}


async def test_R1_R5_returns_file_content_for_valid_path(shelf: Shelf) -> None:
    shelf.put(PATH, "# Ідея\r\nTwo lines.\n".encode())
    answer = await answer_of(shelf.source, PATH)
    assert answer == {"ok": True, "content": "# Ідея\r\nTwo lines.\n", "bytes": 23}


async def test_R4_R5_returns_error_for_file_not_found(shelf: Shelf) -> None:
    assert await answer_of(shelf.source, "no/such.md") == failed("file_not_found", "File not found: no/such.md")
    shelf.put("a.md", b"x")
    below = await answer_of(shelf.source, "a.md/b.md")
    assert below == failed("file_not_found", "File not found: a.md/b.md")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        pytest.param("../secrets", "path traversal", id="path traversal attempt (../)"),
        pytest.param("/etc/passwd", "absolute", id="absolute path (/etc/passwd)"),
        pytest.param("%2e%2e/secrets", "percent sign", id="path containing percent sign"),
        pytest.param("ideas/market.md", "starts with 'ideas/'", id="path starting with ideas/"),
        pytest.param("market/", "trailing slash", id="trailing slash"),
        pytest.param("market//file.md", "double slash", id="double slash"),
        pytest.param("a" * 201, "longer than 200", id="path longer than 200 chars"),
        pytest.param("a\x00b", "control characters", id="control characters in path"),
        pytest.param("", "empty", id="empty path"),
    ],
)
async def test_R2_R5_XP1_returns_error_for(path: str, words: str, hub: Hub, github: GitHubSource) -> None:
    by_github = await answer_of(github, path)
    assert hub.requests == [], "refused before anything was asked"
    by_folder = await answer_of(LocalSource("/no/such/folder"), path)
    assert by_github == by_folder
    assert by_github["error_type"] == "path_validation"
    assert words in by_github["message"]


async def test_R3_R5_returns_error_for_file_exceeding_50KB(shelf: Shelf) -> None:
    shelf.put("large.md", b"x" * (KB50 + 1))
    message = "File exceeds 50KB limit. Try a more specific path or request a summary."
    assert await answer_of(shelf.source, "large.md") == failed("file_too_large", message)


async def test_R3_R5_a_file_of_exactly_50KB_is_read_whole(shelf: Shelf) -> None:
    shelf.put("exact.md", b"x" * KB50)
    assert await answer_of(shelf.source, "exact.md") == {"ok": True, "content": "x" * KB50, "bytes": KB50}


async def test_R4_R5_returns_error_for_directory_response(shelf: Shelf) -> None:
    shelf.put("my-idea/research.md", b"x")
    shelf.put("my-idea/notes/a.md", b"x")
    answer = await answer_of(shelf.source, "my-idea")
    assert answer == {
        **failed("api_error", "Path is not a file: my-idea"),
        "entries": ["my-idea/notes/", "my-idea/research.md"],
    }


async def test_R3_returns_error_for_missing_size_field(hub: Hub, github: GitHubSource) -> None:
    hub.put(f"ideas/{PATH}", b"x")
    hub.change = lambda answer: {**answer, "size": None} if "size" in answer else answer
    message = "Failed to read file: GitHub did not tell how large the file is."
    assert await answer_of(github, PATH) == failed("api_error", message)


async def test_R3_R5_returns_empty_string_for_empty_file(shelf: Shelf) -> None:
    shelf.put("empty.md", b"")
    assert await answer_of(shelf.source, "empty.md") == {"ok": True, "content": "", "bytes": 0}


async def test_R1_R5_returns_bytes_count_in_successful_result(shelf: Shelf) -> None:
    shelf.put("a.md", "їжак".encode())
    assert (await answer_of(shelf.source, "a.md"))["bytes"] == 8


async def test_R1_read_research_tool_returns_structured_ok_error_payload(shelf: Shelf) -> None:
    shelf.put("a.md", b"text")
    assert set(await answer_of(shelf.source, "a.md")) == {"ok", "content", "bytes"}
    assert set(await answer_of(shelf.source, "b.md")) == {"ok", "error_type", "message"}


async def test_R4_R5_a_file_that_is_no_text_is_another_failure(shelf: Shelf) -> None:
    shelf.put("a.bin", bytes(range(256)))
    answer = await answer_of(shelf.source, "a.bin")
    assert answer["error_type"] == "api_error"
    assert answer["message"].startswith("Failed to read file: ")


async def test_R5_protected_names_are_refused_everywhere(shelf: Shelf) -> None:
    shelf.put("a/b.md", b"x")
    answer = await answer_of(shelf.source, "a/.git/config")
    assert answer["error_type"] == "path_validation"


async def test_XP7_the_trimmed_path_is_asked_for_shown_and_logged(
    hub: Hub, github: GitHubSource, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    answer = await answer_of(github, f" {PATH}\n")
    assert answer == failed("file_not_found", f"File not found: {PATH}")
    assert logged(caplog)[0]["path"] == PATH
    hub.put(f"ideas/{PATH}", b"x")
    assert (await answer_of(github, f" {PATH}\n"))["ok"]
    assert hub.requests[-1].path == f"/repos/octo/research/contents/ideas/{PATH}"


def test_R6_the_model_is_told_what_paths_look_like() -> None:
    properties: Any = read_research.parameters["properties"]
    assert "'<date>-<slug>/research.md'" in properties["path"]["description"]
    assert (properties["path"]["minLength"], properties["path"]["maxLength"]) == (1, 200)
    assert set(properties) == {"path"}
    assert read_research.effect == "reads"
    assert collect_labels(read_research) == frozenset({"private", "untrusted"})


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ServiceFailed("GitHub failed."), "Failed to read file: GitHub failed."),
        (NotText("It is no text.", path="a"), "Failed to read file: It is no text."),
    ],
    ids=["service", "text"],
)
def test_R4_every_other_failure_is_told_in_one_form(error: ServiceFailed | NotText, message: str) -> None:
    assert describe_failure(error) == failed("api_error", message)


# --- Memory --------------------------------------------------------------------------------------------


class Counting:
    """A source that counts reads, and waits where it is told to."""

    def __init__(self, *, first: Callable[[], Any] | None = None) -> None:
        self.reads: list[str] = []
        self.gate = asyncio.Event()
        self.first = first

    async def read(self, path: str, *, limit_bytes: int = 0) -> ResearchFile:
        self.reads.append(path)
        await self.gate.wait()
        if self.first is not None and len(self.reads) == 1:
            self.first()
        return ResearchFile(content=f"of {path}", size=3)


async def test_R25_a_file_is_read_once_a_run_and_then_told_from_memory_with_a_note(
    hub: Hub, github: GitHubSource
) -> None:
    hub.put("ideas/a.md", b"first")
    async with run_over(github) as run:
        once = json.loads((await called(run, "a.md")).text)
        hub.put("ideas/a.md", b"second")
        again = json.loads((await called(run, " a.md ")).text)
    assert once == {"ok": True, "content": "first", "bytes": 5}
    assert again == {**once, "note": READ_BEFORE}
    assert [one.path for one in hub.requests].count("/repos/octo/research/contents/ideas/a.md") == 1
    assert (await answer_of(github, "a.md"))["content"] == "second", "another run reads anew"


async def test_R25_reads_go_side_by_side_and_the_same_file_only_once() -> None:
    source: Any = Counting()
    async with run_over(source) as run:
        calls = [asyncio.create_task(called(run, path)) for path in ("a.md", "b.md", "a.md")]
        async with asyncio.timeout(60):
            while len(source.reads) < 2:
                await asyncio.sleep(0)
        source.gate.set()
        results = [json.loads((await call).text) for call in calls]
    assert sorted(source.reads) == ["a.md", "b.md"]
    assert ["note" in result for result in results] == [False, False, True]


async def test_R25_who_waits_reads_when_the_reader_is_cancelled() -> None:
    source: Any = Counting()
    async with run_over(source) as run:
        reader, waiter = (asyncio.create_task(called(run, "a.md")) for _ in range(2))
        async with asyncio.timeout(60):
            while not source.reads:
                await asyncio.sleep(0)
            reader.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reader
            source.gate.set()
            assert json.loads((await waiter).text) == {"ok": True, "content": "of a.md", "bytes": 3}
    assert source.reads == ["a.md", "a.md"]


async def test_R25_a_failure_is_not_remembered(hub: Hub, github: GitHubSource) -> None:
    async with run_over(github) as run:
        assert (await called(run, "a.md")).code == "file_not_found"
        hub.put("ideas/a.md", b"now")
        assert json.loads((await called(run, "a.md")).text) == {"ok": True, "content": "now", "bytes": 3}


# --- Log -----------------------------------------------------------------------------------------------


def logged(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    lines = [record.getMessage() for record in caplog.records if record.getMessage().startswith("tool_call ")]
    return [json.loads(line.removeprefix("tool_call ")) for line in lines]


async def test_R26_every_read_is_logged(shelf: Shelf, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    shelf.put("a.md", b"text")
    async with run_over(shelf.source) as run:
        for path in ("a.md", "a.md", "b.md", "../x\x1b[2J"):
            await called(run, path)
    lines = logged(caplog)
    assert all(line.pop("duration_ms") >= 0 for line in lines)
    read = {"name": "read_research", "path": "a.md", "ok": True, "bytes": 4, "error_type": None}
    not_read = {"name": "read_research", "ok": False, "bytes": None}
    assert lines == [
        read,
        read,
        {**not_read, "path": "b.md", "error_type": "file_not_found"},
        {**not_read, "path": "../x‹U+001B›[2J", "error_type": "path_validation"},
    ]


async def test_R26_the_duration_is_by_the_clock_of_the_run(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    from datetime import UTC, datetime, timedelta

    caplog.set_level(logging.INFO)
    start = datetime(2025, 1, 1, tzinfo=UTC)
    for second in (timedelta(seconds=1.5), timedelta(seconds=-1)):
        times = iter([start, start + second])
        async with run_over(LocalSource(tmp_path), clock=lambda times=times: next(times)) as run:
            await called(run, "a.md")
    assert [line["duration_ms"] for line in logged(caplog)] == [1_500, 0]


async def test_R26_no_token_is_told_or_logged(hub: Hub, github: GitHubSource, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    hub.faults.append(Fault(status=403, body=json.dumps({"message": f"no: {TOKEN}"}).encode()))
    answer = await answer_of(github, "a.md")
    assert answer["message"].startswith("Failed to read file: GitHub answered with status 403: no: [redacted")
    assert TOKEN not in caplog.text


# --- Where it comes from -------------------------------------------------------------------------------


async def test_R5_without_settings_research_is_in_the_folder_ideas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ideas").mkdir()
    (tmp_path / "ideas" / "a.md").write_text("here")
    async with Run() as run:
        assert json.loads((await called(run, "a.md")).text)["content"] == "here"
    (tmp_path / "b.md").write_text("there")
    async with Run(deps={"ideas": tmp_path}) as run:
        assert json.loads((await called(run, "b.md")).text)["content"] == "there"


async def test_R5_a_repository_is_read_with_the_users_server_token_and_branch(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_API_URL", hub.url)
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    hub.put("ideas/a.md", b"main")
    hub.branches["draft/1"] = dict(hub.branches["main"])
    hub.put("ideas/a.md", b"changed")
    async with Run(deps={"repository": "octo/research", "branch": "draft/1"}) as run:
        assert json.loads((await called(run, "a.md")).text)["content"] == "main"
    assert hub.requests[0].query == {"ref": ["draft/1"]}


async def test_XL61_a_path_that_the_repository_does_not_list_is_not_asked_of_github(
    hub: Hub, github: GitHubSource
) -> None:
    """XL61: a model that has read private text could write it into a path."""
    hub.put("ideas/" + PATH, b"# Tea")
    async with run_over(github) as run:
        for path in ("CANARY-7f3a9c21/research.md", "2025-01-31-my-idea/CANARY.md", PATH + "/CANARY"):
            result = await called(run, path)
            assert (result.code, json.loads(result.text)["message"]) == ("file_not_found", f"File not found: {path}")
        assert not (await called(run, PATH)).is_error
        hub.put("ideas/new/research.md", b"# New")
        assert not (await called(run, "new/research.md")).is_error, "what is new is found"
    sent = [f"{one.path} {one.query} {one.headers}" for one in hub.requests]
    assert [one for one in sent if "CANARY" in one] == []
    assert len([one for one in hub.requests if one.path.endswith("research.md")]) == 2


async def test_XL61_of_too_many_files_the_documents_are_listed(hub: Hub, github: GitHubSource) -> None:
    hub.put("ideas/" + PATH, b"# Tea")
    hub.change = lambda answer: {**answer, "truncated": True} if "tree" in answer else answer
    assert await github.list_paths() == {PATH}
    assert (await answer_of(github, PATH))["ok"]


async def test_XL61_an_empty_repository_lists_nothing(github: GitHubSource) -> None:
    assert await github.list_paths() == frozenset()


def denying(pattern: str) -> Policy:
    return Policy((Rule(action="deny", path=pattern),))


async def test_XP20_rules_see_where_a_path_of_research_leads(tmp_path: Path) -> None:
    ideas = tmp_path / "ideas"
    (ideas / "secret").mkdir(parents=True)
    (ideas / "open").mkdir()
    (ideas / "secret/a.md").write_text("CANARY")
    (ideas / "open/link.md").symlink_to("../secret/a.md")
    (ideas / "folder").symlink_to("secret")
    (ideas / "open/b.md").write_text("text")
    (ideas / "open/c.md").symlink_to("b.md")
    source = LocalSource(ideas, state=tmp_path / "state")
    async with run_over(source, policy=denying("secret/**")) as run:
        for path in ("secret/a.md", "open/link.md", "folder/a.md", " folder/a.md "):
            assert (await called(run, path)).code == "denied", path
        for path in ("open/b.md", "open/c.md"):
            assert json.loads((await called(run, path)).text)["content"] == "text"
        assert (await called(run, "open/missing.md")).code == "file_not_found"
        assert (await called(run, "../x")).code == "path_validation"
    async with run_over(LocalSource(tmp_path / "none"), policy=denying("secret/**")) as run:
        assert (await called(run, "a.md")).code == "file_not_found"


async def test_XP20_a_link_that_is_swapped_after_the_rules_have_judged_is_not_followed(tmp_path: Path) -> None:
    ideas = tmp_path / "ideas"
    ideas.mkdir()
    (ideas / "a.md").write_text("text")
    (ideas / "secret.md").write_text("CANARY")

    class Swapping(LocalSource):
        async def locate(self, path: str) -> str:
            found = await super().locate(path)
            (ideas / "a.md").unlink()
            (ideas / "a.md").symlink_to("secret.md")
            return found

    async with run_over(Swapping(ideas, state=tmp_path / "state"), policy=denying("secret.md")) as run:
        result = await called(run, "a.md")
    assert result.is_error
    assert "CANARY" not in result.text


async def test_XP20_names_that_a_rule_denies_are_not_told_with_their_folder(shelf: Shelf) -> None:
    shelf.put("idea/secret.md", b"x")
    shelf.put("idea/research.md", b"x")
    async with run_over(shelf.source, policy=denying("**/secret.md")) as run:
        answer = json.loads((await called(run, "idea")).text)
    assert answer["entries"] == ["idea/research.md"]


async def test_XP20_a_link_in_a_repository_is_not_read_for_a_model(hub: Hub, github: GitHubSource) -> None:
    hub.put("ideas/secret.md", b"CANARY")
    hub.put("ideas/link.md", b"ideas/secret.md", kind="symlink")
    async with run_over(github, policy=denying("secret.md")) as run:
        assert (await called(run, "link.md")).code == "file_not_found"
        assert (await called(run, "secret.md")).code == "denied"
