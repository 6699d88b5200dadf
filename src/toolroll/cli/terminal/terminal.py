"""The terminal as a place to ask a person: shown on stderr, answered from the keyboard, never from a pipe.

stdout is not touched: it belongs to the answer of the command.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final, Literal

from rich.console import Console
from rich.text import Text

from toolroll.cli.render.draw import Theme, find_theme, fold, print_lines
from toolroll.cli.render.prose import MIN_COLUMNS, wrap
from toolroll.cli.render.rows import Look, Row
from toolroll.cli.session import wanted_theme, wants_plain
from toolroll.cli.terminal.keyboard import MARK_NO_PASTES, MARK_PASTES, Came, Keyboard, Pause, make_pause
from toolroll.messages import Template
from toolroll.safe.text import terminal_safe

_STDIN: Final = 0
_STDERR: Final = 2
_FALLBACK_SIZE: Final = (80, 24)

EARLY: Final = Template("typed_early", "What was typed before this question could be read does not answer it.")()
PASTED: Final = Template("pasted_answer", "What is pasted does not answer a question. Type the answer, then Enter.")()


def open_terminal(
    environment: Mapping[str, str], *, stdin_is_taken: bool = False, translate: Callable[[str], str] = str
) -> "Terminal | None":
    """Return the terminal where somebody can be asked, or None: no terminal, a piped stdin, a machine (CI).

    With `stdin_is_taken` (the arguments came through it) the keyboard is asked for through /dev/tty: a person who pipes
    JSON in still sits there. Any other stdin that is no terminal means that nobody does. `translate` puts what the
    terminal itself says into the person's language.
    """
    if _is_machine(environment) or not os.isatty(_STDERR):
        return None
    if os.isatty(_STDIN) and not stdin_is_taken:
        return Terminal(input_fd=_STDIN, pause=make_pause(environment), translate=translate)
    if not stdin_is_taken:
        return None
    with suppress(OSError):
        keyboard = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
        return Terminal(input_fd=keyboard, pause=make_pause(environment), translate=translate)
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
def _uninterrupted() -> Iterator[None]:
    """Put Ctrl-C off until something is shown: in the middle of it, rich would keep its buffer, and show no more."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    put_off: list[tuple[int, FrameType | None]] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: put_off.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if put_off and callable(before):
        before(*put_off[0])


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


class Terminal:
    """Shows rows and reads lines."""

    def __init__(self, *, input_fd: int, pause: Pause | None = None, translate: Callable[[str], str] = str) -> None:
        self._keyboard = Keyboard(input_fd)
        self._pause = pause
        self._translate = translate
        # rich minds NO_COLOR and the kind of terminal.
        colours: Literal["auto"] | None = None if wants_plain() else "auto"
        self.console: Console = Console(
            file=sys.stderr, color_system=colours, highlight=False, markup=False, emoji=False
        )
        self._timeout_s: float | None = None
        self.theme: Theme = find_theme(self.console, wanted_theme(), os.environ)

    @property
    def input_fd(self) -> int:
        """Return the descriptor of the keyboard."""
        return self._keyboard.fd

    @contextmanager
    def waiting(self, timeout_s: float | None) -> Iterator[None]:
        """Raise TimeoutError for a question that nobody answers within that time; each has all of it.

        None is for ever.
        """
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
        with _uninterrupted():
            print_lines(self.console, fold(rows, self.size[0]), self.theme)

    def say(self, text: str, look: Look = "note") -> None:
        """Show words of our own, broken between words; what is quoted in them is made safe, and stays on one line."""
        lines = wrap(terminal_safe(text), self.size[0])
        self.show([Row(text=line, look=look) for line in lines])

    def ask(self, prompt: str, *, fresh: bool = False, again: Callable[[], None] | None = None) -> str | None:
        """Ask for a line, and return it without its end and the blanks around it; None when the input was closed.

        With `fresh` neither what was typed before the question could be read nor what is pasted is an answer; a chat
        offers it as the next message. `again` shows what the question is about, after Ctrl-Z and `fg`.
        """
        if not fresh:
            line = self.line(prompt, again)
        else:
            self._keyboard.set_aside()
            with self._marked_pastes():
                line = self.line(prompt, again, is_decision=True)
        return None if line is None else line.strip()

    def line(
        self,
        prompt: str,
        again: Callable[[], None] | None = None,
        *,
        is_decision: bool = False,
    ) -> str | None:
        """Read a line as it was typed, without its end; return None when the person closed the input."""

        def ask_again() -> None:
            if again is not None:
                again()
            self._print(prompt)

        def refuse(why: str) -> None:
            self.say(f"\n{self._translate(why)}")
            self._print(prompt)

        with _when_continued(ask_again) as undisturbed:
            undisturbed(lambda: self._print(prompt))
            if is_decision:
                line = self._read_decision(lambda why: undisturbed(lambda: refuse(why)))
            else:
                line = self._keyboard.read_line(self._timeout_s)
        return None if line is None else line.decode("utf-8", "replace")

    def _read_decision(self, refuse: Callable[[str], None]) -> bytes | None:
        """Read a line that was typed, and not before the question could be read."""
        if self._pause is not None:
            self._pause()
            if self._keyboard.set_aside():
                refuse(EARLY)
        while (line := self._keyboard.read_line(self._timeout_s)) is not None and self._keyboard.is_pasted(line):
            refuse(PASTED)
        return line

    @contextmanager
    def _marked_pastes(self) -> Iterator[None]:
        """Inside, the terminal puts marks around what is pasted."""
        if not os.isatty(self.input_fd) or wants_plain():
            yield
            return
        self._send(MARK_PASTES)
        try:
            yield
        finally:
            with suppress(OSError):  # the terminal is gone
                self._send(MARK_NO_PASTES)

    def _send(self, control: str) -> None:
        self.console.file.write(control)
        self.console.file.flush()

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
        return self._keyboard.is_ahead()

    def more(self) -> Came:
        """Return what came together with the line before it."""
        return self._keyboard.more()


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
