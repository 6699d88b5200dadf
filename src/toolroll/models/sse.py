"""Server-sent events, read from bytes in any chunking (the WHATWG rules: CR, LF, CRLF, BOM, comments, many data lines).

The decoder is fed chunks and gives back finished events. It never decodes half a character: bytes are cut at blank
lines first, and UTF-8 is decoded a whole event at a time.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from toolroll.errors import ProviderFailed

MAX_EVENT_BYTES: Final = 16 * 1024 * 1024
"""An event that long is not one: the largest real ones carry a page of search results, well under 1 MiB."""

_BOM: Final = b"\xef\xbb\xbf"
_WHOLE: Final = re.compile(rb"(?:event: ([^\r\n]*+)\n)?data: ([^\r\n]*+)\n\n")
"""One whole event: what nearly every chunk is. The careful way takes four times as long."""


@dataclass(slots=True)  # one per delta: frozen would triple what that costs
class ServerEvent:
    """One event: its name (empty when it has none) and its data."""

    name: str
    data: str


class EventDecoder:
    """Turns chunks of bytes into events."""

    __slots__ = ("_after_cr", "_buffer", "_searched", "_started")

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._searched = 0
        self._started = False
        self._after_cr = False

    def feed(self, chunk: bytes) -> Iterable[ServerEvent]:
        """The events that this chunk completes."""
        if self._started and not self._buffer and not self._after_cr:
            whole = _WHOLE.fullmatch(chunk)
            if whole is not None:
                name, data = whole.groups(b"")
                return (ServerEvent(name.decode("utf-8", "replace"), data.decode("utf-8", "replace")),)
        return self._feed(chunk)

    def _feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        self._buffer += self._with_line_feeds(chunk)
        if not self._started and not self._skip_bom():
            return
        while (end := self._buffer.find(b"\n\n", self._searched)) >= 0:
            event = _event(self._buffer[:end].decode("utf-8", "replace"))
            del self._buffer[: end + 2]
            self._searched = 0
            if event is not None:
                yield event
        self._searched = max(0, len(self._buffer) - 1)  # the blank line may be half here
        if len(self._buffer) > MAX_EVENT_BYTES:
            raise ProviderFailed(f"The provider's stream holds an event of more than {MAX_EVENT_BYTES:,} bytes.")

    def _with_line_feeds(self, chunk: bytes) -> bytes:
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")  # the second half of a CRLF that two chunks share
        if b"\r" in chunk:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return chunk

    def _skip_bom(self) -> bool:
        if len(self._buffer) < len(_BOM) and _BOM.startswith(self._buffer):
            return False
        if self._buffer.startswith(_BOM):
            del self._buffer[: len(_BOM)]
        self._started = True
        return True


def _event(text: str) -> ServerEvent | None:
    name, data = "", None
    for line in text.split("\n"):
        field, _, value = line.partition(":")
        if field == "data":
            value = value.removeprefix(" ")
            data = value if data is None else f"{data}\n{value}"
        elif field == "event":
            name = value.removeprefix(" ")
    return None if data is None else ServerEvent(name, data)
