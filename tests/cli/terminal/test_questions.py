"""Commands that ask before they act, at a real terminal, wide and narrow: nothing is cut that one decides by."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.cli.chat.screen import CTRL_C, CTRL_D, ENTER, Screen, at_screen, recorded
from tests.cli.cut import cut_words
from tests.support.author import trust_data
from tests.support.programs import ROOT, ghostpen, toolroll
from tests.support.project import Project

from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.sample import sample_profile

WIDTHS = [80, 40]
UK = {"LC_ALL": "uk_UA.UTF-8"}
NAME = "нотатки про чай/перша сторінка.md"
BEFORE = "Чай гарячий, і його п'ють із чашок, які стоять на полиці біля вікна.\n"
AFTER = "Чай холодний, і його п'ють зі склянок, які стоять на полиці біля вікна.\nСклянки миють.\n"
TOOL = '''"""Інструмент, який розгортає проєкт: спершу перевіряє, потім надсилає, а наприкінці пише до журналу."""

from toolroll import tool


@tool
def deploy(місце: str) -> str:
    """Розгорнути проєкт у місці, яке названо; якщо місце не названо, то у звичному місці для випробувань."""
    return "розгорнуто"
'''
SECRET = "canary-of-a-key-0123456789"
GHOSTPEN = tuple(ghostpen())


def at(project: Project, *command: str, columns: int, rows: int = 60, env: Mapping[str, str] | None = None) -> Screen:
    return at_screen(project.home, project.root, *command, columns=columns, rows=rows, env=env or UK)


def bare(text: str) -> str:
    """A text without what differs when it is folded: blanks, and the marks of a line that goes on."""
    return "".join(text.replace("┊", "").replace("│", "").split())


def cuts(screen: Screen) -> list[str]:
    """Words that the terminal had to cut, in all that was written to it."""
    return [cut for line in screen.text.split("\n") for cut in cut_words(line, screen.screen.columns)]


def unfolded(screen: Screen, text: str) -> str:
    """The rows of the screen from the one with this text on, without the gutter and the blanks."""
    lines = screen.display
    first = next(number for number, line in enumerate(lines) if text in line)
    return bare("".join(line.lstrip(" 0123456789+-┊") for line in lines[first:]))


@pytest.mark.parametrize("columns", WIDTHS)
def test_S4_C31_an_undo_is_shown_whole_and_asked_about(project: Project, columns: int) -> None:
    (project.root / NAME).parent.mkdir()
    (project.root / NAME).write_text(BEFORE)
    project.change({NAME: AFTER}, description="Холодний чай краще смакує влітку, коли надворі спека.")
    with at(project, *toolroll("undo"), columns=columns) as screen:
        screen.asks("Do this? [y/n]")
        assert bare(f"· '{NAME}' gets back the content it had.") in bare(screen.whole)
        shown = unfolded(screen, "@@")
        assert all(bare(line) in shown for line in (BEFORE + AFTER).splitlines())
        assert cuts(screen) == []
        screen.send(b"?\r")
        screen.shows("Type y or n, then Enter.")
        screen.asks("Do this? [y/n]")
        screen.send(b"n\r")
        assert screen.end()[0] == 1
        assert "Error: Nothing was done." in screen.whole
    assert project.text(NAME) == AFTER
    with at(project, *toolroll("undo"), columns=columns) as screen:
        screen.asks("Do this? [y/n]")
        screen.send(b"y\r")
        assert screen.end()[0] == 0
        assert bare(f"Undo: {NAME}.") in bare(screen.whole)
    assert project.text(NAME) == BEFORE


@pytest.mark.parametrize("columns", WIDTHS)
def test_S4_C31_a_long_undo_is_asked_about_after_its_last_page(project: Project, columns: int) -> None:
    project.change({"src/main.js": "".join(f"// рядок {number}\n" for number in range(60))})
    with at(project, *toolroll("undo"), columns=columns, rows=24) as screen:
        screen.asks("n no:")
        screen.send(b"y\r")
        screen.shows("Press Enter for the next page, or n to")
        screen.asks("n no:")
        screen.send(b"v\r")
        screen.asks("Do this? [y/n]")
        screen.send(CTRL_D)
        assert screen.end()[0] == 1
        assert cuts(screen) == []
    assert "рядок 59" in project.text("src/main.js")


@pytest.mark.parametrize("columns", WIDTHS)
def test_S4_C43_a_file_to_trust_is_shown_whole_and_asked_about(project: Project, columns: int) -> None:
    path = project.root / ".toolroll" / "tools" / "deploy.py"
    path.parent.mkdir(parents=True)
    path.write_text(TOOL)
    command = toolroll("trust", "add", ".toolroll/tools/deploy.py")
    with at(project, *command, columns=columns) as screen:
        screen.asks("[y/n]")
        assert bare(TOOL) in bare(screen.whole)
        assert "Its code would run as you. Trust it? [y/n]" in " ".join(screen.whole.split())
        assert cuts(screen) == []
        screen.send(b"n\r")
        assert screen.end()[0] == 1
    assert "not trusted" in project.call("trust", "list").stdout
    with at(project, *command, columns=columns) as screen:
        screen.asks("[y/n]")
        screen.send(b"y\r")
        assert screen.end()[0] == 0
    assert "not trusted" not in project.call("trust", "list").stdout


@pytest.mark.parametrize("columns", WIDTHS)
def test_S4_runs_to_delete_are_shown_and_asked_about(project: Project, columns: int) -> None:
    project.call("run", "Який чай гарячіший, чорний чи зелений?", "--model", project.script("Обидва."))
    [run] = recorded(project)
    command = toolroll("runs", "delete", run.run_id[:8])
    with at(project, *command, columns=columns) as screen:
        screen.asks("Delete this for good? [y/n]")
        told = " ".join(screen.whole.split())
        assert run.run_id[:12] in told
        assert "Який чай гарячіший, чорний чи зелений?" in told
        assert "To delete: 1 run, " in told
        assert "What the runs changed in projects stays, and 'toolroll undo' still knows of it." in told
        assert cuts(screen) == []
        screen.send(CTRL_C)
        assert screen.end()[0] == 130
    assert len(recorded(project)) == 1
    with at(project, *command, columns=columns) as screen:
        screen.asks("Delete this for good? [y/n]")
        screen.send("так\r".encode())
        screen.shows("Type y or n, then Enter.")
        screen.asks("Delete this for good? [y/n]")
        screen.send(b"y\r")
        assert screen.end()[0] == 0
    assert recorded(project) == []


@pytest.mark.parametrize("columns", WIDTHS)
def test_S41_a_key_is_asked_for_and_never_shown(project: Project, tmp_path: Path, columns: int) -> None:
    ring = {"PYTHON_KEYRING_BACKEND": "tests.home.keyrings.FileKeyring", "TEST_KEYRING": str(tmp_path)}
    env = {**UK, **ring, "PYTHONPATH": str(ROOT)}
    command = toolroll("config", "key", "set", "OPENAI_COMPATIBLE_API_KEY")
    kept = tmp_path / "toolroll-OPENAI_COMPATIBLE_API_KEY"
    with at(project, *command, columns=columns, env=env) as screen:
        screen.asks("shown):")
        screen.waits_until(lambda: not screen.echoes, "a keyboard without an echo")
        screen.send(CTRL_C)
        assert screen.end()[0] == 130
        assert (screen.echoes, kept.exists()) == (True, False)
    with at(project, *command, columns=columns, env=env) as screen:
        screen.asks("shown):")
        screen.waits_until(lambda: not screen.echoes, "a keyboard without an echo")
        screen.send(SECRET.encode() + ENTER)
        assert screen.end()[0] == 0
        assert "is in the keyring." in " ".join(screen.whole.split())
        assert (SECRET.encode() in screen.raw, screen.echoes, cuts(screen)) == (False, True, [])
    assert kept.read_text() == SECRET


CHANGE = {
    "path": "voice.tone",
    "value": "спокійний і теплий, без поспіху, з довгими реченнями про людей та їхню щоденну роботу",
    "why": "У постах довгі речення про людей, і жодного разу автор не підвищує голосу на читача.",
}


@pytest.mark.parametrize("columns", WIDTHS)
def test_W32_S5_a_change_of_a_profile_is_shown_whole_and_asked_about(project: Project, columns: int) -> None:
    store = ProfileStore(project.root / "data")
    trust_data(project.home, project.root)
    old = store.create(sample_profile("uk"), now=datetime(2026, 2, 9, 10, tzinfo=UTC), replace=True)
    assert old is not None
    tone = store.read("default").profile.voice.tone
    (project.root / "post.md").write_text("Люди п'ють чай щодня, і ніхто нікуди не поспішає.\n")

    model = project.script(json.dumps({"changes": [CHANGE]}, ensure_ascii=False))
    command = (*GHOSTPEN, "analyze", "post.md", "--model", model)
    with at(project, *command, columns=columns) as screen:
        screen.asks("]")
        shown = bare(screen.whole)
        assert all(bare(text) in shown for text in (CHANGE["why"], CHANGE["value"], tone))
        assert cuts(screen) == []
        screen.send("н\r".encode())
        assert screen.end()[0] == 0
    assert store.read("default").profile.voice.tone == tone
    with at(project, *command, columns=columns) as screen:
        screen.asks("]")
        screen.send("т\r".encode())
        assert screen.end()[0] == 0
    assert store.read("default").profile.voice.tone == CHANGE["value"]
