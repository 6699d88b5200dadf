"""A chat on 40 columns: what goes wrong is told in whole words."""

from tests.cli.chat.screen import CTRL_D, Screen, chat
from tests.cli.project import Project

UK = {"LC_ALL": "uk_UA.UTF-8"}


def tells(screen: Screen, text: str) -> None:
    """Wait for a text of which no word is cut at the edge of the screen."""
    screen.waits_until(lambda: text in " ".join(" ".join(screen.display).split()), text)


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
