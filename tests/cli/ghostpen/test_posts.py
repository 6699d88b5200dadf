"""`ghostpen posts`: what was saved, listed, shown as it is, and put into the clipboard."""

import base64
import json

import pytest
from tests.cli.ghostpen.author import READ, Desk, post
from tests.support.programs import environment
from tests.support.programs import ghostpen as ghostpen_command
from tests.support.terminal import Pseudo

TEXT = "Чай — це добре.\n\nА ви?"


def save(desk: Desk, *topics: str) -> None:
    folder = desk.data / "output" / "generated"
    folder.mkdir(parents=True)
    for day, topic in enumerate(topics, 1):
        head = (
            f"---\nplatform: linkedin\ntopic: {topic}\ncreated: 2026-02-0{day}T10:00:00Z\nprofile_used: default\n---\n"
        )
        (folder / f"2026-02-0{day}-{topic}-linkedin.md").write_text(f"{head}\n{TEXT}\n")


def test_W37_posts_are_listed_and_shown_as_they_are(desk: Desk) -> None:
    save(desk, "chai", "kava")
    listed = desk.run("posts", "list")
    assert listed.out.splitlines() == [
        "2026-02-02  linkedin   kava  2026-02-02-kava-linkedin.md",
        "2026-02-01  linkedin   chai  2026-02-01-chai-linkedin.md",
    ]
    assert desk.run("posts", "show").out == f"{TEXT}\n"
    assert json.loads(desk.run("posts", "show", "чай", "--json").out)["topic"] == "chai"
    assert desk.run("posts", "list", "--limit", "1", "--lang", "uk").err == "Ще 1: ghostpen posts list --limit 2\n"
    assert "'2026' is a part of several names" in desk.run("posts", "show", "2026", "--lang", "en").err
    missing = desk.run("posts", "show", "tea", "--lang", "en")
    assert (missing.code, "There is no post 'tea'." in missing.err) == (1, True)


def test_W37_without_posts_it_says_how_to_begin(desk: Desk) -> None:
    assert "No post has been saved yet." in desk.run("posts", "list", "--lang", "en").err
    assert desk.run("posts", "copy", "--lang", "uk").code == 1


def test_W37_a_post_is_copied_through_the_terminal(desk: Desk) -> None:
    save(desk, "chai")
    without = desk.run("posts", "copy", "--lang", "en")
    assert (without.out, "no terminal whose clipboard" in without.err) == (f"{TEXT}\n", True)
    command = ghostpen_command("posts", "copy", "--data", str(desk.data), "--lang", "uk")
    with Pseudo(command, env=environment(desk.folder / "home"), cwd=desk.folder) as terminal:
        terminal.wait_for("Скопійовано 2026-02-01-chai-linkedin.md (22 символи).")
        assert terminal.end()[0] == 0
        assert f"\x1b]52;c;{base64.b64encode(TEXT.encode()).decode()}\x07" in terminal.raw.decode()


@pytest.mark.parametrize(
    ("lang", "told"), [("en_US.UTF-8", "There is no command"), ("uk_UA.UTF-8", "Команди «help» немає")]
)
def test_W37_one_word_that_is_no_command_costs_no_model_call(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, lang: str, told: str
) -> None:
    desk.has_profile()
    monkeypatch.setenv("LC_ALL", lang)
    done = desk.run("help", "--model", desk.script(READ, post("Never.")))
    assert (done.code, done.out, told in done.err) == (2, "", True)
    assert desk.run("tea", "--platform", "x", "--model", desk.script(READ, post("Tea."))).code == 0
