"""The first run without a model or a key: three lines that say what to set, what works without, and what to try."""

import json

import pytest
from tests.cli.chat.screen import ENTER, at_screen
from tests.support.model_server import ModelServer
from tests.support.programs import toolroll
from tests.support.project import Calling, Project

from toolroll.apps.models import NO_MODEL, WITHOUT_MODEL
from toolroll.cli.main import root

AGENTS = [("code", "Go."), ("run", "Go."), ("explore", "An idea")]


@pytest.mark.parametrize("command", AGENTS, ids=lambda command: command[0])
def test_S8_without_a_model_three_lines_say_what_to_do(call: Calling, command: tuple[str, ...]) -> None:
    told = call(*command)
    assert (told.code, told.out, told.err) == (2, "", f"Error: {NO_MODEL(alternative=WITHOUT_MODEL)}\n")
    assert len(told.err.splitlines()) == 3
    assert all(len(line) < 120 for line in told.err.splitlines())
    for what in (
        "toolroll config set model sonnet",
        "ANTHROPIC_API_KEY",
        "ollama:NAME",
        "toolroll demo",
        "toolroll call",
    ):
        assert what in told.err
    as_json = call(*command, "--json")
    assert (as_json.code, json.loads(as_json.out)) == (
        2,
        {"error": {"code": "usage", "message": NO_MODEL(alternative=WITHOUT_MODEL)}},
    )


@pytest.mark.parametrize("command", AGENTS, ids=lambda command: command[0])
def test_S8_without_a_key_three_lines_say_what_to_do(project: Project, command: tuple[str, ...]) -> None:
    told = project.call(*command, "--model", "sonnet", "--json")
    error = json.loads(told.stdout)["error"]
    assert (told.returncode, error["code"]) == (1, "authentication")
    lines = error["message"].splitlines()
    assert len(lines) == 3
    assert "Set ANTHROPIC_API_KEY, or store it: toolroll config key set ANTHROPIC_API_KEY" in lines[0]
    assert ("ollama:NAME" in lines[1], "toolroll demo" in lines[2]) == (True, True)


@pytest.mark.parametrize("command", [("code", "Go."), ("run", "Go.")], ids=lambda command: command[0])
def test_S41_the_model_of_the_settings_is_asked(project: Project, command: tuple[str, ...]) -> None:
    assert project.call("config", "set", "model", project.script("Hello.")).returncode == 0
    done = project.call(*command)
    assert (done.returncode, done.stdout) == (0, "Hello.\n")


def test_S17_the_first_run_takes_a_key_keeps_it_and_goes_on(project: Project) -> None:
    key = "sk-ant-api03-" + "k" * 40
    with ModelServer(["It is a board."] * 2, lenient=True) as server:
        env = {"ANTHROPIC_BASE_URL": server.url, "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
        with at_screen(project.home, project.root, *toolroll("code", "What is this?"), env=env) as screen:
            screen.asks("or only Enter to leave it.")
            screen.send(b"1" + ENTER)
            screen.asks("Which model? [sonnet]")
            screen.send(ENTER)
            screen.asks("it is not shown, Enter for none):")
            screen.send(key.encode() + ENTER)
            screen.asks("question to the model? [y/n]")
            screen.send(b"n" + ENTER)
            screen.asks("Keep it there? [y/n]")
            screen.send(b"y" + ENTER)
            screen.shows("It is a board.")
            assert screen.end()[0] == 0
            assert key.encode() not in screen.raw
        again = project.call("code", "And now?", **env)
        assert (again.returncode, again.stdout) == (0, "It is a board.\n")
        assert {one.headers["x-api-key"] for one in server.requests} == {key}
    kept = project.home / "config" / "keys.txt"
    assert (kept.stat().st_mode & 0o777, kept.read_text()) == (0o600, f"ANTHROPIC_API_KEY={key}\n")
    assert "file         ANTHROPIC_API_KEY" in project.call("config", "key", "list").stdout
    assert project.call("config", "key", "delete", "ANTHROPIC_API_KEY").returncode == 0
    assert kept.read_text() == ""


def test_S17_without_an_answer_the_first_run_says_what_to_do(project: Project) -> None:
    with at_screen(project.home, project.root, *toolroll("code", "Go."), columns=40) as screen:
        screen.asks("Enter to leave it.")
        screen.send(ENTER)
        screen.shows("No model is named.")
        assert screen.end()[0] == 2


def test_S17_toolroll_alone_fits_on_a_small_screen_with_the_applications_first(call: Calling) -> None:
    told = call()
    lines = told.err.splitlines()
    assert (told.code, len(lines) < 24, max(map(len, lines)) < 80) == (2, True, True)
    assert [line.split()[1] for line in lines[3:7]] == ["code", "explore", "write", "serve"]
    named = {word.strip(".,'") for line in lines for word in line.split()}
    assert named >= set(root.list_commands(None))  # type: ignore[arg-type]  # it looks at nothing


def test_S17_doctor_says_that_nothing_can_run_yet(call: Calling) -> None:
    assert "Nothing can run yet: there is no model to ask." in call("doctor").out
