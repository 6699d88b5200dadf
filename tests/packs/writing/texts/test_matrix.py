"""The matrix of errors, row by row and in both languages: what the person sees, and what the agent does.

`ghostpen` as its own process, over HTTP; files, Notion and search services fail as they do in earnest.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.packs.writing.notion.workspace import DATABASE, PAGE, TOKEN, Fault, Workspace
from tests.support.author import ASKS, LEAVES, READY, YES, Author, post, said, track
from tests.support.model_script import Turn, Use
from tests.support.model_server import ModelServer

from toolroll.packs.writing.texts.messages import Lang, languages

DRAFT: dict[Lang, str] = {"en": "Here is the thing: tea.\n\nIs it not?", "uk": "Ось у чому штука: чай.\n\nЧи не так?"}
REQUEST: dict[Lang, str] = {"en": "post about tea for LinkedIn", "uk": "пост про чай для LinkedIn"}

SEEN: dict[tuple[str, str], dict[Lang, str]] = {
    ("read_style_profile", "File not found"): {"en": "Profile 'anna' not found", "uk": "Профіль не знайдений"},
    ("read_style_profile", "Invalid JSON"): {"en": "is damaged", "uk": "Профіль пошкоджений"},
    ("update_style_profile", "Reference profile"): {
        "en": "Reference profiles are not updated automatically",
        "uk": "Reference профілі не оновлюються автоматично",
    },
    ("update_style_profile", "Validation failed"): {
        "en": "Invalid value for voice.hooks",
        "uk": "Невалідне значення для voice.hooks",
    },
    ("search_web", "Timeout / API error"): {
        "en": "Search is not available; writing without data from the web",
        "uk": "Пошук недоступний, генерую без зовнішніх даних",
    },
    ("read_notion_page", "Not configured"): {"en": "Notion is not configured", "uk": "Notion не налаштований"},
    ("read_notion_page", "Page not found"): {"en": "The page was not found", "uk": "Сторінку не знайдено"},
    ("write_to_notion", "Not configured"): {
        "en": "Notion is not configured, saving to a file",
        "uk": "Notion не налаштований, зберігаю локально",
    },
    ("write_to_notion", "API error"): {
        "en": "Notion failed, saving to a file",
        "uk": "Помилка Notion, зберігаю локально",
    },
    ("save_to_file", "Disk error"): {"en": "Saving failed", "uk": "Помилка збереження"},
    ("track_feedback", "File error"): {"en": "", "uk": ""},
}


@pytest.fixture(params=languages())
def author(tmp_path: Path, request: pytest.FixtureRequest) -> Author:
    made = Author(tmp_path / "author", request.param)
    made.has_profile()
    return made


def seen(author: Author, tool: str, error: str) -> str:
    return SEEN[tool, error][author.lang]


def draft_of(author: Author) -> Turn:
    return said(post(DRAFT[author.lang]))


def results(server: ModelServer) -> list[dict[str, Any]]:
    """What the tools answered, as the last request has it."""
    blocks = [
        block
        for message in server.requests[-1].body["messages"]
        if message["role"] == "user" and isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    texts = [one["content"] if isinstance(one["content"], str) else one["content"][0]["text"] for one in blocks]
    return [json.loads(text) for text in texts]


def test_W10_W34_a_profile_that_is_not_there(author: Author) -> None:
    with ModelServer([]) as server:
        done = author.alone(server, REQUEST[author.lang], "--profile", "anna")
    assert (done.returncode, done.stdout) == (1, "")
    assert seen(author, "read_style_profile", "File not found") in done.stderr
    assert "default" in done.stderr, "the others are named"
    assert server.requests == [], "nothing is drafted without it"


def test_W10_W34_without_any_profile_the_way_to_one_is_told(tmp_path: Path) -> None:
    for lang in languages():
        with ModelServer([]) as server:
            done = Author(tmp_path / lang, lang).alone(server, REQUEST[lang])
        assert done.returncode == 1
        assert "`ghostpen init`" in done.stderr


def test_W10_W34_a_damaged_profile(author: Author) -> None:
    path = author.data / "profiles" / "default.json"
    path.write_text("{")
    with ModelServer([]) as server:
        done = author.alone(server, REQUEST[author.lang])
    assert (done.returncode, server.requests) == (1, [])
    assert seen(author, "read_style_profile", "Invalid JSON") in done.stderr
    assert "ghostpen profile create default" in " ".join(done.stderr.split())
    assert path.read_text() == "{"


def three_times(author: Author) -> None:
    (author.data / "feedback-tracker.json").write_text('{"too_formal": {"count": 2, "last_seen": "", "history": []}}')


def test_W12_W31_W34_a_reference_profile_is_not_updated(author: Author) -> None:
    author.has_profile(profile_name="alex", profile_type="reference")
    three_times(author)
    update = {"profile_name": "alex", "changes": {"voice.formality": "x"}, "reason": "too_formal"}
    turns = [
        draft_of(author),
        *(track("too_formal", "hm"), Turn(Use("update_style_profile", update)), draft_of(author)),
    ]
    before = author.profile("alex")
    told = seen(author, "update_style_profile", "Reference profile")
    with (
        ModelServer(turns) as server,
        author.at_terminal(server, REQUEST[author.lang], "--profile", "alex") as terminal,
    ):
        terminal.wait_for(ASKS[author.lang])
        terminal.press("hm", told, "ghostpen profile edit", ASKS[author.lang])
        terminal.send(b"\x04", LEAVES[author.lang])
        terminal.press(YES[author.lang])
        assert terminal.end()[0] == 0
    assert author.profile("alex") == before
    assert results(server)[-1]["error"] == "reference_profile"


def test_W12_W34_a_change_that_breaks_a_rule(author: Author) -> None:
    three_times(author)
    broken = {"changes": {"voice.hooks": 7}, "reason": "too_formal"}
    turns = [
        draft_of(author),
        *(track("too_formal", "hm"), Turn(Use("update_style_profile", broken)), draft_of(author)),
    ]
    before = author.profile()
    with ModelServer(turns) as server, author.at_terminal(server, REQUEST[author.lang]) as terminal:
        terminal.wait_for(ASKS[author.lang])
        terminal.press(
            "hm", seen(author, "update_style_profile", "Validation failed"), "voice.hooks:", ASKS[author.lang]
        )
        terminal.send(b"\x04", LEAVES[author.lang])
        terminal.press(YES[author.lang])
        assert terminal.end()[0] == 0
    assert author.profile() == before
    assert results(server)[-1]["fields"] == ["voice.hooks"], "the model can put it right"


@contextmanager
def broken_search() -> Iterator[str]:
    """A search service that fails."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_error(500)

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_W16_W34_a_search_that_fails_does_not_stop_the_draft(author: Author) -> None:
    turns = [Turn(Use("search_web", {"query": "tea statistics"})), draft_of(author)]
    with broken_search() as url, ModelServer(turns) as server:
        # Whatever comes after it in the chain is behind a proxy where nobody answers, or has no key.
        keys = {"TAVILY_API_KEY": "tvly-x", "TAVILY_BASE_URL": url, "HTTPS_PROXY": "http://127.0.0.1:9"}
        keys |= {"ANTHROPIC_API_KEY": "", "SEARXNG_URL": "http://127.0.0.1:9"}
        done = author.alone(server, REQUEST[author.lang], "--model", chat(server), **keys)
    assert (done.returncode, done.stdout) == (0, DRAFT[author.lang] + "\n"), done.stderr
    assert seen(author, "search_web", "Timeout / API error") in done.stderr


