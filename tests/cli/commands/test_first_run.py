"""The first run without a model or a key: three lines that say what to set, what works without, and what to try."""

import json

import pytest
from tests.support.project import Calling, Project

from toolroll.apps.models import NO_MODEL, WITHOUT_MODEL

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
