"""The terminal as a place to ask a person: shown on stderr, answered from the keyboard, never from a pipe.

stdout is not touched: it belongs to the answer of the command.
"""

import os
import select
import signal
import sys
import termios
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Final, Literal, TypeAlias

from rich.console import Console
from rich.text import Text

from toolroll.cli.render.draw import fold, print_lines
from toolroll.cli.render.prose import MIN_COLUMNS, wrap
from toolroll.cli.render.rows import Look, Row
from toolroll.cli.session import wants_plain
from toolroll.safe.text import terminal_safe

_STDIN: Final = 0
_STDERR: Final = 2
_READ_BYTES: Final = 4_096  # what a terminal hands over at most as one line
_SLICE_S: Final = 1.0
_PASTE_S: Final = 0.05
"""Lines that come so soon after another were pasted with it: nobody types a line so fast."""
_LOCAL_MODES: Final = 3  # where they stand in what `termios.tcgetattr` gives
_FALLBACK_SIZE: Final = (80, 24)

Came: TypeAlias = Literal["lines", "part", "nothing"]
"""What came together with a line: whole lines, the beginning of one, or nothing."""


def open_terminal(environment: Mapping[str, str], *, stdin_is_taken: bool = False) -> "Terminal | None":
    """Return the terminal where somebody can be asked, or None: no terminal, a piped stdin, a machine (CI).

    With `stdin_is_taken` (the arguments came through it) the keyboard is asked for through /dev/tty: a person who pipes
    JSON in still sits there. Any other stdin that is no terminal means that nobody does.
    """
    if _is_machine(environment) or not os.isatty(_STDERR):
        return None
    if os.isatty(_STDIN) and not stdin_is_taken:
        return Terminal(input_fd=_STDIN)
    if not stdin_is_taken:
        return None
    with suppress(OSError):
        return Terminal(input_fd=os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC))
    return None


def _is_machine(environment: Mapping[str, str]) -> bool:
    return environment.get("CI", "").strip().casefold() not in ("", "0", "false", "no")


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C end a wait at once: while an event loop is blocked, asyncio's handler only takes note of it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def without_wakeups() -> Iterator[None]:
    """Keep signals from the event loop inside: it would take a Ctrl-C at a question as one for all that goes on."""
    fd = signal.set_wakeup_fd(-1)
    try:
        yield
    finally:
        signal.set_wakeup_fd(fd)