def chat(server: ModelServer) -> str:
    """A model without a key of Anthropic's, so that its search is not asked either."""
    return f"openai-compatible:some-model@{server.base_url('chat')}"


def test_W17_W34_a_page_without_notion_can_be_pasted(author: Author) -> None:
    told = seen(author, "read_notion_page", "Not configured")
    with ModelServer([draft_of(author)]) as server:
        command = (REQUEST[author.lang], "--notion", f"https://www.notion.so/x-{PAGE.replace('-', '')}")
        alone = author.alone(server, *command)
        assert (alone.returncode, server.requests) == (1, [])
        assert told in alone.stderr
        with author.at_terminal(server, *command) as terminal:
            terminal.wait_for(told)
            terminal.wait_for(READY)
            terminal.press("My own notes on tea.", READY)
            terminal.press("And more.", READY)
            terminal.press(".", ASKS[author.lang])
            terminal.send(b"\x04", LEAVES[author.lang])
            terminal.press(YES[author.lang])
            assert terminal.end()[0] == 0
    assert "My own notes on tea.\\nAnd more." in json.dumps(server.requests[0].body["messages"])


def test_W17_W34_a_page_that_is_not_there(author: Author) -> None:
    with Workspace() as notion, ModelServer([draft_of(author)]) as server:
        keys = {"NOTION_TOKEN": TOKEN, "NOTION_BASE_URL": notion.url}
        command = (REQUEST[author.lang], "--notion", f"https://www.notion.so/x-{PAGE.replace('-', '')}")
        with author.at_terminal(server, *command, **keys) as terminal:
            terminal.wait_for(seen(author, "read_notion_page", "Page not found"))
            terminal.wait_for("URL")
            terminal.wait_for(READY)
            terminal.press("", ASKS[author.lang])
            terminal.send(b"\x04", LEAVES[author.lang])
            terminal.press(YES[author.lang])
            assert terminal.end()[0] == 0


