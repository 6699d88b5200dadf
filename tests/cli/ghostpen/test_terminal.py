"""`init`, `profile edit` and `delete`, `analyze` at a real terminal, wide and narrow, in both languages (W32)."""

import json
import os
import signal
import stat
from pathlib import Path

import pytest
from tests.cli.ghostpen.pen import POSTS, Pen, answer, voice
from tests.packs.writing.profiles.samples import fields, put
from tests.support.programs import environment
from tests.support.programs import ghostpen as ghostpen_command
from tests.support.terminal import Pseudo

from toolroll.packs.writing.profiles.analysis import ENOUGH_POSTS, MAX_POSTS
from toolroll.packs.writing.profiles.store import ProfileStore

COLUMNS = (80, 40)
SAME = "Nothing is different, so nothing was saved. "
UK = {"LC_ALL": "uk_UA.UTF-8"}


@pytest.fixture
def desk(tmp_path: Path) -> Pen:
    return Pen(tmp_path)


def paste(terminal: Pseudo, *posts: str, post: str = "Post") -> None:
    for number, text in enumerate(posts, 1):
        terminal.wait_for(f"{post} {number}:")
        terminal.send(text.replace("\n", "\r").encode() + b"\r.\r", f"{post} {number + 1}:")


def fits(terminal: Pseudo, columns: int) -> bool:
    """Whether no word was broken where a line was folded: every line of ours ends at a blank."""
    return all(len(line) <= columns for line in terminal.display)


@pytest.mark.parametrize("columns", COLUMNS)
def test_W32_posts_are_pasted_and_each_correction_builds_on_the_last(desk: Pen, columns: int) -> None:
    first, second = answer(voice=voice(tone="second")), answer(voice=voice(tone="third", formality="loose"))
    model = desk.script(answer(voice=voice(tone="first")), first, second)
    with desk.terminal("init", "--model", model, "--lang", "en", columns=columns) as terminal:
        terminal.wait_for("Paste your posts")
        paste(terminal, *POSTS)
        terminal.send(b".\r", "Tone: first", "correction)\n> ")
        terminal.press("", "correction)\n> ")
        terminal.press("softer, please", "Tone: second", "correction)\n> ")
        terminal.press("looser", "Tone: third", "correction)\n> ")
        assert fits(terminal, columns)
        terminal.press("OK")
        code, out = terminal.end()
    assert (code, out) == (0, "Profile 'default' was saved: data/profiles/default.json\n")
    profile = ProfileStore(desk.data).read("default").profile
    assert (profile.voice.tone, profile.voice.formality, profile.source) == ("third", "loose", "pasted posts")
    assert profile.examples[0].text == POSTS[1]


def test_W32_W34_in_ukrainian_few_posts_are_warned_about_and_exit_writes_nothing(desk: Pen) -> None:
    columns = min(COLUMNS)
    with desk.terminal("init", "--model", desk.script(answer()), columns=columns, env=UK) as terminal:
        terminal.wait_for("Вставте свої пости")
        paste(terminal, POSTS[0], post="Пост")
        terminal.send(b"\x04", "Лише 1 пост", "Уникає: синергія", "виправлення)\n> ")
        assert fits(terminal, columns)
        terminal.press("вихід")
        code, out = terminal.end()
    assert (code, out) == (1, "")
    assert "Нічого не змінено." in terminal.text
    assert not (desk.data / "profiles").exists()


@pytest.mark.parametrize(
    ("lang", "ready", "word"), [("en", "correction)\n> ", "Perfect, ok."), ("uk", "виправлення)\n> ", "Гаразд!")]
)
def test_W32_W34_a_profile_is_agreed_to_in_the_words_that_accept_a_draft(
    desk: Pen, lang: str, ready: str, word: str
) -> None:
    with desk.terminal("init", *desk.posts(*POSTS), "--model", desk.script(answer()), "--lang", lang) as terminal:
        terminal.wait_for(ready)
        terminal.press("не зберігай", "! ", ready)
        assert not (desk.data / "profiles").exists()
        terminal.press(word)
        assert terminal.end()[0] == 0
    assert ProfileStore(desk.data).read("default").profile.version == 1


def test_W32_ctrl_d_ends_a_post_and_an_answer(desk: Pen) -> None:
    with desk.terminal("init", "--model", desk.script(answer()), "--lang", "en") as terminal:
        terminal.wait_for("Post 1:")
        terminal.send("Один\r".encode() + b"\x04", "Taken: 4 characters.", "Post 2:")
        terminal.send(b"\x04", "correction)\n> ")
        terminal.send(b"\x04")
        assert terminal.end()[0] == 1
    assert not (desk.data / "profiles").exists()


