"""Messages from the keyboard: lines, pastes, history, completion, leaving."""

import json
import sys
from pathlib import Path

import pytest
from tests.cli.chat.screen import ALT_ENTER, CTRL_C, CTRL_D, ENTER, TAB, UP, Screen, at_screen

from toolroll.cli.chat.input import LineInput, open_input
from toolroll.cli.chat.parse import MAX_MESSAGE_CHARACTERS
from toolroll.cli.session import Session

PROGRAM = """
import asyncio, os, sys
from pathlib import Path
from toolroll.cli.chat.input import open_input
from toolroll.cli.chat.history import MessageHistory
from toolroll.cli.chat.suggestions import FileNames, Suggester
from toolroll.cli.session import Session
from toolroll.workspace.workspace import Workspace

async def read():
    workspace = Workspace(Path.cwd(), state=Path(sys.argv[1]) / "state")
    names = FileNames(workspace=workspace, wait_s=0.0 if "--hasty" in sys.argv else 0.2)
    suggester = Suggester(commands={"help": "what there is", "exit": "leave"}, names=names)
    history = MessageHistory.from_environment("chat", os.environ)
    plain = "--plain" in sys.argv
    lines = open_input(Session(plain=plain), history=history, suggester=None if "--bare" in sys.argv else suggester)
    while (text := await lines.read("> ")) is not None:
        print("READ", ascii(text), flush=True)
    print("LEFT", flush=True)

asyncio.run(read())
"""
KEY = "sk-ant-api03-" + "Ab3dEf6hIj9kLm2n" * 6


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    for name in ("apple.txt", "an apple.md", "pear.txt"):
        (tmp_path / "work" / name).write_text("x\n")
    return tmp_path


def reading(home: Path, *arguments: str, **env: str) -> Screen:
    """The program that reads."""
    return at_screen(home, home / "work", sys.executable, "-c", PROGRAM, str(home), *arguments, env=env)


def kept(home: Path) -> list[str]:
    """What is kept for the arrow keys."""
    return [json.loads(line) for line in (home / "data" / "chat-history.jsonl").read_text().splitlines()]


def test_S1_a_message_has_several_lines_by_a_backslash_alt_enter_or_a_paste(home: Path) -> None:
    with reading(home) as screen:
        screen.waits()
        screen.send(b"one\\" + ENTER + b"two" + ALT_ENTER + "три".encode() + b"\x1b\n4")
        screen.shows("> one", "· two", "· три", "· 4")
        screen.send(ENTER)
        screen.shows("READ 'one\\ntwo\\n\\u0442\\u0440\\u0438\\n4'")
        screen.waits()
        screen.paste("a\r\nb\x1b[2Jc\nd\u202e")
        screen.shows("· b‹U+001B›[2Jc", "· d‹U+202E›")
        screen.send(ENTER)
        screen.shows("READ 'a\\nb\\u2039U+001B\\u203a[2Jc\\nd\\u2039U+202E\\u203a'")
        screen.waits()
        screen.paste("x" * 100_001)
        screen.shows("Note: The message has 100,001 characters, and the limit is 100,000.")
        screen.waits()  # while a note is shown the terminal reads as a shell's
        screen.send(CTRL_D)
        assert screen.end()[0] == 0
        assert "LEFT" in screen.text


def test_S1_ctrl_c_clears_the_line_and_twice_on_an_empty_one_leaves(home: Path) -> None:
    with reading(home) as screen:
        screen.waits()
        screen.send(b"not this")
        screen.shows("> not this")
        screen.send(CTRL_C)
        screen.waits()
        screen.send(CTRL_C)
        screen.shows("Press Ctrl-C again to leave.")
        screen.waits()
        screen.send(b"this" + ENTER)
        screen.shows("READ 'this'")
        screen.waits()
        screen.send(CTRL_C)
        screen.shows("Press Ctrl-C again to leave.", times=2)
        screen.waits()  # while a note is shown Ctrl-C is a signal, as in a shell
        screen.send(CTRL_C)
        assert screen.end()[0] == 0
    assert kept(home) == ["this"]


def test_S1_what_was_written_comes_back_in_another_process_without_its_secrets(home: Path) -> None:
    with reading(home, ANTHROPIC_API_KEY="hunter2hunter2") as screen:
        screen.waits()
        screen.send(f"take {KEY} and hunter2hunter2".encode() + ENTER)
        screen.shows("READ 'take sk-ant")
        screen.waits()
        screen.send(UP)
        screen.shows("and hunter2hunter2", "> take sk-ant")
        screen.send(CTRL_C)
        screen.waits()
        screen.send("друге\\".encode() + ENTER + b"line" + ENTER)
        screen.shows("\\nline'")
    assert [KEY in text or "hunter2" in text for text in kept(home)] == [False, False]
    with reading(home) as screen:
        screen.waits()
        screen.send(UP)
        screen.shows("> друге", "· line")
        screen.send(UP + UP)
        screen.shows("> take [redacted:")


