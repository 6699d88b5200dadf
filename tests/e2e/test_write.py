"""The four patterns of writing from end to end: `ghostpen` as its own process, over HTTP, a person at a terminal.

The server says what its script tells it and refuses what the provider would refuse. Profiles, checks, questions and
files are the real ones.
"""

import json
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import pytest
from tests.packs.writing.notion.make_blocks import block, rich
from tests.packs.writing.notion.workspace import DATABASE, PAGE, TOKEN, Workspace
from tests.packs.writing.notion.workspace import Fault as Held
from tests.support.author import ASKS, LEAVES, NO, UPDATE_ASKS, YES, Author, names, post, said, track
from tests.support.author import WORDS as QUESTION
from tests.support.model_script import Fault, Turn, Use
from tests.support.model_server import KEY, ModelServer
from tests.support.programs import WAIT_S

from toolroll.kernel.call.context import utc_now
from toolroll.packs.writing.sample import sample_profile
from toolroll.packs.writing.texts.messages import Lang, languages

WORDS: dict[Lang, dict[str, str]] = {
    "en": {
        "request": "post about tea for LinkedIn",
        "first": "Tea is a beverage.\n\nIs it not?",
        "second": "Here is the thing: tea is better than that.\n\nIs it not?",
        "formal": "this is too formal",
        "edit": "replace the last question",
        "old": "Is it not?",
        "new": "What do you drink?",
        "save": "OK!",
        "topic": "good tea",
        "casual": "as one talks over a cup",
    },
    "uk": {
        "request": "пост про чай для LinkedIn",
        "first": "Чай є напоєм, що його п'ють.\n\nЧи не так?",
        "second": "Ось у чому штука: чай кращий за це.\n\nЧи не так?",
        "formal": "занадто офіційно",
        "edit": "заміни останнє питання",
        "old": "Чи не так?",
        "new": "А що п'єте ви?",
        "save": "Зберігай, будь ласка",
        "topic": "добрий чай",
        "casual": "так, як говорять за чашкою",
    },
}
SLUG: dict[Lang, str] = {"en": "good-tea", "uk": "dobryi-chai"}


@pytest.fixture(params=languages())
def author(tmp_path: Path, request: pytest.FixtureRequest) -> Author:
    return Author(tmp_path / "author", request.param)


def until(condition: Callable[[], bool]) -> None:
    deadline = monotonic() + WAIT_S
    while not condition():
        assert monotonic() < deadline
        sleep(0.01)


def file_of(author: Author) -> str:
    return f"{utc_now().date().isoformat()}-{SLUG[author.lang]}-linkedin.md"


def test_W10_W14_W15_W19_W30_pattern_1_a_post_with_feedback_an_edit_and_a_save(author: Author) -> None:
    author.has_profile()
    words = WORDS[author.lang]
    turns = [
        Turn(Use("read_past_posts", {"keywords": ["tea", "чай"]})),
        said(post(words["first"], words["topic"])),
        track("too_formal", words["formal"]),
        said(post(words["second"], words["topic"])),
        said(f"<edit><old>{words['old']}</old><new>{words['new']}</new></edit>"),
    ]
    with ModelServer(turns) as server, author.at_terminal(server, words["request"]) as terminal:
        terminal.wait_for(QUESTION[author.lang])
        terminal.wait_for(ASKS[author.lang])
        assert author.posts() == {}
        terminal.press(words["formal"], words["second"].split("\n")[0], ASKS[author.lang])
        terminal.press(words["edit"], words["new"], ASKS[author.lang])
        assert author.posts() == {}
        terminal.press(words["save"], file_of(author))
        code, out = terminal.end()
    assert (code, Path(out.strip()).name) == (0, file_of(author))
    [(name, text)] = author.posts().items()
    assert name == file_of(author)
    assert text.startswith("---\nplatform: linkedin\n")
    assert "profile_used: default\nstyle_profile_version: 1\n" in text
    assert text.endswith(words["second"].replace(words["old"], words["new"]) + "\n"), "only the passage is different"
    assert author.feedback() == {"too_formal": 1}, "the edit was not counted"
    assert names(server)[0] == ["read_style_profile"], "read by the program, before the model said a word"
    assert all("read_style_profile" in called for called in names(server))
    assert KEY not in terminal.text