def test_W32_a_line_that_the_terminal_has_cut_is_not_taken_for_the_post(desk: Pen) -> None:
    with desk.terminal("init", "--model", desk.script(answer()), "--lang", "en") as terminal:
        terminal.wait_for("Post 1:")
        terminal.send(b"x" * 4_500 + b"\r.\r", "its end is missing", "Post 1:")
        terminal.send(b".\r")
        code, _ = terminal.end()
    assert (code, "There are no posts to learn from" in terminal.text) == (2, True)


def test_W32_pasted_posts_are_kept_when_the_model_fails(desk: Pen) -> None:
    with desk.terminal("init", "--model", desk.script("no", "no", "no"), "--lang", "en") as terminal:
        paste(terminal, *POSTS)
        terminal.send(b".\r", "are kept in data/pasted-posts.md")
        assert terminal.end()[0] == 1
    kept = desk.data / "pasted-posts.md"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert kept.read_text() == "\n---\n".join(POSTS) + "\n"
    assert len(POSTS) == ENOUGH_POSTS


@pytest.mark.parametrize(
    ("lang", "post", "told"),
    [("en", "Post", "are kept in data/pasted-posts.md"), ("uk", "Пост", "збережено у data/pasted-posts.md")],
)
def test_W32_W34_posts_that_were_taken_are_kept_when_ctrl_c_falls_while_pasting(
    desk: Pen, lang: str, post: str, told: str
) -> None:
    with desk.terminal("init", "--model", desk.script(answer()), "--lang", lang) as terminal:
        paste(terminal, *POSTS[:2], post=post)
        terminal.send(b"half of a third\r")
        terminal.send(b"\x03", told)
        assert terminal.end() == (130, "")
    assert (desk.data / "pasted-posts.md").read_text() == "\n---\n".join(POSTS[:2]) + "\n"
    assert not (desk.data / "profiles").exists()


def test_W32_pasted_posts_are_kept_when_they_are_too_many(desk: Pen) -> None:
    posts = [f"Пост номер {number}." for number in range(MAX_POSTS + 1)]
    with desk.terminal("init", "--model", desk.script(answer()), "--lang", "en") as terminal:
        paste(terminal, *posts)
        terminal.send(b".\r", "are kept in data/pasted-posts.md", "too much for one analysis")
        assert terminal.end()[0] == 2
    assert (desk.data / "pasted-posts.md").read_text() == "\n---\n".join(posts) + "\n"


def test_W32_a_correction_that_fails_leaves_the_last_profile(desk: Pen) -> None:
    with desk.terminal("init", *desk.posts(*POSTS), "--model", desk.script(answer()), "--lang", "en") as terminal:
        terminal.wait_for("correction)\n> ")
        terminal.press("softer", "The script has ended", "Tone: дружній", "correction)\n> ")
        terminal.press("ok")
        assert terminal.end()[0] == 0
    assert ProfileStore(desk.data).read("default").profile.version == 1


def test_W20_a_profile_that_is_there_is_asked_about_first(desk: Pen) -> None:
    put(desk.data, fields())
    before = (desk.data / "profiles" / "default.json").read_bytes()
    with desk.terminal("init", "--sample", "--lang", "en") as terminal:
        terminal.wait_for("[y/n]")  # on a line of its own: what is asked is folded
        assert "Replace it?" in terminal.text
        terminal.press("maybe", "[y/n]")
        terminal.press("зберігай", "[y/n]")
        terminal.press("Н.")
        assert terminal.end() == (1, "")
    assert (desk.data / "profiles" / "default.json").read_bytes() == before
    with desk.terminal("init", "--sample", env=UK) as terminal:
        terminal.wait_for("Замінити його?")
        terminal.press("Так, гаразд!", "Старий профіль збережено")
        assert terminal.end()[0] == 0


def test_W32_ctrl_c_ends_it_with_130_and_nothing_written(desk: Pen) -> None:
    with desk.terminal("init", "--model", desk.script(answer()), "--lang", "en") as terminal:
        terminal.wait_for("Post 1:")
        os.killpg(terminal.process.pid, signal.SIGINT)
        code, out = terminal.end()
    assert (code, out) == (130, "")
    assert "Traceback" not in terminal.text
    assert not (desk.data / "profiles").exists()
    assert not (desk.data / "pasted-posts.md").exists()


@pytest.mark.parametrize(
    ("columns", "env", "question", "yes", "done"),
    [
        (80, {}, "Delete the profile 'old'?", "yes", "Profile 'old' was deleted.\n"),
        (40, UK, "Видалити профіль «old»?", "т", "Профіль «old» видалено.\n"),
    ],
    ids=["en", "uk"],
)
def test_W32_a_profile_is_deleted_only_on_yes(
    desk: Pen, columns: int, env: dict[str, str], question: str, yes: str, done: str
) -> None:
    path = put(desk.data, fields(profile_name="old"))
    with desk.terminal("profile", "delete", "old", columns=columns, env=env) as terminal:
        terminal.wait_for(question)
        terminal.send(b"\x04")
        assert terminal.end() == (1, "")
    assert path.exists()
    with desk.terminal("profile", "delete", "old", columns=columns, env=env) as terminal:
        terminal.wait_for(question)
        terminal.press(yes)
        assert terminal.end() == (0, done)
    assert not path.exists()


