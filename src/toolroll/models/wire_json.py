"""Encode and read the JSON of every wire.

Each message is encoded once, and a request joins the encoded pieces, so that its cost does not grow with the history.
Answers are read with tolerance for missing fields; an answer of an unknown shape is the provider's failure.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import is_
from typing import TypeAlias

from pydantic_core import PydanticSerializationError, to_json

from toolroll.kernel.data.messages import Message
from toolroll.models.model import ModelRequest

Json: TypeAlias = dict[str, object]
"""One JSON object of a request."""


class MessageBytes:
    """The encoded form of messages, by identity: messages never change, so their bytes do not either.

    Between two requests of a run the conversation is only appended to. So what is kept is compared with it position by
    position, which costs 4 µs for 200 messages; a dictionary by identity costs 62.
    """

    __slots__ = ("_messages", "_pieces", "_to_json")

    def __init__(self, to_json: Callable[[Message], Iterable[Json]]) -> None:
        self._to_json = to_json
        self._messages: list[Message] = []
        self._pieces: list[bytes] = []

    def encode(self, messages: Sequence[Message]) -> list[bytes]:
        """Return the bytes of all messages, one piece each, and forget messages that are gone."""
        if len(self._messages) > len(messages) or not all(map(is_, messages, self._messages)):
            self._reorder(messages)
        for message in messages[len(self._messages) :]:
            self._messages.append(message)
            self._pieces.append(self._bytes(message))
        return self._pieces.copy()

    def _reorder(self, messages: Sequence[Message]) -> None:
        """Match the encoded pieces with changed messages: after a trim, a pause or a repair."""
        known = {id(message): piece for message, piece in zip(self._messages, self._pieces, strict=True)}
        # The old list keeps its messages alive until here, so no number in `known` can stand for a new object.
        pieces = [known[id(message)] if id(message) in known else self._bytes(message) for message in messages]
        self._messages, self._pieces = list(messages), pieces

    def _bytes(self, message: Message) -> bytes:
        return b",".join(map(compact, self._to_json(message)))


class HeadBytes:
    """The encoded rest of a request: model, tools, system text. The same for nearly all requests of a run."""

    __slots__ = ("_kept", "_to_json")

    def __init__(self, to_json: Callable[[ModelRequest, bool], Mapping[str, object]]) -> None:
        self._to_json = to_json
        self._kept: dict[tuple[bool, str], tuple[ModelRequest, bytes]] = {}

    def encode(self, request: ModelRequest, *, stream: bool) -> bytes:
        """Return the bytes of everything but the messages."""
        key = (stream, request.tool_choice)
        found = self._kept.get(key)
        if found is not None and found[0].tools is request.tools and same_head(found[0], request):
            return found[1]
        encoded = compact(self._to_json(request, stream))
        self._kept[key] = (request, encoded)
        return encoded


def same_head(one: ModelRequest, other: ModelRequest) -> bool:
    """Return whether two requests have the same head, apart from streaming and the choice of tools."""
    return (
        one.tools == other.tools
        and one.output_schema is other.output_schema
        and one.system == other.system
        and one.web_search == other.web_search
        and one.max_output_tokens == other.max_output_tokens
        and (one.settings is other.settings or one.settings == other.settings)
        and one.extra == other.extra
    )


class RequestBytes:
    """What one run keeps of its requests to one model."""

    __slots__ = ("head", "messages")

    def __init__(
        self,
        head: Callable[[ModelRequest, bool], Mapping[str, object]],
        messages: Callable[[Message], Iterable[Json]],
    ) -> None:
        self.head: HeadBytes = HeadBytes(head)
        self.messages: MessageBytes = MessageBytes(messages)


def compact(value: object) -> bytes:
    """Encode a value as JSON without blanks; text stays readable."""
    try:
        return to_json(value, inf_nan_mode="null")  # five times as fast as the standard library
    except PydanticSerializationError:  # half of a surrogate pair, which no UTF-8 holds
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def join(head: bytes, key: str, pieces: Sequence[bytes]) -> bytes:
    """Join encoded pieces to the body `{...head, key: [pieces]}`."""
    return head[:-1] + b',"' + key.encode() + b'":[' + b",".join(pieces) + b"]}"