@contextmanager
def _when_continued(action: Callable[[], None]) -> Iterator[Callable[[Callable[[], None]], None]]:
    """Do the action when the process is in the foreground again after Ctrl-Z: the shell has written.

    Gives a function that shows something undisturbed: stderr cannot be written to in the middle of a write to it, so
    an action that falls due meanwhile is done right after.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda show: show()
        return
    is_busy = is_due = False

    def undisturbed(show: Callable[[], None]) -> None:
        nonlocal is_busy, is_due
        is_due = is_busy
        if is_busy:
            return
        is_busy = True
        show()
        is_busy = False
        if is_due:
            undisturbed(action)

    def go_on(_signal: int, _frame: object) -> None:
        with suppress(OSError):
            if os.tcgetpgrp(_STDERR) == os.getpgrp():
                undisturbed(action)

    before = signal.signal(signal.SIGCONT, go_on)
    try:
        yield undisturbed
    finally:
        signal.signal(signal.SIGCONT, before)


@contextmanager
def _unblocked(fd: int) -> Iterator[int]:
    """Open the terminal once more, so that reading never blocks.

    Ctrl-C empties the terminal's input. If that happens after `select` has seen a line, a blocking read would wait for
    the next line, and the signal would not be handled until then. The flag cannot be set on the descriptor itself: the
    shell shares it.
    """
    try:
        keyboard = os.open(os.ttyname(fd), os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:  # no terminal, or one that has no name here, as in some containers
        yield fd
        return
    try:
        yield keyboard
    finally:
        os.close(keyboard)


class Terminal:
    """Shows rows and reads lines."""

    def __init__(self, *, input_fd: int) -> None:
        self.input_fd = input_fd
        # rich minds NO_COLOR and the kind of terminal.
        colours: Literal["auto"] | None = None if wants_plain() else "auto"
        self.console: Console = Console(
            file=sys.stderr, color_system=colours, highlight=False, markup=False, emoji=False
        )
        self._typed = b""
        self._timeout_s: float | None = None

    @contextmanager
    def waiting(self, timeout_s: float) -> Iterator[None]:
        """Raise TimeoutError for a question that nobody answers within that time; each has all of it."""
        before, self._timeout_s = self._timeout_s, timeout_s
        try:
            yield
        finally:
            self._timeout_s = before

    @property
    def size(self) -> tuple[int, int]:
        """Return columns and rows, as they are now."""
        try:
            columns, rows = os.get_terminal_size(_STDERR)
        except OSError:
            return _FALLBACK_SIZE
        return (max(columns, MIN_COLUMNS), rows) if columns > 0 and rows > 0 else _FALLBACK_SIZE

    def show(self, rows: Sequence[Row]) -> None:
        """Show rows, folded to the screen."""
        print_lines(self.console, fold(rows, self.size[0]))

    def say(self, text: str, look: Look = "note") -> None:
        """Show words of our own, broken between words; what is quoted in them is made safe, and stays on one line."""
        lines = wrap(terminal_safe(text), self.size[0])
        self.show([Row(text=line, look=look) for line in lines])

    def ask(self, prompt: str, *, fresh: bool = False, again: Callable[[], None] | None = None) -> str | None:
        """Ask for a line, and return it without its end and the blanks around it; None when the input was closed.

        With `fresh` all that was typed before the question is thrown away: an answer that was given before there was
        anything to see is none. `again` shows what the question is about, after Ctrl-Z and `fg`.
        """
        if fresh:
            self._typed = b""
            with suppress(termios.error):
                termios.tcflush(self.input_fd, termios.TCIFLUSH)
        line = self.line(prompt, again)
        return None if line is None else line.strip()

    def line(self, prompt: str, again: Callable[[], None] | None = None) -> str | None:
        """Read a line as it was typed, without its end; return None when the person closed the input."""

        def ask_again() -> None:
            if again is not None:
                again()
            self._print(prompt)

        with _when_continued(ask_again) as undisturbed:
            undisturbed(lambda: self._print(prompt))
            line = self._read_line()
        return None if line is None else line.decode("utf-8", "replace")

    def _print(self, prompt: str) -> None:
        words = prompt.rstrip(" ")
        shown = "\n".join(wrap(words, self.size[0])) + prompt[len(words) :]
        with self.console.capture() as captured:
            self.console.print(Text(shown, style="bold"), end="", soft_wrap=True)
        # Past rich: Ctrl-C as soon as this can be read would leave it in rich's buffer, to be written once more.
        self.console.file.write(captured.get())
        self.console.file.flush()

    def is_ahead(self) -> bool:
        """Return whether a line was typed before anybody asked for it."""
        return b"\n" in self._typed or bool(select.select([self.input_fd], [], [], 0)[0])

    def more(self) -> Came:
        """Return what came together with the line before it."""
        if b"\n" in self._typed or select.select([self.input_fd], [], [], _PASTE_S)[0]:
            return "lines"
        self._typed += self._unended() or b""
        return "part" if self._typed else "nothing"

    def _unended(self) -> bytes | None:
        """What the terminal still holds back since no Enter came after it."""
        try:
            modes = termios.tcgetattr(self.input_fd)
        except termios.error:  # no terminal holds nothing back
            return b""
        by_letters = [*modes]
        by_letters[_LOCAL_MODES] &= ~termios.ICANON
        try:  # a Ctrl-C may fall as soon as they are set
            termios.tcsetattr(self.input_fd, termios.TCSANOW, by_letters)
            return self._read()
        finally:
            termios.tcsetattr(self.input_fd, termios.TCSANOW, modes)

    def _read_line(self) -> bytes | None:
        while b"\n" not in self._typed:
            try:
                self._wait()
                more = self._read()
            except KeyboardInterrupt:
                self._typed = b""  # as the terminal does with what it holds
                raise
            if more is None:
                continue
            if not more:
                sys.stderr.write("\n")  # Ctrl-D leaves the cursor behind the prompt
                self._typed = b""  # half a line is no answer: it was never sent off with Enter
                return None
            self._typed += more
        line, _, self._typed = self._typed.partition(b"\n")
        return line

    def _read(self) -> bytes | None:
        """Read what was typed; None where there is nothing to read any more, b"" at the end of input."""
        if not select.select([self.input_fd], [], [], 0)[0]:
            return None
        with _unblocked(self.input_fd) as keyboard, suppress(BlockingIOError):
            return os.read(keyboard, _READ_BYTES)
        return None

    def _wait(self) -> None:
        """Until something is typed. In slices: a Ctrl-C just before the system call is noticed only after it."""
        left_s = self._timeout_s
        while not select.select([self.input_fd], [], [], _SLICE_S if left_s is None else min(left_s, _SLICE_S))[0]:
            if left_s is not None and left_s <= _SLICE_S:
                sys.stderr.write("\n")
                raise TimeoutError
            left_s = None if left_s is None else left_s - _SLICE_S


def confirm(terminal: Terminal, question: str) -> bool:
    """Return whether the answer is a clear yes."""
    while True:
        match terminal.ask(f"{question} [y/n] ", fresh=True):
            case "y" | "yes":
                return True
            case "n" | "no" | None:
                return False
            case _:
                terminal.say("Type y or n, then Enter.")
