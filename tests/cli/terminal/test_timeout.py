"""A question at the terminal that nobody answers (C30): after a while it is a no, for all that was asked."""

import json
import sys
from pathlib import Path

import pytest
from tests.support.programs import environment, toolroll
from tests.support.project import Project
from tests.support.terminal import TOOLS, Pseudo

READ = {"name": "read_file", "arguments": {"path": "src/main.js"}, "id": "read_1"}
EDIT = {
    "name": "edit",
    "arguments": {"path": "src/main.js", "old_string": "TODO", "new_string": "DONE", "description": "It is done."},
    "id": "edit_1",
}

PATIENT = """
from toolroll.cli.terminal.terminal import Terminal

ask = Terminal.ask

def asked(self, *given, **named):
    Terminal.ask = ask
    with self.waiting(60.0):
        return ask(self, *given, **named)

Terminal.ask = asked
"""
"""The first question has all the time that a slow machine needs to answer it; those after it have what they have."""

BATCH = """
import os, sys
from toolroll.cli.terminal.approver import TerminalApprover
from toolroll.cli.terminal.terminal import open_terminal
from toolroll.kernel.approval.request import ApprovalRequest, Preview

def request(call_id):
    return ApprovalRequest(run_id="r", call_id=call_id, tool="save", effect="writes", arguments={}, why="",
                           preview=Preview.of_text("tea"), paths=(), fingerprint="f")

terminal = open_terminal(os.environ)
approver = TerminalApprover(terminal, environment=os.environ, timeout_s=float(sys.argv[1]))
print(approver.decide([request(name) for name in "abc"]))
terminal.ask("Is there still time? ")
"""


@pytest.mark.parametrize("keys", [(), ("?",)])
def test_C30_S5_no_answer_is_a_no(tmp_path: Path, keys: tuple[str, ...]) -> None:
    """Also after keys that were no answer."""
    (tmp_path / "f").write_text("one\n")
    program, *arguments = toolroll("call", "save", json.dumps({"path": "f", "text": "two\n"}), "--from", str(TOOLS))
    flag, code, *arguments = arguments
    command = [program, flag, PATIENT + code if keys else code, *arguments]
    env = environment(tmp_path / "home", TOOLROLL_APPROVAL_SECONDS="1")
    with Pseudo(command, env=env, cwd=tmp_path, rows=60) as terminal:
        terminal.wait_for("Allow this? ")
        for key in keys:
            terminal.press(key, "Allow this? ")
        assert terminal.end() == (1, "User rejected changes: no answer within 1 seconds\n")
        told = " ".join(terminal.text.split())
        assert "There was no answer within 1 seconds: that is a no. What asked goes on without it; Ctrl-C stops" in told
        assert "Set approval_seconds to wait longer." in told
    assert (tmp_path / "f").read_text() == "one\n"


def test_C30_silence_is_a_no_to_all_that_is_left(tmp_path: Path) -> None:
    """And is waited for once, not for each; questions of others wait as long as they like."""
    command = [sys.executable, "-c", PATIENT + BATCH, "0.5"]
    with Pseudo(command, env=environment(tmp_path / "home"), cwd=tmp_path, rows=60) as terminal:
        terminal.wait_for("Allow this? ")
        terminal.press("y", "(2 of 3)", "Is there still time? ")
        assert "(3 of 3)" not in terminal.text
        terminal.press("")
        told = "Reject(reason='no answer within 0.5 seconds')"
        assert terminal.end() == (0, f"[Approve(edited=None, arguments=None), {told}, {told}]\n")


def test_C30_the_run_goes_on_and_its_log_says_so(project: Project) -> None:
    """The model reads it, and may say what it would have done."""
    script = project.script({"calls": [READ]}, {"calls": [EDIT]}, "Then not.")
    command = toolroll("code", "Go.", "--model", script)
    env = environment(project.home, TOOLROLL_APPROVAL_SECONDS="0.5")
    with Pseudo(command, env=env, cwd=project.root, columns=100, rows=60) as terminal:
        terminal.wait_for("that is a no")
        assert terminal.end() == (0, "Then not.\n")
    assert "TODO" in project.text("src/main.js")
    [listed] = json.loads(project.call("runs", "list", "--json").stdout)["runs"]
    log = project.call("runs", "show", listed["run_id"], "--json").stdout
    assert "no answer within 0.5 seconds" in log
