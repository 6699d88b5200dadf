"""`init` and `profile create`: from posts to a profile, without a terminal (W32, W20, W3)."""

import io
import json
import sys
from pathlib import Path

import pytest
from tests.cli.ghostpen.pen import POSTS, Pen, answer, voice
from tests.packs.writing.notion.workspace import PAGE, TOKEN, Fault, Workspace
from tests.packs.writing.profiles.samples import fields, put, state_of

from toolroll.packs.writing.notion import client as notion
from toolroll.packs.writing.profiles.store import ProfileStore


def test_W32_posts_become_a_profile_with_the_posts_themselves_as_examples(pen: Pen) -> None:
    told = pen.run("init", *pen.posts(*POSTS), "--model", pen.script(answer()), "--yes", "--lang", "en")
    assert (told.code, told.out) == (0, "Profile 'default' was saved: data/profiles/default.json\n")
    assert "Analysing how you write: 3 posts, model " in told.err
    assert "Tone: дружній, трохи іронічний" in told.err
    assert "with 3 or more" not in told.err
    profile = ProfileStore(pen.data).read("default").profile
    assert [(one.text, one.why_good) for one in profile.examples] == [(POSTS[1], "голос")]
    assert (profile.profile_type, profile.version, profile.changelog[0].action) == ("personal", 1, "created")
    assert profile.source == "1.md, 2.md, 3.md"


def test_W32_as_json_it_is_one_object(pen: Pen) -> None:
    file = pen.file("\n---\n".join(POSTS), "all.md")
    told = pen.json("init", "--from", file, "--model", pen.script(answer()), "--yes")
    assert sorted(told) == ["file", "posts", "profile", "replaced"]
    assert (told["posts"], told["replaced"], told["profile"]["profile_name"]) == (3, False, "default")


def test_W32_under_three_posts_there_is_a_warning_in_both_languages(pen: Pen) -> None:
    for lang, words in (("en", "Only 1 post: with 3 or more"), ("uk", "Лише 1 пост: від 3 постів")):
        command = ("init", *pen.posts(POSTS[0]), "--model", pen.script(answer()), "--yes", "--lang", lang)
        assert words in pen.run(*command).err


def test_W32_an_answer_that_is_no_profile_is_repaired(pen: Pen) -> None:
    broken = answer(voice=voice(avoid=[""]))
    done = pen.run("init", *pen.posts(*POSTS), "--yes", "--model", pen.script("Sure!", broken, answer()))
    assert done.code == 0
    assert ProfileStore(pen.data).read("default").profile.voice.avoid == ["синергія"]


def test_W32_where_the_model_gives_none_nothing_is_written(pen: Pen) -> None:
    for lang, words in (("en", "gave no usable profile"), ("uk", "не дала придатного профілю")):
        done = pen.run("init", *pen.posts(*POSTS), "--yes", "--lang", lang, "--model", pen.script("a", "b", "c"))
        assert (done.code, done.out) == (1, "")
        assert words in done.err
    assert state_of(pen.data) == {}


def test_W32_examples_that_are_no_posts_are_left_out(pen: Pen) -> None:
    chosen = [{"post": 9, "platform": "x", "why_good": "?"}]
    assert pen.run("init", *pen.posts(*POSTS), "--yes", "--model", pen.script(answer(examples=chosen))).code == 0
    [example] = ProfileStore(pen.data).read("default").profile.examples
    assert (example.text, example.platform) == (POSTS[0], "linkedin")


def test_W32_a_saved_post_is_taken_without_its_header(pen: Pen) -> None:
    post = "---\nplatform: x\ntopic: t\n---\n\nТекст\n---\nдалі\n"
    assert pen.run("init", "--from", pen.file(post, "a.md"), "--yes", "--model", pen.script(answer())).code == 0
    assert ProfileStore(pen.data).read("default").profile.examples[0].text == "Текст\n---\nдалі"


