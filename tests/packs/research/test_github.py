"""What GitHub can answer: odd shapes, limits, conflicts, failures; and what is sent to it."""

import asyncio
import base64
import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packs.research.hub import REPOSITORY, TOKEN, Fault, Hub
from tests.support.clock import time_passes_for_the_other_side

from toolroll.errors import FileMissing, FileTooLarge, NotAFile, ServiceFailed, UsageError
from toolroll.packs.research import github_api
from toolroll.packs.research.github import GitHubSource
from toolroll.packs.research.github_api import rate_limit_wait_s
from toolroll.packs.research.source import MAX_STORED_BYTES
from toolroll.safe.net.http import HttpClient, HttpLimits, HttpResponse

PATH = "a/research.md"
FILE = f"ideas/{PATH}"
MB = 1_048_576
NOW = datetime(2025, 1, 31, 12, 0, tzinfo=UTC)


WAITS = st.text(max_size=20) | st.text("0123456789", max_size=14)


async def failure(source: GitHubSource, path: str = PATH) -> ServiceFailed:
    with pytest.raises(ServiceFailed) as caught:
        await source.read(path)
    return caught.value


# --- Shapes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrapped", [True, False], ids=["lines", "one line"])
async def test_R5_base64_is_read_with_and_without_line_ends(hub: Hub, github: GitHubSource, wrapped: bool) -> None:
    hub.wrapped = wrapped
    hub.put(FILE, b"x" * 5_000)
    assert (await github.read(PATH)).content == "x" * 5_000


@pytest.mark.parametrize("kind", ["symlink", "submodule"])
async def test_R4_a_link_and_a_submodule_are_no_files(hub: Hub, github: GitHubSource, kind: Any) -> None:
    hub.put(FILE, b"../elsewhere", kind=kind)
    with pytest.raises(NotAFile) as caught:
        await github.read(PATH)
    assert (caught.value.message, caught.value.entries) == (f"Path is not a file: {PATH}", ())


async def test_R4_a_submodule_that_calls_itself_a_file_is_none(hub: Hub, github: GitHubSource) -> None:
    hub.put(FILE, b"")
    hub.change = lambda answer: {**answer, "submodule_git_url": "git://example.com/x.git"}
    with pytest.raises(NotAFile):
        await github.read(PATH)


async def test_R4_a_link_to_a_file_is_followed_only_inside_of_ideas(hub: Hub, github: GitHubSource) -> None:
    hub.put("ideas/b.md", b"inside")
    hub.put("secret.md", b"outside")
    hub.put(FILE, b"ideas/b.md", kind="symlink")
    assert (await github.read(PATH)).content == "inside"
    hub.put(FILE, b"secret.md", kind="symlink")
    with pytest.raises(NotAFile):
        await github.read(PATH)


@pytest.mark.parametrize("size", [None, "5", -1, 1.5, True], ids=["null", "text", "negative", "fraction", "boolean"])
async def test_R3_a_size_that_is_none_is_a_failure(hub: Hub, github: GitHubSource, size: object) -> None:
    hub.put(FILE, b"text")
    hub.change = lambda answer: {**answer, "size": size}
    await failure(github)


async def test_R3_a_size_that_is_too_small_does_not_let_more_through(hub: Hub, github: GitHubSource) -> None:
    hub.put(FILE, b"x" * 60_000)
    hub.change = lambda answer: {**answer, "size": 10}
    with pytest.raises(FileTooLarge, match="50KB"):
        await github.read(PATH)


async def test_R3_a_file_over_1_MB_is_refused_by_its_size(hub: Hub, github: GitHubSource) -> None:
    hub.put(FILE, b"x" * (MB + 1))
    with pytest.raises(FileTooLarge, match="50KB"):
        await github.read(PATH)
    assert len(hub.requests) == 1