def test_W31_pattern_2_the_voice_of_one_with_the_techniques_of_another(author: Author) -> None:
    author.has_profile()
    author.has_profile(profile_name="alex", profile_type="reference", source="Alex")
    words = WORDS[author.lang]
    turns = [
        said(post(words["first"], words["topic"])),
        track("too_formal", words["formal"]),
        said(post(words["second"], words["topic"])),
    ]
    before = author.profile("alex")
    with (
        ModelServer(turns) as server,
        author.at_terminal(server, words["request"], "--mix", "default", "alex") as terminal,
    ):
        terminal.wait_for(ASKS[author.lang])
        terminal.press(words["formal"], words["second"].split("\n")[0], ASKS[author.lang])
        terminal.press("save and close", file_of(author))
        assert terminal.end()[0] == 0
    assert names(server)[0] == ["read_style_profile", "read_style_profile"]
    first = server.requests[0].body
    assert "The voice is that of 'default'" in json.dumps(first["system"])
    [text] = author.posts().values()
    assert "profile_used: mix:default+alex\n" in text
    assert author.feedback() == {"too_formal": 1}
    assert author.profile("alex") == before


def test_W20_W32_pattern_3_a_profile_from_posts_with_a_correction(author: Author) -> None:
    given = author.lang == "uk"
    posts = (
        ["Чай — це просто.\n\nА ви?", "Другий пост про чай.", "Третій."] if given else ["Tea.", "Tea again.", "And."]
    )
    file = author.folder / "posts.md"
    file.write_text("\n---\n".join(posts), encoding="utf-8")
    author.has_profile(profile_name="other")
    fields = author.profile("other")
    answer = {key: fields[key] for key in ("language", "voice", "platforms")}
    answer["examples"] = [{"post": 1, "platform": "linkedin", "why_good": "short"}]
    corrected = {**answer, "voice": {**fields["voice"], "tone": "quiet and short"}}
    turns = [json.dumps(answer, ensure_ascii=False), json.dumps(corrected, ensure_ascii=False)]
    with ModelServer(turns) as server, author.at_terminal(server, "init", "--from", str(file)) as terminal:
        ask = "Усе так?" if given else "Is this right?"
        terminal.wait_for(ask)
        assert not (author.data / "profiles" / "default.json").exists()
        terminal.press("тихіше" if given else "quieter", "quiet and short", ask)
        terminal.press("ok")
        assert terminal.end()[0] == 0
    made = author.profile()
    assert (made["version"], made["profile_type"], made["voice"]["tone"]) == (1, "personal", "quiet and short")
    assert made["changelog"][0]["action"] == "created"
    assert made["examples"][0]["text"] == posts[0]


def test_W12_W19_W30_pattern_4_the_third_time_an_update_is_proposed_and_made_on_a_yes(author: Author) -> None:
    author.has_profile()
    words = WORDS[author.lang]
    old = author.profile()["voice"]["formality"]
    update = Use(
        "update_style_profile", {"changes": {"voice.formality": words["casual"]}, "reason": "3x фідбек: too_formal"}
    )
    again = [track("too_formal", words["formal"]), said(post(words["second"], words["topic"]))]
    turns = [
        said(post(words["first"], words["topic"])),
        *again,
        *again,
        track("too_formal", words["formal"]),
        Turn(update),
        said(post(words["second"], words["topic"])),
    ]
    with ModelServer(turns) as server, author.at_terminal(server, words["request"]) as terminal:
        terminal.wait_for(ASKS[author.lang])
        terminal.press(words["formal"], ASKS[author.lang])
        terminal.press(words["formal"], ASKS[author.lang])
        assert author.feedback() == {"too_formal": 2}
        terminal.press(words["formal"], "voice.formality", f"- {old}", f"+ {words['casual']}", UPDATE_ASKS[author.lang])
        assert author.profile()["version"] == 1
        terminal.press(YES[author.lang], ASKS[author.lang])
        profile = author.profile()
        assert (profile["version"], profile["voice"]["formality"]) == (2, words["casual"])
        assert author.feedback() == {"too_formal": 0}, "answered"
        terminal.press("exit", LEAVES[author.lang])
        terminal.press(YES[author.lang])
        assert terminal.end() == (0, "")
    assert author.posts() == {}
    assert profile["changelog"][-1]["fields_changed"] == ["voice.formality"]
    assert "too_formal" in profile["changelog"][-1]["description"]