class Editor:
    """An editor that leaves one text after the other, and keeps what it was shown."""

    def __init__(self, desk: Pen, *texts: str) -> None:
        self.folder = desk.folder / "editor"
        self.folder.mkdir()
        for number, text in enumerate(texts):
            (self.folder / str(number)).write_text(text, encoding="utf-8")
        script = self.folder / "edit"
        script.write_text(
            '#!/bin/sh\ncd "$(dirname "$0")"\nn=$(ls | grep -c shown)\ncat "$1" > shown-$n\n'
            'if [ -e "$n" ]; then cat "$n" > "$1"; fi\n'
        )
        script.chmod(0o700)
        self.env = {"EDITOR": str(script)}

    def shown(self, number: int) -> str:
        return (self.folder / f"shown-{number}").read_text(encoding="utf-8")


def editable(**changes: object) -> str:
    kept = ("source", "language", "voice", "platforms", "examples")
    return json.dumps({name: value for name, value in (fields() | changes).items() if name in kept or name in changes})


@pytest.mark.parametrize("columns", COLUMNS)
def test_W32_W2_what_is_wrong_is_told_and_can_be_edited_again(desk: Pen, columns: int) -> None:
    path = put(desk.data, fields())
    before = path.read_bytes()
    wrong = editable(language="de", voice=voice(avoid=[""]))
    right = editable(voice=voice(tone="новий"), source="інше")
    editor = Editor(desk, wrong, "{", right)
    with desk.terminal("profile", "edit", columns=columns, env={**editor.env, **UK}) as terminal:
        terminal.wait_for("Редагувати ще раз?")
        assert "- voice.avoid.1: " in " ".join(terminal.text.split())
        assert "- language: має бути" in " ".join(terminal.text.split())
        assert fits(terminal, columns)
        terminal.press("т", "Це не можна зберегти", "Редагувати ще раз?")
        terminal.press("т")
        assert terminal.end() == (0, "Профіль «default» оновлено до версії 2.\n")
    shown = json.loads(editor.shown(0))
    assert list(shown) == ["source", "language", "voice", "platforms", "examples"]
    assert (editor.shown(1), editor.shown(2)) == (wrong, "{")
    profile = ProfileStore(desk.data).read("default").profile
    assert (profile.voice.tone, profile.source) == ("новий", "інше")
    assert profile.changelog[-1].fields_changed == ["source", "voice.tone"]
    [backup] = (desk.data / "profiles" / "backups").iterdir()
    assert backup.read_bytes() == before


def test_W32_an_edit_can_be_given_up(desk: Pen) -> None:
    path = put(desk.data, fields())
    before = path.read_bytes()
    editor = Editor(desk, "[]")
    with desk.terminal("profile", "edit", "default", "--lang", "en", env=editor.env) as terminal:
        terminal.wait_for("Edit it again?")
        terminal.press("n")
        assert terminal.end() == (1, "")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("lang", "told"),
    [
        ("en", SAME + "The name, version and history of a profile cannot be changed here.\n"),
        ("uk", "Відмінностей немає, тож нічого не збережено. Ім'я, версію й історію профілю тут змінити не можна.\n"),
    ],
)
def test_W32_W34_an_edit_without_a_difference_writes_nothing(desk: Pen, lang: str, told: str) -> None:
    path = put(desk.data, fields())
    before = path.read_bytes()
    with desk.terminal("profile", "edit", "--lang", lang, env=Editor(desk).env) as terminal:
        assert terminal.end() == (0, told)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("lang", "told", "again"),
    [("en", "cannot be changed", "Edit it again?"), ("uk", "не можна змінювати", "Редагувати ще раз?")],
)
def test_W32_W34_a_name_or_version_that_was_put_in_is_refused_and_can_be_edited_again(
    desk: Pen, lang: str, told: str, again: str
) -> None:
    path = put(desk.data, fields())
    before = path.read_bytes()
    wrong = editable(profile_name="other", version=9)
    editor = Editor(desk, wrong, editable())
    with desk.terminal("profile", "edit", "--lang", lang, env=editor.env) as terminal:
        terminal.wait_for(again)
        assert [f"- {name}: {told}" in terminal.text for name in ("profile_name", "version")] == [True, True]
        terminal.press("y")
        assert terminal.end()[0] == 0
    assert (editor.shown(1), path.read_bytes()) == (wrong, before)


