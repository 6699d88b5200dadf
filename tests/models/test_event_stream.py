"""Server-sent events, whatever the chunks."""

import base64
import json
import struct
import zlib
from collections.abc import AsyncIterator, Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.shapes import SHAPES, assemble, stream_of

from toolroll.errors import AnswerTooLarge, ModelError, ProviderFailed, RateLimited
from toolroll.models import event_stream
from toolroll.models.event_stream import EventDecoder, HalfJoiner, decode_amazon_frames
from toolroll.models.shape import read_json


def decode(*chunks: bytes) -> list[tuple[str, str]]:
    decoder = EventDecoder()
    return [(event.name, event.data) for chunk in chunks for event in decoder.feed(chunk)]


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"data: a\n\n", [("", "a")]),
        (b"event: x\ndata: a\n\ndata: b\n\n", [("x", "a"), ("", "b")]),
        (b"data:a\r\n\r\n", [("", "a")]),
        (b"data: a\r\r", [("", "a")]),
        (b"\xef\xbb\xbfdata: a\n\n", [("", "a")]),
        (b"data: one\ndata: two\n\n", [("", "one\ntwo")]),
        (b"data\n\n", [("", "")]),
        (b": comment\n\n", []),
        (b"id: 1\nretry: 5\nunknown\ndata:  a\n\n", [("", " a")]),
        (b"event: alone\n\n", []),
        (b"data: cut", []),
        (b"data: \xff\n\n", [("", "\ufffd")]),
        (b"\n\n\ndata: a\n\n", [("", "a")]),
        (b"", []),
    ],
)
def test_events_by_the_standard(stream: bytes, expected: list[tuple[str, str]]) -> None:
    assert expected == decode(stream)


LINES = st.sampled_from(
    ["data: a", "data: б€😀", "event: x", ": c", "id: 1", "data", "", 'data: {"a":1}', "\ufeffdata: b"]
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@given(st.lists(st.tuples(LINES, ENDS), max_size=12), st.booleans(), st.data())
def test_XL10_every_chunking_gives_the_same_events(
    lines: list[tuple[str, str]], bom: bool, data: st.DataObject
) -> None:
    stream = (b"\xef\xbb\xbf" if bom else b"") + "".join(line + end for line, end in lines).encode()
    whole = decode(stream)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    chunks = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert whole == decode(*chunks)
    assert whole == decode(*(stream[place : place + 1] for place in range(len(stream))))


@given(st.lists(st.lists(st.tuples(LINES, ENDS), max_size=3), max_size=6))
def test_XL10_whole_events_a_chunk_give_the_same(events: list[list[tuple[str, str]]]) -> None:
    chunks = ["".join(line + end for line, end in lines).encode() + b"\n" for lines in events]
    stream = b"".join(chunks)
    assert decode(*chunks) == decode(*(stream[place : place + 1] for place in range(len(stream))))


@pytest.mark.parametrize(
    ("chunk", "expected"),
    [
        (b"event: x\ndata: a\n\n", [("x", "a")]),
        (b"data: a\n\n", [("", "a")]),
        (b"data: \n\n", [("", "")]),
        (b"event: \xff\ndata: \xff\n\n", [("\ufffd", "\ufffd")]),
        (b"data: a\n\ndata: b\n\n", [("", "a"), ("", "b")]),
        (b"data: a\ndata: b\n\n", [("", "a\nb")]),
    ],
)
@pytest.mark.parametrize("before", [b"data: first\n\n", b"data: first\r\r", b"data: first\n\n\n"])
def test_a_chunk_that_is_an_event(before: bytes, chunk: bytes, expected: list[tuple[str, str]]) -> None:
    assert [("", "first"), *expected] == decode(before, chunk)


def test_an_event_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "MAX_EVENT_BYTES", 100)
    with pytest.raises(AnswerTooLarge, match="more than 100 bytes"):
        decode(*[b"data"] * 60)


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


async def decode_frames(chunks: Iterable[bytes]) -> list[bytes]:
    async def source() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    return [one async for one in decode_amazon_frames(source())]


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
    assert assemble("anthropic", await decode_frames(chunks)) == expected


async def test_exceptions_become_errors_of_their_kind() -> None:
    thrown = frame(
        b'{"message": "slow down"}', {":message-type": "exception", ":exception-type": "throttlingException"}
    )
    with pytest.raises(RateLimited, match="slow down"):
        assemble("anthropic", await decode_frames([thrown]))
    odd = frame(b"{}", {":message-type": "error", ":error-code": "odd", ":error-message": "broken"})
    with pytest.raises(ProviderFailed, match="broken"):
        assemble("anthropic", await decode_frames([odd]))


@given(st.integers(0, 3_000), st.integers(1, 255))
async def test_a_damaged_frame_is_the_providers_failure(place: int, change: int) -> None:
    stream = bytearray(frames_of("text"))
    stream[place % len(stream)] ^= change
    with pytest.raises(ModelError):
        assemble("anthropic", await decode_frames([bytes(stream)]))


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
        assemble("anthropic", await decode_frames([_signed(*headers_and_payload)]))


def _signed(headers: bytes, payload: bytes) -> bytes:
    head = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    body = head + struct.pack(">I", zlib.crc32(head)) + headers + payload
    return body + struct.pack(">I", zlib.crc32(body))


TEXTS = st.text(st.sampled_from('aб😀🫖\\"\ud83d\ude00'), max_size=12)


@given(TEXTS, st.lists(st.integers(0, 24), max_size=4))
def test_XL45_a_text_is_the_same_wherever_it_is_cut(text: str, cuts: list[int]) -> None:
    """XL45: cut between any two units of UTF-16, as servers do that count in these."""
    data = text.encode("utf-16-le", "surrogatepass")
    places = sorted({min(2 * cut, len(data)) for cut in cuts} | {0, len(data)})
    pieces = [data[start:end].decode("utf-16-le", "surrogatepass") for start, end in pairwise(places)]
    joiner = HalfJoiner()
    joined = [one for piece in pieces for one in joiner.feed(json.dumps({"text": piece}))] + joiner.flush()
    assert len(joined) == len(pieces)
    read = "".join(read_json(one)["text"] for one in joined)
    whole = data.decode("utf-16-le", "replace")
    assert read == whole
