"""Amazon's binary event stream, in which Bedrock wraps a model's events, as server-sent events.

A frame is: total length, length of headers, checksum of these two; headers; payload; checksum of all of it.
"""

import base64
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Final

from toolroll.errors import ProviderFailed
from toolroll.models.body import UNREADABLE, read_json, text_of, unreadable_answer
from toolroll.models.encode import compact

CONTENT_TYPE: Final = "application/vnd.amazon.eventstream"

_PRELUDE_BYTES: Final = 12
_CHECKSUM_BYTES: Final = 4
_MAX_FRAME_BYTES: Final = 16 * 1024 * 1024
"""What Amazon documents as the most, and more than any event has."""

_FIXED_BYTES: Final[Mapping[int, int]] = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
_TEXT: Final = (6, 7)

_KINDS: Final[Mapping[str, str]] = {
    "throttlingException": "rate_limit_error",
    "validationException": "invalid_request_error",
    "modelTimeoutException": "timeout_error",
    "serviceUnavailableException": "overloaded_error",
}


async def server_events(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The stream as server-sent events, which everything above reads."""
    buffer = bytearray()
    async for chunk in chunks:
        buffer += chunk
        for event in _events(buffer):
            yield b"data: " + event + b"\n\n"


def _events(buffer: bytearray) -> list[bytes]:
    try:
        return [_event(headers, payload) for headers, payload in _frames(buffer)]
    except UNREADABLE as fault:
        raise unreadable_answer(fault) from fault


def _frames(buffer: bytearray) -> Iterator[tuple[dict[str, str], bytes]]:
    """The whole frames at the beginning of the buffer, taken out of it."""
    while len(buffer) >= _PRELUDE_BYTES:
        total, headers = _number(buffer[:4]), _number(buffer[4:8])
        fits = _PRELUDE_BYTES + headers + _CHECKSUM_BYTES <= total <= _MAX_FRAME_BYTES
        if not fits or zlib.crc32(buffer[:8]) != _number(buffer[8:_PRELUDE_BYTES]):
            raise ProviderFailed("The provider's event stream is damaged.")
        if len(buffer) < total:
            return
        frame = bytes(buffer[:total])
        del buffer[:total]
        if zlib.crc32(frame[:-_CHECKSUM_BYTES]) != _number(frame[-_CHECKSUM_BYTES:]):
            raise ProviderFailed("The provider's event stream is damaged.")
        end = _PRELUDE_BYTES + headers
        yield _headers(frame[_PRELUDE_BYTES:end]), frame[end:-_CHECKSUM_BYTES]


def _headers(data: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    place = 0
    while place < len(data):
        name_end = place + 1 + data[place]
        name, kind = data[place + 1 : name_end].decode(), data[name_end]
        place = name_end + 1
        if kind in _TEXT:
            start = place + 2
            place = start + _number(data[place:start])
            found[name] = data[start:place].decode("utf-8", "replace")
        else:
            place += _FIXED_BYTES[kind]
    return found


def _event(headers: Mapping[str, str], payload: bytes) -> bytes:
    body = read_json(payload)
    if headers.get(":message-type") == "event":
        return base64.b64decode(text_of(body, "bytes"))
    kind = headers.get(":exception-type") or headers.get(":error-code", "")
    said = text_of(body, "message") or headers.get(":error-message", "") or kind
    return compact({"type": "error", "error": {"type": _KINDS.get(kind, "api_error"), "message": said}})


def _number(data: bytes | bytearray) -> int:
    return int.from_bytes(data, "big")
