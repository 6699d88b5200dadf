"""Commands of the settings in a chat: an "always" of their own, the check after an edit, and programs."""

import sys

import pytest
from tests.cli.chat.screen import CTRL_D, ENTER, chat
from tests.cli.chat.test_approvals import MAIN, READ, edit, press
from tests.support.project import Project

CHECK = (
    "import sys; bad = 'TODO' in open('src/main.js').read(); print('a TODO is left' if bad else 'fine'); sys.exit(bad)"
)


def set_up(project: Project, text: str) -> None:
    folder = project.home / "config"
    folder.mkdir(parents=True, mode=0o700)
    (folder / "settings.toml").write_text(text)
    (folder / "settings.toml").chmod(0o600)


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (40, 30)])
def test_S13_the_check_after_an_edit_has_an_always_of_its_own(project: Project, columns: int, rows: int) -> None:
    set_up(
        project,
        f'code.after_edit = "todos"\n[code.commands.todos]\ncommand = ["{sys.executable}", "-c", {CHECK!r}]\n'
        '[code.commands.lint]\ncommand = ["true"]\n',
    )
    lint = {"calls": [{"name": "run_lint", "arguments": {}}]}
    turns = [READ, edit("TODO", "TODO:"), "Done.", edit("TODO:", "DONE"), "Now it is.", "It passes.", lint, "Linted."]
    with chat(project, "code", "--model", project.script(*turns), columns=columns, rows=rows) as screen:
        screen.say("do it")
        screen.asks("Allow this?")
        press(screen, "y", "Allow this?")
        screen.shows("The check after changes", "for at most 300 seconds")
        screen.asks("Allow this?")
        press(screen, "!", "Always allow this?")
        screen.shows("run_todos, whatever it is given", "also what a model wrote")
        screen.send(b"y" + ENTER)
        screen.shows("Run todos (failed with exit code 1)")
        screen.asks("Allow this?")  # the second edit; the check itself is not asked about any more
        screen.send(b"y" + ENTER)
        screen.shows("It passes.")
        screen.say("lint it")
        screen.asks("Allow this?")  # another command, another always
        screen.send(b"y" + ENTER)
        screen.shows("Linted.")
        screen.waits()
        screen.send(CTRL_D)
        assert screen.end()[0] == 0
    assert "// DONE" in project.text(MAIN)
    assert '"version": 4' in (project.home / "config" / "rules.json").read_text()


def test_S13_a_program_shows_its_words_folder_time_and_reach(project: Project) -> None:
    set_up(project, '[code]\nprograms = "on"\nprogram_seconds = 7\n')
    run = {"command": ["touch", "made; now"], "description": "Make it."}
    model = project.script({"calls": [{"name": "run_program", "arguments": run}]}, "Made.")
    with chat(project, "code", "--yes", "--model", model, env={"PATH": "/nowhere"}) as screen:
        screen.say("make it")
        screen.asks("Allow this?")  # although the chat was begun with --yes
        screen.shows("touch 'made; now'", "for at most 7 seconds", "There is no sandbox on this system")
        assert "! always" not in screen.whole
        screen.send(b"n" + ENTER)
        screen.asks("Why not? (Enter to say nothing)")
        screen.send(ENTER)
        screen.shows("Made.")
        screen.waits()
        screen.send(CTRL_D)
        assert screen.end()[0] == 0
    assert not (project.root / "made; now").exists()
