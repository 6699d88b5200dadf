"""Whole flows of the new surfaces at a real terminal, wide and narrow, in Ukrainian; and hostile text there."""

import os
import select
import signal
import socket
from datetime import UTC, datetime

import pytest
from tests.cli.chat.screen import CTRL_D, ENTER, Screen, at_screen, chat, recorded, state_of
from tests.cli.ghostpen.author import READ, post
from tests.support.author import trust_data
from tests.support.programs import ghostpen as ghostpen_command
from tests.support.programs import toolroll
from tests.support.project import Project

from toolroll.packs.writing.profiles.store import ProfileStore
from toolroll.packs.writing.sample import sample_profile

SIZES = [(80, 24), (40, 40)]
UK = {"LC_ALL": "uk_UA.UTF-8"}
GHOSTPEN = tuple(ghostpen_command())
HOSTILE = "\x1b]52;c;ZXZpbA==\x07\x1b[2J\x1b[31mчай\r\u202eприховане\u2066\u200b\x9b5m"
"""Clipboard, clear, colour, overwriting, bidi, nothing wide, C1."""
FORBIDDEN = (b"\x1b]52", b"\x1b[2J\x1b[31m", "\u202e".encode(), "\u2066".encode(), "\u200b".encode(), b"\xc2\x9b")


def ghostpen(project: Project, *arguments: str, columns: int = 80, rows: int = 40) -> Screen:
    """`ghostpen` in a folder with the sample author."""
    fields = sample_profile("uk")
    trust_data(project.home, project.root)
    ProfileStore(project.root / "data").create(fields, now=datetime(2026, 2, 9, 10, tzinfo=UTC), replace=True)
    return at_screen(project.home, project.root, *GHOSTPEN, *arguments, columns=columns, rows=rows, env=UK)


def posts(project: Project) -> list[str]:
    return [path.read_text() for path in (project.root / "data" / "output" / "generated").glob("*.md")]


@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_S1_W30_a_post_is_drafted_corrected_and_saved_in_ukrainian(project: Project, columns: int, rows: int) -> None:
    model = project.script(READ, post("Чай гарячий, і це довге речення про чай.", "чай"), READ, post("Чай.", "чай"))
    with ghostpen(project, "Пост про чай", "--model", model, columns=columns, rows=rows) as screen:
        screen.shows("Пишу за профілем «default»", "Чернетка 1", "Чай гарячий")
        screen.say("коротше", "Чернетка 2", "│ Чай.")
        screen.send("зберігай".encode() + ENTER)
        assert screen.end()[0] == 0
    [kept] = posts(project)
    assert kept.endswith("\nЧай.\n")


def test_XD2_XA8_W30_a_kill_before_anybody_says_so_saves_nothing(project: Project) -> None:
    model = project.script(READ, post("Чай.", "чай"))
    with ghostpen(project, "Пост про чай", "--model", model) as screen:
        screen.shows("Чернетка 1")
        screen.waits()
        os.kill(screen.process.pid, signal.SIGKILL)
        screen.process.wait()
    assert posts(project) == []


def test_XA6_W30_a_hostile_draft_has_no_power_over_the_terminal(project: Project) -> None:
    model = project.script(READ, post(f"Чай {HOSTILE}", "чай"))
    with ghostpen(project, "Пост про чай", "--model", model) as screen:
        screen.shows("Чернетка 1", "‹U+202E›")
        screen.waits()
        screen.send(CTRL_D)
        screen.asks("[т/н]")
        screen.send("т".encode() + ENTER)
        assert screen.end()[0] == 0
        assert [one for one in FORBIDDEN if one in screen.raw] == []


@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_S1_R22_an_idea_is_explored_and_asked_about_in_ukrainian(project: Project, columns: int, rows: int) -> None:
    model = project.script("# Дахи\n\nСонце світить.", "Бо світить сонце, і це довга відповідь про дахи в селі.")
    with chat(project, "explore", "--model", model, columns=columns, rows=rows, env=UK) as screen:
        screen.shows("Write the idea to explore.")
        screen.say("Сонячні дахи в селі", "written: 1 step")
        screen.say("Чому саме дахи?", "Бо світить сонце")
        screen.waits()
        assert max(map(len, screen.display)) <= columns
        screen.send(CTRL_D)
        assert screen.end()[0] == 0
    assert [state_of(one) for one in recorded(project)] == ["answer"] * 2


def test_XA6_R22_hostile_research_has_no_power_over_the_terminal(project: Project) -> None:
    call = {"text": f"Читаю {HOSTILE}", "calls": [{"name": "read_research", "arguments": {"path": f"{HOSTILE}.md"}}]}
    model = project.script(f"# {HOSTILE}\n\nСонце.", call, f"Бо {HOSTILE} так.")
    with chat(project, "explore", "--model", model, rows=50, env=UK) as screen:
        screen.say("Дахи", "written: 1 step")
        screen.say("Чому?", "так.")
        screen.waits()
        screen.send(CTRL_D)
        assert screen.end()[0] == 0
        assert [one for one in FORBIDDEN if one in screen.raw] == []


def test_XD2_XA8_R22_a_search_that_was_asked_about_at_a_kill_is_asked_about_again(project: Project) -> None:
    folder = project.root / "ideas" / "2026-01-02-tea"
    folder.mkdir(parents=True)
    (folder / "research.md").write_text("# Чай\n\nГарячий.\n")
    turns = [
        {"calls": [{"name": "read_research", "arguments": {"path": "2026-01-02-tea/research.md"}, "id": "read_1"}]},
        {"calls": [{"name": "web_search", "arguments": {"query": "таємниця чаю"}, "id": "search_1"}]},
        "# Дахи",
    ]
    command = ("explore", "run", "Дахи", "--model", project.script(*turns))
    with socket.create_server(("127.0.0.1", 0)) as searched:
        env = {"SEARXNG_URL": f"http://127.0.0.1:{searched.getsockname()[1]}"}
        with project.terminal(*command, env=env) as terminal:
            terminal.wait_for("May it search the web?")
            terminal.press("n", "Allow this?")
            os.kill(terminal.process.pid, signal.SIGKILL)
            terminal.process.wait()
        [killed] = recorded(project)
        assert state_of(killed) == "unfinished"
        with project.terminal("runs", "resume", killed.run_id, env=env) as terminal:
            terminal.wait_for("May it search the web?")
            terminal.press("n", "таємниця чаю", "Allow this?")
            os.kill(terminal.process.pid, signal.SIGKILL)
            terminal.process.wait()
        done = project.call("runs", "resume", killed.run_id, **env)
        assert (done.returncode, "web_search" in done.stderr) == (0, True), done
        assert select.select([searched], [], [], 0)[0] == [], "nobody has said yes, so nothing was sent"


@pytest.mark.parametrize("columns", [80, 40])
@pytest.mark.parametrize("line", ["doctor", "stats", "config list --show-origin", "config key list"])
def test_S6_figures_settings_and_findings_are_whole_at_any_width(line: str, columns: int, project: Project) -> None:
    project.call("code", "Привіт", "--model", project.script("Вітаю!"))
    command = toolroll(*line.split())
    with at_screen(project.home, project.root, *command, columns=columns, rows=400, env=UK) as screen:
        assert screen.end()[0] == 0
        whole = " ".join(screen.whole.split())
    told = {"doctor": "Nothing is broken.", "stats": "scripted", "config list --show-origin": "from default"}
    assert told.get(line, "ANTHROPIC_API_KEY") in whole
