"""What the page asks of recorded runs, over a real socket: lists, figures, timelines, forks, replays, exports (S20)."""

import asyncio
import base64
import json

import pytest
from tests.web.conftest import Site
from tests.web.test_page import BEFORE, READ, REWRITE, answer, start, wait_for, write_script

from toolroll.apps.chats import Chats
from toolroll.journal.sqlite import SqliteJournal

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 16).decode()


def test_S20_a_run_is_found_timed_replayed_and_exported(site: Site) -> None:
    with site.browser() as client:
        chat_id = start(site, client, READ, REWRITE, "Both are ten.")
        answer(client, wait_for(client, chat_id, "waiting"), decision="approve")
        wait_for(client, chat_id, "idle")
        [run] = client.get("/api/runs", params={"find": "TENS project", "app": "code", "state": "answer"}).json()[
            "runs"
        ]
        assert (run["id"], run["steps"], run["input_tokens"], run["output_tokens"]) == (chat_id, 3, 30, 15)
        assert client.get("/api/runs", params={"app": "explore"}).json() == {"runs": [], "total": 1}
        spans = client.get(f"/api/chats/{chat_id}/timeline").json()["spans"]
        assert [span["name"] or span["step"] for span in spans] == [1, "read_file", 2, "edit_file", 3]
        assert all(span["start_s"] >= 0 for span in spans)
        replayed = client.post(f"/api/chats/{chat_id}/replay").json()
        assert replayed["steps"] == 3
        assert [one for one in replayed["differences"] if "edit_file" in one] == []
        lines = client.get(f"/api/chats/{chat_id}/export?form=jsonl")
        assert json.loads(lines.text.splitlines()[0])["run_id"] == chat_id
        assert "attachment" in lines.headers["content-disposition"]
        assert client.get(f"/api/chats/{chat_id}/export?form=exe").status_code == 400
        assert client.get("/api/chats/none/export").status_code == 404


def test_S20_a_change_is_shown_where_it_can_be_undone(site: Site) -> None:
    with site.browser() as client:
        chat_id = start(site, client, READ, REWRITE, "Both are ten.")
        answer(client, wait_for(client, chat_id, "waiting"), decision="approve")
        wait_for(client, chat_id, "idle")
        [change] = client.get(f"/api/chats/{chat_id}/changes").json()["changes"]
        [file] = client.get(f"/api/chats/{chat_id}/change", params={"change": change["id"]}).json()["files"]
        added = [line["text"] for hunk in file["hunks"] for line in hunk["lines"] if line["sign"] == "+"]
        assert (file["name"], added) == ("a.py", ["one = 10", "two = 20"])
        assert client.get(f"/api/chats/{chat_id}/change", params={"change": "0" * 12}).status_code == 404


def test_S20_a_chat_is_forked_before_a_message_and_stays_as_it_was(site: Site) -> None:
    with site.browser() as client:
        chat_id = start(site, client, "One.", "Two.")
        before = wait_for(client, chat_id, "idle")["items"]
        made = client.post(f"/api/chats/{chat_id}/fork", json={"at_step": 1, "text": "And then?"}).json()["id"]
        fork = wait_for(client, made, "idle")
        assert [item["text"] for item in fork["items"]] == ["Make them tens.", "One.", "And then?", "Two."]
        again = client.post(f"/api/chats/{chat_id}/fork", json={"at_step": 0, "text": "Other."}).json()["id"]
        assert [item["text"] for item in wait_for(client, again, "idle")["items"]] == ["Other.", "One."]
        assert wait_for(client, chat_id, "idle")["items"] == before
        assert client.post(f"/api/chats/{chat_id}/fork", json={"at_step": 9}).status_code == 400
        assert client.get(f"/api/chats/{made}/timeline").json()["forked_from"] == chat_id


def test_S20_only_what_is_new_is_sent_again_and_a_long_result_whole(site: Site) -> None:
    with site.browser() as client:
        chat_id = start(site, client, READ, "Read.")
        (site.root / "project" / "a.py").write_text("".join(f"line = {number}\n" for number in range(2_000)))
        chat = wait_for(client, chat_id, "idle")
        [call] = [item for item in chat["items"] if item["kind"] == "call"]
        last = chat["items"][-1]["index"]
        assert client.get(f"/api/chats/{chat_id}?after={last - 1}").json()["items"] == chat["items"][-1:]
        assert client.get(f"/api/chats/{chat_id}?after=x").status_code == 400
        whole = client.get(f"/api/chats/{chat_id}/call", params={"call": call["call_id"]}).json()
        assert call["is_cut"] == (len(whole["text"]) > len(call["text"]))
        assert client.get(f"/api/chats/{chat_id}/call?call=none").status_code == 404


