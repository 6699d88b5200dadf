"""What Notion can answer: limits, conflicts, failures, nonsense; and what is sent to it."""

import logging

import pytest
from tests.packs.writing.notion.workspace import PAGE, TOKEN, Fault, Workspace

from toolroll.errors import ServiceFailed
from toolroll.packs.writing.notion import client as module
from toolroll.packs.writing.notion.client import NotionClient

PATH = f"pages/{PAGE}"


@pytest.fixture(autouse=True)
def _page(workspace: Workspace) -> None:
    workspace.page(PAGE, "Title", [])


async def failure(client: NotionClient, path: str = PATH) -> ServiceFailed:
    with pytest.raises(ServiceFailed) as caught:
        await client.get(path)
    return caught.value


async def test_W17_token_and_version_are_sent(workspace: Workspace, client: NotionClient) -> None:
    await client.get(PATH)
    [asked] = workspace.requests
    assert (asked.method, asked.path) == ("GET", f"/v1/{PATH}")
    assert asked.headers["authorization"] == f"Bearer {TOKEN}"
    assert asked.headers["notion-version"] == "2026-03-11"


async def test_W17_a_rate_limit_is_waited_for(workspace: Workspace, client: NotionClient, pauses: list[float]) -> None:
    workspace.faults += [Fault(status=429, headers={"Retry-After": "7"}), Fault(status=429)]
    assert (await client.get(PATH))["id"] == PAGE
    assert pauses == [7.0, 1.0]


@pytest.mark.parametrize("told", ["16", "9" * 400])
async def test_W17_a_rate_limit_beyond_the_deadline_is_told(
    workspace: Workspace, client: NotionClient, pauses: list[float], told: str
) -> None:
    workspace.faults.append(Fault(status=429, headers={"Retry-After": told}))
    error = await failure(client)
    assert (error.status, error.retry_after_s) == (429, 16.0 if told == "16" else 86_400.0)
    assert pauses == []


@pytest.mark.parametrize("status", [409, 500, 502, 503, 504])
async def test_W17_what_passes_is_asked_again(
    workspace: Workspace, client: NotionClient, pauses: list[float], status: int
) -> None:
    workspace.faults += [Fault(status=status, headers={"Retry-After": "soon"})] * 3
    assert (await client.get(PATH))["id"] == PAGE
    assert pauses == [0.5, 1.0, 2.0]


async def test_W17_what_does_not_pass_is_told(workspace: Workspace, client: NotionClient) -> None:
    workspace.faults += [Fault(status=503)] * 9
    error = await failure(client)
    assert error.message == "Notion answered with status 503. internal_server_error: Oops"
    assert len(workspace.requests) == 4


@pytest.mark.parametrize("status", [400, 401, 403, 404, 301])
async def test_W17_a_refusal_is_told_at_once(workspace: Workspace, client: NotionClient, status: int) -> None:
    headers = {"Location": "https://example.com/", "Retry-After": "1"}
    workspace.faults.append(Fault(status=status, headers=headers, body=b"[]"))
    error = await failure(client)
    assert (error.status, error.message) == (status, f"Notion answered with status {status}.")
    assert error.retry_after_s is None
    assert len(workspace.requests) == 1


@pytest.mark.parametrize("fault", [Fault(status=503), Fault(cut=True)], ids=["failed", "cut"])
async def test_W18_what_may_be_done_is_not_sent_twice(workspace: Workspace, client: NotionClient, fault: Fault) -> None:
    workspace.faults.append(fault)
    with pytest.raises(ServiceFailed):
        await client.post("pages", {})
    assert len(workspace.requests) == 1


@pytest.mark.parametrize("status", [409, 429])
async def test_W18_what_was_not_done_is_sent_again(workspace: Workspace, client: NotionClient, status: int) -> None:
    workspace.faults.append(Fault(status=status))
    assert (await client.patch(PATH, {"in_trash": True}))["in_trash"] is True
    assert len(workspace.requests) == 2


