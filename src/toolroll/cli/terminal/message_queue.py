"""What is typed while an answer comes (S11): whole lines are the next messages, the rest is the beginning of one.

The keyboard is read letter by letter meanwhile, so that what is typed can be shown. Ctrl-C stays a signal.
"""

import asyncio
import codecs
import os
import re
import termios
from contextlib import suppress
from typing import Final

from toolroll.cli.terminal.keyboard import TYPED_AHEAD

MAX_QUEUED_CHARACTERS: Final = 100_000
_READ_BYTES: Final = 4_096
_LOCAL_MODES: Final = 3
_SPECIAL: Final = 6
_ENTER: Final = ("\n", "\r")
_BACKSPACE: Final = ("\x7f", "\x08")
_CLEAR: Final = "\x15"
_KEYS: Final = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z~]|O[A-Za-z])|[\x00-\x08\x0b-\x1a\x1c-\x1f]")
"""What a terminal sends for arrows and function keys, and controls that mean nothing in a message."""


class MessageQueue:
    """Messages that wait for the end of an answer."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.lines: list[str] = []
        self.rest: str = ""

    def feed(self, data: bytes) -> None:
        """Take what was typed: Enter ends a message, Backspace and Ctrl-U do what they do in every line."""
        for char in self._decoder.decode(data)[:MAX_QUEUED_CHARACTERS]:
            if char in _ENTER:
                line, self.rest = _KEYS.sub("", self.rest), ""
                self.lines += [line] if line.strip() else []
            elif char in _BACKSPACE:
                self.rest = self.rest[:-1]
            elif char == _CLEAR:
                self.rest = ""
            elif len(self.rest) < MAX_QUEUED_CHARACTERS:
                self.rest += char

    @property
    def typed(self) -> str:
        """Return the beginning of a message that no Enter came after."""
        return _KEYS.sub("", self.rest)

    def take_line(self) -> str | None:
        """Return the first message that waits, and forget it."""
        return self.lines.pop(0) if self.lines else None

    def take_rest(self) -> str:
        """Return the beginning of a message, and forget it."""
        rest, self.rest = self.typed, ""
        return rest

    def set_aside(self) -> None:
        """Offer all of it as the next message instead of sending it: it may have been meant for something else."""
        typed = "\n".join([*self.lines, *([self.typed] if self.typed else [])])
        self.lines, self.rest = [], ""
        if typed:
            TYPED_AHEAD.add(f"{typed}\n".encode())


QUEUE: Final = MessageQueue()
"""Of this process, which has one keyboard."""


class QueueReader:
    """Feeds a queue from the keyboard, while it listens."""

    def __init__(self, queue: MessageQueue, fd: int) -> None:
        self._queue, self._fd = queue, fd
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Listen; not where there is no event loop in this thread, or no terminal in the foreground."""
        if self._loop is not None:
            return
        with suppress(OSError, RuntimeError, termios.error):
            if os.tcgetpgrp(self._fd) != os.getpgrp():
                return
            loop = asyncio.get_running_loop()
            self._set_by_letters()
            loop.add_reader(self._fd, self._read)
            self._loop = loop

    def stop(self) -> None:
        """Leave the keyboard to others."""
        loop, self._loop = self._loop, None
        if loop is not None:
            with suppress(RuntimeError):  # it is closed
                loop.remove_reader(self._fd)
            with suppress(OSError, termios.error):
                modes = termios.tcgetattr(self._fd)
                modes[_LOCAL_MODES] |= termios.ICANON
                termios.tcsetattr(self._fd, termios.TCSANOW, modes)

    def _set_by_letters(self) -> None:
        modes = termios.tcgetattr(self._fd)
        modes[_LOCAL_MODES] &= ~termios.ICANON
        modes[_SPECIAL][termios.VMIN], modes[_SPECIAL][termios.VTIME] = 1, 0
        termios.tcsetattr(self._fd, termios.TCSANOW, modes)

    def _read(self) -> None:
        try:
            data = os.read(self._fd, _READ_BYTES)
        except OSError:  # the terminal is gone
            data = b""
        if not data:
            self.stop()
        self._queue.feed(data)
