"""Bedrock's binary frames around the events of a stream."""

import base64
import json
import struct
import zlib
from collections.abc import AsyncIterator, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.shapes import SHAPES, assemble, stream_of

from toolroll.errors import ModelError, ProviderFailed, RateLimited
from toolroll.models.awsevents import server_events


def frame(payload: bytes, headers: dict[str, str], *, odd: bool = False) -> bytes:
    encoded = b"".join(_header(name, value) for name, value in headers.items())
    if odd:  # of every other type: true, false, byte, short, int, long, bytes, timestamp, uuid
        sizes = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
        encoded += b"".join(b"\x01x" + bytes([kind]) + bytes(size) for kind, size in sizes.items())
        encoded += b"\x01y\x06\x00\x03abc"
    return _signed(encoded, payload)


def _header(name: str, value: str) -> bytes:
    return bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()


def event(data: bytes, *, odd: bool = False) -> bytes:
    payload = json.dumps({"bytes": base64.b64encode(data).decode(), "p": "abc"}).encode()
    return frame(payload, {":event-type": "chunk", ":message-type": "event"}, odd=odd)


async def decode(chunks: Iterable[bytes]) -> list[bytes]:
    async def source() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    return [one async for one in server_events(source())]


def frames_of(shape: str) -> bytes:
    blocks = stream_of("anthropic", SHAPES[shape]).split(b"\n\n")
    data = [block.partition(b"data: ")[2] for block in blocks if block]
    return b"".join(event(one, odd=number % 2 == 0) for number, one in enumerate(data))


@given(st.data())
async def test_frames_are_the_stream_inside_them_in_any_chunking(data: st.DataObject) -> None:
    stream = frames_of("thinking")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=10)))
    chunks = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    expected = assemble("anthropic", [stream_of("anthropic", SHAPES["thinking"])])
    assert assemble("anthropic", await decode(chunks)) == expected


async def test_exceptions_become_errors_of_their_kind() -> None:
    thrown = frame(
        b'{"message": "slow down"}', {":message-type": "exception", ":exception-type": "throttlingException"}
    )
    with pytest.raises(RateLimited, match="slow down"):
        assemble("anthropic", await decode([thrown]))
    odd = frame(b"{}", {":message-type": "error", ":error-code": "odd", ":error-message": "broken"})
    with pytest.raises(ProviderFailed, match="broken"):
        assemble("anthropic", await decode([odd]))


@given(st.integers(0, 3_000), st.integers(1, 255))
async def test_a_damaged_frame_is_the_providers_failure(place: int, change: int) -> None:
    stream = bytearray(frames_of("text"))
    stream[place % len(stream)] ^= change
    with pytest.raises(ModelError):
        assemble("anthropic", await decode([bytes(stream)]))


@pytest.mark.parametrize(
    "headers_and_payload",
    [
        (b"\x01x\x63", b"{}"),  # a type of header that there is not
        (b"\x05ab", b"{}"),  # a name that goes on past the end
        (_MESSAGE := b"\x0d:message-type\x07\x00\x05event", b"[]"),
        (_MESSAGE, b'{"bytes": "?"}'),
        (_MESSAGE, b"no json"),
    ],
)
async def test_a_frame_of_another_kind_is_the_providers_failure(headers_and_payload: tuple[bytes, bytes]) -> None:
    with pytest.raises(ProviderFailed):
        assemble("anthropic", await decode([_signed(*headers_and_payload)]))


def _signed(headers: bytes, payload: bytes) -> bytes:
    head = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    body = head + struct.pack(">I", zlib.crc32(head)) + headers + payload
    return body + struct.pack(">I", zlib.crc32(body))