def test_W32_posts_come_through_stdin_too(pen: Pen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("Перший\n---\nДругий".encode())))
    assert pen.run("init", "--from", "-", "--yes", "--model", pen.script(answer())).code == 0
    profile = ProfileStore(pen.data).read("default").profile
    assert (profile.source, profile.examples[0].text) == ("stdin", "Другий")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["init"], "There are no posts to learn from"),
        (["init", "--from", "empty.md"], "There is no text in 'empty.md'"),
        (["init", "--from", "none.md"], "none.md"),
        (["init", "--from", "huge.md"], "has more than 1,048,576 bytes"),
        (["init", "--from", "many.md"], "51 posts, 204 characters. At most 50 posts and 150000 characters"),
        (["init", "--from", "empty.md", "--sample"], "--sample takes no posts"),
        (["init", "--name", "../x"], "'../x' is not a valid profile name"),
        (["profile", "create", "CON"], "'CON' is not a valid profile name"),
        (["init", "--notion", "https://example.com"], "Notion is not configured. Add NOTION_TOKEN"),
    ],
)
def test_W32_W3_what_cannot_be_is_refused_before_a_model_is_asked(pen: Pen, arguments: list[str], why: str) -> None:
    pen.file("\n---\n \n", "empty.md")
    pen.file("x" * 1_048_577, "huge.md")
    pen.file("\n---\n".join(["post"] * 51), "many.md")
    told = pen.run(*arguments, "--yes", "--model", pen.script(), "--lang", "en")
    assert told.code in (1, 2)
    assert why in told.err
    assert state_of(pen.data) == {}


@pytest.mark.parametrize(
    ("file", "en", "uk"),
    [
        ("none.md", "There is no file 'none.md'.", "Файлу «none.md» немає."),
        ("empty.md", "There is no text in 'empty.md'.", "У «empty.md» немає тексту."),
        ("home", "'home' is a folder. Name a file", "«home» — це тека. Вкажіть файл"),
        ("cat.png", "'cat.png' is not text", "«cat.png» не є текстом"),
    ],
)
@pytest.mark.parametrize("command", [("init", "--from"), ("init", "--yes", "--from"), ("analyze",)], ids=" ".join)
def test_W32_W34_what_is_wrong_with_a_file_is_told_first(
    pen: Pen, command: tuple[str, ...], file: str, en: str, uk: str
) -> None:
    """Before a model is missed, and before --yes is: neither would help."""
    put(pen.data, fields())
    pen.home.mkdir()
    pen.file("", "empty.md")
    (pen.folder / "cat.png").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    for lang, why in (("en", en), ("uk", uk)):
        told = pen.run(*command, file, "--lang", lang)
        assert (told.code != 0, why in told.err, len(told.err.splitlines())) == (True, True, 1), told


@pytest.mark.parametrize(("lang", "why"), [("en", "There are no posts to learn from"), ("uk", "Немає постів")])
@pytest.mark.parametrize("command", [("init",), ("profile", "create", "anna")], ids=" ".join)
def test_W32_W34_without_posts_and_a_terminal_the_posts_are_missed_and_no_yes(
    pen: Pen, command: tuple[str, ...], lang: str, why: str
) -> None:
    put(pen.data, fields())
    told = pen.run(*command, "--lang", lang)
    assert (told.code, why in told.err, "--from" in told.err, "--yes" in told.err) == (2, True, True, False)


@pytest.mark.parametrize(("lang", "why"), [("en", "No model is named"), ("uk", "Модель не названо")])
def test_W32_without_a_model_it_says_what_to_do(pen: Pen, lang: str, why: str) -> None:
    told = pen.run("init", *pen.posts(*POSTS), "--yes", "--lang", lang)
    assert (told.code, why in told.err) == (2, True)
    assert "'ghostpen --demo'" in told.err
    assert "toolroll demo" not in told.err


def test_W32_where_nobody_can_be_asked_nothing_is_done_and_no_model_is_asked(pen: Pen) -> None:
    told = pen.run("init", *pen.posts(*POSTS), "--model", pen.script(), "--lang", "uk", "--json")
    assert told.code == 3
    failed = json.loads(told.out)["error"]
    assert failed["code"] == "needs_approval"
    assert failed["message"].startswith("Нема кого запитати")


def test_W20_a_profile_that_is_there_is_replaced_only_after_a_yes_and_kept(pen: Pen) -> None:
    assert pen.run("init", "--sample", "--lang", "en").code == 0
    before = state_of(pen.data)
    assert pen.run("init", "--sample", "--lang", "uk").code == 3
    assert state_of(pen.data) == before
    told = pen.run("init", "--sample", "--lang", "uk", "--yes")
    assert (told.code, told.out) == (0, "Профіль «default» збережено: data/profiles/default.json\n")
    assert "Старий профіль збережено в data/profiles/backups." in told.err
    [backup] = (pen.data / "profiles" / "backups").iterdir()
    assert backup.read_bytes() == before["profiles/default.json"]
    assert ProfileStore(pen.data).read("default").profile.language == "uk"


