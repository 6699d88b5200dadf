"""Requests are put together from pieces that are encoded once."""

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.models.asking import ADD, user
from tests.models.histories import NOWHERE

from toolroll.kernel.data.messages import Message
from toolroll.models.anthropic.model import AnthropicModel
from toolroll.models.model import ModelRequest, WebSearch
from toolroll.models.wire_json import HeadBytes, Json, MessageBytes, compact, join


class Counting:
    """Encodes messages, and counts how often."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, message: Message) -> list[Json]:
        self.count += 1
        return [{"n": id(message)}, {"more": True}]


def test_a_message_is_encoded_once() -> None:
    encode = Counting()
    kept = MessageBytes(encode)
    messages: list[Message] = [user(), user()]
    first = kept.encode(messages)
    messages.append(user())
    second = kept.encode(messages)
    assert encode.count == 3
    assert first == second[:2]


def test_pieces_are_the_callers_to_change() -> None:
    kept = MessageBytes(Counting())
    messages = [user(), user()]
    kept.encode(messages)[0] = b"changed"
    assert b"changed" not in kept.encode(messages)


@given(st.lists(st.lists(st.integers(0, 5), max_size=8), max_size=6))
def test_whatever_is_asked_for_next_the_pieces_are_right(requests: list[list[int]]) -> None:
    """A22: trimmed, reordered, repeated or continued, each message has its own bytes."""
    messages = [user(str(number)) for number in range(6)]
    encode = Counting()
    kept = MessageBytes(encode)
    for request in requests:
        asked = [messages[number] for number in request]
        expected = [b'{"n":%d},{"more":true}' % id(message) for message in asked]
        assert expected == kept.encode(asked)


def test_what_is_dropped_is_forgotten_and_what_stays_is_not_encoded_again() -> None:
    encode = Counting()
    kept = MessageBytes(encode)
    first, second, third = user("1"), user("2"), user("3")
    kept.encode([first, second, third])
    kept.encode([first, third])
    assert encode.count == 3
    kept.encode([first, second, third])
    assert encode.count == 4


def request(**changes: object) -> ModelRequest:
    return ModelRequest(messages=(), **changes)  # type: ignore[arg-type]  # as the test says


def test_the_head_is_encoded_again_when_anything_of_it_changes() -> None:
    seen: list[ModelRequest] = []

    def head(request: ModelRequest, stream: bool) -> Json:
        seen.append(request)
        return {"n": len(seen), "stream": stream}

    kept = HeadBytes(head)
    tools = (ADD,)
    schema = {"type": "object"}
    plain: dict[str, object] = {"tools": tools, "system": "a"}
    changes: list[dict[str, object]] = [
        plain,
        {"tools": (ADD, ADD), "system": "a"},
        plain,
        plain | {"system": "b"},
        plain | {"web_search": WebSearch()},
        plain | {"max_output_tokens": 5},
        plain | {"extra": {"temperature": 0}},
        plain | {"output_schema": schema},
        plain | {"tool_choice": "none"},
    ]
    for number, change in enumerate(changes, 1):
        assert compact({"n": number, "stream": False}) == kept.encode(request(**change), stream=False)
        assert compact({"n": number, "stream": False}) == kept.encode(request(**change), stream=False)
    assert b"true" in kept.encode(request(**plain), stream=True)
    assert len(changes) + 1 == len(seen)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES)
def test_compact_json_reads_back_as_it_was(value: object) -> None:
    assert value == json.loads(compact(value))


def test_what_utf8_cannot_hold_is_replaced() -> None:
    assert compact({"a": "x\ud800yé"}) == b'{"a":"x?y\xc3\xa9"}'
    assert compact([float("nan")]) == b"[null]"


def test_bodies_are_joined() -> None:
    assert json.loads(join(b'{"a":1}', "m", [b'{"x":1}', b'{"x":2}'])) == {"a": 1, "m": [{"x": 1}, {"x": 2}]}


def test_strict_forms_are_worked_out_once_for_all_runs() -> None:
    """Each run has its own memo; the model remembers the heads of the last ones, and none of their messages."""
    made: list[ModelRequest] = []

    class CountingModel(AnthropicModel):
        def head(self, request: ModelRequest, stream: bool, /) -> Json:
            made.append(request)
            return super().head(request, stream)

    model = CountingModel("m", transport=NOWHERE)
    requests = [
        ModelRequest(messages=[user()], tools=(ADD,)),
        ModelRequest(messages=[user("other")], tools=(replace(ADD),)),
        ModelRequest(messages=[user()], tools=(ADD,), tool_choice="none"),
        ModelRequest(messages=[user()], tools=(replace(ADD, description="Else."),)),
        ModelRequest(messages=[user()], tools=(ADD,), system="Be good."),
    ]
    for stream in (False, True):
        expected = [AnthropicModel("m", transport=NOWHERE).encode(one, stream=stream) for one in requests]
        for _ in range(2):
            again = [model.encode(replace(one, memo={}), stream=stream) for one in requests]
            assert again == expected
    assert len(made) == 8
    assert all(not kept.messages for kept, _, _ in model._heads)