def test_S1_commands_and_paths_are_completed(home: Path) -> None:
    with reading(home) as screen:
        screen.waits()
        screen.send(b"/he")
        screen.shows("/help  what there is")
        screen.send(TAB + ENTER)
        screen.shows("READ '/help'")
        screen.waits()
        screen.send(b"see @app")
        screen.shows("@apple.txt")
        screen.send(TAB)
        screen.shows("> see @apple.txt")
        screen.send(TAB + ENTER + b" now" + ENTER)
        screen.shows("READ 'see @\"an apple.md\" now'")
        screen.waits()
        screen.send(CTRL_D)
        assert screen.end()[0] == 0


def test_S1_paths_are_suggested_once_they_are_found_without_another_key(home: Path) -> None:
    """However long that takes."""
    with reading(home, "--hasty") as screen:
        screen.waits()
        screen.send(b"see @pea")
        screen.shows("@pear.txt")
        screen.send(CTRL_C)
        screen.waits()
        screen.send(b"see @nothing" + ENTER)
        screen.shows("READ 'see @nothing'")
        screen.waits()
        screen.send(CTRL_D)
        assert screen.end()[0] == 0


def test_S1_in_plain_lines_are_read_as_the_terminal_gives_them(home: Path) -> None:
    with reading(home, "--plain") as screen:
        screen.shows("> ".rstrip())
        screen.send(b"one\\\r")
        screen.shows("> one\\")
        screen.waits()
        screen.send(b"two\r")
        screen.shows("READ 'one\\ntwo'")
        screen.waits()
        screen.send(CTRL_C)
        screen.shows("^C")
        screen.waits()
        screen.send("три\r".encode())
        screen.shows("READ '\\u0442\\u0440\\u0438'")
        screen.waits()
        screen.send(CTRL_C)
        screen.shows("^C", times=2)
        screen.waits()
        screen.send(CTRL_C)
        assert screen.end()[0] == 0
    assert "\x1b[?2004h" not in screen.raw.decode()


def test_S1_in_plain_what_is_pasted_is_one_message(home: Path) -> None:
    with reading(home, "--plain") as screen:
        screen.waits()
        screen.send(b"def f():\r    return \\\r        1\r\r")
        screen.shows("Note: These 4 lines are one message. Enter sends it; Ctrl-C discards it.")
        screen.waits()
        screen.send(ENTER)
        screen.shows("READ 'def f():\\n    return \\\\\\n        1'")
        screen.waits()
        screen.send(b"dropped\rdropped, too\rnot this")
        screen.shows("not this")
        screen.send(CTRL_C)
        screen.shows("^C")
        screen.waits()
        screen.send(b"a\rb\r")
        screen.shows("Note: These 2 lines are one message.")
        screen.send(CTRL_D)
        assert screen.end()[0] == 0
        assert screen.text.count("READ") == 1


def test_S1_in_plain_keys_that_do_nothing_are_no_text(home: Path) -> None:
    with reading(home, "--plain") as screen:
        screen.waits()
        screen.send(UP + b"\x1bOA\x1b[1;5Cso\x1b[5~me\x1b[3mtext" + ENTER)
        screen.shows("READ 'some\\u2039U+001B\\u203a[3mtext'")
        screen.waits()
        screen.send(UP + ENTER)
        screen.shows("READ ''")
        screen.waits()
        screen.send(CTRL_D)
        assert screen.end()[0] == 0


def test_S1_in_plain_ctrl_d_leaves(home: Path) -> None:
    with reading(home, "--plain") as screen:
        screen.shows(">")
        screen.send(b"half a line\\\r" + CTRL_D)
        assert screen.end()[0] == 0
        assert "LEFT" in screen.text


def test_S1_where_the_past_cannot_be_kept_it_is_told_once(home: Path) -> None:
    (home / "data").mkdir()
    (home / "data").chmod(0o777)
    with reading(home, "--bare") as screen:
        screen.waits()
        screen.send(b"one" + ENTER)
        screen.shows("Note: What you write is not kept for the arrow keys: Other users can", "READ 'one'")
        screen.waits()
        screen.send(b"two" + ENTER)
        screen.shows("READ 'two'")
        screen.waits()
        screen.send(CTRL_D)
        assert screen.end()[0] == 0
        assert screen.text.count("is not kept") == 1


async def test_S1_a_message_that_is_too_long_is_told_and_asked_for_again(capsys: pytest.CaptureFixture[str]) -> None:
    class Reads:
        texts = iter(["x" * (MAX_MESSAGE_CHARACTERS + 1), "short", None])

        async def read(self, prompt: str) -> str | None:
            assert prompt == "> "
            return next(self.texts)

    lines = LineInput(Reads())
    assert [await lines.read("> "), await lines.read("> ")] == ["short", None]
    assert "Note: The message has 100,001 characters" in capsys.readouterr().err


def test_XA8_nobody_is_read_from_where_there_is_no_terminal() -> None:
    assert open_input(Session(), environment={"CI": "1"}) is None