def test_W30_a_no_to_an_update_changes_nothing_and_is_not_asked_again(author: Author) -> None:
    """The model has proposed nothing by itself: the program asks it to, and the person says no."""
    author.has_profile()
    words = WORDS[author.lang]
    (author.data / "feedback-tracker.json").write_text('{"too_formal": {"count": 2, "last_seen": "", "history": []}}')
    update = Use("update_style_profile", {"changes": {"voice.formality": words["casual"]}, "reason": "too_formal"})
    draft = said(post(words["second"], words["topic"]))
    turns = [
        said(post(words["first"], words["topic"])),
        *(track("too_formal", words["formal"]), draft, Turn(update), said("Ok.")),
        *(track("too_formal", words["formal"]), draft),
    ]
    before = author.profile()
    with ModelServer(turns) as server, author.at_terminal(server, words["request"]) as terminal:
        terminal.wait_for(ASKS[author.lang])
        terminal.press(words["formal"], "voice.formality", UPDATE_ASKS[author.lang])
        terminal.press(NO[author.lang], ASKS[author.lang])
        terminal.press(words["formal"], ASKS[author.lang])
        terminal.send(b"\x04", LEAVES[author.lang])
        terminal.send(b"\x04")
        assert terminal.end() == (0, "")
    assert author.profile() == before
    assert author.feedback() == {"too_formal": 4}


def test_W17_W18_W31_from_a_page_of_notion_to_another_one(author: Author) -> None:
    author.has_profile()
    words = WORDS[author.lang]
    with Workspace() as notion, ModelServer([said(post(words["first"], words["topic"]))]) as server:
        notion.page(PAGE, "Notes", [block("paragraph", rich_text=[rich("Tea is 5000 years old.")])])
        keys = {"NOTION_TOKEN": TOKEN, "NOTION_DATABASE_ID": DATABASE, "NOTION_BASE_URL": notion.url}
        url = f"https://www.notion.so/Notes-{PAGE.replace('-', '')}"
        with author.at_terminal(server, words["request"], "--notion", url, **keys) as terminal:
            terminal.wait_for(ASKS[author.lang])
            terminal.press("save to Notion", "notion.so")
            assert terminal.end()[0] == 0
        made = [asked for asked in notion.requests if asked.method == "POST" and asked.path == "/v1/pages"]
    assert "Tea is 5000 years old." in json.dumps(server.requests[0].body["messages"])
    assert len(made) == 1
    assert made[0].body["properties"]["Profile"]["rich_text"][0]["text"]["content"] == "default"
    assert len(author.posts()) == 1, "the file is kept as well"
    assert TOKEN not in terminal.text


STOPPING = {
    "en": "Stopping when the running calls are done. Ctrl-C again stops at once.",
    "uk": "Завершую те, що вже почато, і зупиняюся. Ще одне Ctrl-C зупинить негайно.",
}
LEAVE_HINT = {
    "en": "Note: Press Ctrl-C again to leave.",
    "uk": "Примітка: Натисніть Ctrl-C ще раз, щоб вийти.",
}
INTERRUPTED = {"en": "Error: Interrupted.", "uk": "Помилка: Перервано."}


def test_W30_W34_ctrl_c_while_the_model_writes_is_130_and_keeps_nothing(author: Author) -> None:
    author.has_profile()
    words = WORDS[author.lang]
    stalled = [Turn(fault=Fault(stall=True))]
    with ModelServer(stalled) as server, author.at_terminal(server, words["request"]) as terminal:
        terminal.wait_for("default")
        terminal.send(b"\x03", INTERRUPTED[author.lang])
        assert terminal.end() == (130, "")
    assert author.posts() == {}


def test_W30_W34_ctrl_c_in_a_conversation_is_told_and_asks_before_a_draft_is_left(author: Author) -> None:
    author.has_profile()
    words = WORDS[author.lang]
    turns = [said(post(words["first"], words["topic"]))]
    with ModelServer(turns) as server, author.at_terminal(server, words["request"]) as terminal:
        terminal.wait_for(ASKS[author.lang])
        terminal.send(b"\x03", LEAVE_HINT[author.lang], ASKS[author.lang])
        terminal.send(b"\x03", LEAVES[author.lang])
        terminal.press({"en": "save", "uk": "зберігай"}[author.lang])
        assert terminal.end()[0] == 0
    assert len(author.posts()) == 1


