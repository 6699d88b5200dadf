"""A terminal without a program: what is written to it can be looked at, also what has scrolled away."""

import fcntl
import os
import select
import struct
import termios
import tty
from types import TracebackType
from typing import Self

import pyte


def lines_of(screen: pyte.HistoryScreen) -> list[str]:
    """All that was ever scrolled away and what is on the screen, without the blank lines at the end."""
    gone = ["".join(line[column].data for column in range(screen.columns)).rstrip() for line in screen.history.top]
    lines = gone + [line.rstrip() for line in screen.display]
    while lines and not lines[-1]:
        lines.pop()
    return lines


class Glass:
    """A pseudo-terminal in this process."""

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        self._master, slave = os.openpty()
        tty.setraw(slave)
        self.out = os.fdopen(slave, "w", encoding="utf-8")
        self.screen = pyte.HistoryScreen(columns, rows, history=10_000)
        self.screen.set_mode(pyte.modes.LNM)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.resize(columns, rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.out.close()
        os.close(self._master)

    def resize(self, columns: int, rows: int) -> None:
        """Another size: a terminal that does not fold its lines anew."""
        self.look()
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def look(self) -> list[str]:
        """All lines, those that have scrolled away first."""
        while select.select([self._master], [], [], 0)[0]:
            data = os.read(self._master, 65_536)
            self.raw += data
            self._stream.feed(data)
        return lines_of(self.screen)