def test_W18_W34_without_notion_the_post_goes_to_a_file(author: Author) -> None:
    with ModelServer([draft_of(author)]) as server, author.at_terminal(server, REQUEST[author.lang]) as terminal:
        terminal.wait_for(ASKS[author.lang])
        terminal.press("save to Notion", seen(author, "write_to_notion", "Not configured"), ".md")
        code, out = terminal.end()
    assert (code, out.strip().rpartition("/")[2]) == (0, next(iter(author.posts())))


def test_W18_W34_where_notion_fails_the_post_goes_to_a_file(author: Author) -> None:
    with Workspace() as notion, ModelServer([draft_of(author)]) as server:
        notion.faults.extend([Fault(status=400, body=b'{"object": "error", "code": "validation_error"}')] * 9)
        keys = {"NOTION_TOKEN": TOKEN, "NOTION_DATABASE_ID": DATABASE, "NOTION_BASE_URL": notion.url}
        with author.at_terminal(server, REQUEST[author.lang], **keys) as terminal:
            terminal.wait_for(ASKS[author.lang])
            terminal.press("save to Notion", ".md", seen(author, "write_to_notion", "API error"))
            assert terminal.end()[0] == 0
    [text] = author.posts().values()
    assert text.endswith(DRAFT[author.lang] + "\n")


def test_W15_W34_a_disk_that_fails_leaves_the_text_to_copy(author: Author) -> None:
    (author.data / "output").write_text("in the way")
    with ModelServer([draft_of(author)]) as server, author.at_terminal(server, REQUEST[author.lang]) as terminal:
        terminal.wait_for(ASKS[author.lang])
        terminal.press("save", seen(author, "save_to_file", "Disk error"), DRAFT[author.lang])
        terminal.wait_for(ASKS[author.lang])
        os.unlink(author.data / "output")
        terminal.press("save", ".md")
        assert terminal.end()[0] == 0
    assert len(author.posts()) == 1


@pytest.mark.parametrize("debug", [False, True])
def test_W19_W34_feedback_that_cannot_be_written_down_is_silent(author: Author, debug: bool) -> None:
    (author.data / "feedback-tracker.json").write_text("{")
    turns = [draft_of(author), track("too_formal", "hm"), draft_of(author)]
    command = (REQUEST[author.lang], *(["--debug"] if debug else []))
    with ModelServer(turns) as server, author.at_terminal(server, *command) as terminal:
        terminal.wait_for(ASKS[author.lang])
        terminal.press("hm", ASKS[author.lang])
        terminal.send(b"\x04", LEAVES[author.lang])
        terminal.press(YES[author.lang])
        assert terminal.end()[0] == 0
    assert results(server)[-1]["success"] is False
    assert ("feedback was not written down" in terminal.text) is debug, "logged, where somebody looks at the log"
    assert (author.data / "feedback-tracker.json").read_text() == "{"
