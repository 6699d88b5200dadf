"""The part of the screen below what stays: drawn, taken away and drawn again; all else is written above it.

The cursor rests at the end of the last line. Before anything is written the lines are taken away, in the same write to
the terminal, so that nothing flickers and nothing is left behind.
"""

import io
import os
import sys
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import RLock
from typing import BinaryIO, Final, TextIO

from rich.console import Console
from rich.text import Text

from toolroll.cli.terminal.message_queue import QueueReader
from toolroll.safe.text import terminal_safe

MIN_COLUMNS: Final = 20
_FALLBACK_SIZE: Final = (80, 24)
_REFLOWING_TERMS: Final = ("tmux", "alacritty", "foot", "xterm-kitty", "xterm-ghostty", "wezterm")
_REFLOWING_VARIABLES: Final = ("VTE_VERSION", "KONSOLE_VERSION", "KITTY_WINDOW_ID", "WEZTERM_PANE", "WT_SESSION")
_REFLOWING_PROGRAMS: Final = ("iTerm.app", "Apple_Terminal", "vscode", "ghostty", "WezTerm")


class Region:
    """Lines at the bottom of a terminal."""

    def __init__(self, out: TextIO, *, environment: Mapping[str, str], typing: QueueReader | None = None) -> None:
        self._out = out
        self._reflows = does_reflow(environment)
        # rich minds NO_COLOR and the kind of terminal.
        self.console: Console = Console(file=out, force_terminal=True, highlight=False, markup=False, emoji=False)
        self.lock: RLock = RLock()
        self._above: list[Text] = []
        self._wanted: list[Text] = []
        self._drawn: list[Text] = []
        self._columns = 0
        self._hidden = 0
        self._stray: _Stray | None = None
        self._echo = Echo(out)
        self._typing = typing

    @property
    def size(self) -> tuple[int, int]:
        """Return columns and rows, as they are now."""
        try:
            columns, rows = os.get_terminal_size(self._out.fileno())
        except OSError:
            return _FALLBACK_SIZE
        return (max(columns, MIN_COLUMNS), rows) if columns > 0 and rows > 0 else _FALLBACK_SIZE

    def write(self, lines: Sequence[Text]) -> None:
        """Add lines that stay above the region; the next `draw` shows them."""
        with self.lock:
            self._above += lines

    def show(self, lines: Sequence[Text]) -> None:
        """Set what the region holds from the next `draw` on."""
        with self.lock:
            self._wanted = list(lines)

    def draw(self) -> None:
        """Bring the screen up to date, in one write; where it is so already, none."""
        with self.lock:
            columns, rows = self.size
            wanted = [] if self._hidden else [_cut(line, columns - 1) for line in self._wanted[-max(rows - 1, 1) :]]
            if not self._above and wanted == self._drawn and columns == self._columns:
                return
            self._out.write(self._erasure(columns) + self._painted(wanted))
            self._out.flush()
            self._above.clear()
            if bool(wanted) != bool(self._drawn):
                self._protect(is_shown=bool(wanted))
            self._drawn, self._columns = wanted, columns

    def clear(self) -> None:
        """Write what is to stay, and leave nothing else on the screen."""
        with self.lock:
            self._wanted = []
            self.draw()

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Leave the terminal to others inside: the region is not there."""
        self.hide()
        try:
            yield
        finally:
            self.unhide()

    def hide(self) -> None:
        """Take the region away until `unhide`, as often."""
        with self.lock:
            self._hidden += 1
            self.draw()

    def unhide(self) -> None:
        """Take back one `hide`."""
        with self.lock:
            self._hidden -= 1
            self.draw()

    def _erasure(self, columns: int) -> str:
        if not self._drawn:
            return ""
        up = sum(self._height(line, columns) for line in self._drawn) - 1
        # Line by line: tmux would keep in its history what is cleared from the first row of the screen to the last.
        return "\r\x1b[2K" + "\x1b[A\x1b[2K" * up

    def _height(self, line: Text, columns: int) -> int:
        """Rows that a line has by now: terminals that fold their lines anew have done so when they became narrower."""
        return max(-(-line.cell_len // columns), 1) if self._reflows else 1

    def _painted(self, wanted: Sequence[Text]) -> str:
        above = [*self._above, Text()] if self._above else []
        lines = [*above[:-1], *wanted] if wanted else above
        with self.console.capture() as captured:
            self.console.print(Text("\n").join(lines), end="", soft_wrap=True)
        return captured.get()

    def _protect(self, *, is_shown: bool) -> None:
        """While there are lines to protect, what others print goes through here, and what is typed is not shown."""
        if self._stray is not None:
            self._stray.remove()
            self._stray = None
        if not is_shown:
            if self._typing is not None:
                self._typing.stop()
            self._echo.on()
            return
        self._echo.off()
        if self._typing is not None:
            self._typing.start()
        if sys.stderr is not None:
            self._stray = _Stray(self, sys.stderr)
            self._stray.install()


class _Stray(io.TextIOBase):
    """stderr while the region is shown: what a tool prints comes above it, as text, a whole line at a time."""

    def __init__(self, region: Region, real: TextIO) -> None:
        super().__init__()
        self._region = region
        self._real = real
        self._replaced = tuple(name for name in ("stdout", "stderr") if getattr(sys, name) is real)
        self._rest = ""

    def install(self) -> None:
        """Take the place of the real one."""
        for name in self._replaced:
            setattr(sys, name, self)

    def remove(self) -> None:
        """Give the place back; half a line that is left goes out."""
        for name in self._replaced:
            if getattr(sys, name) is self:
                setattr(sys, name, self._real)
        rest, self._rest = self._rest, ""
        if rest:
            self._real.write(rest + "\n")
            self._real.flush()

    def write(self, text: str, /) -> int:
        """Lines go above the region; the rest waits for its end."""
        with self._region.lock:
            *lines, self._rest = (self._rest + text).split("\n")
            if lines:
                self._region.write([Text(terminal_safe(line)) for line in lines])
                self._region.draw()
        return len(text)

    def fileno(self) -> int:
        """That of the real one, for those who write past us."""
        return self._real.fileno()

    @property
    def buffer(self) -> BinaryIO:
        """Return the stream for bytes, which go past us as they are: they need not be text."""
        return self._real.buffer

    def writable(self) -> bool:
        """It is."""
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]  # an attribute there, which cannot be set either
        """That of the terminal."""
        return "utf-8"


def does_reflow(environment: Mapping[str, str]) -> bool:
    """Return whether this terminal is known to fold its lines anew when it becomes narrower.

    Where it is not known the answer is no: then a resize may leave a line too many, and never takes one away.
    """
    term = environment.get("TERM", "")
    if term.startswith(_REFLOWING_TERMS) or (term.startswith("screen") and "TMUX" in environment):
        return True
    if "XTERM_VERSION" in environment or term.startswith("screen"):
        return False
    named = environment.get("TERM_PROGRAM") in _REFLOWING_PROGRAMS
    return named or any(name in environment for name in _REFLOWING_VARIABLES)


def _cut(line: Text, columns: int) -> Text:
    if line.cell_len <= columns:
        return line
    line = line.copy()
    line.truncate(columns, overflow="ellipsis")
    return line


_LOCAL_MODES: Final = 3


class Echo:
    """Of one terminal; what is typed is kept for who reads next, and only not shown."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal
        self._before: int | None = None

    def off(self) -> None:
        """Show nothing that is typed, until `on`; not from the background, where that would stop the process."""
        with suppress(OSError, termios.error):
            fd = self._terminal.fileno()
            if os.tcgetpgrp(fd) == os.getpgrp():
                modes = termios.tcgetattr(fd)
                self._before = modes[_LOCAL_MODES] & termios.ECHO
                self._set(fd, 0)

    def on(self) -> None:
        """Turn echo on again, as it was before."""
        before, self._before = self._before, None
        if before is not None:
            with suppress(OSError, termios.error):
                self._set(self._terminal.fileno(), before)

    def _set(self, fd: int, echo: int) -> None:
        modes = termios.tcgetattr(fd)
        modes[_LOCAL_MODES] = (modes[_LOCAL_MODES] & ~termios.ECHO) | echo
        termios.tcsetattr(fd, termios.TCSANOW, modes)
