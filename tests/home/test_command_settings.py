"""Named commands in the settings: checked when they are read, the user's own before a project's."""

from pathlib import Path

import pytest
from tests.home.test_project_settings import Place

from toolroll.errors import UsageError
from toolroll.home.project_settings import describe_settings, parse_project_settings
from toolroll.home.settings import read_settings

TESTS = '[code.commands.tests]\ncommand = ["pytest", "-q"]\narguments = "[a-z_/.]+"\nseconds = 9\n'


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_S13_commands_are_read_and_a_project_adds_its_own(place: Place) -> None:
    place.user(TESTS)
    theirs = '[code.commands.tests]\ncommand = ["evil"]\n[code.commands.lint]\ncommand = ["ruff"]\n'
    place.trust(place.write(f'code.after_edit = "lint"\n{theirs}'))
    code = read_settings(place.environment, root=place.root).code
    assert code.commands["tests"].command == ("pytest", "-q")
    assert (code.commands["tests"].arguments, code.commands["tests"].seconds) == ("[a-z_/.]+", 9)
    assert (code.commands["lint"].command, code.after_edit, code.programs) == (("ruff",), "lint", "off")


def test_S13_trusting_a_project_shows_its_commands() -> None:
    told = describe_settings(parse_project_settings(TESTS.encode()))
    assert "Its command tests would run as you: pytest -q (and arguments of a model that fit [a-z_/.]+)" in told


def test_S13_a_project_cannot_switch_programs_on() -> None:
    with pytest.raises(UsageError, match=r"'code\.programs' is not for a project to set"):
        parse_project_settings(b'code.programs = "on"\n')


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('[code.commands.Tests]\ncommand = ["x"]\n', "cannot be the name of a command"),
        ('[code.commands.check]\ncommand = ["x"]\n', "cannot be the name of a command"),
        ("[code.commands.tests]\ncommand = []\n", "code.commands.tests.command"),
        ('[code.commands.tests]\ncommand = "x"\n', "must be a list"),
        ('[code.commands.tests]\ncommand = ["x"]\narguments = "("\n', "is not a regular expression"),
        ('[code.commands.tests]\ncommand = ["x"]\narguments = "a)|(b"\n', "is not a regular expression"),
        ('[code.commands.tests]\ncommand = ["x"]\nshell = true\n', "there is no setting"),
    ],
)
def test_S13_what_makes_no_sense_is_refused(place: Place, text: str, fault: str) -> None:
    place.user(text)
    with pytest.raises(UsageError, match="cannot be used") as told:
        read_settings(place.environment)
    assert fault in told.value.message