def test_W30_one_ctrl_c_at_the_plain_prompt_only_clears_the_line(author: Author) -> None:
    author.has_profile()
    words = WORDS[author.lang]
    turns = [said(post(words["first"], words["topic"]))]
    with ModelServer(turns) as server, author.at_terminal(server, words["request"], "--plain") as terminal:
        terminal.wait_for("\n> ")
        terminal.send(b"half a wor\x03", "> ")
        terminal.press(words["save"])
        assert terminal.end()[0] == 0
    assert len(author.posts()) == 1


@pytest.mark.parametrize("presses", [1, 2])
def test_S1_W18_W30_the_first_ctrl_c_lets_a_page_be_made_and_the_second_does_not(author: Author, presses: int) -> None:
    """Nobody knows whether a page is there that was being made: what the person said yes to is let finish."""
    author.has_profile()
    words = WORDS[author.lang]
    with Workspace() as notion, ModelServer([said(post(words["first"], words["topic"]))]) as server:
        keys = {"NOTION_TOKEN": TOKEN, "NOTION_DATABASE_ID": DATABASE, "NOTION_BASE_URL": notion.url}
        notion.faults.extend([None, Held(hang=True)])
        with author.at_terminal(server, words["request"], **keys) as terminal:
            terminal.wait_for(ASKS[author.lang])
            terminal.press("save to Notion")
            until(lambda: len(notion.requests) == 2)
            terminal.send(b"\x03", STOPPING[author.lang])
            if presses == 2:
                terminal.send(b"\x03")
            else:
                notion.ended.set()  # the connection breaks; the post is in its file
            code, _ = terminal.end()
    assert (code, len(author.posts())) == (0 if presses == 1 else 130, 1)


def test_XD2_W30_that_the_person_had_it_saved_is_on_record(author: Author) -> None:
    author.has_profile()
    words = WORDS[author.lang]
    turns = [said(post(f"{words['first']} {KEY}", words["topic"]))]
    with ModelServer(turns) as server, author.at_terminal(server, words["request"]) as terminal:
        terminal.wait_for(ASKS[author.lang])
        terminal.press(words["save"])
        assert terminal.end()[0] == 0
    assert len(author.posts()) == 1
    [listed] = json.loads(author.toolroll("runs", "list", "--json"))["runs"]
    assert listed["state"] == "answer"
    records = json.loads(author.toolroll("runs", "show", listed["run_id"], "--json"))["records"]
    asked = [one["value"] for one in records if one["kind"] == "kept" and one["name"] == "approval:save_to_file"]
    assert [one["answer"] for one in asked] == [None, "approve"]
    assert all(words["first"].split("\n")[0] in one["asked"] and one["who"] == "the person" for one in asked)
    told = author.toolroll("runs", "show", listed["run_id"])
    assert told.count("approval:save_to_file: who: the person, at: 20") == 1
    for form in ("html", "jsonl"):
        page = author.toolroll("runs", "export", listed["run_id"], "--format", form, "--output", "-")
        assert "approval:save_to_file" in page
        assert KEY not in page


def test_S2_W11_W30_alone_over_http_one_draft_and_nothing_kept(author: Author) -> None:
    author.has_profile()
    words = WORDS[author.lang]
    save = Use("save_to_file", {"content": "x", "platform": "linkedin", "topic": "t"})
    with ModelServer([Turn(save), said(post(words["first"], words["topic"]))]) as server:
        done = author.alone(server, words["request"])
    assert (done.returncode, done.stdout) == (3, words["first"] + "\n")
    assert ("nobody was there to confirm" if author.lang == "en" else "нема кого запитати") in done.stderr
    assert author.posts() == {}
    asked = server.requests[0].body
    assert [tool["name"] for tool in asked["tools"]] == [
        *("read_style_profile", "update_style_profile", "list_profiles", "read_past_posts", "save_to_file"),
        *("search_web", "read_notion_page", "write_to_notion", "track_feedback"),
    ]
    assert sample_profile(author.lang)["voice"]["tone"] in json.dumps(asked["messages"], ensure_ascii=False)
    assert KEY not in done.stdout + done.stderr
