"""The terminal: when there is one to ask at, and what is read from it."""

import io
import os
import signal
import termios
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.cli.render.prose import wrap
from toolroll.cli.terminal.keyboard import TYPED_AHEAD, make_pause
from toolroll.cli.terminal.terminal import EARLY, PASTED, Terminal, interruptible, open_terminal


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("To go on, type `toolroll undo`.", ["To go on, type", "   `toolroll undo`."]),
        ("See 'my file.txt', or don't, it isn't bad", ["See 'my file.txt',", "   or don't, it", "   isn't bad"]),
        ("First\n\n`a b` c", ["First", "", "`a b` c"]),
        ("Now `toolroll runs resume 1`.", ["Now `toolroll runs", "   resume 1`."]),
        ("It is well-known-to-you.", ["It is", "   well-known-to-you", "   ."]),
    ],
)
def test_S5_what_is_quoted_stays_on_one_line_where_it_fits(text: str, lines: list[str]) -> None:
    assert wrap(text, 20) == lines


@given(st.text(alphabet="ab `'\n-", max_size=80), st.integers(20, 40))
def test_S5_no_word_is_lost_and_no_line_too_wide(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert "".join(text.split()) == "".join("".join(lines).split())
    assert max(map(len, lines)) <= width


@pytest.fixture
def pipe(capfd: pytest.CaptureFixture[str]) -> Iterator[tuple[int, int]]:
    """A pipe for the keyboard: where it is read, and where it is typed."""
    read, write = os.pipe()
    yield read, write
    os.close(read)
    os.close(write)


def test_XA8_without_a_terminal_nobody_can_be_asked(capfd: pytest.CaptureFixture[str]) -> None:
    assert open_terminal({}) is None
    assert open_terminal({}, stdin_is_taken=True) is None


def test_XA8_without_a_keyboard_behind_stdin_nobody_can_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """stderr is a terminal, stdin was taken for the arguments, and there is no /dev/tty: as in `docker run -t`."""
    monkeypatch.setattr(os, "isatty", lambda fd: fd == 2)
    monkeypatch.setattr(os, "open", lambda *_: (_ for _ in ()).throw(OSError()))
    assert open_terminal({}, stdin_is_taken=True) is None


@pytest.mark.parametrize(("value", "is_machine"), [("", False), ("0", False), ("False", False), ("1", True)])
def test_XA8_a_machine_says_so_in_its_environment(
    value: str, is_machine: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "isatty", lambda _fd: True)
    assert (open_terminal({"CI": value}) is None) == is_machine


def test_lines_come_one_by_one_and_the_rest_is_kept(pipe: tuple[int, int]) -> None:
    terminal, keys = Terminal(input_fd=pipe[0]), pipe[1]
    os.write(keys, "так \nn".encode())
    assert terminal.ask("? ") == "так"
    os.write(keys, b"o\n")
    assert terminal.ask("? ") == "no"


def test_S1_what_is_pasted_is_known_to_come_with_the_line_before() -> None:
    keys, input_fd = os.openpty()
    terminal = Terminal(input_fd=input_fd)
    assert not terminal.is_ahead()
    os.write(keys, b"one\n  two\nthr")
    assert (terminal.is_ahead(), terminal.line("> "), terminal.more()) == (True, "one", "lines")
    assert (terminal.line(""), terminal.more()) == ("  two", "part")
    assert termios.tcgetattr(input_fd)[3] & termios.ICANON
    os.write(keys, b"ee\n")
    assert (terminal.line(""), terminal.more()) == ("three", "nothing")
    os.close(keys)
    os.close(input_fd)


def test_S1_what_a_pipe_brings_is_known_to_come_with_the_line_before(pipe: tuple[int, int]) -> None:
    terminal, keys = Terminal(input_fd=pipe[0]), pipe[1]
    os.write(keys, b"one\ntwo\n")
    assert (terminal.line("> "), terminal.is_ahead(), terminal.more()) == ("one", True, "lines")
    assert (terminal.line(""), terminal.more()) == ("two", "nothing")


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("Replace it? [y/n] ", "Replace it? [y/n] "),
        ("The old one stays as a backup. [y/n] ", "The old one stays as a\n   backup. [y/n] "),
        ("What should be different now?\n> ", "What should be different\n   now?\n> "),
    ],
    ids=["short", "long", "on_a_line_of_its_own"],
)
def test_S5_a_question_is_broken_between_words(
    pipe: tuple[int, int], question: str, shown: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Terminal, "size", property(lambda _terminal: (25, 24)))
    os.write(pipe[1], b"y\n")
    assert Terminal(input_fd=pipe[0]).ask(question) == "y"
    assert capfd.readouterr().err == shown


