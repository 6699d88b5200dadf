"""What the page asks of the server, over a real socket: chats, approvals, undo, and who is let in (S20, S21, XW2)."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.web.conftest import WAIT_S, Site

from toolroll.apps.feed import Feed
from toolroll.web.page import FOLDER, POLICY

BEFORE = "one = 1\n\n\n\n\n\n\n\ntwo = 2\n"
AFTER = "one = 10\n\n\n\n\n\n\n\ntwo = 20\n"
READ = {"calls": [{"name": "read_file", "arguments": {"path": "a.py"}, "id": "read_1"}]}
REWRITE = {
    "text": "I propose this.",
    "calls": [
        {"name": "edit_file", "id": "edit_1", "arguments": {"path": "a.py", "content": AFTER, "description": "Tens."}}
    ],
}


def write_script(site: Site, *turns: object) -> str:
    (site.root / "turns.json").write_text(json.dumps(turns))
    (site.root / "project").mkdir()
    (site.root / "project" / "a.py").write_text(BEFORE)
    return f"scripted:{site.root / 'turns.json'}"


def start(site: Site, client: httpx2.Client, *turns: object, **more: object) -> str:
    """Begin a chat that plays these turns; return its id."""
    model = write_script(site, *turns)
    body = {"text": "Make them tens.", "model": model, "folder": str(site.root / "project"), **more}
    answer = client.post("/api/chats", json=body)
    assert answer.status_code == 202, answer.text
    chat_id: str = answer.json()["id"]
    return chat_id


def wait_for(client: httpx2.Client, chat_id: str, *states: str) -> dict[str, Any]:
    ends = time.monotonic() + WAIT_S
    while True:
        answer = client.get(f"/api/chats/{chat_id}")
        chat: dict[str, Any] = answer.json()
        if answer.status_code == 200 and chat["state"] in states:
            return chat
        assert answer.status_code == 404 or chat["state"] == "running", chat
        assert time.monotonic() < ends, chat
        time.sleep(0.02)


def answer(client: httpx2.Client, chat: dict[str, Any], **given: object) -> httpx2.Response:
    [question] = chat["questions"]
    one = {"call_id": question["call_id"], "digest": question["digest"], **given}
    return client.post(f"/api/chats/{chat['id']}/answers", json={"answers": [one]})


def test_S20_a_change_is_shown_approved_in_part_and_undone(site: Site) -> None:
    with site.browser() as client:
        chat_id = start(site, client, READ, REWRITE, "One of them is ten.")
        chat = wait_for(client, chat_id, "waiting")
        [question] = chat["questions"]
        assert (question["why"], [len(file["hunks"]) for file in question["files"]]) == ("Tens.", [2])
        assert answer(client, chat, decision="approve", hunks=[[True, False]]).status_code == 202
        chat = wait_for(client, chat_id, "idle")
        assert (site.root / "project" / "a.py").read_text() == BEFORE.replace("one = 1\n", "one = 10\n")
        assert [item["kind"] for item in chat["items"]] == ["user", "call", "text", "call", "text"]
        [change] = client.get(f"/api/chats/{chat_id}/changes").json()["changes"]
        assert (change["files"], change["state"]) == (["a.py"], "applied")
        assert client.post(f"/api/chats/{chat_id}/undo", json={"change": change["id"]}).status_code == 200
        assert (site.root / "project" / "a.py").read_text() == BEFORE
        [undone] = client.get(f"/api/chats/{chat_id}/changes").json()["changes"]
        assert undone["state"] == "undone"
        again = client.post(f"/api/chats/{chat_id}/undo", json={"change": change["id"], "redo": True})
        assert (again.status_code, (site.root / "project" / "a.py").read_text()[:9]) == (200, "one = 10\n")


def test_S20_a_person_edits_what_is_written_and_sees_it_first(site: Site) -> None:
    with site.browser() as client:
        chat_id = start(site, client, READ, REWRITE, "It is yours.")
        chat = wait_for(client, chat_id, "waiting")
        mine = AFTER.replace("20", "21")
        shown = client.post(f"/api/chats/{chat_id}/preview", json={"call_id": "edit_1", "edited": mine}).json()
        lines = [line["text"] for hunk in shown["files"][0]["hunks"] for line in hunk["lines"] if line["sign"] == "+"]
        assert lines == ["one = 10", "two = 21"]
        answer(client, chat, decision="approve", edited=mine)
        wait_for(client, chat_id, "idle")
    assert (site.root / "project" / "a.py").read_text() == mine


def test_S20_a_rejection_reaches_the_model_and_the_chat_goes_on(site: Site) -> None:
    with site.browser() as client:
        chat_id = start(site, client, READ, REWRITE, "I leave it.", "You are welcome.")
        answer(client, wait_for(client, chat_id, "waiting"), decision="reject", reason="Not tens.")
        chat = wait_for(client, chat_id, "idle")
        [rejected] = [item for item in chat["items"] if item["state"] == "rejected"]
        assert (rejected["reason"], (site.root / "project" / "a.py").read_text()) == ("Not tens.", BEFORE)
        assert client.post(f"/api/chats/{chat_id}/messages", json={"text": "Thanks."}).status_code == 202
        chat = wait_for(client, chat_id, "idle")
        assert [item["text"] for item in chat["items"] if item["kind"] == "text"][-1] == "You are welcome."
        [run] = client.get("/api/runs").json()["runs"]  # one conversation is one run
        assert (run["id"], run["title"]) == (chat_id, "Make them tens.")


def test_S20_an_answer_to_what_has_changed_counts_for_nothing(site: Site) -> None:
    with site.browser() as client:
        chat_id = start(site, client, READ, REWRITE, "So be it.")
        chat = wait_for(client, chat_id, "waiting")
        wrong = {**chat, "questions": [{**chat["questions"][0], "digest": "0" * 64}]}
        assert answer(client, wrong, decision="approve").status_code == 409
        (site.root / "project" / "a.py").write_text(BEFORE + "three = 3\n")
        answer(client, chat, decision="approve")
        wait_for(client, chat_id, "idle", "waiting", "stopped")
    assert (site.root / "project" / "a.py").read_text() == BEFORE + "three = 3\n"


@pytest.mark.parametrize("hunks", [[[False, False]], [[True]], [[True, True], [True]]])
def test_S20_a_choice_that_does_not_fit_is_refused(site: Site, hunks: Sequence[Sequence[bool]]) -> None:
    with site.browser() as client:
        chat = wait_for(client, start(site, client, READ, REWRITE, "-"), "waiting")
        assert answer(client, chat, decision="approve", hunks=hunks).status_code in (400, 409)
        assert wait_for(client, chat["id"], "waiting")["questions"] == chat["questions"]


def test_S20_an_always_is_remembered_for_such_paths(site: Site) -> None:
    back = {"path": "a.py", "content": BEFORE, "description": "Back."}
    again = {"calls": [{"name": "edit_file", "id": "edit_2", "arguments": back}]}
    with site.browser() as client:
        chat_id = start(site, client, READ, REWRITE, again, "Back again.")
        chat = wait_for(client, chat_id, "waiting")
        answer(client, chat, decision="approve", always=chat["questions"][0]["always"])
        chat = wait_for(client, chat_id, "idle")
        assert [item["state"] for item in chat["items"] if item["kind"] == "call"] == ["done", "done", "done"]


def test_S22_a_question_survives_the_server(site: Site, tmp_path: Path) -> None:
    from toolroll.apps.chats import Chats

    with site.browser() as client:
        chat_id = start(site, client, READ, REWRITE, "Done.")
        wait_for(client, chat_id, "waiting")

    async def look() -> None:
        later = Chats(site.service.store.journal, site.service.environment)
        await later.look(chat_id)
        [request] = later.view(chat_id).requests.values()
        assert (request.tool, request.preview.editable) == ("edit_file", AFTER)
        await later.close()

    import asyncio

    asyncio.run(look())


def test_S20_errors_are_said_and_nothing_is_left_behind(site: Site) -> None:
    with site.browser() as client:
        missing = client.post("/api/chats", json={"text": "Hi", "folder": str(site.root / "nowhere")})
        assert (missing.status_code, missing.json()["code"]) == (400, "usage")
        assert client.post("/api/chats", json={"text": " "}).status_code == 400
        assert client.post("/api/chats", json={"text": "Hi", "model": "nobody:x"}).status_code == 400
        assert client.get("/api/chats/none").status_code == 404
        assert client.post("/api/chats/none/messages", json={"text": "Hi"}).status_code == 404
        assert client.get("/api/runs").json() == {"runs": [], "total": 0}
        chat_id = start(site, client, READ)  # the script ends too early
        chat = wait_for(client, chat_id, "stopped")
        assert chat["error"]
        assert chat["can_continue"]


def test_S20_news_tell_what_changed(site: Site) -> None:
    with site.browser() as client, client.stream("GET", "/api/news?chat=") as stream:
        lines = stream.iter_lines()
        assert next(lines) == "retry: 1000"
        chat_id = start(site, client, READ, "All is said.")
        chat: dict[str, Any] = {}
        for line in lines:
            if line.startswith("data: "):
                assert json.loads(line.removeprefix("data: "))["chat"] == chat_id
                chat = client.get(f"/api/chats/{chat_id}").json()  # after the last news, the record is complete
                if chat["state"] == "idle":
                    break
    assert chat["items"][-1]["text"] == "All is said."


async def test_S22_a_slow_listener_gets_joined_news() -> None:
    feed = Feed()
    with feed.listen() as listener:
        for place in range(1_000):
            feed.write("a", "x", at=place)
        [news] = await listener.wait(1)
        assert (news.kind, len(news.text), news.at) == ("text", 1_000, 0)
        feed.write("a", "y", at=1_000)
        feed.change("a")
        feed.write("a", "z", at=0)
        assert [(one.kind, one.text) for one in await listener.wait(1)] == [("changed", ""), ("text", "z")]
        assert await listener.wait(0.01) == []
    feed.change("a")


@pytest.mark.parametrize("slots", [0])
def test_XW2_only_the_page_itself_may_ask(site: Site) -> None:
    with site.browser() as client:
        session = dict(client.cookies)
        assert client.get("/api/home").status_code == 200
        body = {"text": "Hi"}
        for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": f"{site.url}0"}):
            assert client.post("/api/chats", json=body, headers=headers).status_code == 403
        assert client.get("/api/home", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
        assert client.get("/api/news", headers={"Sec-Fetch-Site": "same-site"}).status_code == 403
        as_form = client.post("/api/chats", content=json.dumps(body), headers={"Content-Type": "text/plain"})
        assert as_form.status_code == 415
    with httpx2.Client(base_url=site.url, trust_env=False) as stranger:
        assert stranger.get("/api/home").status_code == 401
        assert stranger.post("/api/session", json={"token": "x"}, headers={"Origin": site.url}).status_code == 401
        stranger.cookies.update(session)
        without = stranger.post("/api/chats", json=body)  # a cookie alone, without an origin
        assert without.status_code == 403
    with site.client("owner") as program:  # a token of a program opens no chat in a folder of its choice
        assert program.post("/api/chats", json=body).status_code == 401


@pytest.mark.parametrize("slots", [0])
def test_S21_the_page_loads_nothing_from_elsewhere(site: Site) -> None:
    with httpx2.Client(base_url=site.url, trust_env=False) as client:
        page = client.get("/")
        assert page.headers["content-security-policy"] == POLICY
        assert page.headers["cross-origin-opener-policy"] == "same-origin"
        names = [str(file.relative_to(FOLDER)) for file in FOLDER.rglob("*.*")]
        for name in names:
            answer = client.get(f"/static/{name}")
            assert (answer.status_code, answer.headers["x-content-type-options"]) == (200, "nosniff"), name
        for name in ("../app.py", "%2e%2e/app.py", "vendor", "none.js"):
            assert client.get(f"/static/{name}").status_code == 404
    own = [(FOLDER / name).read_text() for name in names if "vendor" not in name and not name.endswith(".svg")]
    assert not any("http://" in text or "https://" in text for text in own)
    assert not any(word in text for text in own for word in ("innerHTML", "dangerouslySet", "eval(", "style="))
