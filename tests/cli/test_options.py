"""A text in words that somebody typed without quotation marks."""

import click
import pytest
from tests.support.project import Calling

from toolroll.cli.main import root

COMMANDS = [("run",), ("code",), ("explore",), ("write",)]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize(
    ("left", "told"), [(("tea",), "argument (tea)"), (("about", "tea"), "arguments (about tea)")], ids=["one", "more"]
)
def test_S6_who_forgot_quotation_marks_is_told_of_them(
    call: Calling, command: tuple[str, ...], left: tuple[str, ...], told: str
) -> None:
    done = call(*command, "thoughts", *left, "--model", "sonnet")
    assert done.code == 2
    assert f"Got unexpected extra {told}. Put a text of several words in quotation marks. Try '" in done.err


def test_S6_completion_is_not_disturbed_by_them() -> None:
    with click.Context(root, info_name="toolroll", resilient_parsing=True) as above:
        command = root.get_command(above, "code")
        assert command is not None
        context = command.make_context("code", ["many", "words"], parent=above, resilient_parsing=True)
    assert context.args == ["words"]
