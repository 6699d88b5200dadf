"""Records as JSON and back: the same values, long texts once, old formats still readable."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from tests.journal.samples import EVERY_KIND, NEW_IN_FORMAT_2, records

from toolroll.errors import JournalRefused
from toolroll.journal.codec import LONG_CHARACTERS, Encoded, decode, encode
from toolroll.journal.records import CallEnded, MessageAdded, Record, StateSet
from toolroll.kernel.approval.request import content_hash
from toolroll.kernel.data.messages import ToolMessage, UserMessage
from toolroll.kernel.data.serialize import dump_json

FORMAT_1 = Path(__file__).parent / "format-1.jsonl"
FORMAT_2 = Path(__file__).parent / "format-2.jsonl"


def nothing(name: str) -> bytes:
    raise JournalRefused(f"{name[:4]} is missing")


def again(encoded: Encoded) -> Record:
    return decode(encoded.body, encoded.contents.__getitem__)


@given(records)
def test_D1_any_record_comes_back_as_it_was(record: Record) -> None:
    assert record == again(encode(record))


@pytest.mark.parametrize("text", ["\0", "\0" * 2, "\0" + "a" * 64, "a\0b", "\\u0000", "ж" * LONG_CHARACTERS])
def test_D1_no_text_is_taken_for_a_reference(text: str) -> None:
    record = StateSet(name=text, value=[text, {"deep": [text]}])
    assert record == again(encode(record))


def test_D1_a_long_text_is_stored_under_its_hash_once() -> None:
    text = "a line of it\n" * 1_000
    encoded = encode(StateSet(name="n", value=[text, text, {"short": "x"}]))
    assert {content_hash(text): text.encode()} == encoded.contents
    assert len(encoded.body) < 400


def test_D1_a_summary_of_a_time_without_a_mark_gets_one() -> None:
    """Summaries of 0.1.0 are known by their first line alone; what they hold must not count as the person's words."""
    opening = "[This is not from the user: the conversation before this point was replaced by a summary of it.]"
    texts = [f"{opening}\n\n## Summary\ns", f"He wrote: {opening}", ""]
    marks = []
    for text in texts:
        message = {"role": "user", "content": [{"type": "text", "text": text}], "pinned": False}
        record = decode(dump_json({"kind": "said", "message": message}).encode(), nothing)
        assert isinstance(record, MessageAdded)
        assert isinstance(record.message, UserMessage)
        marks.append(record.message.is_summary)
    assert marks == [True, False, False]
    for sample in (UserMessage(content=()), UserMessage.of("s", is_summary=True)):
        assert MessageAdded(message=sample) == again(encode(MessageAdded(message=sample)))


def test_D1_a_text_that_is_missing_is_refused() -> None:
    encoded = encode(StateSet(name="n", value="x" * LONG_CHARACTERS))
    with pytest.raises(JournalRefused, match="is missing"):
        decode(encoded.body, nothing)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"{", "cannot be read"),
        (b'{"kind": "from_the_future"}', "cannot be read"),
        (b'{"kind": "kept"}', "kept.name: Field required"),
        (b'{"kind": "kept", "name": "\\u0000', "cannot be read"),
    ],
)
def test_XD4_what_is_no_record_is_refused(body: bytes, told: str) -> None:
    with pytest.raises(JournalRefused, match=told):
        decode(body, nothing)


def test_D1_half_of_a_surrogate_pair_costs_that_character_only() -> None:
    record = MessageAdded(message=UserMessage.of("before \ud800 after"))
    assert MessageAdded(message=UserMessage.of("before � after")) == again(encode(record))


def test_D1_what_has_no_json_form_is_kept_as_text() -> None:
    assert StateSet(name="n", value=["1j", [3]]) == again(encode(StateSet(name="n", value=[1j, {3}])))


def test_D1_a_value_that_holds_itself_is_refused_in_words() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(JournalRefused, match=r"\(kept\) cannot be stored"):
        encode(StateSet(name="n", value=value))


def test_D1_records_of_format_1_still_open() -> None:
    """These bytes were written by the first version and are never made anew."""
    lines = FORMAT_1.read_bytes().splitlines()
    assert list(EVERY_KIND) == [decode(line, nothing) for line in lines]


def test_D1_records_of_format_2_still_open() -> None:
    """Nothing in them is taken for a secret: the references must lead back."""
    lines = FORMAT_2.read_bytes().splitlines()
    assert list(NEW_IN_FORMAT_2) == [decode(line, nothing) for line in lines]
    assert lines == [encode(record).body for record in NEW_IN_FORMAT_2]


def test_D1_fields_that_a_later_version_adds_are_passed_over() -> None:
    result = ToolMessage(call_id="c", name="n", content="x")
    body = encode(CallEnded(result=result, code=None, duration_ms=1.0)).body
    assert CallEnded(result=result, code=None, duration_ms=1.0) == decode(
        body.replace(b'{"result"', b'{"from_the_future":{"a":1},"result"'), nothing
    )


WRONG: list[Any] = [None, 3, -1.5, True, "text", b"bytes", [], {}, [None], {"a": None}, (), object(), 10**400, "\ud800"]


def _deep(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


def _variants(value: object) -> Iterator[object]:
    """The value with one thing in it replaced, at every place: what a program that ignores types could make."""
    yield from WRONG
    if is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            for other in _variants(getattr(value, one.name)):
                yield replace(value, **{one.name: other})
    elif isinstance(value, tuple):
        for place, item in enumerate(value):
            for other in _variants(item):
                yield (*value[:place], other, *value[place + 1 :])
    elif isinstance(value, Mapping):
        for key in value:
            for other in WRONG:
                yield {**value, key: other}


@pytest.mark.parametrize("record", EVERY_KIND, ids=lambda record: record.kind)
def test_XL16_what_is_written_can_be_read(record: Record) -> None:
    """A record with a wrong value at any place is refused, or it reads back."""
    refused = 0
    for one in fields(record):
        if one.name == "kind":
            continue
        for value in _variants(getattr(record, one.name)):
            try:
                stored = encode(replace(record, **{one.name: value}))  # type: ignore[arg-type]  # which is the point
            except JournalRefused:
                refused += 1
                continue
            again(stored)
    assert refused > 0


def test_XL16_a_value_of_any_depth_reads_back() -> None:
    assert StateSet(name="n", value=_deep(50)) == again(encode(StateSet(name="n", value=_deep(50))))
    again(encode(StateSet(name="n", value=_deep(200))))
