"""Ctrl-C at a question about a post: a no, and the draft is still there; without a draft it ends everything."""

import json

import pytest
from tests.cli.ghostpen.author import CTRL_C, READ, Desk, Typed, post

import toolroll.cli.chat.input as chat
import toolroll.cli.ghostpen.context as contexts
from toolroll.packs.writing.texts.messages import Lang, languages

REQUEST = "post about tea for LinkedIn"
UPDATE = {
    "name": "update_style_profile",
    "arguments": {"changes": {"voice.tone": "rude"}, "reason": "the person asked"},
}
SAVE = {"name": "save_to_file", "arguments": {"content": "mine", "platform": "x", "topic": "t"}}
NOT_SAVED = {"en": "Nothing was saved.", "uk": "Нічого не збережено."}
NOT_UPDATED = {"en": "The profile was not changed.", "uk": "Профіль не змінено."}
INTERRUPTED = {"en": "Error: Interrupted.", "uk": "Помилка: "}


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> Typed:
    terminal = Typed(*lines)
    monkeypatch.setattr(chat, "open_terminal", lambda *_args: None)  # without a line editor
    monkeypatch.setattr(contexts, "open_terminal", lambda *_args, **_more: terminal)
    return terminal


@pytest.mark.parametrize("lang", languages())
def test_W12_W30_W34_ctrl_c_at_the_question_about_the_profile_is_a_no_to_all_that_is_open(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, lang: Lang
) -> None:
    desk.has_profile()
    terminal = typed(monkeypatch, "save my profile anew", CTRL_C, "save")
    script = desk.script(READ, post("Tea."), READ, {"calls": [UPDATE, SAVE]}, post("More tea."))
    told = desk.run(REQUEST, "--model", script, "--lang", lang)
    assert (told.code, NOT_UPDATED[lang] in told.err) == (0, True)
    assert len([one for one in terminal.asked if one.endswith("] ")]) == 1
    [text] = desk.posts()
    assert text.endswith("\nMore tea.\n")


@pytest.mark.parametrize("lang", languages())
def test_W30_W34_ctrl_c_at_a_question_before_the_first_draft_ends_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, lang: Lang
) -> None:
    desk.has_profile()
    page = {"name": "read_notion_page", "arguments": {"page_id": "0123abcd0123456789ab0123456789ab"}}
    search = {"name": "search_web", "arguments": {"query": "tea"}}
    typed(monkeypatch, CTRL_C)
    script = desk.script(READ, {"calls": [page]}, {"calls": [search]}, post())
    told = desk.run(REQUEST, "--model", script, "--lang", lang)
    assert (told.code, INTERRUPTED[lang] in told.err, "Interrupted" in told.err) == (130, True, lang == "en")


def test_W30_ctrl_c_at_the_question_about_leaving_leaves(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has pressed it twice at the prompt and once here wants to go, and was asked."""
    desk.has_profile()
    typed(monkeypatch, "exit", CTRL_C)
    told = desk.run(REQUEST, "--model", desk.script(READ, post()))
    assert (told.code, desk.posts()) == (130, [])


@pytest.mark.parametrize("lang", languages())
def test_W15_W34_W35_ctrl_c_at_the_question_about_a_page_leaves_the_post_saved_and_counted(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, lang: Lang
) -> None:
    """Nothing is sent before the yes: no Notion is needed for a no."""
    monkeypatch.setenv("NOTION_TOKEN", "secret_of_nobody")
    monkeypatch.setenv("NOTION_DATABASE_ID", "0123abcd0123456789ab0123456789ab")
    desk.has_profile()
    terminal = typed(monkeypatch, "save", "y", CTRL_C)
    told = desk.run(REQUEST, "--model", desk.script(READ, post()), "--lang", lang)
    assert (told.code, len(desk.posts()), "Notion" in terminal.asked[-1]) == (0, 1, True)
    stats = json.loads(desk.run("stats", "--json").out)
    assert (stats["drafts"], stats["accepted"]) == (1, 1)
