"""Keys that are typed before anybody reads them: kept as messages, never taken for a yes."""

import os
import sys
from pathlib import Path

import pytest
from tests.cli.chat.screen import CTRL_D, ENTER, Screen, at_screen, recorded, said_in
from tests.support.project import Project

PACED = Path(__file__).parents[1] / "render" / "live" / "paced.py"
MAIN = "src/main.js"
TODO = {"path": MAIN, "old_string": "TODO", "new_string": "ГОТОВО", "description": "Це зроблено."}
BACKSPACE = b"\x7f"


class Held:
    """A chat whose model says nothing before it may."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._gate = project.home.with_name("gate")
        os.mkfifo(self._gate)

    def chat(self, *turns: object, more: tuple[str, ...] = ()) -> Screen:
        """The chat."""
        command = (sys.executable, str(PACED), str(self._gate), "code", "--model", self._project.script(*turns), *more)
        return at_screen(self._project.home, self._project.root, *command, rows=40)

    def let_go(self) -> None:
        """From now on it says all that it has to say."""
        with self._gate.open("wb", buffering=0) as gate:
            gate.write(b"." * 100)


@pytest.fixture
def held(project: Project) -> Held:
    return Held(project)


@pytest.mark.parametrize("more", [(), ("--plain",)], ids=["edited", "plain"])
def test_S1_lines_that_are_typed_ahead_are_the_next_messages(
    project: Project, held: Held, more: tuple[str, ...]
) -> None:
    with held.chat("Раз.", "Два.", "Три.", more=more) as screen:
        screen.send("перше".encode() + ENTER)  # before there is anything to type it into
        screen.shows("Ask about this project" if more else "step 1")
        screen.send(b"x" + BACKSPACE + "друге".encode() + ENTER + "тре".encode() + CTRL_D + "т".encode())
        held.let_go()
        screen.shows("Раз.", "Два.")
        screen.send("є".encode() + ENTER)
        screen.shows("Три.")
        screen.waits()
        screen.send(CTRL_D)
        assert screen.end()[0] == 0
    last = said_in(recorded(project)[-1])
    assert [word for word in ("перше", "друге", "третє") if not any(f'"{word}"' in one for one in last)] == []


def test_S5_XA6_a_yes_that_is_typed_ahead_approves_nothing(project: Project, held: Held) -> None:
    edit = {"text": "Змінюю.", "calls": [{"name": "edit", "arguments": TODO}]}
    with held.chat(edit, "Тоді ні.") as screen:
        screen.say(f"Познач у @{MAIN} так", "step 1")
        screen.send(b"y" + ENTER + b"y" + ENTER)
        held.let_go()
        screen.asks("Allow this?")
        screen.send(b"n" + ENTER)
        screen.asks("Why not? (Enter to say nothing)")
        screen.send(ENTER)
        screen.shows("Тоді ні.")
        screen.waits()  # nor is it the next message
        screen.send(CTRL_D)
        assert screen.end()[0] == 0
    assert "// TODO:" in project.text(MAIN)
    assert len(recorded(project)) == 1
