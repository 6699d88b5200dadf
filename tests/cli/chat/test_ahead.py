"""Keys that are typed before anybody reads them: kept as messages, never taken for a yes."""

import os
import sys
from pathlib import Path

import pytest
from tests.cli.chat.screen import CTRL_C, CTRL_D, ENTER, Screen, at_screen, chat, recorded, said_in
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
def test_S1_S11_lines_that_are_typed_ahead_are_the_next_messages(
    project: Project, held: Held, more: tuple[str, ...]
) -> None:
    with held.chat("Раз.", "Два.", "Три.", more=more) as screen:
        screen.send("перше".encode() + ENTER)  # before there is anything to type it into
        screen.shows("Ask about this project" if more else "step 1")
        screen.send(b"x" + BACKSPACE + "друге".encode() + ENTER + "тре".encode() + CTRL_D + "т".encode())
        if not more:
            screen.shows("queued: друге\n> трет")
        held.let_go()
        screen.shows("Раз.", "Два.")
        screen.send("є".encode() + ENTER)
        screen.shows("Три.")
        screen.waits()
        screen.send(CTRL_D)
        assert screen.end()[0] == 0
    last = said_in(recorded(project)[-1])
    assert [word for word in ("перше", "друге", "третє") if not any(f'"{word}"' in one for one in last)] == []


def test_S11_what_is_queued_when_an_answer_is_stopped_is_offered_and_not_sent(project: Project, held: Held) -> None:
    with held.chat("Раз.", "Два.") as screen:
        screen.say("перше", "step 1")
        screen.send("друге".encode() + ENTER)
        screen.shows("queued: друге")
        screen.send(CTRL_C)
        screen.asks("> друге")
        screen.shows("scripted:")
        screen.send(CTRL_C)
        screen.waits()
        screen.send(CTRL_D)
        assert screen.end()[0] == 0
    assert len(recorded(project)) == 1


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
        screen.shows("Тоді ні.", "> y")
        screen.asks("· y")  # both are offered as the next message, and not sent
        screen.send(CTRL_C)
        screen.waits()
        screen.send(CTRL_D)
        assert screen.end()[0] == 0
    assert "// TODO:" in project.text(MAIN)
    assert len(recorded(project)) == 1


HALF_A_SECOND = {"TOOLROLL_QUESTION_PAUSE": "0.5"}


def asked(project: Project, *more: str, env: dict[str, str] | None = None) -> Screen:
    read = {"calls": [{"name": "read_file", "arguments": {"path": MAIN}}]}
    edit = {"text": "I change it.", "calls": [{"name": "edit", "arguments": TODO}]}
    return chat(project, "code", "--model", project.script(read, edit, "So not."), *more, rows=40, env=env)


def refuse(screen: Screen) -> None:
    screen.send(b"n" + ENTER)
    screen.asks("Why not? (Enter to say nothing)")
    screen.send(ENTER)
    screen.shows("So not.")


@pytest.mark.parametrize(
    ("pasted", "offered"),
    [
        (b"\x1b[200~y\x1b[201~\r", "> y"),
        (b"\x1b[200~y\ry\rmore\x1b[201~\r", "more"),
        (b"\x1b[200~y\rthe rest of it\x1b[201~", "the rest of it"),
        (b"y\ry\rmore", "more"),  # from a terminal that puts no marks around it
    ],
)
def test_XA28_a_paste_never_answers(project: Project, pasted: bytes, offered: str) -> None:
    with asked(project) as screen:
        screen.say("change it")
        screen.asks("Allow this?")
        assert b"\x1b[?2004h" in screen.raw[screen.raw.rindex(b"? help") :]
        screen.send(pasted)
        screen.shows("What is pasted does not answer a question.")
        screen.asks("Allow this?")
        refuse(screen)
        screen.asks(offered)
        screen.send(CTRL_C)
        screen.waits()
        screen.send(CTRL_D)
        assert screen.end()[0] == 0
    assert "// TODO:" in project.text(MAIN)


@pytest.mark.parametrize("more", [(), ("--plain",)], ids=["edited", "plain"])
def test_XA29_a_key_before_the_question_could_be_read_does_not_answer_it(
    project: Project, more: tuple[str, ...]
) -> None:
    with asked(project, *more, env=HALF_A_SECOND) as screen:
        screen.say("change it")
        screen.asks("Allow this?")
        screen.send(b"y" + ENTER)
        screen.shows("What was typed before this question could be read does not answer it.")
        screen.asks("Allow this?")
        refuse(screen)
        if more:
            screen.shows("This was typed or pasted at a question, and was not sent: y")
        else:
            screen.asks("> y")
            screen.send(CTRL_C)
        screen.waits()
        screen.send(CTRL_D)
        assert screen.end()[0] == 0
    assert "// TODO:" in project.text(MAIN)
