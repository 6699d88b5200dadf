"""Streams and answers of recorded shapes with faults in them: types swapped, fields missing, numbers huge."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, TypeAlias

from tests.models.shapes import SHAPES, answer_of
from tests.support.model_script import Fault
from tests.support.model_server import MODELS, NO_FAULT, WIRES, sse

from toolroll.models.anthropic.model import AnthropicModel
from toolroll.models.chat.model import ChatModel
from toolroll.models.exchange import WireModel
from toolroll.models.model import Wire
from toolroll.models.openai.model import OpenAIModel
from toolroll.models.reply import Reply
from toolroll.models.small import SmallModel

FuzzWire: TypeAlias = Literal["anthropic", "openai", "chat", "small"]
FUZZ_WIRES: tuple[FuzzWire, ...] = ("anthropic", "openai", "chat", "small")

_DEEP: list[Any] = []
for _ in range(150):
    _DEEP = [_DEEP]

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 1.5, 10**18, 10**30, 10**400, -(10**400), float("inf"), float("nan")),
    *("", "x", "\ud800", "\udc00 \ud800", "\x00", "😀", "a" * 5_000, "10", "end_turn", "tool_use", "[]", "{}"),
    *([], {}, [1], [None], [[]], [{}], {"a": 1}, {"type": "text"}, {"type": 3}, {"url": 7}, [{"url": 7}], _DEEP),
)


@dataclass(frozen=True, slots=True)
class OneReply:
    """A transport that answers every request with the same bytes."""

    body: bytes
    content_type: str

    @asynccontextmanager
    async def post(self, path: str, *, headers: Mapping[str, str], body: bytes) -> AsyncIterator[Reply]:
        assert path
        assert headers
        assert body
        yield Reply(status=200, headers={"content-type": self.content_type}, chunks=self._chunks())

    async def _chunks(self) -> AsyncIterator[bytes]:
        yield self.body

    async def aclose(self) -> None:
        """Nothing is open."""


def model_with(wire: FuzzWire, body: bytes, *, streamed: bool) -> WireModel:
    """A model whose provider sends these bytes."""
    transport = OneReply(body, "text/event-stream" if streamed else "application/json")
    match wire:
        case "anthropic":
            return AnthropicModel(MODELS["anthropic"], transport=transport)
        case "openai":
            return OpenAIModel(MODELS["openai"], transport=transport)
        case "chat":
            return ChatModel(MODELS["chat"], transport=transport)
        case "small":
            return SmallModel(MODELS["chat"], transport=transport)


def faulty_body(wire: FuzzWire, random: Random, *, streamed: bool) -> bytes:
    """A stream or a whole answer of one of the recorded shapes, with one to three faults in it."""
    spoken: Wire = "chat" if wire == "small" else wire
    names = [name for name in SHAPES if not (spoken == "chat" and name == "unknown block")]
    answer = answer_of(spoken, SHAPES[random.choice(names)])
    if not streamed:
        holder = [json.loads(json.dumps(WIRES[spoken].plain(answer)))]
        for _ in range(random.randint(1, 3)):
            _damage(holder, random)
        return json.dumps(holder[0]).encode() if holder else b""
    named = list(WIRES[spoken].events(answer, NO_FAULT))
    events: list[Any] = [[name, _read(data)] for name, data in named]
    for _ in range(random.randint(1, 3)):
        _damage_stream(events, random)
    written = [(name, data if data == "[DONE]" else json.dumps(data)) for name, data in events]
    return b"".join(sse(written, Fault()))


def _read(data: str) -> Any:
    try:
        return json.loads(data)
    except ValueError:  # the [DONE] of chat servers
        return data


def _damage_stream(events: list[Any], random: Random) -> None:
    if not events:
        return
    at = random.randrange(len(events))
    match random.randrange(8):
        case 0:
            events.pop(at)
        case 1:
            events.insert(at, [events[at][0], json.loads(json.dumps(events[at][1]))])
        case 2:
            other = random.randrange(len(events))
            events[at], events[other] = events[other], events[at]
        case _:
            holder = [events[at][1]]
            _damage(holder, random)
            events[at][1] = holder[0] if holder else {}


def _damage(holder: list[Any], random: Random) -> None:
    """Change one place of a JSON value: another value, no value, or the value of another place."""
    places = list(_places(holder))
    container, key = random.choice(places)
    match random.randrange(6):
        case 0 if isinstance(container, dict):
            del container[key]
        case 1:
            other, other_key = random.choice(places)
            container[key] = json.loads(json.dumps(other[other_key]))
        case _:
            container[key] = deepcopy(random.choice(VALUES))


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(pairs):
        yield value, key
        yield from _places(item)