async def test_R22_a_file_over_1_MB_is_changed_by_its_blob(hub: Hub, github: GitHubSource) -> None:
    hub.put(FILE, b"x" * (MB + 1))
    await github.update(PATH, lambda before: f"{before}y", message="Log")
    assert hub.branches["main"][FILE].data == b"x" * (MB + 1) + b"y"
    assert hub.requests[1].headers["accept"] == "application/vnd.github.raw+json"


async def test_R22_a_blob_that_is_gone_is_told(hub: Hub, github: GitHubSource) -> None:
    hub.put(FILE, b"x" * (MB + 1))
    hub.change = lambda answer: {**answer, "sha": "0" * 40} if "sha" in answer else answer
    with pytest.raises(ServiceFailed, match="status 404"):
        await github.read(PATH, limit_bytes=MAX_STORED_BYTES)


async def test_R3_a_file_that_github_finds_too_large_is_too_large(hub: Hub, github: GitHubSource) -> None:
    body = {"message": "This API returns blobs up to 100 MB in size.", "errors": [{"code": "too_large"}]}
    hub.faults.append(Fault(status=403, body=json.dumps(body).encode()))
    with pytest.raises(FileTooLarge):
        await github.read(PATH)


@pytest.mark.parametrize(
    "change",
    [
        lambda _: b"no JSON",
        lambda _: 7,
        lambda answer: {**answer, "encoding": "rot13"},
        lambda answer: {**answer, "content": None},
        lambda answer: {**answer, "content": "!!!!"},
        lambda answer: {**answer, "content": "ї"},
        lambda answer: {**answer, "encoding": "none", "sha": "../../../user"},
    ],
    ids=["no JSON", "number", "encoding", "no content", "no base64", "no ASCII", "sha"],
)
async def test_R4_an_answer_that_cannot_be_read_is_told(
    hub: Hub, github: GitHubSource, change: Callable[[Any], Any]
) -> None:
    hub.put(FILE, b"text")
    hub.change = change
    assert "cannot be read" in (await failure(github)).message
    assert len(hub.requests) == 1


@given(st.binary(max_size=300), st.integers(1, 80))
def test_R5_every_content_is_decoded_however_its_lines_are_broken(data: bytes, width: int) -> None:
    from toolroll.packs.research.github import _decode_content, _Item

    text = base64.b64encode(data).decode()
    lines = "\n".join(text[start : start + width] for start in range(0, len(text), width))
    assert _decode_content(_Item(type="file", encoding="base64", content=lines)) == data


async def test_R6_a_repository_that_is_not_there_is_told_and_an_empty_one_is_empty(hub: Hub) -> None:
    async with GitHubSource("octo/other", token=TOKEN, base_url=hub.url) as other:
        with pytest.raises(ServiceFailed, match="or the token may not see it"):
            await other.list_ideas()
    async with GitHubSource(REPOSITORY, token=TOKEN, base_url=hub.url) as source:
        assert await source.list_ideas() == ()


async def test_R6_a_tree_too_large_for_one_answer_is_listed_by_its_folders(hub: Hub, github: GitHubSource) -> None:
    hub.put("ideas/2025-01-01-a/research.md", b"x")
    hub.put("ideas/file.md", b"x")
    hub.change = lambda answer: {**answer, "truncated": True} if "tree" in answer else answer
    assert [entry.title for entry in await github.list_ideas()] == ["a"]


@pytest.mark.parametrize("body", [b'{"message": "Not Found"}', b"[1]"], ids=["missing", "odd"])
async def test_R6_a_tree_that_cannot_be_had_is_told(hub: Hub, github: GitHubSource, body: bytes) -> None:
    hub.put("ideas/2025-01-01-a/research.md", b"x")

    def change(answer: Any) -> Any:
        hub.faults.append(Fault(status=404 if b"Not" in body else 200, body=body))
        return answer

    hub.change = change
    with pytest.raises(ServiceFailed):
        await github.list_ideas()


async def test_R6_a_root_that_is_a_file_has_no_ideas(hub: Hub, github: GitHubSource) -> None:
    hub.faults.append(Fault(status=200, body=b'{"type": "file"}'))
    assert await github.list_ideas() == ()


