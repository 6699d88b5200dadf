"""Questions about changes in a chat: what matters is on one screen, and an "always" lasts as long as it says."""

import pytest
from tests.cli.chat.screen import CTRL_D, ENTER, Screen, chat
from tests.support.project import Project

MAIN = "src/main.js"
READ = {"calls": [{"name": "read_file", "arguments": {"path": MAIN}}]}


def edit(old: str, new: str) -> dict[str, object]:
    arguments = {"path": MAIN, "old_string": old, "new_string": new, "description": "It is done."}
    return {"calls": [{"name": "edit", "arguments": arguments}]}


def press(screen: Screen, keys: str, question: str) -> None:
    screen.send(keys.encode() + ENTER)
    screen.asks(question)


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (40, 30)])
def test_S12_a_small_change_fits_on_one_screen_and_the_rest_is_behind_a_key(
    project: Project, columns: int, rows: int
) -> None:
    model = project.script(READ, edit("TODO", "DONE"), "Ok.", edit("DONE", "MADE"), "And that.")
    env = {"TOOLROLL_APPROVAL_SECONDS": "0.2"}  # in a chat a question has no limit
    with chat(project, "code", "--model", model, columns=columns, rows=rows, env=env) as screen:
        screen.say("do it")
        screen.asks("Allow this?")
        assert f"Edit {MAIN}?" in screen.display
        assert "why   It is done." in screen.display
        assert "old_string" not in screen.whole
        screen.send(b"?" + ENTER)
        screen.shows("old_string", '"TODO"')
        screen.asks("Allow this?")
        press(screen, "!", f"On which paths? [{MAIN}]")
        press(screen, "", "Always allow this?")
        screen.send(b"r" + ENTER)
        screen.say("and again", "And that.")  # nobody is asked any more
        screen.say("/policy", "Until this chat ends, without asking:")
        screen.waits()
        screen.send(CTRL_D)
        assert screen.end()[0] == 0
    assert "// MADE:" in project.text(MAIN)
