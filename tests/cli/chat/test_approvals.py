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


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (40, 40)])
def test_S12_one_file_of_several_can_be_edited_and_what_is_allowed_together_is_undone_together(
    project: Project, columns: int, rows: int
) -> None:
    changes = [{"path": name, "content": f"{name}\n", "create": True} for name in ("one.txt", "two.txt")]
    change_set = {"calls": [{"name": "apply_changes", "arguments": {"changes": changes, "description": "Two."}}]}
    batch = {
        "calls": [
            {"name": "create_file", "arguments": {"path": name, "content": "x\n", "description": "d"}}
            for name in ("three.txt", "four.txt")
        ]
    }
    model = project.script(change_set, "Set.", batch, "Batch.")
    env = {"EDITOR": "sed -i s/two/TWO/"}
    with chat(project, "code", "--model", model, columns=columns, rows=rows, env=env) as screen:
        screen.say("a set")
        screen.asks("Allow this?")
        press(screen, "e", "Which file? [1-2]")
        press(screen, "2", "on]")
        screen.send(b"y" + ENTER)
        screen.say("a batch")
        screen.asks("Allow this?")
        press(screen, "a", "Yes to all 2? [y/n]")
        screen.send(b"y" + ENTER)
        screen.say("/undo")
        screen.asks("Do this? [y/n]")
        screen.send(b"y" + ENTER)
        screen.shows("Undo: ")
        screen.waits()
        screen.send(CTRL_D)
        assert screen.end()[0] == 0
    assert (project.text("one.txt"), project.text("two.txt")) == ("one.txt\n", "TWO.txt\n")
    assert not [name for name in ("three.txt", "four.txt") if (project.root / name).exists()]