@pytest.mark.parametrize("body", [b"no JSON", b"[]", b'{"a": 1, "a": 2}'], ids=["text", "list", "twice"])
async def test_W17_an_answer_that_cannot_be_read_is_told(
    workspace: Workspace, client: NotionClient, body: bytes
) -> None:
    workspace.faults.append(Fault(status=200, body=body))
    assert (await failure(client)).message == "Notion sent an answer that cannot be read."


@pytest.mark.parametrize("body", [b"no JSON", b"[" * 100_000, b'{"message": 7}'], ids=["text", "deep", "number"])
async def test_W17_a_refusal_that_cannot_be_read_is_told(
    workspace: Workspace, client: NotionClient, body: bytes
) -> None:
    workspace.faults.append(Fault(status=400, body=body))
    assert (await failure(client)).message == "Notion answered with status 400."


async def test_W17_an_answer_without_end_is_ended(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_ANSWER_BYTES", 1_000)
    workspace.faults.append(Fault(status=200, body=b" " * 1_001))
    async with NotionClient(TOKEN, base_url=workspace.url) as client:
        assert (await failure(client)).message == "Notion sent more than 1,000 bytes."
    assert len(workspace.requests) == 1


async def test_W17_a_server_that_is_not_there_is_told(client: NotionClient, pauses: list[float]) -> None:
    async with NotionClient(TOKEN, base_url="http://127.0.0.1:1", sleep=client._retries.sleep) as nobody:
        assert (await failure(nobody)).message == "Notion could not be reached: All connection attempts failed."
    assert len(pauses) == 3


async def test_W17_a_slow_server_is_left_at_the_deadline(workspace: Workspace) -> None:
    workspace.faults += [Fault(hang=True)] * 9
    async with NotionClient(TOKEN, base_url=workspace.url, timeout_s=0.1) as client:
        with pytest.raises(ServiceFailed, match=r"did not answer within 0\.1 seconds") as caught:
            async with client.deadline():
                await client.get(PATH)
    assert caught.value.status is None


async def test_W18_a_slow_server_is_left_without_a_deadline_too(workspace: Workspace) -> None:
    workspace.faults.append(Fault(hang=True))
    async with NotionClient(TOKEN, base_url=workspace.url, timeout_s=0.1) as client:
        with pytest.raises(ServiceFailed, match=r"did not answer within 0\.1 seconds"):
            await client.post(PATH, {})


async def test_W17_it_waits_on_the_clock_unless_told_otherwise(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAUSES_S", (0.001,))
    workspace.faults.append(Fault(status=500))
    async with NotionClient(TOKEN, base_url=workspace.url) as client:
        assert (await client.get(PATH))["id"] == PAGE


@pytest.mark.parametrize("token", ["two words", "line\nend", "ключ", " "])
async def test_W17_a_token_that_is_none_is_not_sent(workspace: Workspace, token: str) -> None:
    async with NotionClient(token, base_url=workspace.url) as client:
        error = await failure(client)
    assert (error.status, workspace.requests) == (401, [])
    assert error.message == "NOTION_TOKEN holds characters that no token has. Copy it again."


async def test_W17_the_token_is_in_no_message_and_no_log(
    workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with NotionClient(f"x{TOKEN}", base_url=workspace.url) as client:
        error = await failure(client)  # our Notion says the token in its answer
    assert (error.status, "unauthorized" in error.message) == (401, True)
    chain = [str(one) for one in (error, error.__cause__, error.__context__)]
    assert not any(TOKEN in text for text in (*chain, repr(error), repr(client), caplog.text))


async def test_W17_a_token_of_any_form_is_taken_out_of_what_notion_says(workspace: Workspace) -> None:
    canary = "canary-7f3a-value"
    workspace.faults.append(Fault(status=400, body=f'{{"code": "odd", "message": "what is {canary}?"}}'.encode()))
    async with NotionClient(canary, base_url=workspace.url) as client:
        error = await failure(client)
    assert error.message.startswith("Notion answered with status 400. odd: what is ")
    assert canary not in error.message