def test_W20_a_damaged_profile_is_not_replaced_silently_either(pen: Pen) -> None:
    put(pen.data, b"{")
    assert pen.run("init", "--sample").code == 3
    assert (pen.data / "profiles" / "default.json").read_bytes() == b"{"


def test_W20_what_cannot_be_kept_as_a_backup_is_told_before_anybody_is_asked(pen: Pen) -> None:
    put(pen.data, fields())
    path = pen.data / "profiles" / "default.json"
    path.rename(path.with_name("other.json"))
    path.symlink_to("other.json")
    for more in ((), ("--yes", "--model", "nobody")):
        told = pen.run("init", *pen.posts(*POSTS), *more, "--lang", "uk")
        assert (told.code, "«default.json» є посиланням." in told.err) == (1, True), told


def test_W32_create_makes_a_reference_profile(pen: Pen) -> None:
    command = ("profile", "create", "competitor-alex", "--reference", *pen.posts(*POSTS), "--yes")
    assert pen.run(*command, "--model", pen.script(answer())).code == 0
    profile = ProfileStore(pen.data).read("competitor-alex").profile
    assert (profile.profile_type, profile.profile_name) == ("reference", "competitor-alex")


@pytest.fixture
def pages(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr(notion, "API_URL", workspace.url)
    monkeypatch.setenv("NOTION_TOKEN", TOKEN)
    return workspace


def test_W32_pages_of_notion_are_posts_too(pen: Pen, pages: Workspace) -> None:
    pages.page(PAGE, "Думки", [])
    assert pen.run("init", "--notion", PAGE, "--yes", "--model", pen.script(answer())).code == 0
    assert ProfileStore(pen.data).read("default").profile.examples[0].text == "# Думки"


def test_W32_W34_a_page_that_cannot_be_read_is_told_in_the_language(pen: Pen, pages: Workspace) -> None:
    command = ("init", "--yes", "--model", pen.script(), "--lang", "uk", "--notion")
    told = pen.run(*command, "nowhere")
    assert (told.code, "Це не ID і не URL сторінки Notion. Перевірте URL. 'nowhere'" in told.err) == (2, True)
    pages.faults.append(Fault(status=404))
    told = pen.run(*command, PAGE)
    assert (told.code, "Сторінку не знайдено" in told.err) == (1, True)
    assert TOKEN not in told.err
    assert state_of(pen.data) == {}


def test_W32_a_long_list_of_sources_is_cut(pen: Pen) -> None:
    file = pen.file(POSTS[0], "a" * 240)
    assert pen.run("init", "--from", file, "--yes", "--model", pen.script(answer())).code == 0
    assert len(ProfileStore(pen.data).read("default").profile.source) == 200


def test_W32_nothing_leaves_the_folder_where_the_disk_refuses(pen: Pen, tmp_path: Path) -> None:
    pen.data.mkdir()
    (pen.data / "profiles").write_text("in the way")
    told = pen.run("init", "--sample", "--json")
    assert (told.code, json.loads(told.out)["error"]["code"]) == (1, "not_a_file")
    assert state_of(tmp_path / "data") == {"profiles": b"in the way"}


@pytest.mark.parametrize(("model", "code"), [("nobody", "usage"), ("sonnet", "authentication")])
@pytest.mark.parametrize(
    "command", [("init", "--yes", "--from"), ("profile", "create", "new", "--yes", "--from"), ("analyze",)]
)
def test_W32_W35_what_is_wrong_with_the_model_is_said_before_anything_is_done(
    pen: Pen, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], model: str, code: str
) -> None:
    """Who pastes five posts, and is told only then that a key is missing, has pasted them for nothing."""
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    if command[0] == "analyze":
        put(pen.data, fields())
    told = pen.run(*command, pen.file("\n---\n".join(POSTS), "posts.md"), "--model", model, "--json")
    assert json.loads(told.out)["error"]["code"] == code