def test_XA6_a_fresh_question_forgets_what_was_typed(pipe: tuple[int, int]) -> None:
    terminal, keys = Terminal(input_fd=pipe[0]), pipe[1]
    os.write(keys, b"n\ny\n")
    assert terminal.ask("? ") == "n"
    os.write(keys, b"now\n")
    assert terminal.ask("? ", fresh=True) == "now"


@pytest.mark.parametrize(("is_ours", "shown"), [(True, "? ? "), (False, "? ")], ids=["foreground", "background"])
def test_S5_a_question_is_asked_again_once_the_terminal_is_ours_again(
    pipe: tuple[int, int],
    is_ours: bool,
    shown: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(os, "tcgetpgrp", lambda _fd: os.getpgrp() if is_ours else -1)
    before = signal.getsignal(signal.SIGCONT)

    def go_on() -> None:
        while signal.getsignal(signal.SIGCONT) is before:  # until somebody waits for the answer
            pass
        os.kill(os.getpid(), signal.SIGCONT)
        os.write(pipe[1], b"y\n")

    thread = threading.Thread(target=go_on)
    thread.start()
    assert Terminal(input_fd=pipe[0]).ask("? ") == "y"
    thread.join()
    assert (capfd.readouterr().err, signal.getsignal(signal.SIGCONT)) == (shown, before)


def test_S5_a_stop_while_the_question_is_being_shown_shows_it_again_right_after(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "tcgetpgrp", lambda _fd: os.getpgrp())
    terminal = Terminal(input_fd=pipe[0])
    stops = [signal.SIGCONT, signal.SIGCONT]

    def show(_prompt: str) -> None:
        os.write(2, b"Go ")
        if stops:
            os.kill(os.getpid(), stops.pop())
        os.write(2, b"on? ")

    monkeypatch.setattr(terminal, "_print", show)
    os.write(pipe[1], b"y\n")
    assert terminal.ask("Go on? ") == "y"
    assert capfd.readouterr().err == "Go on? " * 3


class Watched(io.StringIO):
    """Somebody presses Ctrl-C as soon as there is something to read."""

    presses = 1

    def write(self, text: str, /) -> int:
        count = super().write(text)
        if text and self.presses:
            self.presses -= 1
            signal.raise_signal(signal.SIGINT)
        return count


def test_S5_a_question_that_is_left_as_soon_as_it_can_be_read_is_not_shown_again(pipe: tuple[int, int]) -> None:
    terminal, glass = Terminal(input_fd=pipe[0]), Watched()
    terminal.console.file = glass
    with interruptible(), pytest.raises(KeyboardInterrupt):
        terminal.ask("Go on? ")
    os.write(pipe[1], b"y\n")
    assert (terminal.ask("And now? "), glass.getvalue()) == ("y", "Go on? And now? ")


def test_S5_a_question_outside_of_the_main_thread_is_asked_once(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], b"y\n")
    answers: list[str | None] = []
    thread = threading.Thread(target=lambda: answers.append(Terminal(input_fd=pipe[0]).ask("? ")))
    thread.start()
    thread.join()
    assert answers == ["y"]


def test_S5_half_a_line_before_the_end_is_no_answer(capfd: pytest.CaptureFixture[str]) -> None:
    read, write = os.pipe()
    os.write(write, b"n\ny")
    os.close(write)
    terminal = Terminal(input_fd=read)
    assert (terminal.ask("? "), terminal.ask("? "), terminal.ask("? ")) == ("n", None, None)
    os.close(read)


def test_the_size_of_no_terminal_is_the_usual_one(capfd: pytest.CaptureFixture[str]) -> None:
    assert Terminal(input_fd=0).size == (80, 24)


@pytest.mark.parametrize(("size", "seen"), [((0, 0), (80, 24)), ((5, 10), (20, 10)), ((120, 50), (120, 50))])
def test_an_odd_size_is_made_usable(
    size: tuple[int, int], seen: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "get_terminal_size", lambda _fd: os.terminal_size(size))
    assert Terminal(input_fd=0).size == seen


