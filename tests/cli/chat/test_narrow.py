"""A chat on 40 columns: what goes wrong is told in whole words."""

from tests.cli.chat.screen import CTRL_D, Screen, chat
from tests.support.project import Project

UK = {"LC_ALL": "uk_UA.UTF-8"}


def tells(screen: Screen, text: str) -> None:
    """Wait for a text of which no word is cut at the edge of the screen."""
    screen.waits_until(lambda: text in " ".join(" ".join(screen.display).split()), text)


def test_S1_in_plain_no_key_is_told_that_does_nothing(project: Project) -> None:
    with chat(project, "code", "--plain", "--model", project.script("Hot."), rows=60) as screen:
        screen.say("/help", "Enter sends; a \\ at the end of a line begins a new line.", "Ctrl-C stops an answer")
        assert "Tab completes" not in screen.whole
        screen.say("Which tea?", "Hot.")
        screen.say("And now?")
        tells(screen, "one more was asked for. Write your message again.")
        screen.waits()
        screen.send(CTRL_D)
        assert screen.end()[0] == 0


def test_S1_S6_errors_are_broken_between_words(project: Project) -> None:
    model = project.script("Гарячий.")
    with chat(project, "code", "--model", model, columns=40, rows=60, env=UK) as screen:
        screen.say("/something-else")
        tells(screen, "Error: There is no command /something-else. See /help.")
        screen.say("Що в @сторінка-якої-немає.md написано?")
        tells(screen, "Error: There is no 'сторінка-якої-немає.md'")
        screen.say("Який чай?", "Гарячий.")
        screen.say("А тепер?")
        tells(screen, "The script has ended: it has 1 turns, and one more was asked for.")
        tells(screen, "Arrow-up brings your message back.")
        screen.waits()
        screen.send(CTRL_D)
        assert screen.end()[0] == 0