def test_S20_files_come_with_a_message(site: Site) -> None:
    text = base64.b64encode(b"three = 3\n").decode()
    files = [
        {"name": "shot.png", "media_type": "image/png", "data": PNG},
        {"name": "more.py", "media_type": "text/x-python", "data": text},
    ]
    with site.browser() as client:
        chat_id = start(site, client, "Seen.", files=files)
        [said] = [item for item in wait_for(client, chat_id, "idle")["items"] if item["kind"] == "user"]
        assert (said["text"], said["files"]) == ("Make them tens.", ["image", "more.py"])


@pytest.mark.parametrize("slots", [0])
@pytest.mark.parametrize(
    ("media_type", "data"), [("image/png", "!"), ("image/png", "/w=="), ("application/pdf", "/w=="), ("a b", "")]
)
def test_S20_a_file_that_is_not_what_it_says_is_refused(site: Site, media_type: str, data: str) -> None:
    file = {"name": "x", "media_type": media_type, "data": data}
    with site.browser() as client:
        assert client.post("/api/chats", json={"text": "Hi", "files": [file]}).status_code == 400
        assert client.get("/api/runs").json()["total"] == 0


def test_S20_what_another_process_asks_is_watched_and_answered_here(site: Site) -> None:
    async def ask() -> str:
        # Its own journal and its own chats: what it knows is on record, and nowhere else.
        journal = SqliteJournal(site.root / "home" / "data" / "runs.db")
        other = Chats(journal, site.service.environment)
        model = write_script(site, READ, REWRITE, "Answered elsewhere.")
        chat_id = await other.start("Make them tens.", folder=site.root / "project", model=model)
        while not other.view(chat_id).requests or other.view(chat_id).is_running:
            await asyncio.sleep(0.01)
        await other.close()
        journal.close()
        return chat_id

    with site.browser() as client:
        with client.stream("GET", "/api/news?chat=") as stream:
            lines = stream.iter_lines()
            next(lines)
            chat_id = asyncio.run(ask())
            assert next(line for line in lines if line.startswith("data: ")) == 'data: {"chat": ""}'
        [waiting] = client.get("/api/home").json()["waiting"]
        assert (waiting["kind"], waiting["id"]) == ("chat", chat_id)
        answer(client, wait_for(client, chat_id, "waiting"), decision="approve")
        assert wait_for(client, chat_id, "idle")["items"][-1]["text"] == "Answered elsewhere."


def test_S20_figures_and_home_count_what_was_run(site: Site) -> None:
    with site.browser() as client:
        wait_for(client, start(site, client, READ, REWRITE, "-"), "waiting")
        figures = client.get("/api/figures?days=7").json()
        assert (figures["runs"], len(figures["days"]), figures["days"][-1]["steps"]) == (1, 7, 2)
        assert [tool["name"] for tool in figures["tools"]][:1] == ["read_file"]
        assert client.get("/api/figures?days=0").status_code == 400
        home = client.get("/api/home").json()
        assert [(one["kind"], one["title"]) for one in home["waiting"]] == [("chat", "Make them tens.")]
        assert str(site.root / "project") in home["folders"]


def test_S20_the_demo_needs_neither_a_key_nor_a_model(site: Site) -> None:
    with site.browser() as client:
        chat = wait_for(client, client.post("/api/demo").json()["id"], "waiting")
        [question] = chat["questions"]
        assert (question["tool"], question["paths"]) == ("edit", ["src/services/format.js"])
        assert question["original"] != question["editable"]
        assert chat["context_tokens"] < chat["window_tokens"]


def test_S20_another_model_answers_from_the_next_message_on(site: Site) -> None:
    with site.browser() as client:
        chat_id = start(site, client, "One.")
        wait_for(client, chat_id, "idle")
        (site.root / "other.json").write_text(json.dumps(["-", "From another model."]))
        other = f"scripted:{site.root / 'other.json'}"
        assert client.post(f"/api/chats/{chat_id}/model", json={"model": "nobody:x"}).status_code == 400
        assert client.post(f"/api/chats/{chat_id}/model", json={"model": other}).status_code == 200
        client.post(f"/api/chats/{chat_id}/messages", json={"text": "And now?"})
        chat = wait_for(client, chat_id, "idle")
        assert (chat["model"], chat["items"][-1]["text"]) == (other, "From another model.")
        assert (site.root / "project" / "a.py").read_text() == BEFORE
