"""The keyboard of a terminal: lines as they were typed, what was typed before a question, and what was pasted at it."""

import os
import select
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final, Literal, TypeAlias

_READ_BYTES: Final = 4_096  # what a terminal hands over at most as one line
_SLICE_S: Final = 1.0
_PASTE_S: Final = 0.05
"""Lines that come so soon after another were pasted with it: nobody types a line so fast."""
_PASTE_END_S: Final = 1.0
"""How long the mark at the end of a paste is waited for: terminals send it at once, but a network may take its time."""
_LOCAL_MODES: Final = 3  # where they stand in what `termios.tcgetattr` gives

MARK_PASTES: Final = "\x1b[?2004h"
MARK_NO_PASTES: Final = "\x1b[?2004l"
_PASTE_BEGINS: Final = b"\x1b[200~"
_PASTE_ENDS: Final = b"\x1b[201~"

PAUSE_VARIABLE: Final = "TOOLROLL_QUESTION_PAUSE"
QUESTION_PAUSE_S: Final = 0.5
"""A key that comes sooner was not pressed by somebody who has read the question."""
MAX_AHEAD_BYTES: Final = 100_000

Came: TypeAlias = Literal["lines", "part", "nothing"]
"""What came together with a line: whole lines, the beginning of one, or nothing."""

Pause: TypeAlias = Callable[[], None]
"""Waits until a question can have been read."""


def make_pause(environment: Mapping[str, str]) -> Pause | None:
    """Return what waits until a question can have been read; None for a program that presses keys, and says so."""
    try:
        wanted_s = float(environment.get(PAUSE_VARIABLE, ""))
    except ValueError:
        wanted_s = QUESTION_PAUSE_S
    pause_s = wanted_s if 0 <= wanted_s <= QUESTION_PAUSE_S else QUESTION_PAUSE_S
    return (lambda: time.sleep(pause_s)) if pause_s else None


class TypedAhead:
    """What was typed or pasted and is no answer to a question: perhaps it is the next message."""

    def __init__(self) -> None:
        self._kept = b""

    def add(self, typed: bytes) -> None:
        """Keep this behind what is kept already."""
        self._kept = (self._kept + typed)[-MAX_AHEAD_BYTES:]

    def take(self) -> str:
        """Return what is kept, and forget it."""
        kept, self._kept = self._kept, b""
        for mark in (_PASTE_BEGINS, _PASTE_ENDS, b"\0"):  # NUL is what becomes of a Ctrl-D that nobody has read
            kept = kept.replace(mark, b"")
        return kept.decode("utf-8", "replace").strip()


TYPED_AHEAD: Final = TypedAhead()
"""Of this process, which has one keyboard."""


class Keyboard:
    """Reads lines."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._typed = b""

    def is_ahead(self) -> bool:
        """Return whether a line was typed before anybody asked for it."""
        return b"\n" in self._typed or bool(select.select([self.fd], [], [], 0)[0])

    def more(self) -> Came:
        """Return what came together with the line before it."""
        if b"\n" in self._typed or select.select([self.fd], [], [], _PASTE_S)[0]:
            return "lines"
        self._typed += self._take_held()
        return "part" if self._typed else "nothing"

    def set_aside(self) -> bool:
        """Keep what was typed so far for the next message; return whether there was something."""
        typed, self._typed = self._typed + self._take_held(), b""
        TYPED_AHEAD.add(typed)
        return bool(typed)

    def is_pasted(self, line: bytes) -> bool:
        """Return whether the line was pasted, by the marks around it, or as more came with it; then it is set aside."""
        is_marked = _PASTE_BEGINS in line
        if not is_marked and self.more() == "nothing":
            return False
        TYPED_AHEAD.add(line + b"\n")
        if is_marked and _PASTE_ENDS not in line + self._typed:
            self._typed += self._take_held(until=_PASTE_ENDS)
        self.set_aside()
        return True

    def read_line(self, timeout_s: float | None = None) -> bytes | None:
        """Return a line without its end, or None at the end of the input; TimeoutError if nothing is typed so long."""
        while b"\n" not in self._typed:
            try:
                self._wait(timeout_s)
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

    def _take_held(self, *, until: bytes = b"") -> bytes:
        """Return all that the terminal holds, also what no Enter came after; wait for `until` to be among it."""
        held = b""
        with self._by_letters() as is_terminal:
            while is_terminal and not (until and until in held):
                select.select([self.fd], [], [], _PASTE_END_S if until else 0)
                if not (more := self._read()):
                    break
                held += more
        return held

    @contextmanager
    def _by_letters(self) -> Iterator[bool]:
        """Inside, the terminal hands over each letter at once; gives whether this is a terminal."""
        try:
            modes = termios.tcgetattr(self.fd)
        except termios.error:  # no terminal holds nothing back
            yield False
            return
        by_letters = [*modes]
        by_letters[_LOCAL_MODES] &= ~termios.ICANON
        try:  # a Ctrl-C may fall as soon as they are set
            termios.tcsetattr(self.fd, termios.TCSANOW, by_letters)
            yield True
        finally:
            termios.tcsetattr(self.fd, termios.TCSANOW, modes)

    def _read(self) -> bytes | None:
        """Read what was typed; None where there is nothing to read any more, b"" at the end of input."""
        if not select.select([self.fd], [], [], 0)[0]:
            return None
        with _unblocked(self.fd) as keyboard, suppress(BlockingIOError):
            return os.read(keyboard, _READ_BYTES)
        return None

    def _wait(self, left_s: float | None) -> None:
        """Wait until something is typed. In slices: a Ctrl-C just before the system call is noticed only after it."""
        while not select.select([self.fd], [], [], _SLICE_S if left_s is None else min(left_s, _SLICE_S))[0]:
            if left_s is not None and left_s <= _SLICE_S:
                sys.stderr.write("\n")
                raise TimeoutError
            left_s = None if left_s is None else left_s - _SLICE_S


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
