"""SIGTERM and SIGHUP: the terminal is as it was, and no program, editor or proposed text stays behind."""

import os
import signal
import termios
from pathlib import Path

import pytest
from tests.cli.chat.screen import ENTER, Screen, at_screen, chat
from tests.support.programs import toolroll
from tests.support.project import Project

MAIN = "src/main.js"
TODO = {"path": MAIN, "old_string": "TODO", "new_string": "DONE", "description": "It is done."}
READ = {"calls": [{"name": "read_file", "arguments": {"path": MAIN}}]}
EDIT = {"text": "I change it.", "calls": [{"name": "edit", "arguments": TODO}]}
CHECK = {"calls": [{"name": "run_check", "id": "check_1"}]}
BOTH = pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["term", "hup"])


def is_running(pid: int) -> bool:
    """Whether there is such a process that is not only waiting to be buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def written_pid(screen: Screen, file: Path) -> int:
    """The process id that a program has written into a file."""
    screen.waits_until(lambda: file.exists() and file.read_text().endswith("\n"), f"{file.name}")
    return int(file.read_text())


def end(screen: Screen, number: int) -> int:
    """Send the signal; how the program ended."""
    screen.process.send_signal(number)
    return screen.end()[0]


def modes(screen: Screen) -> list[object]:
    """How the terminal treats what is typed."""
    return termios.tcgetattr(screen._master)[:4]


@BOTH
def test_XA25_a_chat_that_is_ended_leaves_the_terminal_as_it_was(project: Project, number: int) -> None:
    with chat(project, "code", "--model", project.script("Hello.")) as screen:
        before = modes(screen)
        screen.waits()
        screen.waits_until(lambda: modes(screen) != before, "the line editor")
        assert end(screen, number) == -number
        assert modes(screen) == before
        assert b"\x1b[?2004l" in screen.raw[screen.raw.rindex(b"\x1b[?2004h") :]


@BOTH
@pytest.mark.parametrize("more", [(), ("--plain",)], ids=["live", "plain"])
def test_XA25_a_check_does_not_outlive_the_command(project: Project, number: int, more: tuple[str, ...]) -> None:
    (project.home / "config").mkdir(parents=True)
    script = 'echo $$ > pid.new; (setsid sh -c "echo \\$\\$ > other; sleep 600" &); mv pid.new pid; sleep 600'
    (project.home / "config" / "settings.toml").write_text(f"[code]\ncheck = ['sh', '-c', '{script}']\n")
    command = toolroll("code", "--yes", "--model", project.script(CHECK, "Done."), "check it", *more)
    with at_screen(project.home, project.root, *command) as screen:
        before = modes(screen)
        pids = [written_pid(screen, project.root / name) for name in ("pid", "other")]
        assert end(screen, number) == -number
        assert [pid for pid in pids if is_running(pid)] == []
        assert modes(screen) == before


@BOTH
def test_XA25_an_editor_and_the_proposed_text_do_not_stay_behind(project: Project, number: int, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    editor = tmp_path / "editor"
    # An editor behind a wrapper, which switches the terminal to single keys and ignores what asks it to end.
    editor.write_text(
        "#!/bin/sh\n(trap '' TERM HUP; stty raw -echo; echo $$ > pid.new; mv pid.new pid; sleep 600)\n:\n"
    )
    editor.chmod(0o755)
    env = {"EDITOR": str(editor), "TMPDIR": str(temporary)}
    command = toolroll("code", "--model", project.script(READ, EDIT, "Done."), "change it")
    with at_screen(project.home, project.root, *command, env=env) as screen:
        screen.asks("Allow this?")
        before = modes(screen)
        screen.send(b"e" + ENTER)
        pid = written_pid(screen, project.root / "pid")
        assert os.listdir(temporary)
        assert end(screen, number) == -number
        assert not is_running(pid)
        assert os.listdir(temporary) == []
        assert modes(screen) == before
    assert "// TODO:" in project.text(MAIN)


@BOTH
@pytest.mark.parametrize("more", [(), ("--plain",)], ids=["live", "plain"])
def test_XA25_a_chat_at_a_question_ends(project: Project, number: int, more: tuple[str, ...]) -> None:
    with chat(project, "code", "--model", project.script(READ, EDIT, "Done."), *more) as screen:
        screen.waits()
        screen.send(b"change it" + ENTER)
        screen.asks("Allow this?")
        assert end(screen, number) == -number
    assert "// TODO:" in project.text(MAIN)


def test_XA25_a_plain_chat_that_waits_for_a_message_ends(project: Project) -> None:
    with chat(project, "code", "--plain", "--model", project.script("Hello.")) as screen:
        screen.waits()
        assert end(screen, signal.SIGTERM) == -signal.SIGTERM


def test_XA25_two_signals_in_a_row_are_one(project: Project) -> None:
    """A shell that ends tells its jobs, and so does the terminal that it ran in."""
    (project.home / "config").mkdir(parents=True)
    script = 'trap "" TERM; echo $$ > pid.new; mv pid.new pid; while :; do sleep 1; done'
    (project.home / "config" / "settings.toml").write_text(f"[code]\ncheck = ['sh', '-c', '{script}']\n")
    command = toolroll("code", "--yes", "--model", project.script(CHECK, "Done."), "check it")
    with at_screen(project.home, project.root, *command) as screen:
        pid = written_pid(screen, project.root / "pid")
        screen.process.send_signal(signal.SIGHUP)
        assert end(screen, signal.SIGTERM) == -signal.SIGHUP
        assert not is_running(pid)