# --- What is sent --------------------------------------------------------------------------------------


async def test_R5_the_token_the_version_and_the_branch_are_sent(hub: Hub) -> None:
    hub.put(FILE, b"text")
    hub.branches["f/x&y"] = dict(hub.branches["main"])
    async with GitHubSource(REPOSITORY, token=f" {TOKEN}\n", branch="f/x&y", base_url=f"{hub.url}/") as source:
        await source.read(PATH)
        await source.write(PATH, "new", message="Replace it")
    read, _, wrote = hub.requests
    assert read.headers["authorization"] == f"Bearer {TOKEN}"
    assert read.headers["x-github-api-version"] == "2022-11-28"
    assert read.query == {"ref": ["f/x&y"]}
    assert (wrote.body["branch"], wrote.body["message"]) == ("f/x&y", "Replace it")
    assert hub.branches["main"][FILE].data == b"text"


async def test_R5_without_a_token_none_is_sent_and_a_wrong_one_is_told(hub: Hub) -> None:
    async with GitHubSource(REPOSITORY, base_url=hub.url) as source:
        error = await failure(source)
    assert error.message == "GitHub answered with status 401: Bad credentials. Check the token in GITHUB_TOKEN."
    assert "authorization" not in hub.requests[0].headers


@pytest.mark.parametrize(
    "repository", ["octo", "octo/..", "octo/.", "../x", "a/b/c", "octo/x?y", "octo/x%2f", "", "a b/c"]
)
def test_XP1_a_repository_that_is_none_is_refused(repository: str) -> None:
    with pytest.raises(UsageError, match="OWNER/NAME"):
        GitHubSource(repository)


@pytest.mark.parametrize("branch", ["", "a b", "a..b", "a\nb", "a?b", "x" * 251])
def test_XP1_a_branch_that_is_none_is_refused(branch: str) -> None:
    with pytest.raises(UsageError, match="branch"):
        GitHubSource(REPOSITORY, branch=branch)