def test_W32_a_reference_profile_is_edited_by_its_owner(desk: Pen) -> None:
    put(desk.data, fields(profile_type="reference"))
    editor = Editor(desk, editable(language="en"))
    with desk.terminal("profile", "edit", "--lang", "en", "--json", env=editor.env) as terminal:
        code, out = terminal.end()
    assert (code, json.loads(out)) == (0, {"profile_name": "default", "version": 2, "changed": ["language"]})
    [*_, last] = ProfileStore(desk.data).read("default").profile.changelog
    assert last.description == "Оновлено: language. Причина: змінено вручну.", "in the language of the profile"


def test_W32_XJ3_a_damaged_profile_is_repaired_as_it_is_and_kept(desk: Pen) -> None:
    path = put(desk.data, b'{"profile_name": "default"')
    editor = Editor(desk, "still broken", json.dumps(fields(version=3)))
    with desk.terminal("profile", "edit", "--lang", "en", env=editor.env) as terminal:
        terminal.wait_for("Edit it again?")
        terminal.press("y")
        assert terminal.end() == (0, "Profile 'default' is now at version 3.\n")
    assert editor.shown(0) == '{"profile_name": "default"'
    assert json.loads(path.read_text()) == fields(version=3)
    [backup] = (desk.data / "profiles" / "backups").iterdir()
    assert backup.read_bytes() == b'{"profile_name": "default"'


def test_W32_a_damaged_profile_can_be_left_as_it_is(desk: Pen) -> None:
    path = put(desk.data, b"{")
    with desk.terminal("profile", "edit", "--lang", "en", env=Editor(desk).env) as terminal:
        terminal.wait_for("Edit it again?")
        terminal.press("no")
        assert terminal.end() == (1, "")
    assert path.read_bytes() == b"{"


CHANGES = {
    "changes": [
        {"path": "voice.tone", "value": "спокійний", "why": "тихіше"},
        {"path": "voice.formality", "value": "formal", "why": "строгіше"},
        {"path": "voice.personality", "value": "critic", "why": "різкіше"},
        {"path": "voice.emoji_usage", "value": "never", "why": "жодного"},
    ]
}


@pytest.mark.parametrize(
    ("keys", "applied"),
    [
        (("y", "n", "a"), ["voice.tone", "voice.personality", "voice.emoji_usage"]),
        (("т", "с"), ["voice.tone"]),
        (("q",), []),
        (("n", "n", "n", "n"), []),
    ],
)
def test_W35_each_change_is_made_on_a_yes_of_its_own_or_to_all(
    desk: Pen, keys: tuple[str, ...], applied: list[str]
) -> None:
    put(desk.data, fields())
    model = desk.script(json.dumps(CHANGES))
    files = desk.posts(*POSTS)[1::2]
    with desk.terminal("analyze", *files, "--model", model, "--lang", "en", "--json") as terminal:
        terminal.wait_for("- дружній, трохи іронічний\n+ спокійний\n")
        for key in keys:
            terminal.wait_for("q = stop] ")
            terminal.press(key)
        code, out = terminal.end()
    told = json.loads(out)
    assert (code, told["applied"], told["version"]) == (0, applied, 2 if applied else 1)
    assert ProfileStore(desk.data).read("default").profile.version == told["version"]


def untrusted(desk: Pen, *arguments: str, env: dict[str, str] | None = None) -> Pseudo:
    """A command at a terminal, in a folder that somebody else made."""
    put(desk.data, fields(voice=voice(tone="obey the project")))
    known = environment(desk.home, **(env or {}))
    return Pseudo(ghostpen_command(*arguments), env=known, cwd=desk.folder, rows=50)


@pytest.mark.parametrize(
    ("env", "question", "yes"),
    [({}, "There is a folder 'data' here.", "y"), (UK, "Тут є тека «data».", "т")],
    ids=["en", "uk"],
)
def test_XA30_a_data_folder_is_used_once_somebody_has_trusted_it(
    desk: Pen, env: dict[str, str], question: str, yes: str
) -> None:
    with untrusted(desk, "profile", "show", "default", env=env) as terminal:
        terminal.wait_for(question)
        terminal.wait_for("] ")
        terminal.press(yes)
        code, out = terminal.end()
    assert (code, "obey the project" in out) == (0, True)
    with untrusted(desk, "profile", "show", "default", env=env) as terminal:  # nobody is asked again
        assert terminal.end() == (code, out)
        assert question not in terminal.text


def test_XA30_a_no_uses_nothing_of_a_data_folder(desk: Pen) -> None:
    with untrusted(desk, "profile", "show", "default") as terminal:
        terminal.wait_for("] ")
        terminal.press("n")
        code, out = terminal.end()
        assert "Nobody has trusted the folder 'data' here" in terminal.text
    assert (code, out) == (2, "")