def test_S5_interrupts_are_let_through_while_asking_and_put_back_after() -> None:
    before = signal.getsignal(signal.SIGINT)
    with interruptible():
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is before


def test_outside_of_the_main_thread_signals_are_left_alone() -> None:
    seen = []

    def work() -> None:
        with interruptible():
            seen.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


def test_S5_waiting_goes_on_for_as_long_as_was_said(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("toolroll.cli.terminal.keyboard._SLICE_S", 0.001)
    terminal = Terminal(input_fd=pipe[0])
    with terminal.waiting(0.01), pytest.raises(TimeoutError):
        terminal.ask("? ")
    timer = threading.Timer(0.02, os.write, (pipe[1], b"y\n"))
    timer.start()
    assert terminal.ask("? ") == "y"
    timer.join()


def test_S1_a_line_that_ctrl_c_takes_back_before_it_is_read_blocks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """The terminal empties its input on Ctrl-C; a blocking read would then wait until another line is typed."""
    keys, input_fd = os.openpty()
    os.write(keys, b"half a line that was taken back\n")
    opened = os.ttyname(input_fd)

    def take_back(fd: int) -> str:
        monkeypatch.undo()
        termios.tcflush(fd, termios.TCIFLUSH)
        return opened

    monkeypatch.setattr(os, "ttyname", take_back)
    terminal = Terminal(input_fd=input_fd)
    with terminal.waiting(0.1), pytest.raises(TimeoutError):
        terminal.ask("? ")
    os.close(keys)
    os.close(input_fd)


@pytest.fixture
def pseudo(capfd: pytest.CaptureFixture[str]) -> Iterator[tuple[int, int]]:
    """A terminal: where it is typed, and where it is read."""
    keys, input_fd = os.openpty()
    TYPED_AHEAD.take()
    yield keys, input_fd
    os.close(keys)
    os.close(input_fd)


def test_XA29_only_what_is_typed_after_the_pause_answers(
    pseudo: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    keys, input_fd = pseudo
    terminal = Terminal(input_fd=input_fd, pause=lambda: type_keys(keys, b"too soon\npar"))
    said: list[str] = []
    monkeypatch.setattr(terminal, "say", said.append)
    monkeypatch.setattr(terminal, "_print", lambda _prompt: type_keys(keys, b"no\n") if said else None)
    type_keys(keys, b"yes\n")
    assert terminal.ask("Sure? ", fresh=True) == "no"
    assert (said, TYPED_AHEAD.take()) == ([f"\n{EARLY}"], "yes\ntoo soon\npar")


@pytest.mark.parametrize(
    ("pasted", "kept"),
    [
        (b"\x1b[200~y\x1b[201~\n", "y"),
        (b"\x1b[200~y\nfoo\x1b[201~", "y\nfoo"),
        (b"\x1b[200~y\nfoo\x1b[201~\n", "y\nfoo"),
        (b"y\x1b[200~\nfoo\n\nbar\x1b[201~", "y\nfoo\n\nbar"),
        (b"y\nfoo", "y\nfoo"),  # from a terminal that puts no marks around it
    ],
)
def test_XA28_what_is_pasted_does_not_answer(
    pseudo: tuple[int, int], pasted: bytes, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys, input_fd = pseudo
    said: list[str] = []
    terminal = Terminal(input_fd=input_fd)
    monkeypatch.setattr(terminal, "_print", lambda _prompt: type_keys(keys, b"n\n" if said else pasted))
    monkeypatch.setattr(terminal, "say", said.append)
    assert terminal.ask("Sure? ", fresh=True) == "n"
    assert (said, TYPED_AHEAD.take()) == ([f"\n{PASTED}"], kept)
    assert termios.tcgetattr(input_fd)[3] & termios.ICANON


def type_keys(keys: int, typed: bytes) -> None:
    os.write(keys, typed)


def test_XA29_programs_that_press_keys_need_no_pause() -> None:
    assert make_pause({"TOOLROLL_QUESTION_PAUSE": "0"}) is None


@pytest.mark.parametrize(("value", "seconds"), [("0.1", 0.1), ("", 0.5), ("-1", 0.5), ("nan", 0.5), ("9", 0.5)])
def test_XA29_the_pause_is_half_a_second_unless_a_shorter_one_is_wanted(
    value: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    pause = make_pause({"TOOLROLL_QUESTION_PAUSE": value})
    assert pause is not None
    pause()
    assert slept == [seconds]
