"""Server-sent events, whatever the chunks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolroll.errors import ProviderFailed
from toolroll.models import sse
from toolroll.models.sse import EventDecoder


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
    monkeypatch.setattr(sse, "MAX_EVENT_BYTES", 100)
    with pytest.raises(ProviderFailed, match="more than 100 bytes"):
        decode(*[b"data"] * 60)
