"""What every command shares: that it can be plain."""

import click
import pytest
from tests.support.programs import environment, toolroll
from tests.support.project import Project
from tests.support.terminal import Pseudo

from toolroll.cli.options import output_options
from toolroll.cli.session import Session, wants_plain


@click.command()
@output_options
def ask() -> None:
    """Say whether it shall be plain."""
    click.echo(click.style(str(wants_plain()), fg="red"))


@pytest.mark.parametrize(
    ("arguments", "term", "told"),
    [([], "xterm", "\x1b[31mFalse\x1b[0m\n"), (["--plain"], "xterm", "True\n"), ([], "dumb", "True\n")],
)
def test_S7_plain_is_asked_for_or_all_that_the_terminal_can(
    arguments: list[str],
    term: str,
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", term)
    ask.main(arguments, standalone_mode=False, obj=Session(), color=True)
    assert capsys.readouterr().out == told


@pytest.mark.parametrize(("term", "plain"), [("dumb", True), ("xterm", False)])
def test_S7_without_a_session_the_terminal_decides(term: str, plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", term)
    assert wants_plain() is plain
    with click.Context(ask):
        assert wants_plain() is plain
    ask.main(["--plain", "--json", "--debug"], standalone_mode=False)


@pytest.mark.parametrize("command", [["tools", "list"], ["demo"], ["call", "none"]])
def test_S7_a_plain_command_writes_text_and_nothing_else(project: Project, command: list[str]) -> None:
    known = environment(project.home)
    with Pseudo(toolroll(*command, "--plain"), env=known, cwd=project.root, stdout_on_terminal=True) as terminal:
        terminal.end()
    assert terminal.raw
    assert b"\x1b" not in terminal.raw
