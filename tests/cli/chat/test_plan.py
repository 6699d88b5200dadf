"""Plan mode, and the smaller commands of a chat."""

import json

import pytest
from tests.cli.chat.screen import chat, recorded
from tests.support.project import Calling, Project

from toolroll.journal.records import RunBegan

WRITE = {"calls": [{"name": "create_file", "arguments": {"path": "new.txt", "content": "x\n", "description": "New."}}]}


@pytest.mark.parametrize("columns", [80, 40])
def test_S14_in_plan_mode_nothing_is_changed_until_go(project: Project, columns: int) -> None:
    model = project.script(WRITE, "The plan: one file.", WRITE, "Made.")
    with chat(project, "code", "--model", model, "--plan", columns=columns, rows=40) as screen:
        screen.waits()
        screen.shows("plan mode (/go)")
        screen.say("Make a file", "The plan: one file.")
        assert not (project.root / "new.txt").exists()
        screen.say("/go", "Create new.txt?")
        screen.asks("Allow this?")
        screen.send(b"y\r")
        screen.shows("Made.")
        screen.say("/go", "There is no plan to go with.")
        screen.say("/cost", "cost: not known")
        screen.say("/quit")
        assert screen.end()[0] == 0
    assert project.text("new.txt") == "x\n"
    began = [next(one for _, one in run if isinstance(one, RunBegan)).settings for run in recorded(project)]
    assert [(one["read_only"], one["is_plan"]) for one in began] == [(True, True), (False, False)]


def test_S14_plan_with_a_prompt_offers_no_tool_that_changes(project: Project) -> None:
    done = project.call("code", "Make a file", "--plan", "--model", project.script(WRITE, "A plan."), "--yes")
    assert (done.returncode, "--yes and --plan exclude each other" in done.stderr) == (2, True)
    done = project.call("code", "Make a file", "--plan", "--model", project.script(WRITE, "A plan."))
    assert (done.stdout, (project.root / "new.txt").exists()) == ("A plan.\n", False)


def test_S14_no_slip_of_the_finger_leads_to_more_rights(call: Calling) -> None:
    told = call("code", "--yess", "x")
    assert (told.code, "--yes" in told.err.replace("--yess", "")) == (2, False)
    assert "Did you mean '--resume'?" in call("code", "--resum", "x").err


def test_S14_the_terminal_has_settings(call: Calling) -> None:
    assert call("config", "set", "terminal.theme", "light").code == 0
    assert call("config", "set", "terminal.keys", "vi").code == 0
    assert call("config", "set", "terminal.theme", "pink").code == 2
    listed = json.loads(call("config", "list", "--json").out)["settings"]
    assert {one["name"]: one["value"] for one in listed if one["name"].startswith("terminal.")} == {
        "terminal.theme": "light",
        "terminal.keys": "vi",
        "terminal.bell": "off",
    }
