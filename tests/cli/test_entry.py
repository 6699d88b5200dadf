"""The installed commands: Ctrl-C at any moment of their start ends them in words, and with 130."""

import json
import subprocess
import sys

import pytest

from toolroll.cli import entry
from toolroll.cli.session import INTERRUPTED

# A real Ctrl-C at the moment when click begins to load.
_PROGRAM = """
import os, signal, sys

class Pressing:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Pressing())
from toolroll.cli.entry import {name}
sys.argv[0] = "{name}"
{name}()
"""


def pressed(name: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", _PROGRAM.format(name=name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("name", ["toolroll", "ghostpen"])
def test_S2_interrupted_while_it_is_loaded(name: str) -> None:
    ended = pressed(name, "--help")
    assert (ended.returncode, ended.stdout, ended.stderr) == (INTERRUPTED, "", "\nError: Interrupted.\n")


def test_S2_interrupted_while_it_is_loaded_as_json() -> None:
    ended = pressed("toolroll", "doctor", "--json")
    assert json.loads(ended.stdout) == {"error": {"code": "interrupted", "message": "Interrupted."}}
    assert (ended.returncode, ended.stderr) == (INTERRUPTED, "")


@pytest.mark.parametrize("name", ["toolroll", "ghostpen"])
def test_S2_a_command_runs(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit) as ended:
        getattr(entry, name)()
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"Usage: {name}")


@pytest.mark.parametrize(
    ("name", "option", "told"),
    [
        ("toolroll", "--json", '{"error":{"code":"interrupted","message":"Interrupted."}}\n'),
        ("ghostpen", "--help", "\nError: Interrupted.\n"),
    ],
)
def test_S2_interrupted_before_its_own_handler(
    name: str, option: str, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def press(*_given: object, **_named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", [name, option])
    monkeypatch.setattr("toolroll.cli.main.prepare", press)
    with pytest.raises(SystemExit) as ended:
        getattr(entry, name)()
    assert ended.value.code == INTERRUPTED == entry.INTERRUPTED
    assert "".join(capsys.readouterr()) == told
