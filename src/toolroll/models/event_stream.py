"""Read streams of events: server-sent events, and Amazon's binary frames, in which Bedrock wraps a model's events.

Server-sent events follow the WHATWG rules (CR, LF, CRLF, BOM, comments, many data lines) and arrive in chunks of any
size. The decoder never decodes half a character: it cuts the bytes at blank lines first, and decodes a whole event at a
time.

A binary frame is: total length, length of headers, checksum of these two; headers; payload; checksum of all of it. Its
event is written as a server-sent event, so there is one reader for both.
"""

import base64
import re
import zlib
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from toolroll.errors import AnswerTooLarge, ProviderFailed
from toolroll.messages import MODEL_EVENT_TOO_LARGE
from toolroll.models.shape import read_json, text_of
from toolroll.models.wire_json import compact

MAX_EVENT_BYTES: Final = 16 * 1024 * 1024
"""An event that long is not one: the largest real ones carry a page of search results, well under 1 MiB."""

MAX_HELD_EVENTS: Final = 3
"""While the second half of a character is waited for: pings may come between, and no more than that."""

_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*+"')
# Both halves of a pair together are no half; a backslash that is escaped itself begins no escape.
_FIRST: Final = re.compile(
    r"\\(?:[^u]|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89abAB][0-9a-fA-F]{2}))"
)
_SECOND: Final = re.compile(r"\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_LONG_NUMBER: Final = re.compile(r"\d{6,}+")
"""The time of an event, and other numbers that differ between events of one text."""

_BOM: Final = b"\xef\xbb\xbf"
_WHOLE: Final = re.compile(rb"(?:event: ([^\r\n]*+)\n)?data: ([^\r\n]*+)\n\n")
"""One whole event: what nearly every chunk is. The careful way takes four times as long."""

AMAZON_CONTENT_TYPE: Final = "application/vnd.amazon.eventstream"

_PRELUDE_BYTES: Final = 12
_CHECKSUM_BYTES: Final = 4
_MAX_FRAME_BYTES: Final = 16 * 1024 * 1024
"""The limit that Amazon documents; no event comes near it."""

_FIXED_BYTES: Final[Mapping[int, int]] = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
_TEXT: Final = (6, 7)

_ERROR_KINDS: Final[Mapping[str, str]] = {
    "throttlingException": "rate_limit_error",
    "validationException": "invalid_request_error",
    "modelTimeoutException": "timeout_error",
    "serviceUnavailableException": "overloaded_error",
}


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
        """Return the events that this chunk completes."""
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
            event = _parse_event(self._buffer[:end].decode("utf-8", "replace"))
            del self._buffer[: end + 2]
            self._searched = 0
            if event is not None:
                yield event
        self._searched = max(0, len(self._buffer) - 1)  # the blank line may be half here
        if len(self._buffer) > MAX_EVENT_BYTES:
            raise AnswerTooLarge(MODEL_EVENT_TOO_LARGE(limit=f"{MAX_EVENT_BYTES:,}"))

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Half:
    """Half of a character in the JSON text of an event: where it ends, and what comes before its string."""

    end: int
    before: str


class HalfJoiner:
    """Moves the second half of a character into the event with the first, where a server has cut a text inside it.

    Works on the JSON text of events, so that it is the same for every wire: events of one text begin alike. A half
    whose other half does not come stays as it is.
    """

    __slots__ = ("_half", "_held")

    def __init__(self) -> None:
        self._half: _Half | None = None
        self._held: list[str] = []

    def feed(self, data: str) -> list[str]:
        """Return the events that are whole now, in order."""
        if self._half is not None:
            rest = _continue_string(data, self._half.before)
            if rest is not None:
                data = self._join(data, rest, self._half)
            elif len(self._held) < MAX_HELD_EVENTS:
                self._held.append(data)
                return []
        whole = self.flush()
        self._half = _find_first_half(data)
        if self._half is None:
            return [*whole, data]
        self._held.append(data)
        return whole

    def flush(self) -> list[str]:
        """Return what was held back."""
        held, self._held, self._half = self._held, [], None
        return held

    def _join(self, data: str, start: int, half: _Half) -> str:
        """Move the second half, if the string that goes on at `start` begins with one; return what stays."""
        second = _SECOND.match(data, start)
        if second is None:
            return data
        first = self._held[0]
        self._held[0] = first[: half.end] + second[0] + first[half.end :]
        return data[:start] + data[second.end() :]


def _find_first_half(data: str) -> _Half | None:
    """Return the first half of a character that a string ends with; None for nearly every event."""
    if "\\ud" not in data and "\\uD" not in data:
        return None
    for string in _STRING.finditer(data):
        for found in _FIRST.finditer(data, string.start(), string.end()):
            if found[1] and found.end() == string.end() - 1:
                before = _LONG_NUMBER.sub("", data[: string.start()])
                return _Half(end=found.end(), before=before)
    return None


def _continue_string(data: str, before: str) -> int | None:
    """Return where the string begins that goes on with the one after `before`; None if the event has none."""
    for string in _STRING.finditer(data):
        if _LONG_NUMBER.sub("", data[: string.start()]) == before:
            return string.start() + 1
    return None


def _parse_event(text: str) -> ServerEvent | None:
    name, data = "", None
    for line in text.split("\n"):
        field, _, value = line.partition(":")
        if field == "data":
            value = value.removeprefix(" ")
            data = value if data is None else f"{data}\n{value}"
        elif field == "event":
            name = value.removeprefix(" ")
    return None if data is None else ServerEvent(name, data)


async def decode_amazon_frames(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the events of a binary stream as server-sent events."""
    buffer = bytearray()
    async for chunk in chunks:
        buffer += chunk
        for event in _frames_to_events(buffer):
            yield b"data: " + event + b"\n\n"


def _frames_to_events(buffer: bytearray) -> list[bytes]:
    try:
        return [_read_frame(headers, payload) for headers, payload in _take_frames(buffer)]
    except (IndexError, KeyError, ValueError) as fault:  # headers that end too soon or have an unknown type, no base64
        raise ProviderFailed("The provider's event stream is damaged.") from fault


def _take_frames(buffer: bytearray) -> Iterator[tuple[dict[str, str], bytes]]:
    """Take the whole frames at the beginning of the buffer out of it."""
    while len(buffer) >= _PRELUDE_BYTES:
        total, headers = _read_number(buffer[:4]), _read_number(buffer[4:8])
        fits = _PRELUDE_BYTES + headers + _CHECKSUM_BYTES <= total <= _MAX_FRAME_BYTES
        if not fits or zlib.crc32(buffer[:8]) != _read_number(buffer[8:_PRELUDE_BYTES]):
            raise ProviderFailed("The provider's event stream is damaged.")
        if len(buffer) < total:
            return
        frame = bytes(buffer[:total])
        del buffer[:total]
        if zlib.crc32(frame[:-_CHECKSUM_BYTES]) != _read_number(frame[-_CHECKSUM_BYTES:]):
            raise ProviderFailed("The provider's event stream is damaged.")
        end = _PRELUDE_BYTES + headers
        yield _read_headers(frame[_PRELUDE_BYTES:end]), frame[end:-_CHECKSUM_BYTES]


def _read_headers(data: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    place = 0
    while place < len(data):
        name_end = place + 1 + data[place]
        name, kind = data[place + 1 : name_end].decode(), data[name_end]
        place = name_end + 1
        if kind in _TEXT:
            start = place + 2
            place = start + _read_number(data[place:start])
            found[name] = data[start:place].decode("utf-8", "replace")
        else:
            place += _FIXED_BYTES[kind]
    return found


def _read_frame(headers: Mapping[str, str], payload: bytes) -> bytes:
    body = read_json(payload)
    if headers.get(":message-type") == "event":
        return base64.b64decode(text_of(body, "bytes"))
    kind = headers.get(":exception-type") or headers.get(":error-code", "")
    said = text_of(body, "message") or headers.get(":error-message", "") or kind
    return compact({"type": "error", "error": {"type": _ERROR_KINDS.get(kind, "api_error"), "message": said}})


def _read_number(data: bytes | bytearray) -> int:
    return int.from_bytes(data, "big")