@pytest.mark.parametrize(
    "url",
    ["http://github.example.com", "https://user:pass@ghe.example.com", "https://x/?y", "ftp://x", "x", "http://[", ""],
)
def test_XW8_an_address_that_is_no_encrypted_one_is_refused(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        GitHubSource(REPOSITORY, base_url=url)
    assert "pass" not in caught.value.message


@pytest.mark.parametrize("token", ["a b", "a\nb", "ключ"])
def test_R5_a_token_that_is_none_is_refused_and_not_shown(token: str) -> None:
    with pytest.raises(UsageError) as caught:
        GitHubSource(REPOSITORY, token=token)
    assert token not in caught.value.message


@pytest.mark.parametrize(
    ("url", "branch", "page"),
    [
        ("https://api.github.com", None, f"https://github.com/octo/research/blob/HEAD/ideas/{PATH}"),
        ("https://10.0.0.7/api/v3", "a#b", f"https://10.0.0.7/octo/research/blob/a%23b/ideas/{PATH}"),
    ],
    ids=["github.com", "enterprise"],
)
def test_R22_the_page_of_a_document_is_known(url: str, branch: str | None, page: str) -> None:
    assert GitHubSource(REPOSITORY, base_url=url, branch=branch).where(PATH) == page


def test_R5_the_environment_names_the_token_and_the_server() -> None:
    for names, token in (({"GITHUB_TOKEN": "one", "GH_TOKEN": "two"}, "one"), ({"GH_TOKEN": "two"}, "two"), ({}, None)):
        assert GitHubSource.from_environment(REPOSITORY, environment=names)._api._token == token
    environment = {"GITHUB_API_URL": "https://ghe.example.com/api/v3"}
    assert (
        GitHubSource.from_environment(REPOSITORY, environment=environment)._api.base_url
        == environment["GITHUB_API_URL"]
    )


# --- Unchanged answers ---------------------------------------------------------------------------------


async def test_R5_what_has_not_changed_is_not_sent_again(hub: Hub, github: GitHubSource) -> None:
    hub.put(FILE, b"text")
    assert (await github.read(PATH)).content == (await github.read(PATH)).content == "text"
    assert [asked.headers.get("if-none-match") is not None for asked in hub.requests] == [False, True]
    hub.put(FILE, b"other")
    assert (await github.read(PATH)).content == "other"


async def test_R5_only_so_many_answers_are_remembered(
    hub: Hub, github: GitHubSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(github_api, "MAX_CACHED", 1)
    hub.put("ideas/a.md", b"a")
    hub.put("ideas/b.md", b"b")
    for path in ("a.md", "b.md", "a.md"):
        await github.read(path)
    assert not any("if-none-match" in asked.headers for asked in hub.requests)


async def test_R5_a_304_that_was_not_asked_for_is_a_failure(hub: Hub, github: GitHubSource) -> None:
    hub.faults.append(Fault(status=304, body=b""))
    assert (await failure(github)).status == 304


# --- Rate limits ---------------------------------------------------------------------------------------


def limited(hub: Hub, *faults: Fault) -> None:
    hub.put(FILE, b"text")
    hub.faults.extend(faults)


def at(now: datetime, hub: Hub, pauses: list[float]) -> GitHubSource:
    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    return GitHubSource(REPOSITORY, token=TOKEN, base_url=hub.url, clock=lambda: now, sleep=sleep)


def spent(reset_in_s: float, status: int = 403) -> Fault:
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(round(NOW.timestamp() + reset_in_s))}
    return Fault(status=status, headers=headers, body=b'{"message": "API rate limit exceeded"}')


async def test_R5_a_limit_that_ends_soon_is_waited_for(hub: Hub, pauses: list[float]) -> None:
    limited(hub, spent(4))
    async with at(NOW, hub, pauses) as source:
        assert (await source.read(PATH)).content == "text"
    assert pauses == [5.0]


async def test_R5_a_limit_that_has_ended_already_is_not_waited_for(hub: Hub, pauses: list[float]) -> None:
    limited(hub, spent(-30))
    async with at(NOW, hub, pauses) as source:
        assert (await source.read(PATH)).content == "text"
    assert pauses == []


async def test_R5_a_limit_that_ends_late_is_told_and_nothing_is_asked_until_then(hub: Hub, pauses: list[float]) -> None:
    limited(hub, spent(1_499))
    async with at(NOW, hub, pauses) as source:
        first, second = await failure(source), await failure(source, "b.md")
    assert first.message == "GitHub's rate limit is reached; it ends at 12:25:00 UTC, in 1500 seconds."
    assert (first.message, first.retry_after_s) == (second.message, 1_500)
    assert (len(hub.requests), pauses) == (1, [])


async def test_R5_a_limit_that_does_not_end_when_it_should_is_told(hub: Hub, pauses: list[float]) -> None:
    limited(hub, spent(4), spent(4))
    async with at(NOW, hub, pauses) as source:
        assert (await failure(source)).retry_after_s == 5
    assert len(hub.requests) == 2


async def test_R5_without_a_token_the_limit_says_that_one_helps(hub: Hub) -> None:
    hub.faults.append(Fault(status=429, headers={"retry-after": "3600"}))
    async with GitHubSource(REPOSITORY, base_url=hub.url) as source:
        assert "GITHUB_TOKEN" in (await failure(source)).message


@pytest.mark.parametrize(
    ("status", "headers", "body", "wait_s"),
    [
        (200, {"x-ratelimit-remaining": "0"}, b"", None),
        (403, {}, b'{"message": "Must have admin rights"}', None),
        (403, {"x-ratelimit-remaining": "17"}, b"", None),
        (403, {"retry-after": "7"}, b"", 7),
        (403, {"retry-after": "9" * 12}, b"", 86_400),
        (429, {"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, b"", 60),
        (429, {}, b"", 60),
        (403, {}, b'{"message": "You have exceeded a secondary rate limit"}', 60),
        (403, {"x-ratelimit-remaining": "0"}, b"", 61),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" * 40}, b"", 61),
    ],
    ids=["fine", "rights", "some left", "seconds", "for ever", "date", "bare", "secondary", "no reset", "odd reset"],
)
def test_R5_limits_are_told_from_other_refusals(
    status: int, headers: dict[str, str], body: bytes, wait_s: float | None
) -> None:
    assert rate_limit_wait_s(HttpResponse(status=status, headers=headers, body=body), now=NOW) == wait_s


@given(WAITS, WAITS, st.sampled_from([403, 429]))
def test_R5_whatever_a_limit_says_the_wait_is_a_number(after: str, reset: str, status: int) -> None:
    for headers in ({"retry-after": after}, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": reset}):
        wait_s = rate_limit_wait_s(HttpResponse(status=status, headers=headers, body=b""), now=NOW)
        assert wait_s is not None
        assert 0 <= wait_s <= 86_400


# --- Failures ------------------------------------------------------------------------------------------


async def test_R4_a_server_that_fails_is_asked_again(hub: Hub, github: GitHubSource, pauses: list[float]) -> None:
    hub.put(FILE, b"text")
    hub.faults.extend([Fault(status=502, body=b"<html>"), Fault(status=200, cut=True, body=b"{")])
    assert (await github.read(PATH)).content == "text"
    assert pauses == [0.5, 2.0]


async def test_R4_a_server_that_goes_on_failing_is_told(hub: Hub, github: GitHubSource) -> None:
    hub.faults.extend([Fault(status=503)] * 3)
    assert (await failure(github)).message == "GitHub failed with status 503. Server Error"
    assert len(hub.requests) == 3


async def test_R4_a_server_that_cannot_be_reached_is_told(pauses: list[float]) -> None:
    with Hub() as hub:
        url = hub.url

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async with GitHubSource(REPOSITORY, base_url=url, sleep=sleep) as source:
        assert (await failure(source)).message.startswith("GitHub could not be reached: ")


async def test_R4_a_server_that_does_not_answer_is_told() -> None:
    ended: list[asyncio.Event] = []

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ended.append(asyncio.Event())
        mine = ended[-1]
        await reader.readuntil(b"\r\n\r\n")
        await time_passes_for_the_other_side(3_600)
        await reader.read()
        writer.close()
        await writer.wait_closed()
        mine.set()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        limits = HttpLimits(total_s=3_600, body_bytes=MB)
        api = github_api.GitHubApi(url, limits=limits, sleep=lambda _: asyncio.sleep(0))
        with pytest.raises(ServiceFailed, match=r"did not answer within 3600 seconds"):
            await api.get("x")
        await api.aclose()
        await api.aclose()
        for one in ended:
            await one.wait()
    assert len(ended) == 3


async def test_R4_an_answer_without_end_is_cut_off_and_not_asked_for_again(hub: Hub, github: GitHubSource) -> None:
    github._api._http = HttpClient(HttpLimits(total_s=60, body_bytes=1_000))
    hub.put(FILE, b"x" * 2_000)
    assert (await failure(github)).message == "GitHub sent more than 1,000 bytes."
    assert len(hub.requests) == 1


async def test_R4_what_the_server_says_is_one_line(hub: Hub, github: GitHubSource) -> None:
    body = json.dumps({"message": "a\nb\x1b[2J" + "x" * 5_000}).encode()
    hub.faults.append(Fault(status=418, body=body))
    message = (await failure(github)).message
    assert message.isprintable()
    assert len(message) < 300


async def test_R5_a_renamed_repository_is_found_where_it_is(hub: Hub, github: GitHubSource) -> None:
    hub.put(FILE, b"text")
    hub.faults.append(Fault(status=301, headers={"location": f"/repos/{REPOSITORY}/contents/{FILE}"}, body=b""))
    assert (await github.read(PATH)).content == "text"


async def test_XW8_the_token_goes_to_no_other_server(hub: Hub, github: GitHubSource) -> None:
    with Hub() as other:
        for target in (
            f"{other.url}/x",
            f"https://127.0.0.1:{other.url.rpartition(':')[2]}/",
            "http://169.254.169.254/",
        ):
            hub.faults.extend([Fault(status=302, headers={"location": target}, body=b"")] * 3)
            assert "another server" in (await failure(github)).message
            hub.faults.clear()
        assert other.requests == []


async def test_XW8_redirects_without_end_are_given_up(hub: Hub, github: GitHubSource) -> None:
    hub.faults.extend([Fault(status=307, headers={}, body=b"")] * 20)
    assert "in circles" in (await failure(github)).message


# --- Writing -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [409, 422], ids=["changed", "made"])
async def test_R22_a_conflict_is_retried_from_what_is_there_then(
    hub: Hub, github: GitHubSource, pauses: list[float], status: int
) -> None:
    if status == 409:
        hub.put(FILE, b"mine")
    raced: list[str | None] = []

    def change(before: str | None) -> str:
        if not raced:
            hub.put(FILE, b"theirs")
        raced.append(before)
        return f"{before} changed"

    await github.update(PATH, change, message="Change")
    assert raced == ["mine" if status == 409 else None, "theirs"]
    assert hub.branches["main"][FILE].data == b"theirs changed"
    assert (hub.commits, pauses) == (["Change"], [0.5])


async def test_R22_a_conflict_without_end_is_told(hub: Hub, github: GitHubSource) -> None:
    def change(before: str | None) -> str:
        hub.put(FILE, f"{before}+".encode())
        return "mine"

    with pytest.raises(ServiceFailed, match="status 409"):
        await github.update(PATH, change, message="Change")
    assert "mine" not in hub.branches["main"][FILE].data.decode()


async def test_R22_a_commit_whose_answer_is_lost_is_not_made_twice(hub: Hub, github: GitHubSource) -> None:
    hub.put(FILE, b"log")
    asked: list[str | None] = []

    def change(before: str | None) -> str:
        asked.append(before)
        hub.faults.append(Fault(status=502, lost=True))
        return f"{before}+"

    await github.update(PATH, change, message="Log")
    assert (asked, hub.branches["main"][FILE].data, hub.commits) == (["log"], b"log+", ["Log"])


async def test_R22_no_commit_is_made_where_nothing_changes(hub: Hub, github: GitHubSource) -> None:
    hub.put(FILE, b"same")
    await github.write(PATH, "same", message="Nothing")
    assert hub.commits == []


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault(status=403, body=b'{"message": "Resource not accessible"}'), "The token may not do this"),
        (Fault(status=404), "or the token may not see it"),
        (Fault(status=429, headers={"retry-after": "900"}), "rate limit"),
    ],
    ids=["rights", "missing", "limit"],
)
async def test_R22_a_refused_commit_is_told_at_once(hub: Hub, github: GitHubSource, fault: Fault, message: str) -> None:
    def change(_: str | None) -> str:
        hub.faults.append(fault)
        return "new"

    with pytest.raises(ServiceFailed, match=message):
        await github.update(PATH, change, message="New")
    assert len(hub.requests) == 2


async def test_R22_a_refusal_of_the_content_is_no_conflict(hub: Hub, github: GitHubSource) -> None:
    hub.put(FILE, b"old")

    def change(_: str | None) -> str:
        hub.faults.append(Fault(status=422, body=b'{"message": "content is not valid"}'))
        return "new"

    with pytest.raises(ServiceFailed, match="content is not valid"):
        await github.update(PATH, change, message="New")


async def test_R5_nothing_of_a_missing_file_is_remembered(hub: Hub, github: GitHubSource) -> None:
    with pytest.raises(FileMissing):
        await github.read(PATH)
    hub.put(FILE, b"now")
    assert (await github.read(PATH)).content == "now"


async def test_R26_the_token_is_nowhere_in_the_log(
    hub: Hub, github: GitHubSource, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    hub.put(FILE, b"text")
    await github.read(PATH)
    await github.write(PATH, "new", message="x")
    assert TOKEN not in caplog.text
    assert TOKEN not in repr(vars(github))
