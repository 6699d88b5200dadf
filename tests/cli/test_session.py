"""What every command shares: that it can be plain, and that it writes nothing that a terminal would obey."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryFile

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


HOSTILE = "a\x1b]0;title\x07b\x9b2Jc\rd\u202ee 👩‍👧"


@pytest.fixture
def hostile_model(project: Project) -> list[str]:
    return toolroll("run", "--model", project.script(HOSTILE), "say it")


def test_XW14_controls_are_spelled_out_in_a_pipe_and_kept_in_a_file(project: Project, hostile_model: list[str]) -> None:
    known = environment(project.home)
    piped = run_program([*hostile_model, "--plain"], env=known, cwd=project.root, pipe=True)
    assert "a‹U+001B›]0;title‹U+0007›b‹U+009B›2Jc‹U+000D›d‹U+202E›e 👩‍👧" in piped
    assert not {"\x1b", "\x07", "\x9b", "\r", "\u202e"} & set(piped)
    assert "\x1b]0;title\x07" in run_program([*hostile_model, "--plain"], env=known, cwd=project.root, pipe=False)


def test_XW14_json_escapes_controls(project: Project, hostile_model: list[str]) -> None:
    out = run_program([*hostile_model, "--json"], env=environment(project.home), cwd=project.root, pipe=True)
    assert not {"\x1b", "\x07", "\x9b", "\r"} & set(out)
    assert HOSTILE in [json.loads(line).get("text") for line in out.splitlines()]


@pytest.mark.parametrize("words", [("no\x1b[31mne",), ("read_file", "a\x1b[31mb\u202e"), ("read_file", "../\x1b[31m")])
def test_XW14_policy_explain_echoes_nothing_raw(project: Project, words: tuple[str, ...]) -> None:
    command = toolroll("policy", "explain", *words)
    out = run_program(command, env=environment(project.home), cwd=project.root, pipe=True)
    assert not {"\x1b", "\u202e"} & set(out)


def run_program(command: list[str], *, env: Mapping[str, str], cwd: Path, pipe: bool) -> str:
    """What a command writes: to stdout and stderr, which are a pipe or a file."""
    if pipe:
        with subprocess.Popen(command, env=env, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            return process.communicate()[0].decode()
    with TemporaryFile() as file:
        subprocess.run(command, env=env, cwd=cwd, stdout=file, stderr=subprocess.DEVNULL, check=False)
        file.seek(0)
        return file.read().decode()
