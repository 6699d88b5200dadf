"""The echo of the keyboard, off while there are lines that a typed Enter would push away."""

import os
import termios
from contextlib import suppress
from typing import Final, TextIO

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
        """As it was before."""
        before, self._before = self._before, None
        if before is not None:
            with suppress(OSError, termios.error):
                self._set(self._terminal.fileno(), before)

    def _set(self, fd: int, echo: int) -> None:
        modes = termios.tcgetattr(fd)
        modes[_LOCAL_MODES] = (modes[_LOCAL_MODES] & ~termios.ECHO) | echo
        termios.tcsetattr(fd, termios.TCSANOW, modes)
